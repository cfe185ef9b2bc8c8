//! What there is to say about each form and function: from the tables, and from the library's own text.

use super::module::LIBRARY;
use super::{builtin, special};
use crate::diag::{Sink, Sources};
use crate::syntax::{self, Datum, Tree};

/// A form or a function, documented.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doc {
    /// Its name.
    pub name: String,
    /// The module it is in, where it must be imported.
    pub module: Option<String>,
    /// How it is written.
    pub signature: String,
    /// What it does, in one line.
    pub summary: String,
    /// A use, with its value after `; =>` where it is an ordinary one.
    pub example: String,
}

/// The documentation of a name.
pub fn doc(name: &str) -> Option<Doc> {
    documented().into_iter().find(|doc| doc.name == name)
}

/// Every form and function of the language and its library.
pub fn documented() -> Vec<Doc> {
    let row = |name: &str, signature: &str, summary: &str, example: &str| Doc {
        name: name.to_string(),
        module: None,
        signature: signature.to_string(),
        summary: summary.to_string(),
        example: example.to_string(),
    };
    let mut docs: Vec<Doc> = special::all().map(|s| row(s.name, s.signature, s.summary, s.example)).collect();
    docs.extend(builtin::all().filter(|b| !b.name.starts_with('%')).map(|b| {
        let signature =
            if b.signature.starts_with('(') { b.signature.to_string() } else { format!("({} x)", b.name) };
        row(b.name, &signature, b.summary, b.example)
    }));
    for (module, (file, text)) in LIBRARY {
        let import = (module != "sx/prelude").then(|| module.to_string());
        let mut sources = Sources::default();
        let file = sources.add_library(file, text);
        let trees = syntax::read(&sources, file, &mut Sink::default());
        docs.extend(trees.iter().filter_map(|tree| library_doc(tree, &sources, &import)));
    }
    docs
}

/// A function of the library: its docstring is a summary, a blank line, and an example.
fn library_doc(tree: &Tree, sources: &Sources, module: &Option<String>) -> Option<Doc> {
    let Datum::List(items) = &tree.datum else { return None };
    let [Tree { datum: Datum::Symbol(head), .. }, Tree { datum: Datum::Symbol(name), .. }, params, body @ ..] =
        items.as_slice()
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
    Some(Doc {
        name: name.clone(),
        module: module.clone(),
        signature: signature(name, params, sources),
        summary: summary.split_whitespace().collect::<Vec<_>>().join(" "),
        example: example.trim().to_string(),
    })
}

/// `(softmax x :axis -1)`: keywords with their defaults, optional parameters with theirs.
fn signature(name: &str, params: &Tree, sources: &Sources) -> String {
    let mut words = vec![name.to_string()];
    let mut keys = false;
    let items = if let Datum::List(items) = &params.datum { items.as_slice() } else { &[] };
    for item in items {
        match &item.datum {
            Datum::Symbol(mark) if mark.starts_with('&') => {
                keys = mark == "&key";
                continue;
            }
            Datum::Symbol(param) if keys => words.push(format!(":{param} nil")),
            Datum::Symbol(param) => words.push(param.clone()),
            Datum::List(pair) => {
                let text = |tree: &Tree| sources.slice(tree.span).to_string();
                match pair.as_slice() {
                    [param, default] if keys => words.push(format!(":{} {}", text(param), text(default))),
                    [param, ..] => words.push(text(param)),
                    [] => {}
                }
            }
            _ => {}
        }
    }
    format!("({})", words.join(" "))
}
