//! Safetensors: a header in JSON, then the elements, row-major and little-endian.

use super::Error;
use super::raw::{Raw, RawKind};
use crate::atomic;
use crate::mapped;
use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::path::Path;
use sx_artifact::dtype::DType;
use sx_artifact::tensor::Tensor;

/// An open file. Its tensors are slices of the mapping: nothing is read before it is used.
pub struct File {
    owner: sx_artifact::read::Owner,
    path: std::path::PathBuf,
}

impl File {
    /// Opens the file at `path`.
    pub fn open(path: &Path) -> Result<File, Error> {
        let owner = mapped::map(path).map_err(Error::io("read", path))?;
        views(path, (*owner).as_ref())?;
        Ok(File { owner, path: path.to_owned() })
    }

    /// Its tensors by name, sorted by name.
    pub fn tensors(&self) -> Result<Vec<(String, Raw<'_>)>, Error> {
        views(&self.path, (*self.owner).as_ref())
    }
}

/// The tensors in the bytes of a file, sorted by name. Those of a type that is not read are refused by name.
pub(super) fn views<'a>(path: &Path, bytes: &'a [u8]) -> Result<Vec<(String, Raw<'a>)>, Error> {
    let file = SafeTensors::deserialize(bytes).map_err(|error| {
        Error::file(path, format!("it is not a safetensors file: {error}; copy or export it again"))
    })?;
    if let Some(name) = twice(bytes) {
        return Err(Error::file(path, format!("the tensor `{name}` stands twice in it; export it again")));
    }
    let mut views = Vec::new();
    for (name, view) in file.iter() {
        let Some(kind) = kind(view.dtype()) else {
            let what =
                format!("the elements of `{name}` have the type {:?}, which is not read", view.dtype());
            return Err(Error::file(path, what));
        };
        let shape = view.shape().iter().map(|&size| size as u64).collect();
        views.push((name.to_owned(), Raw { kind, shape, bytes: Cow::Borrowed(view.data()) }));
    }
    views.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(views)
}

/// A name that the header of a file has twice: readers of JSON take the last, and nobody would know.
fn twice(bytes: &[u8]) -> Option<String> {
    struct Names(Option<String>);
    impl<'de> Deserialize<'de> for Names {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Names, D::Error> {
            deserializer.deserialize_map(Names(None))
        }
    }
    impl<'de> Visitor<'de> for Names {
        type Value = Names;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("tensors by name")
        }

        fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Names, A::Error> {
            let mut seen = HashSet::new();
            while let Some((name, _)) = map.next_entry::<String, IgnoredAny>()? {
                if let Some(name) = seen.replace(name) {
                    self.0.get_or_insert(name);
                }
            }
            Ok(self)
        }
    }
    let (length, rest) = bytes.split_first_chunk()?;
    let header = rest.get(..usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
    serde_json::from_slice::<Names>(header).ok()?.0
}

fn kind(dtype: Dtype) -> Option<RawKind> {
    Some(match dtype {
        Dtype::F16 => RawKind::F16,
        Dtype::F32 => RawKind::F32,
        Dtype::F64 => RawKind::F64,
        Dtype::BF16 => RawKind::Bf16,
        Dtype::I8 => RawKind::I8,
        Dtype::I16 => RawKind::I16,
        Dtype::I32 => RawKind::I32,
        Dtype::I64 => RawKind::I64,
        Dtype::U8 => RawKind::U8,
        Dtype::U16 => RawKind::U16,
        Dtype::U32 => RawKind::U32,
        Dtype::U64 => RawKind::U64,
        Dtype::BOOL => RawKind::Bool,
        _ => return None,
    })
}

/// Writes `tensors` to `path`, whole or not at all.
pub(super) fn save(path: &Path, tensors: &[(&str, &Tensor)]) -> Result<(), Error> {
    let failed = |error: safetensors::SafeTensorError| Error::file(path, error.to_string());
    let mut views = Vec::new();
    for (name, tensor) in tensors {
        let dtype = match tensor.dtype() {
            DType::F32 => Dtype::F32,
            DType::Bf16 => Dtype::BF16,
            DType::I32 => Dtype::I32,
            DType::I64 => Dtype::I64,
            DType::Bool => Dtype::BOOL,
        };
        let shape = tensor.shape().iter().map(|&size| size as usize).collect();
        views.push((*name, TensorView::new(dtype, shape, tensor.bytes()).map_err(failed)?));
    }
    let bytes = serialize(views, None).map_err(failed)?;
    atomic::write(path, bytes.len() as u64, |out| out.write_all(&bytes)).map_err(Error::io("write", path))
}
