//! `sxrun run`: a graph once or many times.

use super::calls::{Inputs, Target};
use super::{Failure, Terminal};
use serde_json::json;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use sx_artifact::write::weights_path;
use sx_files::tensors::{self, call, print};
use sx_files::{FileError, atomic};
use sx_runtime::device::{self, Context};
use sx_runtime::{Error, Outputs, Session, Tensor};

pub(super) const EXAMPLE: &str = "\
Examples:
  sxrun run add.sxa --input 'x=2x3:f32=1 2 3 4 5 6' --input y=@y.npy
  sxrun run model.sxa classify --inputs batch.npz --output answers.npz --device wgpu
  sxrun run model.sxa classify --inputs batch.npz --repeat 100 --metrics calls.jsonl";

#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    inputs: Inputs,
    /// Save instead of printing: every output in FILE.npz or FILE.safetensors, or one as NAME=FILE.npy.
    #[arg(short, long = "output", value_name = "FILE | NAME=FILE")]
    outputs: Vec<String>,
    /// Print the outputs as one JSON document.
    #[arg(long)]
    json: bool,
    /// Call the graph N times; `ctx :step` counts. The outputs are those of the last call.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Make M calls a step; `ctx :microbatch` counts.
    #[arg(long, value_name = "M", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    microbatches: u32,
    /// Write a line of JSON for each call: its number, step and microbatch, the milliseconds it took, the device.
    #[arg(long, value_name = "FILE")]
    metrics: Option<PathBuf>,
}

impl Args {
    /// Refuses to write metrics over what is run.
    fn spare_the_artifact(&self) -> Result<(), Failure> {
        let there = |path: &Path| std::fs::canonicalize(path).ok();
        let Some(metrics) = self.metrics.as_deref().and_then(there) else { return Ok(()) };
        let weights = self.target.weights.clone().unwrap_or_else(|| weights_path(&self.target.file));
        let files = [self.target.file.as_path(), &weights];
        match files.into_iter().find(|file| there(file).is_some_and(|file| file == metrics)) {
            None => Ok(()),
            Some(file) => Err(Failure::Usage(format!(
                "`{}` is what is run; name another `--metrics FILE`",
                file.display()
            ))),
        }
    }
}

pub(super) fn run(args: &Args, terminal: &Terminal) -> Result<(), Failure> {
    let start = Instant::now();
    let model = args.target.model()?;
    let graph = model.graph(args.target.graph.as_deref())?;
    let names: Vec<&str> = graph.outputs.iter().map(|port| port.name.as_str()).collect();
    let saves = call::saves(&args.outputs, &names)?;
    let inputs = args.inputs.load(&graph.inputs, None)?;
    let selected = device::select_for(&args.target.device, &model, &graph.name)?;
    let mut session = Session::new(&model, &graph.name, &*selected.device)?;
    terminal.detail(&format!(
        "`{}` on {}: ready in {:.1} ms, {} bytes on the device",
        graph.name,
        selected.device.name(),
        start.elapsed().as_secs_f64() * 1e3,
        session.allocated_bytes(),
    ));
    let called = Instant::now();
    args.spare_the_artifact()?;
    let metrics = args.metrics.as_deref().map(|path| Metrics::create(path, selected.device.name()));
    let outputs = calls(args, &mut session, &inputs, metrics.transpose()?, terminal)?;
    terminal.detail(&format!("ran in {:.3} ms", called.elapsed().as_secs_f64() * 1e3));
    let all: Vec<(&str, &Tensor)> = outputs.iter().collect();
    for save in &saves {
        save.write(&all)?;
        terminal.note(&format!("wrote {}", save.path.display()));
    }
    let printed = all.into_iter().filter(|(name, _)| !saves.iter().any(|save| save.has(name)));
    if args.json {
        let device = selected.device.name();
        let document = tensors::json::Outputs { graph: &graph.name, device, outputs: printed.collect() };
        let text = serde_json::to_string(&document).expect("names and numbers always have a JSON form");
        return terminal.result(&(text + "\n"));
    }
    let text: String = printed.map(|(name, tensor)| print::tensor(name, tensor) + "\n").collect();
    terminal.result(&text)
}

/// Every call that the options ask for; the outputs of the last.
fn calls(
    args: &Args,
    session: &mut Session,
    inputs: &[(String, Tensor)],
    mut metrics: Option<Metrics>,
    terminal: &Terminal,
) -> Result<Outputs, Failure> {
    let inputs: Vec<(&str, &Tensor)> = inputs.iter().map(|(name, tensor)| (name.as_str(), tensor)).collect();
    let shown = args.repeat > 1 && terminal.shows_progress();
    let mut progress = Progress { total: args.repeat, shown, last: None };
    let mut outputs = Outputs::default();
    for step in 0..args.repeat {
        for microbatch in 0..args.microbatches {
            let context = Context { step: i64::from(step), microbatch: i64::from(microbatch) };
            let start = Instant::now();
            session.run_into(&inputs, context, &mut outputs)?;
            if let Some(metrics) = &mut metrics {
                metrics.call(context, start.elapsed())?;
            }
        }
        progress.done(step + 1);
    }
    Ok(outputs)
}

/// A file that gets a line for each call as soon as it is done, so that a run that is stopped leaves what it
/// measured.
struct Metrics {
    file: File,
    path: PathBuf,
    device: String,
    calls: u64,
    written: u64,
}

impl Metrics {
    fn create(path: &Path, device: &str) -> Result<Metrics, Failure> {
        let file = File::create(path).map_err(|error| unwritten(path, error))?;
        Ok(Metrics { file, path: path.to_owned(), device: device.to_owned(), calls: 0, written: 0 })
    }

    fn call(&mut self, context: Context, time: Duration) -> Result<(), Failure> {
        self.calls += 1;
        let line = json!({
            "call": self.calls,
            "step": context.step,
            "microbatch": context.microbatch,
            // To the nanosecond, without the digits of a float's rounding.
            "milliseconds": time.as_nanos() as f64 / 1e6,
            "device": self.device,
        });
        let line = format!("{line}\n");
        self.written += line.len() as u64;
        let written = atomic::allowed(self.written).and_then(|()| self.file.write_all(line.as_bytes()));
        written.map_err(|error| unwritten(&self.path, error))
    }
}

fn unwritten(path: &Path, source: io::Error) -> Failure {
    Error::File(FileError { action: "write", path: path.to_owned(), source }).into()
}

/// A line on stderr that is drawn over itself.
struct Progress {
    total: u32,
    shown: bool,
    last: Option<Instant>,
}

impl Progress {
    fn done(&mut self, step: u32) {
        let due = self.last.is_none_or(|last| last.elapsed().as_millis() >= 100);
        if !self.shown || !(due || step == self.total) {
            return;
        }
        self.last = Some(Instant::now());
        const WIDTH: u64 = 30;
        let done = (WIDTH * u64::from(step) / u64::from(self.total)) as usize;
        let bar = "=".repeat(done) + &" ".repeat(WIDTH as usize - done);
        let end = if step == self.total { "\n" } else { "" };
        // The line only informs: whether it can be drawn does not matter.
        let _ = write!(anstream::stderr().lock(), "\rstep {step}/{} [{bar}]{end}", self.total);
    }
}
