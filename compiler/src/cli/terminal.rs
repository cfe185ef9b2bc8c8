//! What a person sees: results on stdout, everything else on stderr, and the exit status.

use std::io::{BufWriter, ErrorKind, IsTerminal, Write};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use serde::Serialize;

use super::args::{Colour, Common};
use super::{Exit, Failure};
use crate::diag::render::{self, Paint};
use crate::diag::{Severity, Sink, Sources};

/// Where words go, and how.
#[derive(Clone, Copy, Debug)]
pub struct Terminal {
    choice: ColorChoice,
    quiet: bool,
    verbose: bool,
}

impl Terminal {
    /// As the options say.
    pub fn new(common: &Common) -> Terminal {
        let choice = match common.color {
            Colour::Auto => ColorChoice::Auto,
            Colour::Always => ColorChoice::Always,
            Colour::Never => ColorChoice::Never,
        };
        Terminal { choice, quiet: common.quiet, verbose: common.verbose }
    }

    /// Prints a result.
    pub fn result(&self, text: &str) -> Result<(), Failure> {
        self.bytes(text.as_bytes())
    }

    /// Prints a result that may not be text.
    pub fn bytes(&self, bytes: &[u8]) -> Result<(), Failure> {
        let mut out = std::io::stdout().lock();
        printed(out.write_all(bytes).and_then(|()| out.flush()))
    }

    /// Prints a result as one line of JSON, as it is made: what it is of may be large.
    pub fn document(&self, value: &impl Serialize) -> Result<(), Failure> {
        let mut out = BufWriter::new(std::io::stdout().lock());
        let written = serde_json::to_writer(&mut out, value).map_err(std::io::Error::from);
        printed(written.and_then(|()| out.write_all(b"\n")).and_then(|()| out.flush()))
    }

    /// Tells what was done, unless `-q` was given.
    pub fn note(&self, text: &str) {
        if !self.quiet {
            self.say(&format!("{text}\n"));
        }
    }

    /// Tells a detail, if `-v` was given.
    pub fn detail(&self, text: &str) {
        if self.verbose {
            self.say(&format!("{text}\n"));
        }
    }

    /// Does what may take long. On a terminal a line says so while it lasts, from the first second on.
    pub fn during<T>(&self, what: &str, work: impl FnOnce() -> T) -> T {
        const SOON: Duration = Duration::from_secs(1);
        let begun = Instant::now();
        if self.quiet || !std::io::stderr().is_terminal() {
            let result = work();
            self.detail(&format!("{what}: {:.1} s", begun.elapsed().as_secs_f64()));
            return result;
        }
        let (working, done) = mpsc::channel::<()>();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let mut shown = false;
                while done.recv_timeout(SOON) == Err(RecvTimeoutError::Timeout) {
                    self.say(&format!("\r{what}: {} s", begun.elapsed().as_secs()));
                    shown = true;
                }
                if shown {
                    self.say("\r\x1b[K");
                }
            });
            let result = work();
            drop(working);
            result
        })
    }

    /// Tells why the command failed.
    pub fn failure(&self, failure: &Failure) {
        if failure.message.is_empty() {
            return;
        }
        let label = |colour: AnsiColor, word: &str| {
            let style: Style = colour.on_default().bold();
            format!("{style}{word}{style:#}")
        };
        let mut text = format!("{}: {}\n", label(AnsiColor::Red, "error"), failure.message);
        if let Some(help) = &failure.help {
            text += &format!("{}: {help}\n", label(AnsiColor::Green, "help"));
        }
        self.say(&text);
    }

    /// Tells every diagnostic; with `-q` the errors alone.
    pub fn diagnostics(&self, sink: &Sink, sources: &Sources) {
        let shown = |severity| !self.quiet || severity == Severity::Error;
        let told: Vec<String> = sink
            .diagnostics()
            .iter()
            .filter(|diagnostic| shown(diagnostic.code.severity()))
            .map(|diagnostic| render::render(diagnostic, sources, Paint::Coloured))
            .collect();
        self.say(&told.join("\n"));
    }

    fn say(&self, text: &str) {
        // There is nowhere to say that stderr is gone.
        _ = AutoStream::new(std::io::stderr().lock(), self.choice).write_all(text.as_bytes());
    }
}

fn printed(written: std::io::Result<()>) -> Result<(), Failure> {
    match written {
        // Whoever reads has read enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => {
            written.map_err(|error| Failure::new(Exit::Fault, format!("cannot write to stdout: {error}")))
        }
    }
}

/// `1 error`, `2 errors`
pub(super) fn counted(n: usize, thing: &str) -> String {
    if n == 1 { format!("1 {thing}") } else { format!("{n} {thing}s") }
}
