//! Pages of the book that are made from tables are as the tables are.

use std::collections::BTreeSet;
use std::fmt::Write;
use sx_artifact::scalar::ScalarFn;
use sx_compiler::ir::Op;
use sx_compiler::ir::op::Map;
use sx_compiler::ops::{About, Tolerance, rules};
use sx_files::tensors::print;
use sx_tests::{assert_none, golden, program, root, sample};

/// The chapter an operation stands in.
fn chapter(op: &Op) -> &'static str {
    match op {
        Op::Input(_) | Op::Param(_) | Op::Context(_) | Op::Constant(_) | Op::Iota(_) => "Sources",
        Op::Map(_) => "Elementwise",
        Op::Cast(_) | Op::As(_) => "Types",
        Op::Broadcast(_) | Op::Reshape(_) | Op::Transpose(_) | Op::Slice(_) | Op::Concat(_) => "Movement",
        Op::Reduce(_) => "Reductions",
        Op::Matmul(_) => "Products",
        Op::Index(_) | Op::Gather(_) => "Indexing",
        Op::Attention(_) | Op::Composite(_) => "Composites",
    }
}

const CHAPTERS: [&str; 7] =
    ["Elementwise", "Reductions", "Products", "Indexing", "Movement", "Types", "Sources"];

fn tolerance(tolerance: Tolerance) -> String {
    match tolerance {
        Tolerance::Exact => "exact on every device".to_owned(),
        Tolerance::Rounded => "correctly rounded, on `wgpu` within 1 ulp".to_owned(),
        Tolerance::Ulps(ulps) => format!("within {ulps} ulp"),
        Tolerance::Sum => "within 16 ulp of the sum of the magnitudes, integers exact".to_owned(),
        Tolerance::Prod => "within 1 ulp for each factor, integers exact".to_owned(),
        Tolerance::Dot => {
            "within `4 sqrt(k)` ulp of the product of the magnitudes, integers exact".to_owned()
        }
        Tolerance::Region => "what its operations add up to".to_owned(),
    }
}

fn entry(text: &mut String, about: &About<'_>) {
    let _ = writeln!(text, "### `{}`\n", about.name);
    let summary = about.summary.split_whitespace().collect::<Vec<_>>().join(" ");
    if !about.signature.is_empty() {
        let _ = writeln!(text, "`{}`", about.signature);
    }
    let _ = writeln!(text, "{}{}.\n", summary[..1].to_uppercase(), &summary[1..]);
    let _ = writeln!(text, "- Takes {}.\n- Domain: {}.", about.takes, about.domain);
    let _ = writeln!(text, "- Tolerance: {}.", tolerance(about.tolerance));
    if !about.example.is_empty() {
        let _ = writeln!(text, "\n```lisp\n{}\n```", about.example);
    }
    text.push('\n');
}

/// Every operation, scalar functions in the order of their list; some stand there several times.
fn operations() -> Vec<Op> {
    let graph = sample::every_operation();
    let structural = graph.nodes().iter().map(|node| &node.op).filter(|op| !matches!(op, Op::Map(_)));
    ScalarFn::ALL.iter().map(|&f| Op::Map(Map { f })).chain(structural.cloned()).collect()
}

/// The example of an operation is a program, and its value.
#[test]
fn examples_of_operations_have_their_values() {
    let words =
        |text: &str| text.replace(['[', ']'], " ").split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let mut wrong = Vec::new();
    for op in operations() {
        let Some((program, value)) = rules(&op).about().example.split_once(" ; => ") else { continue };
        let checked = program::check("example.sx", &format!("(defgraph example () {program})"), &root());
        let Some(module) = &checked.module else {
            wrong.push(checked.rendered());
            continue;
        };
        let outputs = sx_tests::reference(&module.graphs[0], &[]).expect("nothing traps");
        let got = print::values(&outputs[0]);
        if words(&got) != words(value) {
            wrong.push(format!("{program} is {got}, not {value}"));
        }
    }
    assert_none(&wrong);
}

#[test]
fn the_page_of_operations_is_fresh() {
    let operations = operations();
    let mut text = "# Operations\n\n\
        Made from the tables of the compiler; `SX_BLESS=1 cargo test -p sx-tests --test system pages::` renews it.\n\
        An ulp is the distance between neighbouring `f32` values at the correctly rounded result; \
        `bf16` results are rounded once more.\n\n"
        .to_owned();
    for chapter_name in CHAPTERS {
        let _ = writeln!(text, "## {chapter_name}\n");
        let mut seen = BTreeSet::new();
        for op in operations.iter().filter(|op| chapter(op) == chapter_name) {
            if seen.insert(rules(op).about().name) {
                entry(&mut text, &rules(op).about());
            }
        }
    }
    let text = text.trim_end().to_owned() + "\n";
    golden::check(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/ops.md"), &text);
}
