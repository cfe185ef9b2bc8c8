//! What an input takes, and whether a tensor is that: dtype, shape, and values in its declared domain.

use crate::dtype::DType;
use crate::program::Check;
use crate::tensor::{Data, Tensor};
use half::bf16;
use std::fmt;

/// What an input takes.
#[derive(Clone, Copy, Debug)]
pub struct Want<'a> {
    /// The input's name.
    pub name: &'a str,
    /// The dtype of its elements.
    pub dtype: DType,
    /// The size of each axis.
    pub shape: &'a [u64],
    /// What its values must be.
    pub check: Option<&'a Check>,
}

/// How a tensor does not fit an input.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mismatch {
    /// Another shape.
    Shape {
        /// What the input takes.
        expected: Vec<u64>,
        /// What it was given.
        found: Vec<u64>,
    },
    /// Another dtype, and no exact conversion.
    DType {
        /// What the input takes.
        expected: DType,
        /// What it was given.
        found: String,
        /// What to do.
        help: &'static str,
    },
    /// An element that the input's dtype or domain does not hold.
    Element {
        /// Where it stands.
        position: Vec<u64>,
        /// The element.
        found: String,
        /// What is wanted.
        expected: String,
    },
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mismatch::Shape { expected, found } => {
                write!(f, "takes the shape {expected:?} and is given {found:?}")
            }
            Mismatch::DType { expected, found, help } => {
                write!(f, "takes {expected} and is given {found}; {help}")
            }
            Mismatch::Element { position, found, expected } if position.is_empty() => {
                write!(f, "is {found}; it must be {expected}")
            }
            Mismatch::Element { position, found, expected } => {
                write!(f, "has {found} at {position:?}; every element must be {expected}")
            }
        }
    }
}

impl Mismatch {
    /// An element at a flat position that is not as it must be.
    pub fn element(want: &Want<'_>, flat: u64, found: String, expected: &str) -> Mismatch {
        Mismatch::Element { position: unflatten(flat, want.shape), found, expected: expected.to_owned() }
    }
}

/// How far the sum of a distribution may be from 1: a bf16 holds each of its values only within 2^-9 of it.
fn prob_tolerance(dtype: DType) -> f64 {
    let rounding = if dtype == DType::Bf16 { 1.0 / 512.0 } else { 0.0 };
    1e-3 + rounding
}

/// Refuses a tensor that is not what `want` describes: dtype, shape, and every value.
pub fn demand(want: &Want<'_>, tensor: &Tensor) -> Result<(), Mismatch> {
    if tensor.dtype() != want.dtype {
        let found = tensor.dtype().name().to_owned();
        let help = "convert it before";
        return Err(Mismatch::DType { expected: want.dtype, found, help });
    }
    if tensor.shape() != want.shape {
        let (expected, found) = (want.shape.to_vec(), tensor.shape().to_vec());
        return Err(Mismatch::Shape { expected, found });
    }
    let Some(check) = want.check else { return Ok(()) };
    let outside = match tensor.data() {
        Data::F32(values) => first(check, values, want.dtype, |&x| f64::from(x)),
        Data::Bf16(values) => first(check, values, want.dtype, |&x| f64::from(x.to_f32())),
        Data::I32(values) => first_int(check, values, |&x| i64::from(x)),
        Data::I64(values) => first_int(check, values, |&x| x),
        Data::Bool(_) => None,
    };
    if let Some(at) = outside {
        return Err(Mismatch::element(want, at as u64, tensor.data().element(at), &in_words(check)));
    }
    match check {
        Check::Prob { over } => sums_to_one(want, tensor, *over as usize),
        Check::Range { .. } | Check::Index { .. } | Check::Binary | Check::Additive => Ok(()),
    }
}

