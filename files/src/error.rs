//! Files that the system would not read or write.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// A file that the system would not read or write.
#[derive(Debug)]
pub struct FileError {
    /// What was tried: `read` or `write`.
    pub action: &'static str,
    /// The file.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

impl FileError {
    /// What the system says becomes an error with what was tried and where.
    pub fn on<E: From<FileError>>(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> E {
        let path = path.to_owned();
        move |source| E::from(FileError { action, path, source })
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot {} `{}`: {}", self.action, self.path.display(), reason(self.action, &self.source))
    }
}

impl std::error::Error for FileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

/// What the system said, in words where its own are poor.
fn reason(action: &str, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound if action == "write" => "there is no such folder; make it first".to_owned(),
        io::ErrorKind::NotADirectory => "a part of its path is not a folder".to_owned(),
        io::ErrorKind::ReadOnlyFilesystem => "it cannot be changed there; write elsewhere".to_owned(),
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::StorageFull => "the disk is full; free some space or write elsewhere".to_owned(),
        io::ErrorKind::FileTooLarge => {
            "the file would be larger than this process may write; raise the limit (`ulimit -f`)".to_owned()
        }
        io::ErrorKind::IsADirectory => "it is a folder; name a file".to_owned(),
        io::ErrorKind::QuotaExceeded => "the disk quota is used up; free some space".to_owned(),
        _ => error.to_string(),
    }
}
