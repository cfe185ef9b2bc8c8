//! How a command ends, and why it did not do what it was asked.

use std::process::ExitCode;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done,
    /// The user's program, input or file is at fault.
    Fault,
    /// The command line is.
    Usage,
    /// A device, or the means to compile for it, is not there.
    Device,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(match exit {
            Exit::Done => 0,
            Exit::Fault => 1,
            Exit::Usage => 2,
            Exit::Device => 3,
        })
    }
}

/// Why a command did not do what it was asked, and what to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The exit status.
    pub exit: Exit,
    /// The cause; empty where diagnostics have told it.
    pub message: String,
    /// The next step.
    pub help: Option<String>,
}

impl Failure {
    /// A failure with its cause.
    pub fn new(exit: Exit, message: impl Into<String>) -> Failure {
        Failure { exit, message: message.into(), help: None }
    }

    /// A failure that diagnostics have told already.
    pub fn told() -> Failure {
        Failure::new(Exit::Fault, "")
    }

    /// Adds the next step.
    pub fn help(self, help: impl Into<String>) -> Failure {
        Failure { help: Some(help.into()), ..self }
    }
}
