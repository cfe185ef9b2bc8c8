//! NumPy's `.npz`: a zip of `.npy` files, stored or deflated.

use super::Error;
use super::npy::Encoded;
use crate::atomic;
use std::collections::HashSet;
use std::io::{Cursor, Read};
use std::path::Path;
use sx_artifact::layout::{self, Item};
use sx_artifact::tensor::Tensor;
use zip::ZipArchive;

fn archive<'a>(path: &Path, bytes: &'a [u8]) -> Result<ZipArchive<Cursor<&'a [u8]>>, Error> {
    ZipArchive::new(Cursor::new(bytes))
        .map_err(|error| Error::file(path, format!("it is not an npz file: {error}")))
}

/// The names of its tensors, each of which stands there once.
pub(super) fn names(path: &Path, bytes: &[u8]) -> Result<Vec<String>, Error> {
    let archive = archive(path, bytes)?;
    // The archive keeps the last of two entries with one name: only how many there were is known.
    if archive.has_duplicate_names() {
        return Err(Error::file(
            path,
            "two of its tensors have the same name; save it again with one of each",
        ));
    }
    let (mut names, mut seen) = (Vec::new(), HashSet::new());
    for name in archive.file_names() {
        let name = name.map_err(|error| Error::file(path, format!("it is not an npz file: {error}")))?;
        let name = name.strip_suffix(".npy").unwrap_or(&name);
        // `a.npy` and `a` are one name.
        if !seen.insert(name.to_owned()) {
            let what = format!("the tensor `{name}` stands twice in it; save it again with one of each");
            return Err(Error::file(path, what));
        }
        names.push(name.to_owned());
    }
    Ok(names)
}

/// The `.npy` file of the tensor `key`, which is one of [`names`].
pub(super) fn entry(path: &Path, bytes: &[u8], key: &str) -> Result<Vec<u8>, Error> {
    let damaged = |what: String| Error::file(path, format!("`{key}` cannot be unpacked: {what}"));
    let mut archive = archive(path, bytes)?;
    let name = format!("{key}.npy");
    let name = if archive.index_for_name(&name).is_some() { &name } else { key };
    let file = archive.by_name(name).map_err(|error| damaged(error.to_string()))?;
    let size = file.size();
    let mut content = Vec::new();
    // A byte more than the size it states, whatever the compressed bytes unfold to: only at its end is the
    // checksum compared.
    file.take(size.saturating_add(1))
        .read_to_end(&mut content)
        .map_err(|error| damaged(error.to_string()))?;
    if content.len() as u64 != size {
        return Err(damaged(format!("it is not of the {size} bytes that it states; save it again")));
    }
    Ok(content)
}

/// Refuses names that would leave the folder the file is unpacked in.
pub(super) fn check_names<'n>(path: &Path, names: impl IntoIterator<Item = &'n str>) -> Result<(), Error> {
    let leaves = |name: &str| {
        name.starts_with('/')
            || name.contains(['\\', ':', '\0'])
            || name.split('/').any(|part| matches!(part, "" | "." | ".."))
    };
    match names.into_iter().find(|name| leaves(name)) {
        None => Ok(()),
        Some(name) => Err(Error::file(
            path,
            format!(
                "`{name}` cannot name a file in an npz; save it alone as `.npy`, or all in a `.safetensors`"
            ),
        )),
    }
}

/// Writes `tensors` as NumPy's `savez` does: stored.
pub(super) fn save(path: &Path, tensors: &[(&str, &Tensor)]) -> Result<(), Error> {
    check_names(path, tensors.iter().map(|(name, _)| *name))?;
    let files: Vec<(String, Encoded<'_>)> =
        tensors.iter().map(|(name, tensor)| (format!("{name}.npy"), Encoded::new(tensor))).collect();
    let items: Vec<Item<'_>> =
        files.iter().map(|(name, file)| Item { name, length: file.len(), crc32: file.crc32() }).collect();
    let layout = layout::of(&items).map_err(|error| Error::file(path, error.to_string()))?;
    let fill = |out: &mut dyn std::io::Write| {
        for (placed, (_, file)) in layout.entries.iter().zip(&files) {
            out.write_all(&placed.head)?;
            file.emit(out)?;
        }
        out.write_all(&layout.tail)
    };
    atomic::write(path, layout.length, fill).map_err(Error::io("write", path))
}
