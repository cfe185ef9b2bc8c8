//! The long run: thousands of random programs on every way of running them, and of changed ones, stage by stage.
//!
//! It resumes where it stopped: `.cache/test-all.json` has what is done, for one commit. When everything is done the
//! result goes to `tests/test-all.json`, which is committed. A failure is shrunk and written to `.cache/failures/`,
//! from where it goes to `tests/regressions/` with its correction.

use crate::random_graph::coverage::Coverage;
use crate::random_graph::feature::{Feature, Kind};
use crate::random_graph::{self, Case};
use crate::ways::{Failure, Way, caught, compare};
use crate::{devices, mutated, regression, root, shown};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use sx_runtime::device::Device;
use sx_runtime::device::cpu::Cpu;

/// How many cases are done between two notes of what is done.
const PIECE: u64 = 100;
/// The fewest programs that a cell of kind and feature is filled with.
const FILLED: u64 = 20;
/// The most failures that are shrunk.
const SHRUNK: usize = 40;

/// How much is run.
pub struct Options {
    /// Programs on the interpreter of kernels and on the CPU.
    pub programs: u64,
    /// Programs on each Vulkan driver.
    pub driven: u64,
    /// Programs changed at random, as `mutated` does it.
    pub mutations: u64,
    /// The first seed.
    pub seed: u64,
    /// How many run at a time.
    pub threads: usize,
}

impl Options {
    /// Reads `--programs N`, `--driven N`, `--mutations N`, `--seed N`, `--threads N`.
    pub fn from_words(words: impl Iterator<Item = String>) -> Result<Options, String> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let mut options = Options { programs: 20_000, driven: 300, mutations: 50_000, seed: 0, threads };
        let mut words = words.filter(|word| word != "--nocapture");
        while let Some(word) = words.next() {
            let number = words.next().and_then(|word| word.parse::<u64>().ok());
            let number = number.ok_or_else(|| format!("`{word}` wants a number"))?;
            match word.as_str() {
                "--programs" => options.programs = number,
                "--driven" => options.driven = number,
                "--mutations" => options.mutations = number,
                "--seed" => options.seed = number,
                "--threads" => options.threads = number as usize,
                other => {
                    return Err(format!(
                        "there is no `{other}`: it takes --programs, --driven, --mutations, --seed and --threads"
                    ));
                }
            }
        }
        Ok(options)
    }
}

/// What was run, and what came of it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Report {
    /// The commit that was tested, with a mark if there were changes on top of it.
    pub commit: String,
    /// The first seed.
    pub seed: u64,
    /// How long it took, all runs together.
    pub seconds: u64,
    /// How many cases of each stage are done.
    pub done: BTreeMap<String, u64>,
    /// How many elements were compared, and how many there were.
    pub compared: (u64, u64),
    /// How often each kernel kind met each feature.
    pub cells: BTreeMap<String, u64>,
    /// Each failure, in a line.
    pub failures: Vec<String>,
}

/// One part of the run: a name, how many cases, and what one case does.
struct Stage<'d> {
    name: String,
    cases: u64,
    work: Work<'d>,
}

/// What a case is.
enum Work<'d> {
    /// A random program on these ways; its cells are counted where `counted` says so.
    Programs { ways: Vec<Way<'d>>, counted: bool },
    /// Whatever the function does with the seed.
    Each(fn(u64) -> Result<(), String>),
}

/// Runs all that is not yet done.
pub fn run(options: &Options) -> Result<Report, String> {
    let drivers = devices::wgpu();
    let mut stages = vec![Stage {
        name: "programs on the interpreter of kernels and on the cpu".to_owned(),
        cases: options.programs,
        work: Work::Programs { ways: vec![Way::Kernels, Way::On(&Cpu)], counted: true },
    }];
    stages.extend(drivers.iter().map(|device| Stage {
        name: format!("programs on {}", device.name()),
        cases: options.driven,
        work: Work::Programs { ways: vec![Way::On(device as &dyn Device)], counted: false },
    }));
    stages.push(Stage {
        name: "changed programs".to_owned(),
        cases: options.mutations,
        work: Work::Each(|seed| mutated::case(seed).map(|_| ())),
    });
    let mut report = resumed(options)?;
    let start = Instant::now();
    let before = report.seconds;
    for stage in &stages {
        while report.done.get(&stage.name).copied().unwrap_or(0) < stage.cases {
            piece(options, stage, &mut report);
            report.seconds = before + start.elapsed().as_secs();
            keep(&state(), &report)?;
        }
    }
    let least = if options.programs >= 20_000 { FILLED } else { 0 };
    let cells =
        Kind::ALL.iter().flat_map(|kind| Feature::ALL.iter().map(move |feature| cell(*kind, *feature)));
    let counted = cells.map(|cell| (report.cells.get(&cell).copied().unwrap_or(0), cell));
    let few: Vec<String> =
        counted.filter(|(count, _)| *count < least).map(|(count, cell)| format!("{cell}: {count}")).collect();
    report.failures.extend(few);
    if options.programs >= 20_000 {
        keep(&root().join("tests/test-all.json"), &report)?;
    }
    note(&format!("{} failures, {:?} elements compared", report.failures.len(), report.compared));
    Ok(report)
}

#[allow(clippy::print_stdout, reason = "a run of hours tells how far it is")]
fn note(text: &str) {
    println!("{text}");
}

fn state() -> PathBuf {
    root().join(".cache/test-all.json")
}

