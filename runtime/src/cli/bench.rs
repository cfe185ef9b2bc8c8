//! `sxrun bench`: how fast a graph starts and runs, and how near that comes to what the device can do.

use super::calls::{Inputs, Target};
use super::ceiling::{self, Ceiling};
use super::{Failure, Terminal, json};
use serde_json::{Map, Value as Json, json};
use std::time::{Duration, Instant};
use sx_artifact::program::Step;
use sx_files::tensors::Value;
use sx_runtime::cost::{self, Cost};
use sx_runtime::device::{self, Context};
use sx_runtime::{Outputs, Session, Tensor};

pub(super) const EXAMPLE: &str = "\
Examples:
  sxrun bench model.sxa classify
  sxrun bench model.sxa classify --device wgpu --runs 200 --json

Inputs that are not given are random.";

#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    inputs: Inputs,
    /// How many warm runs; by default as many as fit two seconds, at least 10.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    runs: Option<u32>,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

/// What was measured.
struct Measured {
    graph: String,
    device: String,
    device_bytes: u64,
    /// The parts of a cold start, in order.
    cold: Vec<(&'static str, Duration)>,
    /// Seconds of the warm runs, rising.
    warm: Vec<f64>,
    cost: Cost,
    /// What the device can do.
    ceiling: Ceiling,
    /// The kernel of each launch, and its time in nanoseconds: the least of several calls.
    launches: Vec<(String, u64)>,
}

pub(super) fn run(args: &Args, terminal: &Terminal) -> Result<(), Failure> {
    let start = Instant::now();
    let model = args.target.model()?;
    let open = start.elapsed();
    let graph = model.graph(args.target.graph.as_deref())?;
    let inputs = args.inputs.load(&graph.inputs, Some(Value::Random { seed: 0 }))?;
    let inputs: Vec<(&str, &Tensor)> = inputs.iter().map(|(name, tensor)| (name.as_str(), tensor)).collect();
    let start = Instant::now();
    let selected = device::select_for(&args.target.device, &model, &graph.name)?;
    let find = start.elapsed();
    let mut session = Session::new(&model, &graph.name, &*selected.device)?;
    let start = Instant::now();
    session.run_at(&inputs, Context::default())?;
    let first = start.elapsed();
    let startup = session.startup();
    let measured = Measured {
        graph: graph.name.clone(),
        device: selected.device.name().to_owned(),
        device_bytes: session.allocated_bytes(),
        cold: vec![
            ("open", open),
            ("find the device", find),
            ("read the program", startup.program),
            ("verify", startup.verify),
            ("upload", startup.upload),
            ("pipelines", startup.pipelines),
            ("first run", first),
        ],
        warm: warm(args.runs, &mut session, &inputs)?,
        cost: cost::of(session.program()),
        launches: launches(&mut session, &inputs)?,
        ceiling: ceiling::measure(&selected)?,
    };
    let text = if args.json { json::document(&measured.as_json()) } else { measured.as_text() };
    terminal.result(&text)
}

/// Each launch of a call with its least time.
fn launches(session: &mut Session, inputs: &[(&str, &Tensor)]) -> Result<Vec<(String, u64)>, Failure> {
    /// Calls that are timed launch by launch.
    const CALLS: usize = 5;
    let mut least = session.profile(inputs)?;
    for _ in 1..CALLS {
        let times = session.profile(inputs)?;
        least.iter_mut().zip(times).for_each(|(least, time)| *least = (*least).min(time));
    }
    let program = session.program();
    let mut names = Vec::new();
    kernels(&program.steps, &mut |kernel| names.push(program.kernels[kernel as usize].name.clone()));
    Ok(names.into_iter().zip(least).collect())
}

/// Calls `see` with the kernel of each launch in `steps`, in order.
fn kernels(steps: &[Step], see: &mut impl FnMut(u32)) {
    for step in steps {
        match step {
            Step::Launch(launch) => see(launch.kernel),
            Step::Copy { .. } => {}
            Step::Loop { body, .. } => kernels(body, see),
        }
    }
}

/// Seconds of warm runs, rising.
fn warm(runs: Option<u32>, session: &mut Session, inputs: &[(&str, &Tensor)]) -> Result<Vec<f64>, Failure> {
    /// How long it is measured, in seconds, unless the number of runs is given.
    const ABOUT: f64 = 2.0;
    let mut outputs = Outputs::default();
    let begin = Instant::now();
    // What is quick is run a few times before it is measured.
    for untimed in 0..3 {
        if untimed == 0 || begin.elapsed().as_secs_f64() < 0.5 {
            session.run_into(inputs, Context::default(), &mut outputs)?;
        }
    }
    let begin = Instant::now();
    let mut seconds = Vec::new();
    let enough = |count: usize| match runs {
        Some(runs) => count >= runs as usize,
        None => count >= 10 && begin.elapsed().as_secs_f64() >= ABOUT,
    };
    while !enough(seconds.len()) {
        let start = Instant::now();
        session.run_into(inputs, Context::default(), &mut outputs)?;
        seconds.push(start.elapsed().as_secs_f64());
    }
    seconds.sort_by(f64::total_cmp);
    Ok(seconds)
}

impl Measured {
    /// The run below which this share of the warm runs lies.
    fn quantile(&self, share: f64) -> f64 {
        let last = self.warm.len() - 1;
        self.warm[(share * last as f64).round() as usize]
    }

