//! Why a value cannot be an input, or a file not be read or written.

use crate::error::FileError;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use sx_artifact::check::Mismatch;

/// What is wrong with a tensor from outside.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The file system refused.
    Io(FileError),
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

impl Error {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        FileError::on(action, path)
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
            Error::Io(refused) => refused.fmt(f),
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

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Io(refused) => Some(&refused.source),
            _ => None,
        }
    }
}

impl From<FileError> for Error {
    fn from(error: FileError) -> Error {
        Error::Io(error)
    }
}
