//! What users read when a program is wrong: one mistake a file, with the whole message.

use std::collections::BTreeSet;
use std::path::Path;

use sx_compiler::diag::Code;
use sx_tests::{assert_none, files, golden, program, root, shown};

/// A file's diagnostics, under its own name.
fn errors(path: &Path, text: &str) -> program::Checked {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    program::check(&name, text, path.parent().unwrap_or(Path::new("")))
}

#[test]
fn every_message_is_the_expected_one() {
    let one = |path: &std::path::PathBuf| {
        let stage = |section: &str, text: &str| match section {
            "errors" => errors(path, text).rendered(),
            other => format!("there is no section `{other}`"),
        };
        golden::sections(path, stage).err()
    };
    let wrong: Vec<String> = files("tests/ui", ".sx").iter().filter_map(one).collect();
    assert_none(&wrong);
}

#[test]
fn every_code_has_a_file_that_shows_it() {
    let mut shown = BTreeSet::new();
    for path in files("tests/ui", ".sx") {
        let text = std::fs::read_to_string(&path).expect("a readable file");
        let (program, _) = golden::parts(&text);
        shown.extend(errors(&path, program).codes());
    }
    let missing = Code::ALL.iter().map(|code| code.as_str()).filter(|code| !shown.contains(code));
    assert_none(&missing.map(|code| format!("no file of tests/ui shows {code}")).collect::<Vec<_>>());
}

#[test]
fn the_message_of_the_tensor_page_is_given_to_the_letter() {
    let path = root().join("tests/ui/bad-shape.sx");
    let text = std::fs::read_to_string(&path).expect("a readable file");
    let (program, _) = golden::parts(&text);
    let expected = "\
error[E-DIM-001]: matmul: inner dims differ: [2, 16] x [32, 8]
  --> bad-shape.sx:7:15
   |
 7 |   (lambda (x) (matmul x weight)))
   |               ^^^^^^^^^^^^^^^^^
note: operands: `x` [2, 16] f32, `weight` [32, 8] f32
";
    assert_eq!(errors(&path, program).rendered(), expected);
}

/// A page says what the code means, shows the smallest program that gives it, and the corrected program.
#[test]
fn every_page_explains_its_code() {
    let wrong: Vec<String> = Code::ALL.iter().filter_map(|code| page(*code).err()).collect();
    assert_none(&wrong);
}

fn page(code: Code) -> Result<(), String> {
    let (name, page) = (code.as_str(), code.page());
    let title = format!("# {name}: {}\n", code.summary());
    if !page.starts_with(&title) {
        return Err(format!("docs/errors/{name}.md: the title should be `{}`", title.trim()));
    }
    let programs: Vec<&str> =
        page.split("```lisp\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    let [wrong, right] = programs.as_slice() else {
        return Err(format!("docs/errors/{name}.md: two programs should stand there, the wrong one first"));
    };
    let folder = root().join("tests/ui");
    // The only page about a file that imports itself needs that file's name.
    let file = if name == "E-MOD-002" { "import-cycle.sx" } else { "model.sx" };
    let given = program::check(file, wrong, &folder);
    if given.codes() != [name] {
        return Err(format!(
            "docs/errors/{name}.md: the program should give {name} alone:\n{}",
            given.rendered()
        ));
    }
    match program::check("model.sx", right, &folder).rendered() {
        fine if fine.is_empty() => Ok(()),
        said => Err(format!("docs/errors/{name}.md: the corrected program gives\n{said}")),
    }
}

#[test]
fn there_is_no_page_without_a_code() {
    let known: BTreeSet<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    let stale = files("docs/errors", ".md")
        .into_iter()
        .filter(|path| path.file_stem().is_none_or(|stem| !known.contains(&*stem.to_string_lossy())));
    assert_none(&stale.map(|path| format!("{} explains no code", shown(&path))).collect::<Vec<_>>());
}
