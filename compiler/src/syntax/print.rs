//! A tree as one line of text, which reads back as the same tree.

use std::fmt::Write;

use super::lex::Mark;
use super::{Datum, Tree};

/// `tree` on one line.
pub fn print(tree: &Tree) -> String {
    let mut out = String::new();
    write_tree(&mut out, tree, 0);
    out
}

/// A string as a datum: in quotes, with escapes.
pub fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\0' => out.push_str("\\0"),
            c if c.is_control() => _ = write!(out, "\\u{{{:x}}}", c as u32),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A float as a datum: the shortest text that reads back as the same value, and never as an integer.
pub fn float(value: f64) -> String {
    if value.is_nan() { "nan".to_owned() } else { format!("{value:?}") }
}

/// `level` counts the quasiquotes around the tree: a comma has no meaning outside of them.
fn write_tree(out: &mut String, tree: &Tree, level: u32) {
    match &tree.datum {
        Datum::List(items) => match marked(items, level) {
            Some((mark, inner)) => {
                out.push_str(mark.spelling());
                let level = match mark {
                    Mark::Quote => level,
                    Mark::Quasiquote => level + 1,
                    Mark::Unquote | Mark::Splice => level - 1,
                };
                write_tree(out, inner, level);
            }
            None => write_all(out, ['(', ')'], items, level),
        },
        Datum::Vector(items) => write_all(out, ['[', ']'], items, level),
        Datum::Str(text) => out.push_str(&quoted(text)),
        Datum::Keyword(name) => {
            out.push(':');
            out.push_str(name);
        }
        Datum::Symbol(name) => out.push_str(name),
        Datum::Int(value) => _ = write!(out, "{value}"),
        Datum::Float(value) => out.push_str(&float(*value)),
        Datum::Bool(value) => _ = write!(out, "{value}"),
        Datum::Nil => out.push_str("nil"),
    }
}

fn write_all(out: &mut String, [open, close]: [char; 2], items: &[Tree], level: u32) {
    out.push(open);
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            out.push(' ');
        }
        write_tree(out, item, level);
    }
    out.push(close);
}

/// The mark that a list is written with, and the datum behind it.
fn marked(items: &[Tree], level: u32) -> Option<(Mark, &Tree)> {
    let [Tree { datum: Datum::Symbol(name), .. }, inner] = items else { return None };
    let mark = Mark::named(name)?;
    let allowed = level > 0 || matches!(mark, Mark::Quote | Mark::Quasiquote);
    allowed.then_some((mark, inner))
}
