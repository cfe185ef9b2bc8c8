//! Files that are there whole or not at all.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Writes `length` bytes to `path` by `fill`: into a temporary file in the same folder, which is synced and
/// renamed when it is complete and removed when anything fails. What stood at `path` stays until then.
pub fn write(
    path: &Path,
    length: u64,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    allowed(length)?;
    if path.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
    }
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".sx-").suffix(".tmp");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut temporary = builder.tempfile_in(folder)?;
    let mut writer = BufWriter::with_capacity(1 << 16, temporary.as_file_mut());
    fill(&mut writer)?;
    writer.flush()?;
    drop(writer);
    temporary.as_file().sync_all()?;
    temporary.persist(path).map_err(|error| error.error)?;
    sync_folder(folder);
    Ok(())
}

/// Past its file size limit the system stops a process by a signal, before it could clean up. So the limit is
/// asked first.
fn allowed(length: u64) -> io::Result<()> {
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
fn sync_folder(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}