/// The position of the first float that `check` excludes.
fn first<T>(check: &Check, values: &[T], dtype: DType, float: impl Fn(&T) -> f64) -> Option<usize> {
    let allowed = |x: f64| match *check {
        Check::Range { low, high, low_open, high_open } => {
            low.is_none_or(|low| x > low || (!low_open && is_end(x, low, dtype)))
                && high.is_none_or(|high| x < high || (!high_open && is_end(x, high, dtype)))
                && !x.is_nan()
        }
        Check::Index { .. } => false,
        Check::Binary => x == 0.0 || x == 1.0,
        Check::Additive => x == 0.0 || x == f64::NEG_INFINITY,
        Check::Prob { .. } => (0.0..=1.0).contains(&x),
    };
    values.iter().position(|x| !allowed(float(x)))
}

/// An end covers the number as written and the dtype's nearest value.
fn is_end(x: f64, end: f64, dtype: DType) -> bool {
    let nearest = match dtype {
        DType::Bf16 => f64::from(bf16::from_f64(end).to_f32()),
        _ => f64::from(end as f32),
    };
    x == end || x == nearest
}

/// The position of the first integer that `check` excludes.
fn first_int<T>(check: &Check, values: &[T], int: impl Fn(&T) -> i64) -> Option<usize> {
    let allowed = |x: i64| match *check {
        Check::Range { low, high, low_open, high_open } => {
            let x = x as f64;
            low.is_none_or(|low| x > low || (!low_open && x == low))
                && high.is_none_or(|high| x < high || (!high_open && x == high))
        }
        Check::Index { size } => u64::try_from(x).is_ok_and(|x| x < size),
        Check::Binary => x == 0 || x == 1,
        Check::Additive => x == 0,
        Check::Prob { .. } => false,
    };
    values.iter().position(|x| !allowed(int(x)))
}

/// What a check asks, after "must be".
pub fn in_words(check: &Check) -> String {
    match check {
        Check::Range { low, high, low_open, high_open } => {
            let open = if *low_open || low.is_none() { '(' } else { '[' };
            let close = if *high_open || high.is_none() { ')' } else { ']' };
            let end = |end: Option<f64>, none: &str| end.map_or(none.to_owned(), |end| end.to_string());
            format!("in {open}{}, {}{close}", end(*low, "-inf"), end(*high, "inf"))
        }
        Check::Index { size: 0 } => "an index of an axis of size 0, which has none".to_owned(),
        Check::Index { size } => format!("an index from 0 to {}", size - 1),
        Check::Binary => "0 or 1".to_owned(),
        Check::Additive => "0 or -inf".to_owned(),
        Check::Prob { over } => format!("in [0, 1], and sum to 1 along axis {over}"),
    }
}

fn sums_to_one(want: &Want<'_>, tensor: &Tensor, over: usize) -> Result<(), Mismatch> {
    let value = |at: usize| match tensor.data() {
        Data::F32(values) => f64::from(values[at]),
        Data::Bf16(values) => f64::from(values[at].to_f32()),
        Data::I32(_) | Data::I64(_) | Data::Bool(_) => f64::NAN,
    };
    let size = want.shape[over] as usize;
    let inner = want.shape[over + 1..].iter().product::<u64>() as usize;
    let outer = want.shape[..over].iter().product::<u64>() as usize;
    for row in 0..outer * inner {
        let start = row / inner * size * inner + row % inner;
        let sum: f64 = (0..size).map(|k| value(start + k * inner)).sum();
        if (sum - 1.0).abs() > prob_tolerance(want.dtype) {
            let found = format!("a distribution along axis {over} that sums to {sum:.6}");
            let wanted = in_words(&Check::Prob { over: over as u32 });
            return Err(Mismatch::element(want, start as u64, found, &wanted));
        }
    }
    Ok(())
}

/// The position of an element on each axis.
pub fn unflatten(mut flat: u64, shape: &[u64]) -> Vec<u64> {
    let mut position = vec![0; shape.len()];
    for (at, &size) in position.iter_mut().zip(shape).rev() {
        *at = flat % size.max(1);
        flat /= size.max(1);
    }
    position
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions() {
        assert_eq!(unflatten(17, &[2, 3, 4]), [1, 1, 1]);
        assert_eq!(unflatten(0, &[]), [0u64; 0]);
    }
}
