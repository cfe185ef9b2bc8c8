//! Files without a name: nothing is left of them when the process is stopped.

use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

/// An empty file in `folder`; none where the file system has no such files or nothing could give it a name.
pub(super) fn in_folder(folder: &Path) -> io::Result<Option<File>> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    match rustix::fs::open(folder, flags, Mode::from_raw_mode(0o666)) {
        Ok(file) => {
            let file = File::from(file);
            Ok(way_to(&file).exists().then_some(file))
        }
        // What file systems and kernels say that have none; a folder that is not there is found by the next attempt.
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOENT | Errno::INVAL) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Where the system shows an open file, so that it can be linked.
fn way_to(file: &File) -> PathBuf {
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}

/// Gives `file` the name `path`. A name that is taken cannot be linked to, so the file gets another for a moment.
pub(super) fn publish(file: &File, path: &Path) -> io::Result<()> {
    let link = |to: &Path| rustix::fs::linkat(CWD, way_to(file), CWD, to, AtFlags::SYMLINK_FOLLOW);
    match link(path) {
        Err(Errno::EXIST) => {}
        done => return Ok(done?),
    }
    for number in 0u32.. {
        let beside = path.with_file_name(format!(".sx-{}-{number}.tmp", std::process::id()));
        match link(&beside) {
            Ok(()) => {
                return std::fs::rename(&beside, path).inspect_err(|_| {
                    // The error to tell is that of the renaming.
                    let _ = std::fs::remove_file(&beside);
                });
            }
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}
