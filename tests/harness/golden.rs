//! Expected texts that are for people as well: a page of the book ([`check`]), or a program, then sections of
//! comments that say what became of it ([`sections`]).
//!
//! ```text
//! ;; What it shows.
//!
//! (program)
//!
//! ;;; section
//! ; what the section says today
//! ```
//!
//! `SX_BLESS=1` writes what is so now; the difference is then read like code.

use std::fs;
use std::path::Path;

/// Compares `text` with the file at `path`.
pub fn check(path: impl AsRef<Path>, text: &str) {
    let path = path.as_ref();
    let expected = fs::read_to_string(path).unwrap_or_default();
    if expected == text {
        return;
    }
    if std::env::var_os("SX_BLESS").is_some() {
        fs::write(path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        return;
    }
    let shown = crate::shown(path);
    panic!("{shown} is out of date; SX_BLESS=1 accepts:\n{}", difference(&expected, text));
}

/// Compares every section of the file at `path` with what `stage(section, program)` says today.
pub fn sections(path: &Path, stage: impl Fn(&str, &str) -> String) -> Result<(), String> {
    let shown = crate::shown(path);
    let file = fs::read_to_string(path).map_err(|error| format!("{shown}: {error}"))?;
    let (program, sections) = parts(&file);
    if sections.is_empty() {
        return Err(format!("{shown}: no section, such as `;;; errors`, says what to expect"));
    }
    let mut fresh = program.to_owned();
    for name in sections {
        fresh += &format!(";;; {name}\n");
        for line in stage(name, program).lines() {
            fresh += format!("; {line}").trim_end();
            fresh += "\n";
        }
        fresh += "\n";
    }
    let fresh = format!("{}\n", fresh.trim_end());
    if fresh == file {
        return Ok(());
    }
    if std::env::var_os("SX_BLESS").is_some() {
        return fs::write(path, fresh).map_err(|error| format!("{shown}: {error}"));
    }
    Err(format!("{shown} is out of date; SX_BLESS=1 accepts:\n{}", difference(&file, &fresh)))
}

/// The program and the names of the sections behind it. A section begins at a line's start.
pub fn parts(file: &str) -> (&str, Vec<&str>) {
    let start =
        if file.starts_with(";;; ") { 0 } else { file.find("\n;;; ").map_or(file.len(), |at| at + 1) };
    let (program, rest) = file.split_at(start);
    (program, rest.lines().filter_map(|line| line.strip_prefix(";;; ")).map(str::trim).collect())
}

/// The lines in which two texts differ, with two around them.
pub fn difference(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let same = |(a, b): &(&&str, &&str)| a == b;
    let head = old.iter().zip(&new).take_while(same).count();
    let most = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(same).count().min(most);
    let mut out = String::new();
    let mut put = |mark: &str, lines: &[&str]| {
        for line in lines {
            out += &format!("{mark}{line}\n");
        }
    };
    put("  ", &old[head.saturating_sub(2)..head]);
    put("- ", &old[head..old.len() - tail]);
    put("+ ", &new[head..new.len() - tail]);
    put("  ", &old[old.len() - tail..old.len().min(old.len() - tail + 2)]);
    out
}
