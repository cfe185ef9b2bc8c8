//! Values as they stand on a command line: numbers, tensors, files, and random ones.

use super::raw::{Raw, bf16_of, mismatch};
use super::{Error, Mismatch, Rounding, Want, from_file, random};
use crate::memory;
use std::path::PathBuf;
use sx_artifact::check;
use sx_artifact::dtype::DType;
use sx_artifact::tensor::{Data, Tensor};

/// What stands after `--input NAME=`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// `0.5`: one number or truth value, for an input of rank 0.
    Number(String),
    /// `2x3:f32=1 2 3 4 5 6`: shape, dtype (the input's if left out) and elements.
    Literal {
        /// The size of each axis.
        shape: Vec<u64>,
        /// The dtype.
        dtype: Option<DType>,
        /// The elements, row-major.
        elements: Vec<String>,
    },
    /// `@file.npy`, `@file.npz:key`, `@file.safetensors:key`.
    File {
        /// The file.
        path: PathBuf,
        /// Which of its tensors; left out, the one with the input's name, or the only one.
        key: Option<String>,
    },
    /// `random` or `random:SEED`: values within the input's domain.
    Random {
        /// Different seeds give different values.
        seed: u64,
    },
}

impl Value {
    /// Reads the text after `--input NAME=`.
    pub fn parse(text: &str) -> Result<Value, Error> {
        if let Some(file) = text.strip_prefix('@') {
            return Ok(file_and_key(file));
        }
        if let Some(seed) = text.strip_prefix("random") {
            return match seed.strip_prefix(':').map(str::parse) {
                None if seed.is_empty() => Ok(Value::Random { seed: 0 }),
                Some(Ok(seed)) => Ok(Value::Random { seed }),
                _ => Err(Error::text(text, "write `random`, or `random:SEED` with a whole number")),
            };
        }
        match text.split_once('=') {
            Some((head, elements)) => literal(text, head, elements),
            None if is_number(text) => Ok(Value::Number(text.to_owned())),
            None => Err(Error::text(
                text,
                "write a number, `2x3:f32=1 2 3 4 5 6`, `@file.npy`, `@file.npz:key`, `@file.safetensors:key` or `random`",
            )),
        }
    }

    /// The tensor that an input wants, made of this value.
    pub fn load(&self, want: &Want<'_>, rounding: Rounding) -> Result<Tensor, Error> {
        match self {
            Value::Number(text) => from_text(want, rounding, &[], None, std::slice::from_ref(text)),
            Value::Literal { shape, dtype, elements } => from_text(want, rounding, shape, *dtype, elements),
            Value::File { path, key } => from_file(path, key.as_deref(), want, rounding),
            Value::Random { seed } => {
                has_memory(want)?;
                Ok(random::tensor(want, *seed))
            }
        }
    }
}

/// Refuses to make values that this machine has no memory for.
fn has_memory(want: &Want<'_>) -> Result<(), Error> {
    let element = want.dtype.size() as u64;
    let needed = want.shape.iter().fold(element, |bytes, &size| bytes.saturating_mul(size));
    let free = memory::available().unwrap_or(isize::MAX as u64);
    if needed <= free {
        return Ok(());
    }
    let what = format!(
        "input `{}` {:?} {} needs {needed} bytes, and {free} are free; use smaller sizes",
        want.name, want.shape, want.dtype
    );
    Err(Error::text("random", what))
}

/// The key follows the last colon after an extension that has keys.
fn file_and_key(text: &str) -> Value {
    if let Some((file, key)) = text.rsplit_once(':') {
        let lower = file.to_ascii_lowercase();
        if lower.ends_with(".npz") || lower.ends_with(".safetensors") {
            return Value::File { path: file.into(), key: Some(key.to_owned()) };
        }
    }
    // A safetensors key may hold colons itself.
    for extension in [".npz:", ".safetensors:"] {
        if let Some(at) = text.find(extension) {
            let end = at + extension.len();
            return Value::File { path: text[..end - 1].into(), key: Some(text[end..].to_owned()) };
        }
    }
    Value::File { path: text.into(), key: None }
}

fn is_number(text: &str) -> bool {
    text.parse::<f64>().is_ok() || matches!(text, "true" | "false")
}

