//! `sxc ir`: the graphs of a program as text, after a stage.

use serde_json::json;

use super::args::{Ir, Stage};
use super::{Exit, Failure, Terminal, check};
use crate::diag::Sources;
use crate::driver;
use crate::ir::{Graph, Origin, dot, text};

pub(super) fn run(args: &Ir, terminal: &Terminal) -> Result<Exit, Failure> {
    let checked = driver::check(&args.program, &args.graphs)?;
    terminal.diagnostics(&checked.sink, &checked.sources);
    let Some(module) = checked.module else {
        return Err(Failure::told());
    };
    if module.graphs.is_empty() {
        let message = format!("`{}` has no graph", args.program.file.display());
        return Err(Failure::new(Exit::Fault, message).help("a graph is written `(defgraph name (inputs…) body…)`"));
    }
    let shown: Vec<(String, String)> = module
        .graphs
        .iter()
        .map(|graph| (graph.name.clone(), stage(graph, args.after, args.dot, &checked.sources)))
        .collect();
    if args.json {
        let graphs: Vec<_> = shown.iter().map(|(name, text)| json!({ "name": name, "text": text })).collect();
        terminal.result(&format!("{}\n", json!({ "graphs": graphs })))?;
    } else {
        let texts: Vec<String> = shown.into_iter().map(|(_, text)| text).collect();
        terminal.result(&texts.join("\n"))?;
    }
    Ok(check::verdict(&checked.sink, None))
}
