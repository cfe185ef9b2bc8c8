//! Who may use whom, and what every file of the repository owes its readers.

use std::fs;
use std::path::{Path, PathBuf};

use sx_tests::{assert_none, files, root, shown};

/// Each module of the compiler with the modules it may use, lowest first.
const LAYERS: &[(&str, &[&str])] = &[
    ("diag", &[]),
    ("syntax", &["diag"]),
    ("ir", &["diag"]),
    ("ops", &["diag", "ir"]),
    ("reference", &["ir", "ops"]),
    ("eval", &["diag", "syntax", "ir", "ops", "reference"]),
    ("passes", &["diag", "syntax", "ir", "ops"]),
    ("kernel", &["ir", "ops"]),
    ("plan", &["diag", "ir", "ops", "kernel"]),
    ("codegen", &["ir", "kernel", "plan"]),
    ("pipeline", &["diag", "ir", "ops", "passes", "kernel", "plan"]),
    ("compile", &["diag", "eval", "codegen", "pipeline", "plan"]),
    ("fits", &["diag", "eval", "codegen", "plan", "compile"]),
];

/// The modules at the outer edge, which may use everything.
const EDGE: &[&str] = &["cli", "driver", "failure", "lib", "main"];

/// The source files of a module of the compiler: its file and its folder.
fn sources(module: &str) -> Vec<PathBuf> {
    let mut found = files(&format!("compiler/src/{module}"), ".rs");
    let own = root().join(format!("compiler/src/{module}.rs"));
    found.extend(own.exists().then_some(own));
    found
}

