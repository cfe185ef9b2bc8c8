//! What a scalar function costs is what CONTRIBUTING says: one file, one word in the list, one arm a target.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use sx_artifact::scalar::ScalarFn;
use sx_tests::{assert_none, files, root, shown};

const LIST: &str = "artifact/src/scalar.rs";
/// Where a target has its arms: its name stands in one file of each.
const TARGETS: [&str; 2] = ["compiler/src/codegen/wgsl/scalar.rs", "runtime/src/device/cpu/scalar.rs"];
const RECORDS: &str = "compiler/src/ops/scalar";
/// The files there that are no record.
const NO_RECORD: [&str; 3] = ["apply.rs", "family.rs", "mod.rs"];
/// The algorithm of a function that has one of its own, and the line that makes it known.
const MATHS: &str = "artifact/src/maths/";

/// What the compiler itself says: what forms and operators of the language are made of, what kernels guard their
/// loads with, what a rule of the simplifier, a conversion between domains or a chain that runs as one is about.
const SPOKEN: &[ScalarFn] = {
    use ScalarFn::*;
    &[
        Add, Sub, Mul, Div, Mod, Pow, Maximum, Minimum, Neg, Abs, Eq, Ne, Lt, Le, Gt, Ge, And, Or, Not,
        Where, Exp, Log,
    ]
};

/// The files outside tests in whose code the variant of each function stands.
fn places() -> BTreeMap<String, BTreeSet<String>> {
    let mut places: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let sources =
        ["artifact/src", "compiler/src", "runtime/src"].into_iter().flat_map(|src| files(src, ".rs"));
    for path in sources.filter(|path| !shown(path).contains("/tests")) {
        let text = fs::read_to_string(&path).expect("a readable source file");
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        if !code.contains("ScalarFn") {
            continue;
        }
        // A variant of another enum may have the same name: `Bin::Add` is none of ours.
        let code = code.replace("ScalarFn::", "");
        let code: Vec<&str> = code.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
        let code = code.join("\n");
        let foreign = |at: usize| code[..at].ends_with("::");
        let mut at = 0;
        for word in code.split(|c: char| !c.is_alphanumeric() && c != '_') {
            if !foreign(at) {
                places.entry(word.to_owned()).or_default().insert(shown(&path));
            }
            at += word.len();
            at += code[at..].chars().next().map_or(0, char::len_utf8);
        }
    }
    places
}

#[test]
fn a_scalar_function_is_a_word_in_the_list_and_an_arm_a_target() {
    let places = places();
    let mut wrong = Vec::new();
    for &f in ScalarFn::ALL {
        let found = places.get(&format!("{f:?}")).cloned().unwrap_or_default();
        let wanted: BTreeSet<String> = [LIST].into_iter().chain(TARGETS).map(str::to_owned).collect();
        for missing in wanted.difference(&found) {
            wrong.push(format!("{f:?} should stand in {missing}"));
        }
        let more: Vec<&String> = found.difference(&wanted).collect();
        match (SPOKEN.contains(&f), more.as_slice()) {
            (false, []) | (true, [_, ..]) => {}
            (false, more) => {
                wrong.push(format!("{f:?} stands in {more:?}, too: a new function would have to"))
            }
            (true, []) => wrong.push(format!("{f:?} stands nowhere else: it need not be an exception")),
        }
    }
    assert_none(&wrong);
}

#[test]
fn a_scalar_function_is_one_file() {
    let name =
        |path: &std::path::PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let records =
        files(RECORDS, ".rs").iter().map(name).filter(|name| !NO_RECORD.contains(&name.as_str())).count();
    assert_eq!(records, ScalarFn::ALL.len(), "{RECORDS} should have one file a function");
}

/// CONTRIBUTING shows the commit that added a function. What it shows still stands in the files it names, and
/// those are the places this test allows.
#[test]
fn the_recipe_shows_what_stands_in_the_files() {
    let recipe = fs::read_to_string(root().join("CONTRIBUTING.md")).expect("the recipes");
    let diff = recipe.split("```diff\n").nth(1).and_then(|rest| rest.split("```").next());
    let diff = diff.expect("the recipe for a scalar operation shows a diff");
    let (mut places, mut wrong, mut text) = (BTreeSet::new(), Vec::new(), String::new());
    for line in diff.lines() {
        if let Some(path) = line.strip_prefix("+++ b/") {
            text = fs::read_to_string(root().join(path)).unwrap_or_default();
            places.insert(path.to_owned());
        } else if let Some(added) = line.strip_prefix('+')
            && !text.lines().any(|line| line == added)
        {
            wrong.push(format!("no file has the line `{added}` that CONTRIBUTING.md shows"));
        }
    }
    let of_the_algorithm = |path: &String| path.starts_with(MATHS);
    let others: BTreeSet<&str> =
        places.iter().filter(|path| !of_the_algorithm(path)).map(String::as_str).collect();
    let record = others.iter().find(|path| path.starts_with(RECORDS)).copied().unwrap_or("a record");
    let wanted = BTreeSet::from([LIST, TARGETS[0], TARGETS[1], record]);
    if others != wanted || places.iter().filter(|path| of_the_algorithm(path)).count() > 2 {
        wrong.push(format!("CONTRIBUTING.md shows {places:?} instead of {wanted:?} and an algorithm"));
    }
    assert_none(&wrong);
}
