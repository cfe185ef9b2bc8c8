//! Graph to a Graphviz drawing.

use super::text::name;
use super::{Graph, Op, Value};
use std::fmt::Write;

/// The graph in the language of Graphviz: a box a node, an arrow from each operand, a frame a region.
pub fn print(graph: &Graph) -> String {
    let mut text = "digraph {\n  node [shape=box fontname=monospace];\n".to_owned();
    nodes(graph, "n", 1, &mut text);
    for (at, output) in graph.outputs.iter().enumerate() {
        let _ = writeln!(text, "  out{at} [label={:?} shape=ellipse];", output.name);
        let _ = writeln!(text, "  {} -> out{at};", id("n", output.value));
    }
    text + "}\n"
}

/// The nodes of `graph`, each called `prefix` and its number.
fn nodes(graph: &Graph, prefix: &str, depth: usize, text: &mut String) {
    let indent = "  ".repeat(depth);
    for node_id in graph.ids() {
        let node = graph.node(node_id);
        let own = id(prefix, node_id.into());
        let types: Vec<String> = node.results.iter().map(|ty| ty.shown(&[])).collect();
        let text_label = format!("%{} {}\n{}", node_id.0, label(&node.op), types.join(", "));
        let _ = writeln!(text, "{indent}{own} [label={text_label:?}];");
        for &arg in &node.args {
            let _ = writeln!(text, "{indent}{} -> {own};", id(prefix, arg));
        }
        for region in node.op.regions() {
            let name = label(&node.op);
            let _ = writeln!(text, "{indent}subgraph cluster_{own} {{\n{indent}  label={name:?};");
            nodes(region, &format!("{own}_"), depth + 1, text);
            let _ = writeln!(text, "{indent}}}");
            for output in &region.outputs {
                let inner = id(&format!("{own}_"), output.value);
                let _ = writeln!(text, "{indent}{inner} -> {own} [style=dashed];");
            }
        }
    }
}

fn label(op: &Op) -> String {
    match op {
        Op::Input(input) => format!("input {}", input.name),
        Op::Param(param) => format!("param {}", param.name),
        Op::Composite(composite) => composite.name.clone(),
        other => name(other).to_owned(),
    }
}

fn id(prefix: &str, value: Value) -> String {
    format!("{prefix}{}", value.node.0)
}
