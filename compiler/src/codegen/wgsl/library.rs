//! The functions that kernels call, as text: each kernel carries only those it reaches.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

static FUNCTIONS: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
    let texts = [
        include_str!("../../../../shaders/preamble.wgsl"),
        include_str!("../../../../shaders/i64.wgsl"),
        &super::scalar::maths_text(),
    ]
    .join("\n");
    split(&texts)
});

/// The functions of `text` by name, with the comment lines right before them.
fn split(text: &str) -> BTreeMap<String, String> {
    let mut functions = BTreeMap::new();
    let mut pending = String::new();
    for line in text.lines() {
        if line.is_empty() {
            pending.clear();
            continue;
        }
        pending.push_str(line);
        pending.push('\n');
        if line == "}" || (line.starts_with("fn ") && line.ends_with('}')) {
            let start = pending.find("fn ").expect("a closing brace ends a function") + 3;
            let name = pending[start..].split('(').next().expect("a split has a first part").to_owned();
            functions.insert(name, std::mem::take(&mut pending));
        }
    }
    functions
}

/// The text of all functions that `text` calls, directly or not, in the order of their names.
pub(super) fn reached(text: &str) -> String {
    let mut names: BTreeSet<&str> = BTreeSet::new();
    let mut pending = vec![text];
    while let Some(text) = pending.pop() {
        for word in text.split(|c: char| !c.is_alphanumeric() && c != '_') {
            if let Some((name, body)) = FUNCTIONS.get_key_value(word)
                && names.insert(name)
            {
                pending.push(body);
            }
        }
    }
    names.iter().map(|name| format!("\n{}", FUNCTIONS[*name])).collect()
}
