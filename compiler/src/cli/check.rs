//! `sxc check`: what is wrong with a program, and the same for every command that goes on with one.

use std::path::PathBuf;

use super::args::{Check, Deny, Program};
use super::terminal::counted;
use super::{Exit, Failure, Terminal};
use crate::diag::{Diagnostic, Severity, Sink, Sources, json};
use crate::driver::weights::{self, Weights};
use crate::eval::Module;
use crate::{driver, fits};

pub(super) fn run(args: &Check, terminal: &Terminal) -> Result<Exit, Failure> {
    let mut checked = driver::check(&args.program.file, &args.program.dims, &[])?;
    if let (Some(floor), Some(module)) = (&args.fits, &checked.module) {
        fits::check(module, &checked.sources, floor, &mut checked.sink);
    }
    let deny = args.program.deny;
    if args.json {
        let lines = checked.sink.diagnostics().iter().map(|d| json::line(d, &checked.sources) + "\n");
        terminal.result(&lines.collect::<String>())?;
        return Ok(verdict(&checked.sink, deny));
    }
    Ok(told(&checked.sink, &checked.sources, deny, terminal))
}

/// A program without errors.
pub(super) struct Loaded {
    pub(super) module: Module,
    pub(super) sources: Sources,
}

/// Reads and evaluates a program that some command goes on with; of its graphs those in `graphs`, all where that is
/// empty. Errors, denied warnings and a program without graphs end the command.
pub(super) fn loaded(program: &Program, graphs: &[String], terminal: &Terminal) -> Result<Loaded, Failure> {
    let checked =
        terminal.during("evaluating the program", || driver::check(&program.file, &program.dims, graphs))?;
    let fine = verdict(&checked.sink, program.deny) == Exit::Done;
    let Some(module) = checked.module.filter(|_| fine) else {
        told(&checked.sink, &checked.sources, program.deny, terminal);
        return Err(Failure::told());
    };
    terminal.diagnostics(&checked.sink, &checked.sources);
    if module.graphs.is_empty() {
        let failure = Failure::new(Exit::Fault, format!("`{}` has no graph", program.file.display()));
        return Err(failure.help("a graph is written `(defgraph name (inputs…) body…)`"));
    }
    Ok(Loaded { module, sources: checked.sources })
}

/// The values of the program's parameters, with notes about what the files hold beside them.
pub(super) fn weights(
    module: &Module,
    files: &[PathBuf],
    sources: &Sources,
    terminal: &Terminal,
) -> Result<Weights, Failure> {
    let mut sink = Sink::default();
    let weights = weights::values(&module.params, files, &mut sink);
    terminal.diagnostics(&sink, sources);
    let weights = weights?;
    for note in weights.twice.iter().chain(&weights.unused) {
        terminal.note(&format!("note: {note}"));
    }
    Ok(weights)
}

/// Tells the diagnostics and their count.
fn told(sink: &Sink, sources: &Sources, deny: Option<Deny>, terminal: &Terminal) -> Exit {
    terminal.diagnostics(sink, sources);
    let (errors, warnings) = (sink.count(Severity::Error), sink.count(Severity::Warning));
    if errors + warnings > 0 {
        terminal.note("");
    }
    let denied = if deny.is_some() && warnings > 0 { ", and warnings are denied" } else { "" };
    terminal.note(&format!("{}, {}{denied}", counted(errors, "error"), counted(warnings, "warning")));
    verdict(sink, deny)
}

/// Tells one more diagnostic, which ends the command.
pub(super) fn refused(refused: Diagnostic, sources: &Sources, terminal: &Terminal) -> Failure {
    let mut sink = Sink::default();
    sink.report(refused);
    terminal.diagnostics(&sink, sources);
    Failure::told()
}

/// Whether the program may be compiled.
fn verdict(sink: &Sink, deny: Option<Deny>) -> Exit {
    let refused = sink.count(Severity::Error) > 0 || (deny.is_some() && sink.count(Severity::Warning) > 0);
    if refused { Exit::Fault } else { Exit::Done }
}
