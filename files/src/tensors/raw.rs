//! A tensor as a file holds it, and the rules by which it becomes one of ours.

use super::{Error, Mismatch, Rounding, Want};
use half::{bf16, f16};
use std::borrow::Cow;
use sx_artifact::check;
use sx_artifact::dtype::DType;
use sx_artifact::tensor::{Data, Tensor};

/// The element types that files have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are NumPy's")]
pub enum RawKind {
    F16,
    F32,
    F64,
    Bf16,
    /// Two bytes without a meaning: how NumPy stores what it does not know, bf16 among others.
    Void2,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    Bool,
}

impl RawKind {
    /// The name for messages.
    pub fn name(self) -> &'static str {
        match self {
            RawKind::F16 => "f16",
            RawKind::F32 => "f32",
            RawKind::F64 => "f64",
            RawKind::Bf16 => "bf16",
            RawKind::Void2 => "two bytes without a type (`|V2`)",
            RawKind::I8 => "i8",
            RawKind::I16 => "i16",
            RawKind::I32 => "i32",
            RawKind::I64 => "i64",
            RawKind::U8 => "u8",
            RawKind::U16 => "u16",
            RawKind::U32 => "u32",
            RawKind::U64 => "u64",
            RawKind::Bool => "bool",
        }
    }

    /// Bytes an element takes.
    pub fn size(self) -> usize {
        match self {
            RawKind::I8 | RawKind::U8 | RawKind::Bool => 1,
            RawKind::F16 | RawKind::Bf16 | RawKind::Void2 | RawKind::I16 | RawKind::U16 => 2,
            RawKind::F32 | RawKind::I32 | RawKind::U32 => 4,
            RawKind::F64 | RawKind::I64 | RawKind::U64 => 8,
        }
    }
}

/// A tensor of a file: row-major, little-endian.
#[derive(Clone, Debug)]
pub struct Raw<'a> {
    /// The element type.
    pub kind: RawKind,
    /// The size of each axis.
    pub shape: Vec<u64>,
    /// The elements: as many bytes as kind and shape say.
    pub bytes: Cow<'a, [u8]>,
}