/// What is done already, if it was done of this commit with this seed.
fn resumed(options: &Options) -> Result<Report, String> {
    let commit = commit()?;
    let kept = std::fs::read_to_string(state()).ok();
    let kept: Option<Report> = kept.and_then(|text| serde_json::from_str(&text).ok());
    match kept.filter(|kept| (&kept.commit, kept.seed) == (&commit, options.seed)) {
        Some(report) => {
            note(&format!("resumes {commit}: {:?}", report.done));
            Ok(report)
        }
        None => {
            note(&format!("tests {commit} from seed {}", options.seed));
            Ok(Report { commit, seed: options.seed, ..Report::default() })
        }
    }
}

fn commit() -> Result<String, String> {
    let git = |words: &[&str]| {
        let output = Command::new("git").args(words).current_dir(root()).output();
        let output = output.map_err(|error| format!("git does not run: {error}"))?;
        Ok::<String, String>(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let mark = if git(&["status", "--porcelain", "--untracked-files=no"])?.is_empty() { "" } else { "+" };
    Ok(git(&["rev-parse", "--short=12", "HEAD"])? + mark)
}

fn keep(path: &PathBuf, report: &Report) -> Result<(), String> {
    let told = |error: std::io::Error| format!("{}: {error}", shown(path));
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(told)?;
    }
    let text = serde_json::to_string_pretty(report).map_err(|error| error.to_string())?;
    std::fs::write(path, text + "\n").map_err(told)
}

/// What a cell of the table is called.
fn cell(kind: Kind, feature: Feature) -> String {
    format!("{kind:?} x {feature:?}")
}

/// What some cases gave.
#[derive(Default)]
struct Found {
    coverage: Coverage,
    compared: (u64, u64),
    programs: Vec<(Case, Failure)>,
    failures: Vec<String>,
}

/// The next cases of a stage.
fn piece(options: &Options, stage: &Stage<'_>, report: &mut Report) {
    let done = report.done.get(&stage.name).copied().unwrap_or(0);
    let seeds = done..(done + PIECE).min(stage.cases);
    let found = in_threads(options.threads, seeds.clone(), &|at, found| match &stage.work {
        Work::Programs { ways, counted } => {
            let seed = options.seed + spread(at, stage.cases, options.programs);
            program(seed, ways, *counted, found);
        }
        Work::Each(case) => {
            let seed = options.seed + at;
            let failed = caught(|| case(seed)).unwrap_or_else(Err).err();
            record(found, |found| found.failures.extend(failed.map(|why| format!("seed {seed}: {why}"))));
        }
    });
    for ((kind, feature), count) in found.coverage.0 {
        *report.cells.entry(cell(kind, feature)).or_default() += count;
    }
    report.compared = (report.compared.0 + found.compared.0, report.compared.1 + found.compared.1);
    for (case, failure) in &found.programs {
        if let (Work::Programs { ways, .. }, true) = (&stage.work, report.failures.len() < SHRUNK) {
            write(case, failure, ways);
        }
        report.failures.push(format!("seed {}: {failure}", case.seed).replace('\n', " "));
        note(&report.failures[report.failures.len() - 1]);
    }
    found.failures.iter().for_each(|failure| note(failure));
    report.failures.extend(found.failures);
    report.done.insert(stage.name.clone(), seeds.end);
    note(&format!("{}: {} of {}", stage.name, seeds.end, stage.cases));
}

/// Does `case` for each of `cases`, some at a time.
fn in_threads(threads: usize, cases: Range<u64>, case: &(dyn Fn(u64, &Mutex<Found>) + Sync)) -> Found {
    let (next, found) = (Mutex::new(cases), Mutex::new(Found::default()));
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                while let Some(at) = next.lock().map_or(None, |mut next| next.next()) {
                    case(at, &found);
                }
            });
        }
    });
    found.into_inner().unwrap_or_default()
}

/// Few cases go through the whole table, too.
fn spread(at: u64, cases: u64, programs: u64) -> u64 {
    at * (programs / cases.max(1)).max(1)
}

fn record(found: &Mutex<Found>, what: impl FnOnce(&mut Found)) {
    if let Ok(mut found) = found.lock() {
        what(&mut found);
    }
}

fn program(seed: u64, ways: &[Way<'_>], counted: bool, found: &Mutex<Found>) {
    let start = Instant::now();
    let case = match caught(|| random_graph::case(seed)) {
        Ok(case) => case,
        Err(message) => {
            return record(found, |found| found.failures.push(format!("seed {seed}: no program: {message}")));
        }
    };
    let result = compare(&case.graph, &case.inputs, ways);
    if start.elapsed() > Duration::from_secs(60) {
        note(&format!("seed {seed} takes {:?}", start.elapsed()));
    }
    record(found, |found| {
        if counted {
            found.coverage.add(&case);
        }
        match result {
            Ok((known, all)) => found.compared = (found.compared.0 + known, found.compared.1 + all),
            Err(failure) => found.programs.push((case, failure)),
        }
    });
}

/// Writes the smallest program that fails so.
fn write(case: &Case, failure: &Failure, ways: &[Way<'_>]) {
    let folder = root().join(".cache/failures");
    let text = regression::smallest(case, failure, ways);
    let path = folder.join(format!("{}-{}.graph", case.seed, failure.way));
    if let Err(error) = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&path, text)) {
        note(&format!("{}: {error}", shown(&path)));
    }
}
