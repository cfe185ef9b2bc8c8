//! Expected texts that live in files: `SX_BLESS=1` writes what is so now, to be read like code.

use std::path::Path;

/// Compares `text` with the file at `path`, or writes it there under `SX_BLESS`.
pub fn check(path: impl AsRef<Path>, text: &str) {
    let path = path.as_ref();
    let expected = std::fs::read_to_string(path).unwrap_or_default();
    if expected == text {
        return;
    }
    if std::env::var_os("SX_BLESS").is_some() {
        std::fs::write(path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        return;
    }
    let (mut old, mut new) = (expected.lines(), text.lines());
    let mut line = 0;
    let (old, new) = loop {
        line += 1;
        match (old.next(), new.next()) {
            (a, b) if a == b && a.is_some() => continue,
            (a, b) => break (a.unwrap_or("(nothing)"), b.unwrap_or("(nothing)")),
        }
    };
    panic!(
        "{}:{line} is out of date\n  expected: {old}\n  now:      {new}\nSX_BLESS=1 accepts",
        path.display()
    );
}