impl<'a> Raw<'a> {
    /// A tensor of ours, to be converted by the rules for those of files.
    pub(super) fn of(tensor: &'a Tensor) -> Raw<'a> {
        let kind = match tensor.dtype() {
            DType::F32 => RawKind::F32,
            DType::Bf16 => RawKind::Bf16,
            DType::I32 => RawKind::I32,
            DType::I64 => RawKind::I64,
            DType::Bool => RawKind::Bool,
        };
        Raw { kind, shape: tensor.shape().to_vec(), bytes: Cow::Borrowed(tensor.bytes()) }
    }

    /// The tensor that `want` describes, if this is one without loss (or `rounding` allows it).
    pub fn convert(&self, want: &Want<'_>, rounding: Rounding) -> Result<Tensor, Error> {
        if self.shape != want.shape {
            let (expected, found) = (want.shape.to_vec(), self.shape.clone());
            return Err(mismatch(want, Mismatch::Shape { expected, found }));
        }
        let data = match want.dtype {
            DType::F32 => Data::F32(self.to_f32(want, rounding)?),
            DType::Bf16 => Data::Bf16(self.to_bf16(want, rounding)?),
            DType::I32 => Data::I32(self.to_int(want)?),
            DType::I64 => Data::I64(self.to_int(want)?),
            DType::Bool => Data::Bool(self.to_bool(want)?),
        };
        let tensor = Tensor::new(want.shape, data);
        check::demand(want, &tensor).map_err(|why| mismatch(want, why))?;
        Ok(tensor)
    }

    fn elements<const N: usize>(&self) -> impl Iterator<Item = [u8; N]> {
        self.bytes.as_chunks::<N>().0.iter().copied()
    }

    fn to_f32(&self, want: &Want<'_>, rounding: Rounding) -> Result<Vec<f32>, Error> {
        match self.kind {
            RawKind::F32 => Ok(bytemuck::allocation::pod_collect_to_vec(&self.bytes)),
            RawKind::F16 => Ok(self.elements().map(|bytes| f16::from_le_bytes(bytes).to_f32()).collect()),
            RawKind::Bf16 => Ok(self.elements().map(|bytes| bf16::from_le_bytes(bytes).to_f32()).collect()),
            RawKind::F64 if rounding == Rounding::Round => {
                Ok(self.elements().map(|bytes| f64::from_le_bytes(bytes) as f32).collect())
            }
            RawKind::F64 => Err(self.refuse(want, "convert it, or allow rounding with `--round-inputs`")),
            _ => Err(self.refuse(want, "convert it before")),
        }
    }

    fn to_bf16(&self, want: &Want<'_>, rounding: Rounding) -> Result<Vec<bf16>, Error> {
        let exact = |(at, x): (usize, f32)| {
            let rounded = bf16::from_f32(x);
            if rounding == Rounding::Round || rounded.to_f32() == x || x.is_nan() {
                return Ok(rounded);
            }
            let expected = "a bf16 exactly, or rounding allowed with `--round-inputs`";
            Err(element(want, at as u64, format!("{x:?}"), expected))
        };
        match self.kind {
            RawKind::Bf16 | RawKind::Void2 => Ok(bytemuck::allocation::pod_collect_to_vec(&self.bytes)),
            RawKind::F32 => self.elements().map(f32::from_le_bytes).enumerate().map(exact).collect(),
            RawKind::F16 => self
                .elements()
                .map(|bytes| f16::from_le_bytes(bytes).to_f32())
                .enumerate()
                .map(exact)
                .collect(),
            RawKind::F64 if rounding == Rounding::Round => {
                Ok(self.elements().map(|bytes| bf16_of(f64::from_le_bytes(bytes))).collect())
            }
            RawKind::F64 => Err(self.refuse(want, "convert it, or allow rounding with `--round-inputs`")),
            _ => Err(self.refuse(want, "convert it before")),
        }
    }

    fn to_int<T: TryFrom<i128>>(&self, want: &Want<'_>) -> Result<Vec<T>, Error> {
        let fit = |(at, x): (usize, i128)| {
            let expected = || format!("an {}", want.dtype);
            T::try_from(x).map_err(|_| element(want, at as u64, x.to_string(), &expected()))
        };
        macro_rules! all {
            ($int:ty) => {
                self.elements()
                    .map(|bytes| i128::from(<$int>::from_le_bytes(bytes)))
                    .enumerate()
                    .map(fit)
                    .collect()
            };
        }
        match self.kind {
            RawKind::I8 => all!(i8),
            RawKind::I16 => all!(i16),
            RawKind::I32 => all!(i32),
            RawKind::I64 => all!(i64),
            RawKind::U8 => all!(u8),
            RawKind::U16 => all!(u16),
            RawKind::U32 => all!(u32),
            RawKind::U64 => all!(u64),
            _ => Err(self.refuse(want, "give it integers")),
        }
    }

    fn to_bool(&self, want: &Want<'_>) -> Result<Vec<bool>, Error> {
        if self.kind != RawKind::Bool {
            return Err(self.refuse(want, "give it truth values"));
        }
        let truth = |(at, byte): (usize, &u8)| match byte {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(element(want, at as u64, format!("the byte {byte}"), "a byte 0 or 1")),
        };
        self.bytes.iter().enumerate().map(truth).collect()
    }

    fn refuse(&self, want: &Want<'_>, help: &'static str) -> Error {
        let found = self.kind.name().to_owned();
        mismatch(want, Mismatch::DType { expected: want.dtype, found, help })
    }
}

/// The bf16 nearest to `x`, ties to even, rounded once: by way of an f32 that is rounded to odd where it is
/// not exact, which keeps on which side of a tie `x` lies.
pub(super) fn bf16_of(x: f64) -> bf16 {
    let near = x as f32;
    let exact = f64::from(near);
    if exact == x || x.is_nan() || near.is_infinite() || near.to_bits() & 1 == 1 {
        return bf16::from_f32(near);
    }
    let towards_zero = exact.abs() > x.abs();
    let bits = if towards_zero { near.to_bits() - 1 } else { near.to_bits() + 1 };
    bf16::from_f32(f32::from_bits(bits))
}

pub(super) fn mismatch(want: &Want<'_>, mismatch: Mismatch) -> Error {
    Error::Input { name: want.name.to_owned(), mismatch }
}

/// The element at a flat position is not what it must be.
pub(super) fn element(want: &Want<'_>, flat: u64, found: String, expected: &str) -> Error {
    mismatch(want, Mismatch::element(want, flat, found, expected))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bf16_is_rounded_once() {
        // 1 + 2^-8 lies half way between two bf16; a little more than that, below what f32 holds, rounds up.
        let tie = 1.0 + 2f64.powi(-8);
        assert_eq!(bf16_of(tie).to_f32(), 1.0);
        assert_eq!(bf16_of(tie + 2f64.powi(-40)).to_f32(), 1.0078125);
        assert_eq!(bf16_of(tie - 2f64.powi(-40)).to_f32(), 1.0);
        assert_eq!(bf16_of(-tie - 2f64.powi(-40)).to_f32(), -1.0078125);
        assert_eq!(bf16_of(f64::INFINITY).to_f32(), f32::INFINITY);
        assert!(bf16_of(f64::NAN).to_f32().is_nan());
        assert_eq!(bf16_of(1e-60).to_f32(), 0.0);
    }
}
