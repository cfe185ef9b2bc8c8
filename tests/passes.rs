//! Each pass by itself: graphs as text, and what the pass makes of them.
//!
//! `tests/passes/PASS/NAME.graph` says in its first line what it shows, then has a graph, a line `==>` and the graph
//! after the pass, which `SX_BLESS=1` renews. The pass also changes no value.

use std::path::{Path, PathBuf};

use sx_compiler::ir::text;
use sx_compiler::ops::verify::verify;
use sx_compiler::pipeline::{self, Pass};
use sx_tests::close::same_within_rounding;
use sx_tests::{assert_none, files, golden, program, shown};

#[test]
fn passes_make_what_is_expected() {
    let wrong: Vec<String> = pipeline::passes()
        .flat_map(|pass| cases(pass).into_iter().filter_map(move |path| check(pass, &path).err()))
        .collect();
    assert_none(&wrong);
}

#[test]
fn every_pass_has_three_tests() {
    let few = pipeline::passes().filter(|pass| cases(pass).len() < 3);
    assert_none(&few.map(|pass| format!("`{}` has fewer than three tests", pass.name)).collect::<Vec<_>>());
}

fn cases(pass: &Pass) -> Vec<PathBuf> {
    files(&format!("tests/passes/{}", pass.name), ".graph")
}

fn check(pass: &Pass, path: &Path) -> Result<(), String> {
    let at = |what: String| format!("{}: {what}", shown(path));
    let written = std::fs::read_to_string(path).map_err(|error| at(error.to_string()))?;
    let (purpose, rest) = written.split_once('\n').ok_or_else(|| at("has one line".to_owned()))?;
    if !purpose.starts_with("; ") {
        return Err(at("the first line is `; ` and what it shows".to_owned()));
    }
    let given = rest.split("==>").next().unwrap_or_default().trim();
    let before = text::read(given).map_err(|error| at(error.to_string()))?;
    verify(&before).map_err(|violation| at(violation.to_string()))?;
    let after = pass.apply(&before);
    let inputs = program::values(&before, 2);
    let (want, got) = (sx_tests::reference(&before, &inputs), sx_tests::reference(&after, &inputs));
    let (want, got) = (want.map_err(at)?, got.map_err(at)?);
    if pass.name != "precision" && !want.iter().zip(&got).all(|(want, got)| same_within_rounding(want, got)) {
        return Err(at(format!("the values were {want:?} and are {got:?}")));
    }
    let fresh = format!("{purpose}\n\n{given}\n\n==>\n\n{}", text::print(&after, None));
    golden::check(path, &fresh);
    Ok(())
}
