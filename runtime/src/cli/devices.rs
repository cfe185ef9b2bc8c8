//! `sxrun devices`: what this machine has, and whether an artifact fits it.

use super::{Failure, Terminal, json};
use serde_json::{Value, json};
use std::path::PathBuf;
use sx_artifact::code::Target;
use sx_runtime::device::{self, Found, Limits, fit};
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
        rows.push((found, fit(model.as_ref(), found)?));
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
    let on = if found.is_cpu && found.target != Target::Cpu { ", runs on the processor" } else { "" };
    let mut text = format!("{id:<8} {name} ({backend}, {driver}{on})\n");
    if let Some(bytes) = found.memory_bytes {
        text += &format!("         {bytes} bytes of memory\n");
    }
    if let Some(limits) = &found.limits {
        let Limits { buffer_bytes, binding_bytes, storage_buffers, workgroup_bytes, invocations, groups } =
            limits;
        text +=
            &format!("         buffers of up to {buffer_bytes} bytes, bindings of up to {binding_bytes}\n");
        text += &format!(
            "         {storage_buffers} storage buffers, {workgroup_bytes} bytes of workgroup memory, \
             {invocations} invocations in a workgroup, {groups} workgroups along an axis\n"
        );
    }
    if !found.features.is_empty() {
        text += &format!("         {}\n", found.features.join(", "));
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
        "memory-bytes": found.memory_bytes,
        "features": found.features,
    });
    if let Some(limits) = &found.limits {
        row["limits"] = json!({
            "buffer-bytes": limits.buffer_bytes,
            "binding-bytes": limits.binding_bytes,
            "storage-buffers": limits.storage_buffers,
            "workgroup-bytes": limits.workgroup_bytes,
            "invocations": limits.invocations,
            "groups": limits.groups,
        });
    }
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

fn fit(model: Option<&Model>, found: &Found) -> Result<Fit, Error> {
    let Some(model) = model else { return Ok(Fit::Unasked) };
    Ok(fit::obstacle(model, found)?.map_or(Fit::Fits, Fit::Obstacle))
}
