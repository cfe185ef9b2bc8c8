//! `sxrun devices`: what this machine has, and whether an artifact fits it.

use super::{Failure, Terminal, json};
use serde_json::{Value, json};
use std::path::PathBuf;
use sx_artifact::program::Role;
use sx_runtime::device::{self, Found};
use sx_runtime::{Error, Model};

pub(super) const EXAMPLE: &str = "\
Examples:
  sxrun devices
  sxrun devices model.sxa --json";

#[derive(clap::Args)]
pub(super) struct Args {
    /// An artifact that should fit.
    file: Option<PathBuf>,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

/// Whether an artifact fits a device; without an artifact there is nothing to say.
enum Fit {
    Unasked,
    Fits,
    Obstacle(String),
}

pub(super) fn run(args: &Args, terminal: &Terminal) -> Result<(), Failure> {
    let model = args.file.as_ref().map(Model::open).transpose()?;
    let devices = device::devices();
    let mut rows = Vec::new();
    for found in &devices.found {
        rows.push((found, model.as_ref().map_or(Ok(Fit::Unasked), |model| fit(model, found))?));
    }
    if args.json {
        let rows: Vec<Value> = rows.iter().map(|(found, fit)| as_json(found, fit)).collect();
        return terminal.result(&json::document(&json!({ "devices": rows, "no-gpu": devices.no_gpu })));
    }
    let text: String = rows.iter().map(|(found, fit)| as_text(found, fit)).collect();
    terminal.result(&text)?;
    if let Some(why) = devices.no_gpu {
        terminal.note(&format!("note: {why}"));
    }
    Ok(())
}

fn as_text(found: &Found, fit: &Fit) -> String {
    let Found { id, name, backend, driver, .. } = found;
    let on = if found.is_cpu && found.target != "cpu" { ", runs on the processor" } else { "" };
    let mut text = format!("{id:<8} {name} ({backend}, {driver}{on})\n");
    if let Some(bytes) = found.max_buffer_bytes {
        text += &format!("         buffers of up to {bytes} bytes\n");
    }
    match fit {
        Fit::Unasked => {}
        Fit::Fits => text += "         the artifact fits\n",
        Fit::Obstacle(why) => text += &format!("         the artifact does not fit: {why}\n"),
    }
    text
}

fn as_json(found: &Found, fit: &Fit) -> Value {
    let mut row = json!({
        "id": found.id,
        "name": found.name,
        "target": found.target,
        "backend": found.backend,
        "driver": found.driver,
        "on-processor": found.is_cpu,
        "max-buffer-bytes": found.max_buffer_bytes,
    });
    match fit {
        Fit::Unasked => {}
        Fit::Fits => row["fits"] = json!(true),
        Fit::Obstacle(why) => {
            row["fits"] = json!(false);
            row["reason"] = json!(why);
        }
    }
    row
}

fn fit(model: &Model, found: &Found) -> Result<Fit, Error> {
    if !model.targets().iter().any(|target| target == found.target) {
        let has = model.targets().join(", ");
        return Ok(Fit::Obstacle(format!(
            "it was built for {has}; build it with `--target {}`",
            found.target
        )));
    }
    let Some(most) = found.max_buffer_bytes else { return Ok(Fit::Fits) };
    for graph in model.graphs() {
        let program = model.artifact().program(&graph.name)?;
        let own = program.resources.iter().filter(|it| !matches!(it.role, Role::Scratch { .. }));
        let own = own.map(|it| (format!("`{}`", it.name), it.bytes()));
        let slots =
            program.slots.iter().enumerate().map(|(number, &bytes)| (format!("slot {number}"), bytes));
        if let Some((name, bytes)) = own.chain(slots).find(|(_, bytes)| *bytes > most) {
            let why = format!("{name} of `{}` has {bytes} bytes, a buffer at most {most}", graph.name);
            return Ok(Fit::Obstacle(why));
        }
    }
    Ok(Fit::Fits)
}
