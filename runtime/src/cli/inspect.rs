//! `sxrun inspect`: what an artifact holds and needs.

use super::calls::open;
use super::{Failure, Terminal, json};
use serde_json::{Value, json};
use std::path::PathBuf;
use sx_artifact::code::Target;
use sx_artifact::manifest::{Graph, Param};
use sx_runtime::cost::{self, Cost};
use sx_runtime::device::cpu;
use sx_runtime::session::described;
use sx_runtime::{Error, Model};

pub(super) const EXAMPLE: &str = "\
Examples:
  sxrun inspect model.sxa
  sxrun inspect model.sxa --json";

#[derive(clap::Args)]
pub(super) struct Args {
    /// The artifact.
    file: PathBuf,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, terminal: &Terminal) -> Result<(), Failure> {
    let model = open(&args.file, None)?;
    let graphs =
        model.graphs().iter().map(|graph| Inside::of(&model, graph)).collect::<Result<Vec<_>, _>>()?;
    let text = if args.json { json::document(&as_json(&model, &graphs)) } else { as_text(&model, &graphs) };
    terminal.result(&text)
}

/// A graph and what its program is made of.
struct Inside<'a> {
    graph: &'a Graph,
    kernels: Vec<String>,
    cost: Cost,
    /// Bytes that each thread of the CPU works on, where there is code for it.
    working: Option<u64>,
}

impl<'a> Inside<'a> {
    fn of(model: &Model, graph: &'a Graph) -> Result<Inside<'a>, Error> {
        let program = model.artifact().program(&graph.name)?;
        let kernels = program.kernels.iter().map(|kernel| kernel.name.clone()).collect();
        let on_cpu = model.targets().contains(&Target::Cpu);
        let working = on_cpu.then(|| cpu::working_bytes(&program)).transpose()?;
        Ok(Inside { graph, kernels, cost: cost::of(&program), working })
    }
}

fn param_bytes(model: &Model) -> u64 {
    let bytes = |param: &Param| param.shape.iter().product::<u64>() * param.dtype.size() as u64;
    model.artifact().manifest().params.iter().map(bytes).sum()
}

fn as_json(model: &Model, graphs: &[Inside<'_>]) -> Value {
    let manifest = model.artifact().manifest();
    let graph = |inside: &Inside<'_>| {
        let mut value = json!(inside.graph);
        value["working-bytes"] = json!(inside.working);
        value["kernels"] = json!(inside.kernels);
        value["launches"] = json!(inside.cost.launches);
        value["flops"] = json!(inside.cost.flops);
        value["bytes"] = json!(inside.cost.bytes);
        value
    };
    json!({
        "id": model.artifact().id(),
        "format": manifest.format,
        "compiler": manifest.compiler,
        "targets": manifest.targets,
        "file-bytes": model.artifact().file_len(),
        "graphs": graphs.iter().map(graph).collect::<Vec<_>>(),
        "params": manifest.params,
        "param-bytes": param_bytes(model),
        "weights": manifest.weights,
        "entries": manifest.entries,
    })
}

fn as_text(model: &Model, graphs: &[Inside<'_>]) -> String {
    let manifest = model.artifact().manifest();
    let targets: Vec<&str> = manifest.targets.iter().map(|target| target.name()).collect();
    let place = if manifest.weights.is_some() { ", in a file of their own" } else { "" };
    let mut lines = vec![
        format!("id        {}", model.artifact().id()),
        format!("format    {}, made by {}", manifest.format, manifest.compiler),
        format!("targets   {}", targets.join(", ")),
        format!("file      {} bytes", model.artifact().file_len()),
        format!("weights   {} parameters, {} bytes{place}", manifest.params.len(), param_bytes(model)),
    ];
    for Inside { graph, kernels, cost, working } in graphs {
        lines.push(format!("\ngraph `{}`", graph.name));
        lines.extend(graph.inputs.iter().map(|port| format!("  input   {}", described(port))));
        lines.extend(graph.outputs.iter().map(|port| format!("  output  {}", described(port))));
        let memory = graph.memory.iter();
        lines.extend(memory.map(|need| format!("  memory  {} bytes on {}", need.bytes, need.target)));
        let working = working.map(|bytes| format!("  working {bytes} bytes for each thread of the cpu"));
        lines.extend(working);
        let Cost { flops, bytes, launches } = cost;
        lines.push(format!("  a call  {flops} operations, {bytes} bytes, {launches} launches"));
        lines.push(format!("  kernels {}", kernels.join(", ")));
    }
    if !manifest.params.is_empty() {
        lines.push("\nparameters".to_owned());
        let params = manifest.params.iter();
        lines.extend(params.map(|param| format!("  `{}` {:?} {}", param.name, param.shape, param.dtype)));
    }
    lines.push("\nentries: BLAKE3 digest, bytes, name".to_owned());
    let entries = manifest.entries.iter();
    lines.extend(entries.map(|entry| format!("  {} {:>12} {}", entry.blake3, entry.length, entry.name)));
    lines.join("\n") + "\n"
}
