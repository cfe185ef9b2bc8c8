//! Files that are there whole or not at all.
//!
//! What is written goes to a file without a name where the system has such files, so that a process that is stopped
//! leaves nothing behind; else to one with a temporary name, which a signal removes. The name is given when all is
//! there. A device, a pipe or a socket is written through, and a link is followed.

#[cfg(unix)]
mod removal;
#[cfg(target_os = "linux")]
mod unnamed;

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Writes `length` bytes to `path` by `fill`, whole or not at all: what stood at `path` stays until all is there.
pub fn write(
    path: &Path,
    length: u64,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    Staged::new(path, length, fill)?.publish()
}

/// A file that is written whole and has no name yet; dropped, it is removed.
pub struct Staged {
    content: Content,
    /// Where it goes, with every link followed.
    path: PathBuf,
}

enum Content {
    #[cfg(target_os = "linux")]
    Unnamed(File),
    Named(Temporary),
    /// It went through a device or a pipe as it was made.
    Through,
}

impl Staged {
    /// Writes `length` bytes by `fill`, and syncs them.
    pub fn new(
        path: &Path,
        length: u64,
        fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<Staged> {
        let there = fs::metadata(path).ok();
        if let Some(there) = &there
            && !there.is_file()
        {
            if there.is_dir() {
                return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
            }
            fill_whole(&OpenOptions::new().write(true).open(path)?, fill)?;
            return Ok(Staged { content: Content::Through, path: path.to_owned() });
        }
        allowed(length)?;
        let path = followed(path)?;
        if there.is_some() {
            // Who may not write to the file may not replace it either.
            OpenOptions::new().write(true).open(&path)?;
        }
        let content = Content::in_folder(folder(&path))?;
        let file = content.file();
        if let (Some(there), Some(file)) = (there, file) {
            file.set_permissions(there.permissions())?;
        }
        if let Some(file) = file {
            fill_whole(file, fill)?;
            file.sync_all()?;
        }
        Ok(Staged { content, path })
    }

    /// Gives the file its name, in place of what stood there.
    pub fn publish(self) -> io::Result<()> {
        match self.content {
            Content::Through => return Ok(()),
            #[cfg(target_os = "linux")]
            Content::Unnamed(file) => unnamed::publish(&file, &self.path)?,
            Content::Named(temporary) => temporary.publish(&self.path)?,
        }
        sync(folder(&self.path));
        Ok(())
    }
}

impl Content {
    /// An empty file in `folder`, without a name if there are such.
    fn in_folder(folder: &Path) -> io::Result<Content> {
        #[cfg(target_os = "linux")]
        if let Some(file) = unnamed::in_folder(folder)? {
            return Ok(Content::Unnamed(file));
        }
        Ok(Content::Named(Temporary::in_folder(folder)?))
    }

    fn file(&self) -> Option<&File> {
        match self {
            #[cfg(target_os = "linux")]
            Content::Unnamed(file) => Some(file),
            Content::Named(temporary) => Some(temporary.file.as_file()),
            Content::Through => None,
        }
    }
}

fn fill_whole(file: &File, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut writer = BufWriter::with_capacity(1 << 16, file);
    fill(&mut writer)?;
    writer.flush()
}

/// A file with a temporary name, which is removed when it is dropped or the process is stopped.
struct Temporary {
    file: NamedTempFile,
    #[cfg(unix)]
    _removal: removal::Removal,
}

impl Temporary {
    fn in_folder(folder: &Path) -> io::Result<Temporary> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(".sx-").suffix(".tmp");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = builder.tempfile_in(folder)?;
        Ok(Temporary {
            #[cfg(unix)]
            _removal: removal::Removal::of(file.path()),
            file,
        })
    }

    fn publish(self, path: &Path) -> io::Result<()> {
        self.file.persist(path).map_err(|error| error.error)?;
        Ok(())
    }
}

/// Links that may lead on to one another.
const LINKS: usize = 40;

/// The path that `path` leads to when every link in its last part is followed; nothing need be there.
fn followed(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        match fs::read_link(&path) {
            Ok(target) => path = folder(&path).join(target),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "its links lead to one another"))
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

#[cfg(all(test, unix))]
mod tests;
