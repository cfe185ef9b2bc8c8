//! Tensors as people give and take them: in files, on the command line, and printed.
//!
//! [`Value`] is what stands after `--input NAME=`; [`Value::load`] makes of it the tensor that an input wants,
//! or says why not. [`save`] writes outputs. One set of conversion rules holds for every source: floats are
//! never made from integers, nothing is rounded unasked, and what does not fit is refused with its position.

pub mod call;
pub mod error;
pub mod json;
mod literal;
pub mod npy;
pub mod npz;
pub mod print;
mod random;
pub mod raw;
pub mod safetensors;

pub use error::Error;
pub use literal::Value;
pub use sx_artifact::check::{Mismatch, Want};

use crate::atomic;
use crate::mapped;
use raw::Raw;
use std::path::Path;
use sx_artifact::tensor::Tensor;

/// Whether values that the dtype cannot hold exactly are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// They are refused.
    Refuse,
    /// They are rounded to nearest, ties to even (`--round-inputs`).
    Round,
}

/// The kinds of file that tensors are read from and written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Npy,
    Npz,
    Safetensors,
}

fn kind(path: &Path) -> Result<Kind, Error> {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    match extension.to_ascii_lowercase().as_str() {
        "npy" => Ok(Kind::Npy),
        "npz" => Ok(Kind::Npz),
        "safetensors" => Ok(Kind::Safetensors),
        _ => Err(Error::file(path, "tensors are kept in `.npy`, `.npz` and `.safetensors` files")),
    }
}

/// The names of the tensors in a `.npz` or `.safetensors` file.
pub fn names(path: &Path) -> Result<Vec<String>, Error> {
    let bytes = mapped::map(path).map_err(Error::io("read", path))?;
    let bytes = (*bytes).as_ref();
    match kind(path)? {
        Kind::Npy => Err(Error::file(path, "a `.npy` file holds one tensor without a name")),
        Kind::Npz => npz::names(path, bytes),
        Kind::Safetensors => Ok(safetensors::views(path, bytes)?.into_iter().map(|(name, _)| name).collect()),
    }
}

/// The tensor `key` of `path` as what `want` describes. Without a key it is the one called as the input, or the only one
/// there is.
fn from_file(path: &Path, key: Option<&str>, want: &Want<'_>, rounding: Rounding) -> Result<Tensor, Error> {
    let owner = mapped::map(path).map_err(Error::io("read", path))?;
    let bytes = (*owner).as_ref();
    let npy = |bytes: &[u8]| npy::parse(bytes).map(|raw| raw.convert(want, rounding));
    match (kind(path)?, key) {
        (Kind::Npy, None) => npy(bytes).map_err(|what| Error::file(path, what))?,
        (Kind::Npy, Some(_)) => Err(Error::file(path, "a `.npy` file holds one tensor without a name")),
        (Kind::Npz, _) => {
            let key = choose(path, key, want.name, npz::names(path, bytes)?)?;
            let entry = npz::entry(path, bytes, &key, want)?;
            npy(&entry).map_err(|what| Error::file(path, format!("`{key}`: {what}")))?
        }
        (Kind::Safetensors, _) => {
            let views = safetensors::views(path, bytes)?;
            let key = choose(path, key, want.name, views.iter().map(|(name, _)| name.clone()).collect())?;
            let view = views.into_iter().find(|(name, _)| *name == key).map(|(_, view): (_, Raw<'_>)| view);
            view.expect("the key was chosen among the names").convert(want, rounding)
        }
    }
}

fn choose(path: &Path, key: Option<&str>, name: &str, has: Vec<String>) -> Result<String, Error> {
    let wanted = key.unwrap_or(name);
    if has.iter().any(|known| known == wanted) {
        return Ok(wanted.to_owned());
    }
    match (key, has.as_slice()) {
        (None, [only]) => Ok(only.clone()),
        _ => Err(Error::NoKey { path: path.to_owned(), key: wanted.to_owned(), has }),
    }
}

/// Writes named tensors to `path`, whole or not at all: `.npz` or `.safetensors`, or `.npy` for exactly one.
/// NumPy has no bf16: there it is written as f32, exactly.
pub fn save(path: &Path, tensors: &[(&str, &Tensor)]) -> Result<(), Error> {
    let io = || Error::io("write", path);
    match (kind(path)?, tensors) {
        (Kind::Npz, _) => npz::save(path, tensors),
        (Kind::Safetensors, _) => safetensors::save(path, tensors),
        (Kind::Npy, [(_, tensor)]) => {
            let file = npy::Encoded::new(tensor);
            atomic::write(path, file.len(), |out| file.emit(out)).map_err(io())
        }
        (Kind::Npy, _) => Err(one_only(path, tensors.len())),
    }
}

fn one_only(path: &Path, count: usize) -> Error {
    Error::file(path, format!("a `.npy` file holds one tensor and there are {count}; use `.npz`"))
}
