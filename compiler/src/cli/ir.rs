//! `sxc ir`: the graphs of a program as text, after a stage.

use serde_json::json;

use super::args::{Ir, Stage};
use super::check::{self, Loaded};
use super::{Exit, Failure, Terminal};
use crate::diag::Sources;
use crate::ir::{Graph, Origin, dot, text};
use crate::{pipeline, plan};

pub(super) fn run(args: &Ir, terminal: &Terminal) -> Result<Exit, Failure> {
    let Loaded { module, sources } = check::loaded(&args.program, &args.graphs, terminal)?;
    if args.dot && args.after > Stage::Simplify {
        let failure =
            Failure::new(Exit::Usage, "a drawing is made of a graph, and from `fuse` on there is none");
        return Err(failure.help("leave out `--dot`, or ask for `--after simplify`"));
    }
    let show = |graph: &Graph| (graph.name.clone(), stage(graph, args, &sources));
    let shown: Vec<(String, String)> = module.graphs.iter().map(show).collect();
    if args.json {
        let graphs: Vec<_> = shown.iter().map(|(name, text)| json!({ "name": name, "text": text })).collect();
        terminal.result(&format!("{}\n", json!({ "graphs": graphs })))?;
    } else {
        let texts: Vec<String> = shown.into_iter().map(|(_, text)| text).collect();
        terminal.result(&texts.join("\n"))?;
    }
    Ok(Exit::Done)
}

/// The graph after the stage that was asked for.
fn stage(graph: &Graph, args: &Ir, sources: &Sources) -> String {
    let drawn = |graph: &Graph| if args.dot { dot::print(graph) } else { printed(graph, sources) };
    match args.after {
        Stage::Trace => drawn(graph),
        Stage::Precision => drawn(&pipeline::after_precision(graph)),
        Stage::Simplify => drawn(&pipeline::after_simplify(graph)),
        Stage::Fuse => {
            let kernels = pipeline::program(graph, sources).program.kernels;
            kernels.iter().map(sx_artifact::kernel::text::print).collect::<Vec<_>>().join("\n")
        }
        Stage::Plan => plan::text::print(&pipeline::program(graph, sources).program),
    }
}

/// Each node with the line that it came from.
fn printed(graph: &Graph, sources: &Sources) -> String {
    let place = |origin: &Origin| {
        let line = sources.position(origin.span.file, origin.span.start).line;
        format!("{}:{line}", sources.name(origin.span.file))
    };
    text::print(graph, Some(&place))
}
