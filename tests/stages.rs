//! One program through the stages it names: what each makes of it, side by side, as a snapshot beside the program.

use std::path::Path;

use sx_artifact::code::wgpu::ENTRY_POINT;
use sx_compiler::codegen::wgsl;
use sx_compiler::ir::{Graph, Origin, text};
use sx_compiler::{pipeline, plan};
use sx_tests::{files, program, root};

#[test]
fn every_stage_makes_what_is_expected() {
    files("tests/stages", ".sx").iter().for_each(|path| check(path));
}

/// A comment at the top, `;; Stages: fuse, plan.`, says what of a program is looked at.
fn check(path: &Path) {
    let text = std::fs::read_to_string(path).expect("a readable file");
    let name = path.file_name().expect("a file has a name").to_string_lossy();
    let list = text.lines().find_map(|line| line.strip_prefix(";; Stages: ")?.strip_suffix('.'));
    let list = list.unwrap_or_else(|| panic!("{name}: no line such as `;; Stages: fuse, plan.`"));
    let checked = program::check(&name, &text, &root().join("tests/stages"));
    let shown = list.split(", ").map(|stage| format!("==== {stage} ====\n{}", shown(stage, &checked)));
    crate::snapshot::check("stages", &name, &shown.collect::<Vec<_>>().join("\n"));
}

/// What `stage` makes of every graph of a program.
fn shown(stage: &str, checked: &program::Checked) -> String {
    let Some(module) = &checked.module else {
        return checked.rendered();
    };
    let sources = &checked.sources;
    let printed = |graph: &Graph| text::print(graph, None::<&dyn Fn(&Origin) -> String>);
    let planned = |graph: &Graph| pipeline::program(graph, sources).program;
    let one = |graph: &Graph| match stage {
        "trace" => printed(graph),
        "precision" => printed(&pipeline::after_precision(graph)),
        "simplify" => printed(&pipeline::after_simplify(graph)),
        "fuse" => {
            planned(graph).kernels.iter().map(sx_artifact::kernel::text::print).collect::<Vec<_>>().join("\n")
        }
        "plan" => plan::text::print(&planned(graph)),
        "wgsl" => kernels(wgsl::generate(&planned(graph)).expect("kernels that WGSL can spell")),
        other => panic!("there is no stage `{other}`"),
    };
    module.graphs.iter().map(one).collect::<Vec<_>>().join("\n")
}

/// The text of every kernel.
fn kernels(generated: sx_compiler::codegen::Emitted) -> String {
    let texts = generated.files.into_iter().filter(|(name, _)| name.ends_with(".wgsl"));
    let one = |(name, bytes): (String, Vec<u8>)| {
        format!("// {name}\n{}", own(&String::from_utf8(bytes).expect("WGSL is text")))
    };
    texts.map(one).collect::<Vec<_>>().join("\n")
}

/// What is a kernel's own in its text: no comments and no functions of the library, whose names begin with `sx_`.
fn own(text: &str) -> String {
    let mut within = false;
    let mut kept = String::new();
    for line in text.lines() {
        let main = line.starts_with(&format!("fn {ENTRY_POINT}("));
        let starts = (line.starts_with("fn sx_") && !main) || line.starts_with("fn opq(");
        let library = within || starts;
        within = library && line != "}" && !(starts && line.ends_with('}'));
        if !library && !line.starts_with("//") && !line.is_empty() {
            kept += &format!("{line}\n");
        }
    }
    kept
}
