//! `sxc doc`: what there is to say about an operation, a function, a form or another word.

use serde_json::json;

use super::args::Doc;
use super::{Exit, Failure, Terminal};
use crate::diag::suggest;
use crate::eval;

pub(super) fn run(args: &Doc, terminal: &Terminal) -> Result<Exit, Failure> {
    let all = eval::documented();
    let Some(asked) = &args.name else {
        return list(&all, args.json, terminal);
    };
    let Some(doc) = all.iter().find(|doc| doc.name == *asked) else {
        let failure = Failure::new(Exit::Usage, format!("nothing is called `{asked}`"));
        return Err(match suggest::nearest(asked, all.iter().map(|doc| doc.name.as_str())) {
            Some(near) => failure.help(format!("did you mean `{near}`? `sxc doc` lists all names")),
            None => failure.help("`sxc doc` lists all names"),
        });
    };
    if args.json {
        terminal.result(&format!("{}\n", record(doc)))?;
    } else {
        terminal.result(&page(doc))?;
    }
    Ok(Exit::Done)
}

fn list(all: &[eval::Doc], json: bool, terminal: &Terminal) -> Result<Exit, Failure> {
    if json {
        let records: Vec<_> = all.iter().map(record).collect();
        terminal.result(&format!("{}\n", json!(records)))?;
        return Ok(Exit::Done);
    }
    let mut names: Vec<&eval::Doc> = all.iter().collect();
    names.sort_by(|a, b| a.name.cmp(&b.name));
    let lines = names.iter().map(|doc| {
        let module = doc.module.as_deref().map(|module| format!(" ({module})")).unwrap_or_default();
        format!("{:<20} {}{module}\n", doc.name, doc.summary)
    });
    terminal.result(&lines.collect::<String>())?;
    Ok(Exit::Done)
}

fn record(doc: &eval::Doc) -> serde_json::Value {
    json!({
        "name": doc.name,
        "module": doc.module,
        "signature": doc.signature,
        "optional": doc.optional.iter().map(|it| json!({ "name": it.name, "default": it.default })).collect::<Vec<_>>(),
        "summary": doc.summary,
        "example": doc.example,
    })
}

fn page(doc: &eval::Doc) -> String {
    let mut page = format!("{}\n\n{}\n", doc.signature, doc.summary);
    if !doc.optional.is_empty() {
        let each = doc.optional.iter().map(|it| match it.default.as_deref().filter(|it| *it != "nil") {
            Some(default) => format!("{} (then {default})", it.name),
            None => it.name.clone(),
        });
        page += &format!("\nMay be left out: {}.\n", each.collect::<Vec<_>>().join(", "));
    }
    if let Some(module) = &doc.module {
        page += &format!("\nImport it with (import {module}).\n");
    }
    if !doc.example.is_empty() {
        page += "\nExample:\n";
        for line in doc.example.lines() {
            page += &format!("  {line}\n");
        }
    }
    page
}
