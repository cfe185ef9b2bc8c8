//! What is printed reads back as the same.

use sx_compiler::ir::text::{print, read};
use sx_compiler::ir::{Graph, Op, dot};
use sx_compiler::ops::verify::verify;
use sx_tests::sample::every_operation;

fn operations(graph: &Graph) -> Vec<&Op> {
    graph.nodes().iter().map(|node| &node.op).collect()
}

#[test]
fn graphs_read_back() {
    let graph = every_operation();
    verify(&graph).expect("the sample is well typed");
    let text = print(&graph, None);
    let back = read(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(print(&back, None), text);
    assert_eq!(operations(&back), operations(&graph));
    for (before, after) in graph.nodes().iter().zip(back.nodes()) {
        assert_eq!((&before.results, &before.args, before.marks), (&after.results, &after.args, after.marks));
    }
    assert_eq!(back.inputs, graph.inputs);
    assert_eq!(back.outputs, graph.outputs);
    assert_eq!(back.name, graph.name);
    verify(&back).expect("what was read is well typed");
}

/// Every broken text is refused with a line, never with a panic.
#[test]
fn broken_text_is_refused() {
    let text = print(&every_operation(), None);
    let end = text.rfind("return").expect("a graph ends with its outputs");
    for at in (0..end).step_by(31) {
        let cut = &text[..at];
        assert!(read(cut).is_err(), "cut at {at}");
        for with in ["%", "[", "]", "\"", "=", "9", "é"] {
            let _ = read(&format!("{cut}{with}{}", &text[at..]));
        }
    }
}

#[test]
fn drawings_balance() {
    let text = dot::print(&every_operation());
    assert_eq!(text.matches('{').count(), text.matches('}').count());
    assert!(text.contains("subgraph cluster_") && text.contains("label=\"softmax\""), "{text}");
}
