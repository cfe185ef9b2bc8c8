//! Pages of the book that are made from tables are as the tables are.

use std::fmt::Write;
use sx_compiler::eval::{Doc, documented};
use sx_compiler::ops::called::called;
use sx_compiler::ops::{Tolerance, rules};
use sx_files::tensors::print;
use sx_tests::{assert_none, golden, program, root};

const CHAPTERS: [&str; 11] = [
    "Elementwise",
    "Reductions",
    "Products",
    "Indexing",
    "Movement",
    "Types",
    "Sources",
    "Prelude",
    "sx/nn",
    "Lists",
    "Text",
];

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

fn entry(text: &mut String, doc: &Doc) {
    let _ = writeln!(text, "### `{}`\n\n`{}`\n", doc.name, doc.signature);
    let end = if doc.summary.ends_with('.') { "" } else { "." };
    let _ = writeln!(text, "{}{}{end}\n", doc.summary[..1].to_uppercase(), &doc.summary[1..]);
    if let Some(op) = called(&doc.name) {
        let about = rules(op).about();
        let _ = writeln!(text, "- Takes {}.\n- Domain: {}.", about.takes, about.domain);
        let _ = writeln!(text, "- Tolerance: {}.\n", tolerance(about.tolerance));
    }
    if !doc.example.is_empty() {
        let _ = writeln!(text, "```lisp\n{}\n```\n", doc.example);
    }
}

/// The functions of the language and its library.
fn functions() -> Vec<Doc> {
    documented().into_iter().filter(|doc| doc.chapter.is_some()).collect()
}

/// Functions without a value to show: they end the evaluation, or give what is known when a graph runs.
const WITHOUT_VALUE: [&str; 2] = ["error", "param"];

/// The example of a function is a program, and its value.
#[test]
fn examples_of_functions_have_their_values() {
    let words =
        |text: &str| text.replace(['[', ']'], " ").split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let mut wrong = Vec::new();
    for doc in functions() {
        let examples: Vec<(&str, &str)> =
            doc.example.lines().filter_map(|line| line.split_once(" ; => ")).collect();
        if examples.is_empty() && !WITHOUT_VALUE.contains(&doc.name.as_str()) {
            wrong.push(format!("`{}` has no example with a value", doc.name));
        }
        for (program, value) in examples {
            let text = |form: &str| format!("(import sx/nn) {form}");
            let ordinary = program::check("example.sx", &text(&format!("(def value {program})")), &root());
            if ordinary.module.is_some() {
                // A test of the evaluator has compared it.
                continue;
            }
            let checked =
                program::check("example.sx", &text(&format!("(defgraph example () {program})")), &root());
            let Some(module) = &checked.module else {
                wrong.push(checked.rendered());
                continue;
            };
            let outputs = sx_tests::reference(&module.graphs[0], &[]).expect("nothing traps");
            let got: Vec<String> = outputs.iter().map(print::values).collect();
            if words(&got.join(" ")) != words(value) {
                wrong.push(format!("{program} is {}, not {value}", got.join(" ")));
            }
        }
    }
    assert_none(&wrong);
}

#[test]
fn the_page_of_operations_is_fresh() {
    let functions = functions();
    let mut text = "# Operations and functions\n\n\
        Made from the tables of the compiler and the texts of its library; \
        `SX_BLESS=1 cargo test -p sx-tests --test system pages::` renews it.\n\
        An ulp is the distance between neighbouring `f32` values at the correctly rounded result; \
        `bf16` results are rounded once more. The functions of `sx/nn` are there after `(import sx/nn)`, all others always.\n\n"
        .to_owned();
    let strays = functions.iter().filter(|doc| !doc.chapter.is_some_and(|it| CHAPTERS.contains(&it)));
    assert_none(&strays.map(|doc| format!("`{}` stands in no chapter", doc.name)).collect::<Vec<_>>());
    for chapter in CHAPTERS {
        let _ = writeln!(text, "## {chapter}\n");
        for doc in functions.iter().filter(|doc| doc.chapter == Some(chapter)) {
            entry(&mut text, doc);
        }
    }
    let text = text.trim_end().to_owned() + "\n";
    golden::check(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/ops.md"), &text);
}

/// The error that the README shows is the one that its program gets.
#[test]
fn the_error_of_the_readme_is_given_to_the_letter() {
    let readme = std::fs::read_to_string(root().join("README.md")).expect("the README");
    let block = |from: &str| {
        let start = readme.find(from).expect("the block stands there");
        readme[start..].split("```").next().unwrap_or("").to_owned()
    };
    let shown = block("$ sxc check scores.sx\n");
    let said = program::check("scores.sx", &block("; scores.sx\n"), &root()).rendered();
    assert!(shown.starts_with(&format!("$ sxc check scores.sx\n{said}\n1 error")), "{shown}\n{said}");
}
