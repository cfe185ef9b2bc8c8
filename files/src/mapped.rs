//! Files in memory without reading them.

use crate::memory;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use sx_artifact::read::Owner;

/// Maps `path` for reading. An empty file is an empty vector, which cannot be mapped.
///
/// Everything of ours that writes files replaces them by renaming, so a mapped file keeps its bytes. A file
/// that another program shortens in place while it is mapped ends this process when the missing bytes are
/// read; that is the price every program pays that maps its weights.
#[expect(unsafe_code, reason = "mapping a file is unsafe in every crate that offers it")]
pub fn map(path: &Path) -> io::Result<Owner> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
    }
    if metadata.len() == 0 || !metadata.is_file() {
        return Ok(Arc::new(read_whole(file)?));
    }
    // SAFETY: the mapping is private and only read. Its bytes are plain `u8`, valid whatever they are; what
    // depends on their value (digests, JSON) is read again where it matters, never assumed unchanged for
    // memory safety: every offset that is used was bounds-checked against the length of the slice itself.
    let map = unsafe { memmap2::MmapOptions::new().map_copy_read_only(&file)? };
    Ok(Arc::new(map))
}

/// Pipes and the like cannot be mapped. What has no end is not read until memory has one.
fn read_whole(file: File) -> io::Result<Vec<u8>> {
    #[cfg(unix)]
    if std::os::unix::fs::FileTypeExt::is_char_device(&file.metadata()?.file_type()) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a device; name a file or a pipe"));
    }
    let most = memory::available().map_or(u64::MAX - 1, |free| free / 2);
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut io::Read::take(file, most + 1), &mut bytes)?;
    if bytes.len() as u64 > most {
        let what = format!("it gives more than {most} bytes, half of the free memory");
        return Err(io::Error::new(io::ErrorKind::OutOfMemory, what));
    }
    Ok(bytes)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_end_is_refused() {
        let error = map(Path::new("/dev/zero")).err().expect("it has no end");
        assert!(error.to_string().contains("it is a device"), "{error}");
    }
}