    fn cold_seconds(&self) -> f64 {
        self.cold.iter().map(|(_, time)| time.as_secs_f64()).sum()
    }

    fn as_text(&self) -> String {
        let row = |name: &str, seconds: f64| format!("  {name:<18}{:>12.3} ms", seconds * 1e3);
        let mut lines = vec![
            format!("`{}` on {}, {} bytes on the device", self.graph, self.device, self.device_bytes),
            format!("cold start          {:>12.3} ms", self.cold_seconds() * 1e3),
        ];
        lines.extend(self.cold.iter().map(|(part, time)| row(part, time.as_secs_f64())));
        lines.push(format!("warm, {} runs", self.warm.len()));
        lines.extend(
            [("median", 0.5), ("min", 0.0), ("p90", 0.9)].map(|(name, at)| row(name, self.quantile(at))),
        );
        let Cost { flops, bytes, launches } = self.cost;
        lines.push(format!("a call is {flops} operations, {bytes} bytes, {launches} launches"));
        let median = self.quantile(0.5);
        let rate = |amount: u64, unit: &str, most: f64, of: &str| {
            let rate = amount as f64 / median;
            let (share, most) = (100.0 * rate / most, most / 1e9);
            format!("  {:>10.2} {unit}, {share:.0} % of the {most:.2} it reaches in a {of}", rate / 1e9)
        };
        lines.push(rate(flops, "GFLOP/s", self.ceiling.flops, self.ceiling.by));
        lines.push(rate(bytes, "GB/s", self.ceiling.bytes, "copy"));
        let all: u64 = self.launches.iter().map(|(_, time)| time).sum::<u64>().max(1);
        lines.push("launches, each timed alone".to_owned());
        lines.extend(self.launches.iter().map(|(kernel, time)| {
            let share = 100.0 * *time as f64 / all as f64;
            format!("  {:>12.3} us {share:>4.0} %  {kernel}", *time as f64 / 1e3)
        }));
        lines.join("\n") + "\n"
    }

    fn as_json(&self) -> Json {
        let parts: Map<String, Json> =
            self.cold.iter().map(|(name, time)| ((*name).to_owned(), json!(time.as_secs_f64()))).collect();
        let Ceiling { flops, by, bytes } = self.ceiling;
        json!({
            "graph": self.graph,
            "device": self.device,
            "device-bytes": self.device_bytes,
            "cold-start": { "seconds": self.cold_seconds(), "parts": parts },
            "warm": {
                "runs": self.warm.len(),
                "median": self.quantile(0.5),
                "min": self.quantile(0.0),
                "p90": self.quantile(0.9),
            },
            "call": { "flops": self.cost.flops, "bytes": self.cost.bytes, "launches": self.cost.launches },
            "kernels": self.launches.iter().map(|(kernel, time)| {
                json!({ "kernel": kernel, "seconds": *time as f64 / 1e9 })
            }).collect::<Vec<_>>(),
            "ceiling": { "flops-per-second": flops, "by": by, "bytes-per-second": bytes },
        })
    }
}
