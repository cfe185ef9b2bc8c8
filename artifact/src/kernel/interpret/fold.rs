//! Folds, products and the softmax of attention.

use super::super::FoldOp;
use super::column::{Column, floats};
use crate::maths::exact;
use crate::tensor::Data;

/// Each row of `along` values folded to one.
pub(super) fn fold(op: FoldOp, x: &Column, rows: usize, along: usize) -> Column {
    fn each<T: Copy, R>(values: &[T], rows: usize, along: usize, one: impl Fn(&[T]) -> R) -> Vec<R> {
        (0..rows).map(|row| one(&values[row * along..(row + 1) * along])).collect()
    }
    match x {
        Data::F32(v) => Data::F32(each(v, rows, along, |row| float(op, row))),
        Data::I32(v) => Data::I32(each(v, rows, along, |row| int32(op, row))),
        Data::I64(v) => Data::I64(each(v, rows, along, |row| int64(op, row))),
        Data::Bool(v) => Data::Bool(each(v, rows, along, |row| match op {
            FoldOp::All | FoldOp::Min | FoldOp::Prod => row.iter().all(|&x| x),
            FoldOp::Any | FoldOp::Max | FoldOp::Sum => row.iter().any(|&x| x),
        })),
        Data::Bf16(_) => unreachable!("no register holds bf16"),
    }
}

fn float(op: FoldOp, row: &[f32]) -> f32 {
    let wide =
        |start: f64, join: fn(f64, f64) -> f64| row.iter().map(|&x| f64::from(x)).fold(start, join) as f32;
    match op {
        FoldOp::Sum => wide(0.0, |a, b| a + b),
        FoldOp::Prod => wide(1.0, |a, b| a * b),
        FoldOp::Max => row.iter().copied().fold(f32::NEG_INFINITY, exact::maximum),
        FoldOp::Min => row.iter().copied().fold(f32::INFINITY, exact::minimum),
        FoldOp::All | FoldOp::Any => unreachable!("a valid kernel does not ask whether floats are true"),
    }
}

macro_rules! integers {
    ($name:ident $t:ty) => {
        fn $name(op: FoldOp, row: &[$t]) -> $t {
            let row = row.iter().copied();
            match op {
                FoldOp::Sum => row.fold(0, <$t>::wrapping_add),
                FoldOp::Prod => row.fold(1, <$t>::wrapping_mul),
                FoldOp::Max => row.fold(<$t>::MIN, <$t>::max),
                FoldOp::Min => row.fold(<$t>::MAX, <$t>::min),
                FoldOp::All | FoldOp::Any => {
                    unreachable!("a valid kernel does not ask whether integers are true")
                }
            }
        }
    };
}
integers!(int32 i32);
integers!(int64 i64);

/// `[batch m k] · [batch k n]`, floats accumulated in f64 and rounded once, integers wrapping.
pub(super) fn product(lhs: &Column, rhs: &Column, sizes: [usize; 4]) -> Column {
    fn each<T: Copy, A>(
        (lhs, rhs): (&[T], &[T]),
        [batch, m, n, k]: [usize; 4],
        zero: A,
        add: impl Fn(A, T, T) -> A,
    ) -> Vec<A>
    where
        A: Copy,
    {
        let mut out = Vec::with_capacity(batch * m * n);
        for row in 0..batch * m {
            for j in 0..n {
                let b = row / m;
                let term = |acc, l: usize| add(acc, lhs[row * k + l], rhs[(b * k + l) * n + j]);
                out.push((0..k).fold(zero, term));
            }
        }
        out
    }
    match (lhs, rhs) {
        (Data::F32(a), Data::F32(b)) => {
            let sums = each((a, b), sizes, 0.0f64, |acc, x, y| acc + f64::from(x) * f64::from(y));
            Data::F32(sums.into_iter().map(|x| x as f32).collect())
        }
        (Data::I32(a), Data::I32(b)) => {
            Data::I32(each((a, b), sizes, 0i32, |acc, x, y| acc.wrapping_add(x.wrapping_mul(y))))
        }
        (Data::I64(a), Data::I64(b)) => {
            Data::I64(each((a, b), sizes, 0i64, |acc, x, y| acc.wrapping_add(x.wrapping_mul(y))))
        }
        (a, b) => panic!("a product is of two numbers of one type, not of {} and {}", a.dtype(), b.dtype()),
    }
}

/// The softmax of each row. Where every score is -inf it is NaN, or 0 if `zero_hidden_rows`.
pub(super) fn softmax(scores: &Column, width: usize, zero_hidden_rows: bool) -> Column {
    let scores = floats(scores);
    let mut out = Vec::with_capacity(scores.len());
    for row in scores.chunks(width.max(1)) {
        let larger = |max: f64, x: f64| if max.is_nan() || x.is_nan() { f64::NAN } else { max.max(x) };
        let max = row.iter().map(|&x| f64::from(x)).fold(f64::NEG_INFINITY, larger);
        if zero_hidden_rows && max == f64::NEG_INFINITY {
            out.extend(row.iter().map(|_| 0f32));
            continue;
        }
        let powers: Vec<f64> = row.iter().map(|&x| (f64::from(x) - max).exp()).collect();
        let total: f64 = powers.iter().sum();
        out.extend(powers.iter().map(|p| (p / total) as f32));
    }
    Data::F32(out)
}
