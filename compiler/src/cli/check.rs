//! `sxc check`: what is wrong with a program.

use super::args::{Check, Deny};
use super::terminal::counted;
use super::{Exit, Failure, Terminal};
use crate::diag::{Diagnostic, Severity, Sink, Sources, json};
use crate::{driver, fits};

pub(super) fn run(args: &Check, terminal: &Terminal) -> Result<Exit, Failure> {
    let mut checked = driver::check(&args.program.file, &args.program.dims, &[])?;
    if let (Some(floor), Some(module)) = (&args.fits, &checked.module) {
        fits::check(module, &checked.sources, floor, &mut checked.sink);
    }
    if args.json {
        let lines = checked.sink.diagnostics().iter().map(|d| json::line(d, &checked.sources) + "\n");
        terminal.result(&lines.collect::<String>())?;
        return Ok(verdict(&checked.sink, args.deny));
    }
    Ok(told(&checked.sink, &checked.sources, args.deny, terminal))
}

/// Tells the diagnostics and their count.
pub(super) fn told(sink: &Sink, sources: &Sources, deny: Option<Deny>, terminal: &Terminal) -> Exit {
    terminal.diagnostics(sink, sources);
    let (errors, warnings) = (sink.count(Severity::Error), sink.count(Severity::Warning));
    if errors + warnings > 0 {
        terminal.note("");
    }
    let denied = if deny.is_some() && warnings > 0 { ", and warnings are denied" } else { "" };
    terminal.note(&format!("{}, {}{denied}", counted(errors, "error"), counted(warnings, "warning")));
    verdict(sink, deny)
}

/// Tells what a target cannot have.
pub(super) fn refused(refused: Diagnostic, sources: &Sources, terminal: &Terminal) -> Failure {
    let mut sink = Sink::default();
    sink.report(refused);
    terminal.diagnostics(&sink, sources);
    Failure::told()
}

/// Whether the program may be compiled.
pub(super) fn verdict(sink: &Sink, deny: Option<Deny>) -> Exit {
    let refused = sink.count(Severity::Error) > 0 || (deny.is_some() && sink.count(Severity::Warning) > 0);
    if refused { Exit::Fault } else { Exit::Done }
}