/// `head` is `2x3:f32`, `2x3` or `:f32`.
fn literal(text: &str, head: &str, elements: &str) -> Result<Value, Error> {
    let (sizes, dtype) = match head.split_once(':') {
        None => (head, None),
        Some((sizes, name)) => match DType::from_name(name) {
            Some(dtype) => (sizes, Some(dtype)),
            None => {
                let names = DType::ALL.map(DType::name).join(", ");
                return Err(Error::text(text, format!("there is no dtype `{name}`; there are {names}")));
            }
        },
    };
    let size = |size: &str| {
        size.parse::<u64>()
            .map_err(|_| Error::text(text, format!("`{size}` is not a size; write `2x3:f32=…`")))
    };
    let shape = match sizes {
        "" => Vec::new(),
        _ => sizes.split('x').map(size).collect::<Result<Vec<u64>, Error>>()?,
    };
    let split = |c: char| c.is_whitespace() || c == ',';
    let elements: Vec<String> =
        elements.split(split).filter(|it| !it.is_empty()).map(str::to_owned).collect();
    let count = shape.iter().try_fold(1u64, |n, &size| n.checked_mul(size));
    if count != Some(elements.len() as u64) {
        let what = format!("the shape {shape:?} does not have {} elements", elements.len());
        return Err(Error::text(text, what));
    }
    if let Some(wrong) = elements.iter().find(|element| !is_number(element)) {
        return Err(Error::text(text, format!("`{wrong}` is not a number")));
    }
    Ok(Value::Literal { shape, dtype, elements })
}

fn from_text(
    want: &Want<'_>,
    rounding: Rounding,
    shape: &[u64],
    dtype: Option<DType>,
    elements: &[String],
) -> Result<Tensor, Error> {
    if shape != want.shape {
        let (expected, found) = (want.shape.to_vec(), shape.to_vec());
        return Err(mismatch(want, Mismatch::Shape { expected, found }));
    }
    let written = dtype.unwrap_or(want.dtype);
    // Widths stand for each other as they do in files.
    let related = written.is_int() && want.dtype.is_int() || written.is_float() && want.dtype.is_float();
    if written != want.dtype && !related {
        let found = written.name().to_owned();
        let help = "leave the dtype out to use the input's";
        return Err(mismatch(want, Mismatch::DType { expected: want.dtype, found, help }));
    }
    let tensor = Tensor::new(shape, parsed(want, written, elements)?);
    if written != want.dtype {
        return Raw::of(&tensor).convert(want, rounding);
    }
    check::demand(want, &tensor).map_err(|why| mismatch(want, why))?;
    Ok(tensor)
}

/// The float that `text` says, as a narrower one; none where a number would become infinite.
fn fitting<T: Copy + Into<f32>>(text: &str, narrow: impl Fn(f64) -> T) -> Option<T> {
    let wide: f64 = text.parse().ok()?;
    let narrowed = narrow(wide);
    // Infinity is spelled in letters.
    let overflows = narrowed.into().is_infinite() && text.contains(|c: char| c.is_ascii_digit());
    (!overflows).then_some(narrowed)
}

/// The elements, each the nearest value of the dtype they are written as.
fn parsed(want: &Want<'_>, written: DType, elements: &[String]) -> Result<Data, Error> {
    macro_rules! all {
        ($parse:expr, $what:literal) => {
            elements
                .iter()
                .enumerate()
                .map(|(at, text)| {
                    $parse(text.as_str())
                        .ok_or_else(|| super::raw::element(want, at as u64, text.clone(), $what))
                })
                .collect::<Result<Vec<_>, Error>>()?
        };
    }
    Ok(match written {
        DType::F32 => Data::F32(all!(|text: &str| fitting(text, |x| x as f32), "a number that fits f32")),
        DType::Bf16 => Data::Bf16(all!(|text: &str| fitting(text, bf16_of), "a number that fits bf16")),
        DType::I32 => Data::I32(all!(|text: &str| text.parse().ok(), "a whole number that fits i32")),
        DType::I64 => Data::I64(all!(|text: &str| text.parse().ok(), "a whole number that fits i64")),
        DType::Bool => Data::Bool(all!(truth, "true or false")),
    })
}

fn truth(text: &str) -> Option<bool> {
    match text {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}
