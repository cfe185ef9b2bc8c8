//! What went wrong: diagnostics as data. [`render`] alone knows how they look.

pub mod code;
pub mod json;
pub mod render;
pub mod source;

pub use code::Code;
pub use source::{FileId, Sources, Span};
pub use sx_files::suggest;

use std::collections::HashSet;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The program compiles; `--deny warnings` refuses it.
    Warning,
    /// The program does not compile.
    Error,
}

/// One diagnostic. `message` alone makes sense; lower case, no full stop, names in backticks where they
/// are not operands' types.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Diagnostic {
    /// The code, which carries the severity.
    pub code: Code,
    /// What is wrong, in one line.
    pub message: String,
    /// Where: the smallest span that shows the mistake. `None` where there is no source (a command line).
    pub span: Option<Span>,
    /// `note:` lines. A note with a span shows that place (the library's line, a caller, a first definition).
    pub notes: Vec<Note>,
    /// The `help:` line: what to write instead; given only if it would work.
    pub help: Option<String>,
}

/// A `note:` of a diagnostic.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Note {
    /// What it says.
    pub text: String,
    /// The place it shows, if any.
    pub span: Option<Span>,
}

impl Diagnostic {
    /// A diagnostic without notes or help.
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { code, message: message.into(), span: Some(span), notes: Vec::new(), help: None }
    }

    /// Adds a `note:`.
    pub fn note(mut self, text: impl Into<String>) -> Diagnostic {
        self.notes.push(Note { text: text.into(), span: None });
        self
    }

    /// Adds a `note:` that shows a place.
    pub fn note_at(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.notes.push(Note { text: text.into(), span: Some(span) });
        self
    }

    /// Sets the `help:`.
    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.help = Some(text.into());
        self
    }
}

/// Proof that a diagnostic was recorded: only [`Sink::report`] makes one, so a `Result<T, Reported>` never
/// fails in silence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reported(());

/// Where diagnostics go.
#[derive(Debug, Default)]
pub struct Sink {
    diagnostics: Vec<Diagnostic>,
    told: HashSet<Diagnostic>,
}

impl Sink {
    /// Records a diagnostic, once however often it is reported.
    pub fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        if self.told.insert(diagnostic.clone()) {
            self.diagnostics.push(diagnostic);
        }
        Reported(())
    }

    /// Records everything that `other` holds; proof of it, if that was anything.
    pub fn report_all(&mut self, other: Sink) -> Option<Reported> {
        other.diagnostics.into_iter().map(|diagnostic| self.report(diagnostic)).last()
    }

    /// Everything reported so far, in order.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// How many errors and how many warnings there are.
    pub fn count(&self, severity: Severity) -> usize {
        self.diagnostics.iter().filter(|d| d.code.severity() == severity).count()
    }
}
