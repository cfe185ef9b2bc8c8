//! Walking over elements in row-major order: what the references of movement share.

use half::bf16;
use sx_artifact::tensor::{Data, Tensor};

/// Row-major strides, in elements.
pub fn strides(shape: &[u64]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis] as usize;
    }
    strides
}

/// The sum of `strides[i] * position[i]` for every position of `shape`, row-major.
pub fn offsets(shape: &[u64], strides: &[usize]) -> Vec<usize> {
    let count: u64 = shape.iter().product();
    if count == 0 {
        return Vec::new();
    }
    let mut all = Vec::with_capacity(count as usize);
    all.push(0);
    // From the innermost axis out: what stands so far is repeated at each position of the next axis.
    for (&size, &stride) in shape.iter().zip(strides).rev() {
        let inner = all.len();
        for position in 1..size as usize {
            for i in 0..inner {
                all.push(all[i] + position * stride);
            }
        }
    }
    all
}

/// The tensor of `shape` whose elements are those of `x` at `offsets`.
pub fn picked(x: &Tensor, shape: &[u64], offsets: impl IntoIterator<Item = usize>) -> Tensor {
    fn pick<T: Copy>(from: &[T], offsets: impl IntoIterator<Item = usize>) -> Vec<T> {
        offsets.into_iter().map(|at| from[at]).collect()
    }
    let data: Data = match x.data() {
        Data::F32(v) => pick(v, offsets).into(),
        Data::Bf16(v) => pick(v, offsets).into(),
        Data::I32(v) => pick(v, offsets).into(),
        Data::I64(v) => pick(v, offsets).into(),
        Data::Bool(v) => pick(v, offsets).into(),
    };
    Tensor::new(shape, data)
}

/// An f64 rounded once, to nearest even, to bf16.
pub fn to_bf16(x: f64) -> bf16 {
    let mut near = x as f32;
    // Rounding to odd keeps what the second rounding needs to know.
    if f64::from(near).abs() > x.abs() {
        near = f32::from_bits(near.to_bits() - 1);
    }
    if f64::from(near) != x && !x.is_nan() {
        near = f32::from_bits(near.to_bits() | 1);
    }
    bf16::from_f32(near)
}

/// The integers of an index operand.
pub fn integers(x: &Tensor) -> Vec<i64> {
    match x.data() {
        Data::I32(v) => v.iter().map(|&i| i64::from(i)).collect(),
        Data::I64(v) => v.clone(),
        Data::F32(_) | Data::Bf16(_) | Data::Bool(_) => {
            unreachable!("rules refuse indices that are not integers")
        }
    }
}
