//! Artifacts in files: opened by mapping, written whole or not at all, checked on all cores.

use crate::error::FileError;
use crate::mapped;
use rayon::prelude::*;
use std::fmt;
use std::path::Path;
use sx_artifact::error;
use sx_artifact::manifest::{Checksum, Digest};
use sx_artifact::read::{Artifact, Owner};

/// Why an artifact was not opened or written.
#[derive(Debug)]
pub enum Error {
    /// The system refused.
    File(FileError),
    /// The bytes are no artifact, or the contents make none.
    Artifact(error::Error),
}

/// Opens the artifact at `path`, whose bytes stay in the file until they are used.
pub fn open(path: &Path) -> Result<Artifact, Error> {
    let bytes = mapped::map(path).map_err(FileError::on::<Error>("read", path))?;
    Ok(from_bytes(bytes)?.at(path))
}

/// The artifact in `bytes`, whose entries are checked on all cores.
pub fn from_bytes(bytes: Owner) -> Result<Artifact, error::Error> {
    Artifact::from_bytes_with(bytes, checksums)
}

/// The checksums of several entries, on all cores.
fn checksums(entries: &[&[u8]]) -> Vec<Checksum> {
    let of = |bytes: &&[u8]| Checksum { crc32: crc32fast::hash(bytes), blake3: digest(bytes) };
    entries.par_iter().map(of).collect()
}

fn digest(bytes: &[u8]) -> Digest {
    // Below this size handing work to other threads costs more than it saves.
    const PARALLEL: usize = 1 << 20;
    match bytes.len() {
        0..PARALLEL => Digest::of(bytes),
        _ => Digest(*blake3::Hasher::new().update_rayon(bytes).finalize().as_bytes()),
    }
}

#[cfg(feature = "tensors")]
pub use writing::{write, write_with_weights};

#[cfg(feature = "tensors")]
mod writing {
    use super::{Error, checksums};
    use crate::atomic::Staged;
    use crate::error::FileError;
    use std::path::Path;
    use sx_artifact::error;
    use sx_artifact::write::{Assembled, Contents, Params, weights_path};

    /// Writes the artifact to `path`, whole or not at all.
    pub fn write(path: &Path, contents: &Contents<'_>) -> Result<(), Error> {
        publish(path, stage(path, &Assembled::new(contents, Params::Inside, checksums)?)?)
    }

    /// Writes the artifact to `path` and its parameters to [`weights_path`]`(path)`. Neither file is touched before
    /// both are written whole; the weights come first, and an artifact that was not given its name yet refuses them.
    pub fn write_with_weights(path: &Path, contents: &Contents<'_>) -> Result<(), Error> {
        let weights = Assembled::weights(contents, checksums)?;
        let artifact = Assembled::new(contents, Params::Outside(weights.id()), checksums)?;
        let beside = weights_path(path);
        if beside == path {
            let what = "the artifact's own name ends in `.weights`, which its weights would take; name it `FILE.sxa`";
            return Err(Error::Artifact(error::Error::Contents { what: what.to_owned() }));
        }
        let (weights, artifact) = (stage(&beside, &weights)?, stage(path, &artifact)?);
        publish(&beside, weights)?;
        publish(path, artifact)
    }

    fn stage(path: &Path, file: &Assembled<'_>) -> Result<Staged, Error> {
        Staged::new(path, file.file_len(), |out| file.emit(out)).map_err(FileError::on("write", path))
    }

    fn publish(path: &Path, staged: Staged) -> Result<(), Error> {
        staged.publish().map_err(FileError::on("write", path))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::File(error) => error.fmt(f),
            Error::Artifact(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::File(error) => Some(error),
            Error::Artifact(error) => Some(error),
        }
    }
}

impl From<FileError> for Error {
    fn from(error: FileError) -> Error {
        Error::File(error)
    }
}

impl From<error::Error> for Error {
    fn from(error: error::Error) -> Error {
        Error::Artifact(error)
    }
}
