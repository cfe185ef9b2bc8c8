//! Why a value cannot be an input, or a file not be read or written.

use crate::dtype::DType;
use crate::error::reason;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// What is wrong with a tensor from outside.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The file system refused.
    Io {
        /// What was tried: `read` or `write`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file that does not hold what its name says.
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// A file has no tensor of this name.
    NoKey {
        /// The file.
        path: PathBuf,
        /// The name.
        key: String,
        /// The names it has.
        has: Vec<String>,
    },
    /// A text that is no value.
    Text {
        /// The text.
        text: String,
        /// What is wrong.
        what: String,
    },
    /// A tensor that this input does not take.
    Input {
        /// The input.
        name: String,
        /// In which way it does not fit.
        mismatch: Mismatch,
    },
}

/// How a tensor does not fit an input.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mismatch {
    /// Another shape.
    Shape {
        /// What the input takes.
        expected: Vec<u64>,
        /// What it was given.
        found: Vec<u64>,
    },
    /// Another dtype, and no exact conversion.
    DType {
        /// What the input takes.
        expected: DType,
        /// What it was given.
        found: String,
        /// What to do.
        help: &'static str,
    },
    /// An element that the input's dtype or domain does not hold.
    Element {
        /// Where it stands.
        position: Vec<u64>,
        /// The element.
        found: String,
        /// What is wanted.
        expected: String,
    },
}

impl Error {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_owned();
        move |source| Error::Io { action, path, source }
    }

    pub(crate) fn file(path: &Path, what: impl Into<String>) -> Error {
        Error::File { path: path.to_owned(), what: what.into() }
    }

    pub(crate) fn text(text: &str, what: impl Into<String>) -> Error {
        Error::Text { text: text.to_owned(), what: what.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Io { action, path, source } => {
                write!(f, "cannot {action} `{}`: {}", path.display(), reason(action, source))
            }
            Error::File { path, what } => write!(f, "`{}`: {what}", path.display()),
            Error::NoKey { path, key, has } => {
                write!(f, "`{}` has no tensor `{key}`; {}", path.display(), listed(has))
            }
            Error::Text { text, what } => write!(f, "`{text}` is not a value: {what}"),
            Error::Input { name, mismatch } => write!(f, "input `{name}` {mismatch}"),
        }
    }
}

/// The names, as many as a reader takes in.
fn listed(names: &[String]) -> String {
    const MOST: usize = 12;
    if names.is_empty() {
        return "it is empty".to_owned();
    }
    let shown: Vec<String> = names.iter().take(MOST).map(|name| format!("`{name}`")).collect();
    let more = if names.len() > MOST { format!(" and {} more", names.len() - MOST) } else { String::new() };
    format!("it has {}{more}", shown.join(", "))
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mismatch::Shape { expected, found } => {
                write!(f, "takes the shape {expected:?} and is given {found:?}")
            }
            Mismatch::DType { expected, found, help } => {
                write!(f, "takes {expected} and is given {found}; {help}")
            }
            Mismatch::Element { position, found, expected } if position.is_empty() => {
                write!(f, "is {found}; it must be {expected}")
            }
            Mismatch::Element { position, found, expected } => {
                write!(f, "has {found} at {position:?}; every element must be {expected}")
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}
