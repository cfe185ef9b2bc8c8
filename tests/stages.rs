//! One program through the stages it names: what each makes of it, side by side.

use sx_compiler::ir::{Graph, Origin, text};
use sx_compiler::{kernel, pipeline, plan};
use sx_tests::{assert_none, files, golden, program, root};

#[test]
fn every_stage_makes_what_is_expected() {
    let folder = root().join("tests/stages");
    let one = |path: &std::path::PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        golden::sections(path, |stage, text| shown(stage, &program::check(&name, text, &folder))).err()
    };
    let wrong: Vec<String> = files("tests/stages", ".sx").iter().filter_map(one).collect();
    assert_none(&wrong);
}

/// What `stage` makes of every graph of a program.
fn shown(stage: &str, checked: &program::Checked) -> String {
    let Some(module) = &checked.module else {
        return checked.rendered();
    };
    let sources = &checked.sources;
    let printed = |graph: &Graph| text::print(graph, None::<&dyn Fn(&Origin) -> String>);
    let one = |graph: &Graph| match stage {
        "trace" => printed(graph),
        "precision" => printed(&pipeline::after_precision(graph)),
        "simplify" => printed(&pipeline::after_simplify(graph)),
        "fuse" => {
            let kernels = pipeline::program(graph, sources).program.kernels;
            kernels.iter().map(kernel::text::print).collect::<Vec<_>>().join("\n")
        }
        "plan" => plan::text::print(&pipeline::program(graph, sources).program),
        other => format!("there is no stage `{other}`"),
    };
    module.graphs.iter().map(one).collect::<Vec<_>>().join("\n")
}
