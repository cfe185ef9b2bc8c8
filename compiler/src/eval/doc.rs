//! What there is to say about each name of the language: from the tables, and from the library's own text.

use super::module::LIBRARY;
use super::words::{WORDS, Word};
use super::{builtin, special};
use crate::diag::{Sink, Sources};
use crate::ir::Op;
use crate::ops::called::called;
use crate::ops::{About, rules};
use crate::syntax::{self, Datum, Tree};

/// A form, a function or another word, documented.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doc {
    /// Its name.
    pub name: String,
    /// The module it is in, where it must be imported.
    pub module: Option<String>,
    /// How it is written.
    pub signature: String,
    /// The parameters that a call may leave out.
    pub optional: Vec<Optional>,
    /// What it does, in one line.
    pub summary: String,
    /// Uses, a line each, with the value after `; =>` where there is one.
    pub example: String,
    /// The chapter of the book's page about operations that it stands in, if it is a function.
    pub chapter: Option<&'static str>,
}

/// A parameter that may be left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Optional {
    /// Its name, or its keyword with the colon.
    pub name: String,
    /// What it is where it is left out, if the signature says so.
    pub default: Option<String>,
}

/// The documentation of a name.
pub fn doc(name: &str) -> Option<Doc> {
    documented().into_iter().find(|doc| doc.name == name)
}

/// Every form, function and word of the language and its library.
pub fn documented() -> Vec<Doc> {
    let row = |name: &str, signature: &str, summary: &str, example: &str, keys: &[&str]| Doc {
        name: name.to_string(),
        module: None,
        signature: signature.to_string(),
        optional: optional(signature, &|key| keys.contains(&key)),
        summary: joined(name, summary, "; ", |about| about.summary),
        example: joined(name, example, "\n", |about| about.example),
        chapter: None,
    };
    let mut docs: Vec<Doc> = special::all()
        .map(|s| Doc { chapter: of_form(s.name), ..row(s.name, s.signature, s.summary, s.example, &[]) })
        .collect();
    docs.extend(builtin::all().filter(|b| !b.name.starts_with('%')).map(|b| {
        let signature =
            if b.signature.starts_with('(') { b.signature.to_string() } else { format!("({} x)", b.name) };
        Doc { chapter: Some(of_builtin(b.name)), ..row(b.name, &signature, b.summary, b.example, b.keys) }
    }));
    for (module, (file, text)) in LIBRARY {
        let import = (module != "sx/prelude").then(|| module.to_string());
        let mut sources = Sources::default();
        let file = sources.add_library(file, text);
        let trees = syntax::read(&sources, file, &mut Sink::default());
        docs.extend(trees.iter().filter_map(|tree| library_doc(tree, &sources, &import)));
    }
    let word = |word: &Word| Doc {
        optional: Vec::new(),
        ..row(word.name, word.signature, word.summary, word.example, &[])
    };
    docs.extend(WORDS.iter().map(word));
    docs
}

/// What an operation says of itself, and what a function says beside it.
fn joined(name: &str, own: &str, between: &str, of: fn(&About<'_>) -> &'static str) -> String {
    let operation = called(name).map_or("", |op| of(&rules(op).about()));
    let parts = [operation, own].into_iter().filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(between)
}

/// The forms that are operations, too.
fn of_form(name: &str) -> Option<&'static str> {
    match name {
        "and" | "or" => Some("Elementwise"),
        "as" | "to" => Some("Types"),
        _ => None,
    }
}

fn of_builtin(name: &str) -> &'static str {
    match called(name) {
        Some(Op::Cast(_)) => "Types",
        Some(Op::Index(_) | Op::Gather(_)) => "Indexing",
        _ => {
            let table = builtin::TABLES.iter().find(|(_, table)| table.iter().any(|b| b.name == name));
            table.map_or("Elementwise", |(chapter, _)| chapter)
        }
    }
}

