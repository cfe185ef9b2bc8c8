//! NumPy's `.npz`: a zip of `.npy` files, stored or deflated.

use super::npy::{self, Encoded};
use super::raw::mismatch;
use super::{Error, Mismatch, Want};
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

/// The most bytes that are unpacked before the shape is known.
const HEAD: u64 = 1 << 16;

/// The `.npy` file of the tensor `key`, which is one of [`names`]. It is unpacked only where its shape is the one that is
/// wanted: a few bytes may unfold to any number.
pub(super) fn entry(path: &Path, bytes: &[u8], key: &str, want: &Want<'_>) -> Result<Vec<u8>, Error> {
    let damaged = |what: String| Error::file(path, format!("`{key}` cannot be unpacked: {what}"));
    let mut archive = archive(path, bytes)?;
    let name = format!("{key}.npy");
    let name = if archive.index_for_name(&name).is_some() { &name } else { key };
    let mut file = archive.by_name(name).map_err(|error| damaged(error.to_string()))?;
    let size = file.size();
    let mut content = Vec::new();
    let unread = |error: std::io::Error| damaged(error.to_string());
    file.by_ref().take(HEAD).read_to_end(&mut content).map_err(unread)?;
    let odd = |what: String| Error::file(path, format!("`{key}`: {what}"));
    let (shape, bytes) = npy::announced(&content).map_err(odd)?;
    if shape != want.shape {
        let (expected, found) = (want.shape.to_vec(), shape);
        return Err(mismatch(want, Mismatch::Shape { expected, found }));
    }
    if bytes != Some(size) {
        return Err(odd(format!("its header and its {size} bytes do not belong together; save it again")));
    }
    // A byte more than the size it states, whatever the compressed bytes unfold to: only at its end is the
    // checksum compared.
    let rest = size.saturating_add(1).saturating_sub(content.len() as u64);
    file.take(rest).read_to_end(&mut content).map_err(unread)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use sx_artifact::dtype::DType;

    /// A file with `a.npy`, deflated: a header that announces `shape`, and zeros behind it.
    fn packed(shape: &str, zeros: usize) -> Vec<u8> {
        let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
        let deflated =
            zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
        writer.start_file("a.npy", deflated).expect("a new file");
        let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n");
        let length = (header.len() as u16).to_le_bytes();
        let head = [b"\x93NUMPY\x01\x00".as_slice(), &length, header.as_bytes()].concat();
        writer.write_all(&head).expect("a vector takes any bytes");
        writer.write_all(&vec![0; zeros]).expect("a vector takes any bytes");
        writer.finish().expect("a whole file").into_inner()
    }

    #[test]
    fn only_a_tensor_of_the_wanted_shape_is_unpacked() {
        let want = Want { name: "a", dtype: DType::F32, shape: &[4], check: None };
        let entry = |bytes: &[u8]| entry(Path::new("x.npz"), bytes, "a", &want);
        let refused =
            |shape: &str, zeros| entry(&packed(shape, zeros)).expect_err("it is refused").to_string();
        assert!(entry(&packed("(4,)", 16)).is_ok());
        let large = refused("(4194304,)", 16 << 20);
        assert!(large.contains("takes the shape [4] and is given [4194304]"), "{large}");
        for (shape, zeros) in [("(4,)", 16 << 20), ("(4,)", 15), ("(4,)", 17)] {
            let message = refused(shape, zeros);
            assert!(message.contains("do not belong together"), "{message}");
        }
    }

    #[test]
    fn names_that_leave_the_folder_are_refused() {
        let path = Path::new("x.npz");
        for name in ["../x", "a/../b", "/a", "a//b", ".", "c:x", "a\\b"] {
            assert!(check_names(path, [name]).is_err(), "{name}");
        }
        assert!(check_names(path, ["a", "layer/0.weight", "..a", "é"]).is_ok());
    }
}
