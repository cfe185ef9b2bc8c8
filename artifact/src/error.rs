//! Why bytes are not an artifact, or why one could not be written.

use std::fmt;
use std::path::{Path, PathBuf};

/// What is wrong with an artifact, and where.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The bytes are something else than an artifact.
    NotAnArtifact {
        /// What they look like.
        because: &'static str,
    },
    /// The artifact was made by a later version of the compiler.
    Newer {
        /// The format version it has.
        found: u32,
        /// The latest format version that is read here.
        known: u32,
    },
    /// The bytes end too early.
    Truncated {
        /// How many bytes there should be.
        expected: u64,
        /// How many there are.
        found: u64,
    },
    /// The zip structure or the manifest is not what the writer makes.
    Container {
        /// What differs, and where.
        what: String,
    },
    /// An entry's bytes are not those that the manifest names, or make no sense.
    Entry {
        /// The entry.
        name: String,
        /// What is wrong with it.
        what: String,
    },
    /// An entry, graph or parameter that is not in the artifact.
    Missing {
        /// What was looked for, such as ``graph `main` ``.
        what: String,
        /// What there is instead, or what to do.
        help: String,
    },
    /// The file with an artifact's weights is not right.
    Weights {
        /// That file.
        path: PathBuf,
        /// What is wrong with it.
        error: Box<Error>,
    },
    /// A file that holds other weights than those an artifact was built with.
    ForeignWeights {
        /// That file.
        path: PathBuf,
        /// The id it should have, as a digest.
        wanted: String,
        /// The id it has.
        found: String,
    },
    /// What was to be written cannot be an artifact.
    Contents {
        /// What is wrong with it.
        what: String,
    },
}

impl Error {
    /// The same error, of the file with an artifact's weights.
    pub fn of_weights(self, path: Option<&Path>) -> Error {
        let path = path.unwrap_or(Path::new("the file of weights")).to_owned();
        match self {
            // These name the file themselves.
            named @ (Error::Weights { .. } | Error::ForeignWeights { .. }) => named,
            error => Error::Weights { path, error: Box::new(error) },
        }
    }

    pub(crate) fn container(what: impl Into<String>) -> Error {
        Error::Container { what: what.into() }
    }

    pub(crate) fn entry(name: &str, what: impl Into<String>) -> Error {
        Error::Entry { name: name.to_owned(), what: what.into() }
    }

    pub(crate) fn contents(what: impl Into<String>) -> Error {
        Error::Contents { what: what.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NotAnArtifact { because } => {
                write!(f, "not an sx artifact: {because}; `sxc build` makes one")
            }
            Error::Newer { found, known } => write!(
                f,
                "the artifact has format version {found} and this program reads versions up to {known}; \
                 use a newer sxrun or build the artifact again"
            ),
            Error::Truncated { expected, found } => write!(
                f,
                "the artifact is cut off: it should have {expected} bytes and has {found}; copy or build it again"
            ),
            Error::Container { what } => {
                write!(f, "the artifact's container is damaged: {what}; copy or build it again")
            }
            Error::Entry { name, what } => {
                write!(
                    f,
                    "the artifact's entry `{name}` is damaged: {what}; copy or build the artifact again"
                )
            }
            Error::Missing { what, help } => write!(f, "the artifact has no {what}; {help}"),
            Error::Weights { path, error } => {
                write!(f, "the artifact's weights in `{}`: {error}", path.display())
            }
            Error::ForeignWeights { path, wanted, found } => write!(
                f,
                "`{}` does not hold the weights that the artifact was built with: its id is {found} and should be \
                 {wanted}; build both again, or name the right file with `--weights`",
                path.display()
            ),
            Error::Contents { what } => write!(f, "this cannot be written as an artifact: {what}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Weights { error, .. } => Some(error),
            _ => None,
        }
    }
}
