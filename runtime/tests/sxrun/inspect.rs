//! What `sxrun inspect` says of a small artifact, but for what differs from version to version.

use super::folder::Folder;
use serde_json::{Value, json};

/// Digests and the bytes of files and entries are words in the snapshots.
fn masked(text: &str) -> String {
    let line = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["id", _] => "id        DIGEST\n".to_owned(),
            ["file", _, "bytes"] => "file      BYTES bytes\n".to_owned(),
            [digest, _, name] if digest.len() == 64 => format!("  DIGEST BYTES {name}\n"),
            _ => line.to_owned() + "\n",
        }
    };
    text.lines().map(line).collect()
}

/// As [`masked`], by the names of the fields.
fn mask(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                match name.as_str() {
                    "id" | "file-bytes" | "blake3" | "crc32" | "length" => *field = json!("MASKED"),
                    _ => mask(field),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(mask),
        _ => {}
    }
}

fn check(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

#[test]
fn an_artifact_is_inspected() {
    let folder = Folder::new();
    let inspect = |options: &[&str]| {
        let (status, out, err) = folder.sxrun(&[&["inspect", "model.sxa"], options].concat());
        assert_eq!((status, err.as_str()), (0, ""));
        out
    };
    check("inspect", &masked(&inspect(&[])));
    let mut document = serde_json::from_str(&inspect(&["--json"])).expect("JSON");
    mask(&mut document);
    check("inspect-json", &format!("{document:#}"));
}
