//! `sxc fmt`: programs laid out.

use std::path::Path;

use super::args::Fmt;
use super::{Exit, Failure, Terminal};
use crate::diag::{Sink, Sources};
use crate::{driver, syntax};

pub(super) fn run(args: &Fmt, terminal: &Terminal) -> Result<Exit, Failure> {
    let mut exit = Exit::Done;
    for path in &args.files {
        // One file that cannot be laid out keeps no other from it.
        match one(path, args.check, terminal) {
            Ok(Exit::Done) => {}
            Ok(other) => exit = other,
            Err(failure) => {
                terminal.failure(&failure);
                exit = failure.exit;
            }
        }
    }
    Ok(exit)
}

fn one(path: &Path, check: bool, terminal: &Terminal) -> Result<Exit, Failure> {
    let piped = driver::is_stdin(path);
    let text = if piped { driver::stdin()? } else { driver::text(path)? };
    let (mut sources, mut sink) = (Sources::default(), Sink::default());
    let name = driver::name(path);
    let file = sources.add(name.clone(), text.clone());
    let Ok(formatted) = syntax::format(&sources, file, &mut sink) else {
        terminal.diagnostics(&sink, &sources);
        return Err(Failure::told());
    };
    if check {
        if formatted == text {
            return Ok(Exit::Done);
        }
        terminal.result(&format!("{name}\n"))?;
        return Ok(Exit::Fault);
    }
    if piped {
        terminal.result(&formatted)?;
    } else if formatted != text {
        driver::write(path, formatted.as_bytes())?;
        terminal.detail(&format!("laid out {name}"));
    }
    Ok(Exit::Done)
}
