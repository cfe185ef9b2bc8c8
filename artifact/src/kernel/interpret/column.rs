//! The values of one instruction at many points.

use super::super::Const;
use crate::dtype::DType;
use crate::tensor::Data;
use half::bf16;

/// Values of one type. Never bf16, which registers do not hold.
pub(super) type Column = Data;

/// `count` times the same value.
pub(super) fn filled(value: Const, count: usize) -> Column {
    match value {
        Const::F32(bits) => Data::F32(vec![f32::from_bits(bits); count]),
        Const::I32(x) => Data::I32(vec![x; count]),
        Const::I64(x) => Data::I64(vec![x; count]),
        Const::Bool(x) => Data::Bool(vec![x; count]),
    }
}

/// `count` zeros as an argument of `dtype` stores them.
pub(super) fn zeros_of(dtype: DType, count: usize) -> Data {
    match dtype {
        DType::F32 => Data::F32(vec![0.0; count]),
        DType::Bf16 => Data::Bf16(vec![bf16::ZERO; count]),
        DType::I32 => Data::I32(vec![0; count]),
        DType::I64 => Data::I64(vec![0; count]),
        DType::Bool => Data::Bool(vec![false; count]),
    }
}

/// Each value `times` times.
pub(super) fn expanded(column: &Column, times: usize) -> Column {
    fn each<T: Copy>(values: &[T], times: usize) -> Vec<T> {
        values.iter().flat_map(|&value| std::iter::repeat_n(value, times)).collect()
    }
    match column {
        Data::F32(v) => Data::F32(each(v, times)),
        Data::Bf16(v) => Data::Bf16(each(v, times)),
        Data::I32(v) => Data::I32(each(v, times)),
        Data::I64(v) => Data::I64(each(v, times)),
        Data::Bool(v) => Data::Bool(each(v, times)),
    }
}

/// The elements at these positions, 0 where there is none.
pub(super) fn at_each<T: Copy + Default>(from: &[T], at: &[Option<usize>]) -> Vec<T> {
    let one = |at: &Option<usize>| at.map_or(T::default(), |at| from[at]);
    at.iter().map(one).collect()
}

/// Writes each value to its place in an argument.
pub(super) fn scatter(to: &mut Data, values: &Column, places: &[i64]) {
    fn each<T: Copy, S>(to: &mut [S], values: &[T], places: &[i64], stored: impl Fn(T) -> S) {
        places.iter().zip(values).for_each(|(&place, &value)| to[place as usize] = stored(value));
    }
    match (to, values) {
        (Data::F32(to), Data::F32(values)) => each(to, values, places, |x| x),
        (Data::Bf16(to), Data::F32(values)) => each(to, values, places, bf16::from_f32),
        (Data::I32(to), Data::I32(values)) => each(to, values, places, |x| x),
        (Data::I64(to), Data::I64(values)) => each(to, values, places, |x| x),
        (Data::Bool(to), Data::Bool(values)) => each(to, values, places, |x| x),
        (to, values) => panic!("values of {} are stored as {}", values.dtype(), to.dtype()),
    }
}

/// Integers of either width.
pub(super) fn integers(column: &Column) -> Vec<i64> {
    match column {
        Data::I32(v) => v.iter().map(|&x| x.into()).collect(),
        Data::I64(v) => v.clone(),
        Data::F32(_) | Data::Bf16(_) | Data::Bool(_) => panic!("an index is an integer"),
    }
}

/// A truth value.
pub(super) fn truth(column: &Column, at: usize) -> bool {
    match column {
        Data::Bool(v) => v[at],
        Data::F32(_) | Data::Bf16(_) | Data::I32(_) | Data::I64(_) => panic!("a guard is a truth value"),
    }
}

/// Floats.
pub(super) fn floats(column: &Column) -> &[f32] {
    match column {
        Data::F32(v) => v,
        Data::Bf16(_) | Data::I32(_) | Data::I64(_) | Data::Bool(_) => panic!("attention is of floats"),
    }
}

/// `[batch rows columns]` as `[batch columns rows]`.
pub(super) fn transposed(x: &Column, batch: usize, rows: usize, columns: usize) -> Column {
    let from = floats(x);
    let mut out = Vec::with_capacity(from.len());
    for b in 0..batch {
        for c in 0..columns {
            out.extend((0..rows).map(|r| from[(b * rows + r) * columns + c]));
        }
    }
    Data::F32(out)
}