/// The parameters of a signature that may be left out: those behind `&optional`, and its keywords.
fn optional(signature: &str, is_key: &dyn Fn(&str) -> bool) -> Vec<Optional> {
    let mut sources = Sources::default();
    let file = sources.add_library("signature", signature);
    let trees = syntax::read(&sources, file, &mut Sink::default());
    let Some(Tree { datum: Datum::List(items), .. }) = trees.first() else { return Vec::new() };
    let text = |tree: &Tree| sources.slice(tree.span).to_string();
    let mut optional = Vec::new();
    let mut behind = false;
    let mut items = items.iter();
    while let Some(item) = items.next() {
        match &item.datum {
            Datum::Symbol(mark) if mark == "&optional" => behind = true,
            Datum::Keyword(key) if is_key(key) => {
                optional.push(Optional { name: text(item), default: items.next().map(text) });
            }
            _ if behind && !text(item).ends_with("...") => {
                let (name, default) = match &item.datum {
                    Datum::List(pair) if pair.len() == 2 => (text(&pair[0]), Some(text(&pair[1]))),
                    _ => (text(item), None),
                };
                optional.push(Optional { name, default });
            }
            _ => {}
        }
    }
    optional
}

/// A function of the library: its docstring is a summary, a blank line, and an example.
fn library_doc(tree: &Tree, sources: &Sources, module: &Option<String>) -> Option<Doc> {
    let Datum::List(items) = &tree.datum else { return None };
    let [Tree { datum: Datum::Symbol(head), .. }, Tree { datum: Datum::Symbol(name), .. }, params, body @ ..] =
        &items[..]
    else {
        return None;
    };
    if head != "defun" || name.starts_with('%') {
        return None;
    }
    let text = body.iter().find_map(|tree| match &tree.datum {
        Datum::Str(text) => Some(text.as_str()),
        _ => None,
    })?;
    let (summary, example) = text.split_once("\n\n").unwrap_or((text, ""));
    let signature = signature(name, params, sources);
    Some(Doc {
        name: name.clone(),
        module: module.clone(),
        chapter: Some(if module.is_some() { "sx/nn" } else { "Prelude" }),
        optional: optional(&signature, &|_| true),
        signature,
        summary: summary.split_whitespace().collect::<Vec<_>>().join(" "),
        example: example.trim().to_string(),
    })
}

/// `(layer-norm x scale &optional shift :eps 1e-5)`: keywords with their defaults, and what may be left out behind
/// `&optional`, with its default where it is not nil.
fn signature(name: &str, params: &Tree, sources: &Sources) -> String {
    let mut words = vec![name.to_string()];
    let mut section = "";
    let items = if let Datum::List(items) = &params.datum { &items[..] } else { &[] };
    let text = |tree: &Tree| sources.slice(tree.span).to_string();
    let name_of = |tree: &Tree| match &tree.datum {
        Datum::List(typed) => typed.first().map_or(String::new(), text),
        _ => text(tree),
    };
    for item in items {
        match (&item.datum, section) {
            (Datum::Symbol(mark), _) if mark.starts_with('&') => {
                section = mark;
                words.extend((mark == "&optional").then(|| mark.clone()));
            }
            (Datum::Symbol(param), "&key") => words.push(format!(":{param} nil")),
            (Datum::Symbol(param), "&rest") => words.push(format!("{param}...")),
            (Datum::Symbol(param), _) => words.push(param.clone()),
            (Datum::List(_), "&rest") => words.push(format!("{}...", name_of(item))),
            (Datum::List(pair), "&key") if pair.len() == 2 => {
                words.push(format!(":{} {}", name_of(&pair[0]), text(&pair[1])));
            }
            (Datum::List(pair), "&optional") if pair.len() == 2 => {
                words.push(format!("({} {})", name_of(&pair[0]), text(&pair[1])));
            }
            (Datum::List(pair), "&optional" | "&key") => {
                let colon = if section == "&key" { ":" } else { "" };
                let default = if section == "&key" { " nil" } else { "" };
                words.extend(pair.first().map(|typed| format!("{colon}{}{default}", name_of(typed))));
            }
            (Datum::List(typed), _) => words.extend(typed.first().map(text)),
            _ => {}
        }
    }
    format!("({})", words.join(" "))
}
