//! Files that are there whole or not at all.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Writes `length` bytes to `path` by `fill`, whole or not at all: what stood at `path` stays until all is
/// there.
pub fn write(
    path: &Path,
    length: u64,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    Staged::new(path, length, fill)?.publish()
}

/// A file that is written whole, under a temporary name in the folder of its own; dropped, it is removed.
pub struct Staged {
    temporary: NamedTempFile,
    path: PathBuf,
}

impl Staged {
    /// Writes `length` bytes by `fill`, and syncs them.
    pub fn new(
        path: &Path,
        length: u64,
        fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<Staged> {
        allowed(length)?;
        if path.is_dir() {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix(".sx-").suffix(".tmp");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let mut temporary = builder.tempfile_in(folder(path))?;
        let mut writer = BufWriter::with_capacity(1 << 16, temporary.as_file_mut());
        fill(&mut writer)?;
        writer.flush()?;
        drop(writer);
        temporary.as_file().sync_all()?;
        Ok(Staged { temporary, path: path.to_owned() })
    }

    /// Gives the file its name, in place of what stood there.
    pub fn publish(self) -> io::Result<()> {
        self.temporary.persist(&self.path).map_err(|error| error.error)?;
        sync(folder(&self.path));
        Ok(())
    }
}

fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Whether a file may have `length` bytes. Past its file size limit the system stops a process by a signal,
/// before it could clean up, so the limit is asked first.
pub fn allowed(length: u64) -> io::Result<()> {
    #[cfg(unix)]
    if let Some(limit) = rustix::process::getrlimit(rustix::process::Resource::Fsize).current
        && length > limit
    {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("{length} bytes are over the limit of {limit}"),
        ));
    }
    Ok(())
}

/// Makes the rename itself last. Not every file system can, and the file is whole either way.
fn sync(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}
