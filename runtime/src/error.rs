//! What can fail at run time. Every message names the cause, the place and the next step.

use std::fmt;
use sx_artifact::check::Mismatch;
use sx_artifact::code::Target;
use sx_artifact::error;
use sx_files::{FileError, artifact};

/// A failure of the runtime. Its `Debug` is its message, as a program shows it that ends with it.
#[non_exhaustive]
pub enum Error {
    /// An element that the program may not use was reached (an index outside its axis, a false guard). Only
    /// devices give this; a session turns it into [`Error::Refused`].
    Trap {
        /// Position in the program's `sites`.
        site: u32,
        /// The flat position of the element in the index operand.
        position: u64,
        /// The value that was refused.
        value: i64,
    },
    /// The call was given a value that its graph may not use.
    Refused(Refusal),
    /// The device cannot do it: absent, too small, lost. Exit status 3.
    Device(String),
    /// No device here has a target of the artifact, which another machine may have. Exit status 3.
    NoDevice {
        /// The targets the artifact has code for.
        targets: Vec<Target>,
        /// The devices there are, in words.
        here: String,
    },
    /// The artifact cannot be read, or lacks what was asked for.
    Artifact(error::Error),
    /// A file cannot be read or written.
    File(FileError),
    /// A tensor that this input does not take.
    Input {
        /// The input.
        name: String,
        /// In which way the tensor does not fit.
        mismatch: Mismatch,
    },
    /// The artifact has several graphs and none was named.
    WhichGraph {
        /// The graphs it has.
        has: Vec<String>,
    },
    /// The graph has no input of this name.
    NoInput {
        /// The name.
        name: String,
        /// The inputs it has.
        has: Vec<String>,
    },
    /// An input was given twice.
    InputTwice {
        /// Its name.
        name: String,
    },
    /// Inputs that were not given.
    MissingInputs {
        /// Their names, each with what it takes.
        names: Vec<String>,
    },
    /// The graph has no output of this name.
    NoOutput {
        /// The name.
        name: String,
        /// The outputs it has.
        has: Vec<String>,
    },
    /// The artifact has no code for the target of this device.
    Target {
        /// The device.
        device: String,
        /// The target it needs.
        target: Target,
        /// The targets the artifact has.
        has: Vec<Target>,
    },
}

/// An element that stopped a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The operation that refused it, as the program calls it.
    pub operation: String,
    /// The operand, as the program writes it.
    pub operand: String,
    /// Where the element stands in the operand, flat, row-major.
    pub position: u64,
    /// The element.
    pub value: i64,
    /// The size of the axis it should index.
    pub size: u64,
    /// The source file, line and column of the operation.
    pub place: String,
}

impl Error {
    /// The exit status of `sxrun` for this error.
    pub fn exit_status(&self) -> u8 {
        match self {
            Error::Device(_) | Error::NoDevice { .. } => 3,
            Error::Trap { .. }
            | Error::Refused(_)
            | Error::Artifact(_)
            | Error::File(_)
            | Error::Input { .. }
            | Error::WhichGraph { .. }
            | Error::NoInput { .. }
            | Error::InputTwice { .. }
            | Error::MissingInputs { .. }
            | Error::NoOutput { .. }
            | Error::Target { .. } => 1,
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Trap { site, position, value } => {
                write!(f, "trap {site}: value {value} at position {position}")
            }
            Error::Refused(refusal) => refusal.fmt(f),
            Error::Device(message) => f.write_str(message),
            Error::Artifact(error) => error.fmt(f),
            Error::File(error) => error.fmt(f),
            Error::Input { name, mismatch } => write!(f, "input `{name}` {mismatch}"),
            Error::WhichGraph { has } => {
                write!(f, "the artifact has several graphs; name one of {}", in_words(has))
            }
            Error::NoInput { name, has } => {
                write!(f, "there is no input `{name}`; the graph takes {}", in_words(has))
            }
            Error::InputTwice { name } => write!(f, "the input `{name}` is given twice; leave one out"),
            Error::MissingInputs { names } => write!(f, "these inputs are missing: {}", names.join(", ")),
            Error::NoDevice { targets, here } => write!(
                f,
                "the artifact was built for {}, and no device here runs that; there is {here}",
                in_words(targets)
            ),
            Error::NoOutput { name, has } => {
                write!(f, "there is no output `{name}`; the graph gives {}", in_words(has))
            }
            Error::Target { device, target, has } => write!(
                f,
                "the artifact has no code for `{device}`: that needs the target `{target}` and it was built for {}",
                in_words(has)
            ),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Refusal { operation, operand, position, value, size, place } = self;
        match size {
            0 => write!(f, "`{operation}` at {place}: `{operand}` is false at position {position}"),
            _ => write!(
                f,
                "`{operation}` at {place}: `{operand}` has {value} at position {position}, outside its axis of size \
                 {size}; indices are from 0 to {}",
                size - 1
            ),
        }
    }
}

pub(crate) fn in_words(names: &[impl fmt::Display]) -> String {
    match names {
        [] => "none".to_owned(),
        _ => names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Artifact(error) => Some(error),
            Error::File(error) => Some(error),
            _ => None,
        }
    }
}

impl From<error::Error> for Error {
    fn from(error: error::Error) -> Error {
        Error::Artifact(error)
    }
}

impl From<FileError> for Error {
    fn from(error: FileError) -> Error {
        Error::File(error)
    }
}

impl From<artifact::Error> for Error {
    fn from(error: artifact::Error) -> Error {
        match error {
            artifact::Error::File(error) => Error::File(error),
            artifact::Error::Artifact(error) => Error::Artifact(error),
        }
    }
}