/// Every `a` of a `crate::a` in `text`, those in braces behind `crate::` among them.
fn uses(text: &str) -> Vec<&str> {
    let name = |rest: &str| rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    let mut found = Vec::new();
    for rest in text.split("crate::").skip(1) {
        match rest.strip_prefix('{') {
            None => found.push(&rest[..name(rest)]),
            Some(list) => {
                let list = &list[..list.find(';').unwrap_or(list.len())];
                let mut depth = 0;
                let mut start = true;
                for (at, c) in list.char_indices() {
                    match c {
                        '{' => depth += 1,
                        '}' => depth -= 1,
                        ',' if depth == 0 => start = true,
                        c if start && depth == 0 && c.is_alphabetic() => {
                            found.push(&list[at..at + name(&list[at..])]);
                            start = false;
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    found
}

/// The code of a file without its tests, which may look at everything.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("a readable source file");
    text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().to_owned()
}

#[test]
fn modules_use_only_what_stands_below_them() {
    let mut wrong = Vec::new();
    for (module, allowed) in LAYERS {
        for file in sources(module).iter().filter(|file| !shown(file).contains("/tests")) {
            for used in uses(&code(file)) {
                if used != *module && !allowed.contains(&used) {
                    wrong.push(format!("{}: `{module}` may not use `{used}`", shown(file)));
                }
            }
        }
    }
    assert_none(&wrong);
}

#[test]
fn every_module_of_the_compiler_has_a_layer() {
    let lib = fs::read_to_string(root().join("compiler/src/lib.rs")).expect("the compiler's map");
    let modules = lib.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
    let known = |module: &&str| LAYERS.iter().any(|(name, _)| name == module) || EDGE.contains(module);
    let wrong: Vec<String> =
        modules.filter(|module| !known(module)).map(|module| format!("`{module}` has no layer")).collect();
    assert_none(&wrong);
}

#[test]
fn the_uses_of_a_text_are_found() {
    let text =
        "use crate::{driver, syntax::{lex, read}, ir};\nuse crate::diag::Span;\nfn f() { crate::ops::f() }";
    assert_eq!(uses(text), ["driver", "syntax", "ir", "diag", "ops"]);
}

#[test]
fn only_the_driver_touches_files() {
    let mut wrong = Vec::new();
    for file in files("compiler/src", ".rs") {
        let name = shown(&file);
        if !name.contains("/driver") && code(&file).contains("std::fs") {
            wrong.push(format!("{name} uses `std::fs`"));
        }
    }
    assert_none(&wrong);
}

#[test]
fn crates_meet_only_in_the_tests() {
    for (crate_name, forbidden) in [
        ("artifact", ["sx-files", "sx-compiler", "sx-runtime"]),
        ("files", ["sx-compiler", "sx-runtime", "sx-tests"]),
        ("compiler", ["sx-runtime", "sx-tests", "sx-bench"]),
        ("runtime", ["sx-compiler", "sx-tests", "sx-bench"]),
    ] {
        let manifest = fs::read_to_string(root().join(crate_name).join("Cargo.toml")).expect("a manifest");
        for other in forbidden {
            assert!(!manifest.contains(other), "{crate_name} may not use {other}");
        }
    }
}

/// The contract takes and gives bytes: nothing in it opens a file, starts a thread or asks the system, so that it
/// compiles for WebAssembly and anybody can write a reader.
#[test]
fn the_contract_has_no_input_and_output() {
    let manifest = fs::read_to_string(root().join("artifact/Cargo.toml")).expect("a manifest");
    let dependencies = manifest.split("[dependencies]").nth(1).unwrap_or_default();
    let dependencies = dependencies.split("\n[").next().unwrap_or_default();
    let known = ["blake3", "bytemuck", "crc32fast", "half", "serde", "serde_json"];
    let named = dependencies.lines().filter_map(|line| line.split(['.', ' ', '=']).next());
    let mut wrong: Vec<String> = named
        .filter(|name| !name.is_empty() && !known.contains(name))
        .map(|name| format!("artifact/Cargo.toml: the contract does without `{name}`"))
        .collect();
    let system =
        ["std::fs", "std::thread", "std::net", "std::process", "std::env", "std::time", "Instant::now"];
    for file in files("artifact/src", ".rs") {
        let text = code(&file);
        let used = system.iter().filter(|used| text.contains(**used));
        wrong.extend(used.map(|used| format!("{} uses `{used}`", shown(&file))));
    }
    assert_none(&wrong);
}

#[test]
fn every_file_says_what_it_is_for() {
    let mut wrong = Vec::new();
    for folder in ["artifact", "files", "compiler", "runtime", "tests"] {
        for file in files(folder, ".rs") {
            let text = fs::read_to_string(&file).expect("a readable source file");
            if !text.starts_with("//! ") {
                wrong.push(format!("{} does not begin with `//! `", shown(&file)));
            }
        }
    }
    assert_none(&wrong);
}

/// Outside the devices: where files are mapped.
const ALLOWED: [&str; 1] = ["files/src/mapped.rs"];

#[test]
fn unsafe_code_stands_in_the_devices_and_where_files_are_mapped() {
    let mut wrong = Vec::new();
    for folder in ["artifact", "files", "compiler", "runtime", "tests"] {
        for file in files(folder, ".rs") {
            let name = shown(&file);
            let text = fs::read_to_string(&file).expect("a readable source file");
            // Spelled so that this file does not find itself.
            let blocks = [concat!("unsafe", " {"), concat!("unsafe", " fn"), concat!("unsafe", " impl")];
            let allowed = name.starts_with("runtime/src/device/") || ALLOWED.contains(&&*name);
            if !allowed && blocks.iter().any(|block| text.contains(block)) {
                wrong.push(format!("{name} has unsafe code"));
            }
        }
    }
    assert_none(&wrong);
}

/// What is printed is a result, and goes through one place; what is left to do stands in no source file.
#[test]
fn no_file_mentions_what_is_not_there() {
    let words =
        [concat!("todo", "!("), concat!("unimplemented", "!("), concat!("dbg", "!("), concat!("FIX", "ME")];
    let mut wrong = Vec::new();
    for folder in ["artifact", "files", "compiler", "runtime", "tests"] {
        for file in files(folder, ".rs") {
            let text = fs::read_to_string(&file).expect("a readable source file");
            for word in words.iter().filter(|word| text.contains(**word)) {
                wrong.push(format!("{} has `{word}`", shown(&file)));
            }
        }
    }
    assert_none(&wrong);
}
