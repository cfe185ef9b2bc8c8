//! `sxc build`: a program into one artifact.

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::json;
use sx_artifact::code::Target;
use sx_artifact::write;
use sx_files::artifact;

use super::args::{self, Build};
use super::check::{self, Loaded};
use super::{Exit, Failure, Terminal};
use crate::compile;
use crate::diag::Sources;
use crate::driver;

pub(super) fn run(args: &Build, terminal: &Terminal) -> Result<Exit, Failure> {
    let begun = Instant::now();
    let targets = targets(&args.targets, terminal)?;
    let output = output(args)?;
    let Loaded { module, sources } = check::loaded(&args.program, &args.graphs, terminal)?;
    let weights = check::weights(&module, &args.weights, &sources, terminal)?;
    let what = format!("compiling {}", super::terminal::counted(module.graphs.len(), "graph"));
    let compiled = match terminal.during(&what, || compile::compile(&module, &sources, &targets, &args.fits))
    {
        Ok(compiled) => compiled,
        Err(refused) => return Err(check::refused(refused, &sources, terminal)),
    };

    let contents = compiled.contents(&module, &weights.values);
    if driver::is_stdin(&output) {
        let bytes =
            write::to_bytes(&contents).map_err(|error| Failure::new(Exit::Fault, error.to_string()))?;
        terminal.bytes(&bytes)?;
        return Ok(Exit::Done);
    }
    spare_sources(args, &output, &sources)?;
    let written = terminal.during("writing the artifact", || match args.external_weights {
        true => artifact::write_with_weights(&output, &contents),
        false => artifact::write(&output, &contents),
    });
    written.map_err(|error| Failure::new(Exit::Fault, error.to_string()).help("nothing was changed"))?;
    let names: Vec<&str> = compiled.targets.iter().map(|target| target.name()).collect();
    let graphs: Vec<&str> = module.graphs.iter().map(|graph| graph.name.as_str()).collect();
    let bytes = driver::size(&output)?;
    if args.json {
        let document = json!({
            "artifact": output.display().to_string(),
            "bytes": bytes,
            "graphs": graphs,
            "targets": names,
            "parameters": module.params.len(),
        });
        terminal.result(&format!("{document}\n"))?;
    }
    terminal.note(&format!(
        "built {} ({bytes} bytes): {} for {} in {:.1} s",
        output.display(),
        graphs.join(", "),
        names.join(" and "),
        begun.elapsed().as_secs_f64()
    ));
    Ok(Exit::Done)
}

/// Where the artifact goes: `-` is stdout.
fn output(args: &Build) -> Result<PathBuf, Failure> {
    let usage = |message: &str, help: &str| Err(Failure::new(Exit::Usage, message).help(help));
    match &args.output {
        Some(path) if driver::is_stdin(path) && args.json => {
            usage("stdout cannot take the artifact and the JSON document", "leave `--json` out")
        }
        Some(path) if driver::is_stdin(path) && args.external_weights => {
            usage("weights beside the artifact need its name", "name the artifact with `-o FILE.sxa`")
        }
        Some(path) => Ok(path.clone()),
        None if driver::is_stdin(&args.program.file) => usage(
            "the artifact of a program on stdin has no name",
            "name it with `-o FILE.sxa`, or `-o -` for stdout",
        ),
        None => Ok(args.program.file.with_extension("sxa")),
    }
}

/// Refuses to write an artifact or its weights over what they are made from.
fn spare_sources(args: &Build, output: &Path, sources: &Sources) -> Result<(), Failure> {
    let precious = || sources.users().map(Path::new).chain(args.weights.iter().map(PathBuf::as_path));
    let beside = args.external_weights.then(|| write::weights_path(output));
    for written in [Some(output), beside.as_deref()].into_iter().flatten() {
        if let Some(file) = driver::destroys(written, precious()) {
            let message =
                format!("`{}` is read for this artifact and would be overwritten by it", file.display());
            return Err(Failure::new(Exit::Usage, message).help("name the artifact with `-o FILE.sxa`"));
        }
    }
    Ok(())
}

/// The targets that were asked for, or those that can be.
fn targets(asked: &[args::Target], terminal: &Terminal) -> Result<Vec<Target>, Failure> {
    if asked.contains(&args::Target::Cuda) {
        let failure = Failure::new(Exit::Device, "this sxc makes no code for `cuda`");
        return Err(failure.help("leave it out of `--target`: `wgpu` runs on NVIDIA GPUs too"));
    }
    if asked.is_empty() {
        terminal.detail("targets: cpu and wgpu; this sxc makes no code for cuda");
        return Ok(vec![Target::Cpu, Target::Wgpu]);
    }
    let known = |target: &args::Target| match target {
        args::Target::Cpu => Some(Target::Cpu),
        args::Target::Wgpu => Some(Target::Wgpu),
        args::Target::Cuda => None,
    };
    Ok(asked.iter().filter_map(known).collect())
}
