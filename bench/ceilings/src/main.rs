//! Runs what the benchmark asks for, one request a line: `run.py` holds the other end, so that sx, its peers and
//! the machine's ceilings take turns within one run.
//!
//! Requests and answers are JSON objects. `{"ceiling": "gemm", "sizes": [m, n, k]}`, `{"ceiling": "copy",
//! "bytes": n}` and `{"ceiling": "map", "len": n}` make something that can be run; so does `{"artifact": path,
//! "graph": name, "device": name, "inputs": {name: file}}`, whose files hold elements and nothing else. The
//! answer is its number, `{"id": 0}`. `{"run": 0, "calls": 2}` runs it so many times
//! in a row and answers the last one's `{"ns": …}`; `{"profile": 0}` runs a graph
//! and answers each launch's kernel and time; `{"output": 0, "name": …, "file": …}` writes an output of the last run;
//! `{"drop": 0}` frees it.

mod ceiling;
mod sx;

use ceiling::Ceiling;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use sx::Graph;

#[derive(Deserialize)]
#[serde(untagged)]
enum Request {
    Ceiling(What),
    Graph {
        artifact: PathBuf,
        graph: String,
        device: String,
        inputs: BTreeMap<String, PathBuf>,
    },
    Run {
        run: usize,
        #[serde(default = "once")]
        calls: usize,
    },
    Output {
        output: usize,
        name: String,
        file: PathBuf,
    },
    Profile {
        profile: usize,
    },
    Drop {
        drop: usize,
    },
}

#[derive(Deserialize)]
#[serde(tag = "ceiling", rename_all = "lowercase")]
enum What {
    Copy { bytes: usize },
    Gemm { sizes: [usize; 3] },
    Map { len: usize },
}

/// How long after a request the work begins.
const SETTLE: Duration = Duration::from_millis(2);

fn once() -> usize {
    1
}

/// What can be timed.
enum KernelKind {
    Ceiling(Ceiling),
    Graph(Box<Graph>),
}

type Failure = Box<dyn std::error::Error>;

fn answer(line: &str, works: &mut Vec<Option<KernelKind>>) -> Result<Value, Failure> {
    let made = match serde_json::from_str(line)? {
        Request::Ceiling(What::Copy { bytes }) => KernelKind::Ceiling(Ceiling::copy(bytes)),
        Request::Ceiling(What::Gemm { sizes }) => KernelKind::Ceiling(Ceiling::gemm(sizes)),
        Request::Ceiling(What::Map { len }) => KernelKind::Ceiling(Ceiling::map(len)),
        Request::Graph { artifact, graph, device, inputs } => {
            KernelKind::Graph(Box::new(Graph::open(&artifact, &graph, &device, &inputs)?))
        }
        Request::Run { run, calls } => {
            let work = works.get_mut(run).and_then(Option::as_mut).ok_or("no such work")?;
            // The process that asks is on its way to sleep; until it does, it has a core.
            std::thread::sleep(SETTLE);
            let mut start = Instant::now();
            for _ in 0..calls {
                start = Instant::now();
                match work {
                    KernelKind::Ceiling(ceiling) => ceiling.run(),
                    KernelKind::Graph(graph) => graph.run()?,
                }
            }
            return Ok(json!({ "ns": start.elapsed().as_nanos() as u64 }));
        }
        Request::Output { output, name, file } => {
            let Some(Some(KernelKind::Graph(graph))) = works.get_mut(output) else {
                return Err("no such graph".into());
            };
            graph.write_output(&name, &file)?;
            return Ok(json!({}));
        }
        Request::Profile { profile } => {
            let Some(Some(KernelKind::Graph(graph))) = works.get_mut(profile) else {
                return Err("no such graph".into());
            };
            return Ok(json!({ "launches": graph.profile()? }));
        }
        Request::Drop { drop } => {
            *works.get_mut(drop).ok_or("no such work")? = None;
            return Ok(json!({}));
        }
    };
    works.push(Some(made));
    Ok(json!({ "id": works.len() - 1 }))
}

fn main() -> Result<(), Failure> {
    let mut works = Vec::new();
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let answer = answer(&line?, &mut works).unwrap_or_else(|error| json!({ "error": error.to_string() }));
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}
