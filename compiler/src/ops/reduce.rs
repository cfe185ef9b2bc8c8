//! Folds over axes.

use super::fault::InsteadOfMask;
use super::scalar::{self, Kind, may_wrap};
use super::walk::{self, to_bf16};
use super::{About, Fault, Rules, Tolerance, Trap, shape};
use crate::ir::op::Reduce;
use crate::ir::{Dim, Domain, Interval, Type};
use half::bf16;
use sx_artifact::dtype::DType;
use sx_artifact::kernel::FoldOp;
use sx_artifact::tensor::{Data, Tensor};

impl Rules for Reduce {
    fn about(&self) -> About<'_> {
        match self.op {
            FoldOp::Sum => About {
                name: "sum",
                signature: "(sum x :axes axes :keepdims false)",
                summary: "the sum over axes, of nothing 0; integers wrap",
                takes: Kind::Number.words(),
                domain: "the sign alone; Logit of a Logit over another axis",
                example: "(sum (iota [2 3] :axis 1) :axes [-1]) ; => [3 3]",
                tolerance: Tolerance::Sum,
            },
            FoldOp::Max => About {
                name: "max",
                signature: "(max x :axes axes :keepdims false)",
                summary: "the largest over axes, NaN if one is NaN",
                takes: Kind::Number.words(),
                domain: "kept, over where its axis went; Prob and LogProb become ranges",
                example: "(max (iota [2 3] :axis 1) :axes [-1]) ; => [2 2]",
                tolerance: Tolerance::Exact,
            },
            FoldOp::Min => About {
                name: "min",
                signature: "(min x :axes axes :keepdims false)",
                summary: "the smallest over axes, NaN if one is NaN",
                takes: Kind::Number.words(),
                domain: "kept, over where its axis went; Prob and LogProb become ranges",
                example: "(min (iota [2 3] :axis 1) :axes [-1]) ; => [0 0]",
                tolerance: Tolerance::Exact,
            },
            FoldOp::Prod => About {
                name: "prod",
                signature: "(prod x :axes axes :keepdims false)",
                summary: "the product over axes, of nothing 1; integers wrap",
                takes: Kind::Number.words(),
                domain: "the sign alone, where it is known",
                example: "(prod (+ (iota [2 3] :axis 1) 1) :axes [-1]) ; => [6 6]",
                tolerance: Tolerance::Prod,
            },
            FoldOp::All => About {
                name: "all",
                signature: "(all x :axes axes :keepdims false)",
                summary: "whether every one over axes holds, of nothing true",
                takes: Kind::Mask.words(),
                domain: "Mask",
                example: "(all (< (iota [3]) 3)) ; => true",
                tolerance: Tolerance::Exact,
            },
            FoldOp::Any => About {
                name: "any",
                signature: "(any x :axes axes :keepdims false)",
                summary: "whether one over axes holds, of nothing false",
                takes: Kind::Mask.words(),
                domain: "Mask",
                example: "(any (< (iota [3]) 1)) ; => true",
                tolerance: Tolerance::Exact,
            },
        }
    }

    fn infer(&self, args: &[Type]) -> Result<Vec<Type>, Fault> {
        let [x] = shape::operands(args, "1")?;
        match self.op {
            FoldOp::All | FoldOp::Any => shape::mask(args, 0)?,
            FoldOp::Max => shape::no_masks(args, InsteadOfMask::Any)?,
            FoldOp::Min | FoldOp::Prod => shape::no_masks(args, InsteadOfMask::All)?,
            FoldOp::Sum => shape::no_masks(args, InsteadOfMask::Binary)?,
        }
        let written: Vec<i64> = self.axes.iter().map(|&axis| axis as i64).collect();
        shape::axes(&written, x.rank())?;
        let empty = self.axes.iter().find(|&&axis| x.dims[axis].size == 0);
        if let (FoldOp::Max | FoldOp::Min, Some(&axis)) = (self.op, empty) {
            return Err(Fault::EmptyAxis { shape: x.shape(), axis });
        }
        let kept = (0..x.rank()).map(|axis| match (self.axes.contains(&axis), self.keepdims) {
            (false, _) => Some(x.dims[axis].clone()),
            (true, true) => Some(Dim::of(1)),
            (true, false) => None,
        });
        Ok(vec![Type { dtype: x.dtype, dims: kept.flatten().collect(), domain: domain(self, x) }])
    }

    fn reference(&self, args: &[&Tensor]) -> Result<Vec<Tensor>, Trap> {
        Ok(vec![fold(self, args[0])])
    }
}

/// The domain of the result.
fn domain(op: &Reduce, x: &Type) -> Domain {
    let folded: u64 = op.axes.iter().map(|&axis| x.dims[axis].size).product();
    if op.axes.is_empty() {
        return x.domain.clone();
    }
    match op.op {
        FoldOp::All | FoldOp::Any => Domain::Mask,
        FoldOp::Max | FoldOp::Min => without_axes(op, x),
        FoldOp::Sum | FoldOp::Prod => match &x.domain {
            Domain::Logit { .. } if op.op == FoldOp::Sum => without_axes(op, x),
            domain => Domain::Range(sign(op, domain.range(), folded, x.dtype)),
        },
    }
}

/// The domain of the operand, over where its axis went.
fn without_axes(op: &Reduce, x: &Type) -> Domain {
    let gone = |axis: usize| op.axes.iter().filter(|&&folded| folded < axis).count();
    let shift = |axis: usize| if op.keepdims { axis } else { axis - gone(axis) };
    match &x.domain {
        // The largest probabilities of several distributions are no distribution.
        Domain::Prob { .. } | Domain::LogProb { .. } => Domain::Range(x.domain.range()),
        domain => domain.moved(|axis| (!op.axes.contains(&axis)).then(|| shift(axis))),
    }
}

/// What is known of a sum or product of `folded` values from `range`: its sign, unless it may wrap.
fn sign(op: &Reduce, range: Interval, folded: u64, dtype: DType) -> Interval {
    let (start, all) = match op.op {
        FoldOp::Sum => (0.0, range.times(Interval::point(folded as f64))),
        _ if Interval::SIGNED.contains(&range) => (1.0, Interval::SIGNED),
        _ => (1.0, Interval::REAL),
    };
    if may_wrap(all.hull(Interval::point(start)), dtype) {
        return Interval::REAL;
    }
    let signs = if op.op == FoldOp::Sum {
        &[Interval::POS, Interval::NON_NEG, Interval::NEG, Interval::NON_POS][..]
    } else {
        &[Interval::POS, Interval::NON_NEG]
    };
    let holds = |sign: &&Interval| sign.contains(&range) && (folded > 0 || sign.holds(start));
    signs.iter().find(holds).copied().unwrap_or(Interval::REAL)
}

/// The meaning: sums and products of floats in f64, rounded once.
fn fold(op: &Reduce, x: &Tensor) -> Tensor {
    let strides = walk::strides(x.shape());
    let rest: Vec<usize> = (0..x.shape().len()).filter(|axis| !op.axes.contains(axis)).collect();
    let of = |axes: &[usize]| -> (Vec<u64>, Vec<usize>) {
        axes.iter().map(|&axis| (x.shape()[axis], strides[axis])).unzip()
    };
    let ((rows, row_steps), (along, along_steps)) = (of(&rest), of(&op.axes));
    let (rows, along) = (walk::offsets(&rows, &row_steps), walk::offsets(&along, &along_steps));
    let f = op.op;
    let data: Data = match x.data() {
        Data::F32(v) => folded(v, &rows, &along, f64::from, float(f), |x| x as f32).into(),
        Data::Bf16(v) => folded(v, &rows, &along, bf16::to_f64, float(f), to_bf16).into(),
        Data::I32(v) => folded(v, &rows, &along, |x| x, int32(f), |x| x).into(),
        Data::I64(v) => folded(v, &rows, &along, |x| x, int64(f), |x| x).into(),
        Data::Bool(v) => folded(v, &rows, &along, |x| x, truth(f), |x| x).into(),
    };
    let size = |axis: usize| match (op.axes.contains(&axis), op.keepdims) {
        (false, _) => Some(x.shape()[axis]),
        (true, true) => Some(1),
        (true, false) => None,
    };
    let sizes: Vec<u64> = (0..x.shape().len()).filter_map(size).collect();
    Tensor::new(&sizes, data)
}

/// A value to begin with, and how two combine.
type Step<T> = (T, fn(T, T) -> T);

fn folded<T: Copy, W: Copy>(
    x: &[T],
    rows: &[usize],
    along: &[usize],
    wide: impl Fn(T) -> W,
    (start, step): Step<W>,
    narrow: impl Fn(W) -> T,
) -> Vec<T> {
    rows.iter().map(|row| narrow(along.iter().fold(start, |acc, at| step(acc, wide(x[row + at]))))).collect()
}

fn float(op: FoldOp) -> Step<f64> {
    match op {
        FoldOp::Sum => (0.0, |a, b| a + b),
        FoldOp::Prod => (1.0, |a, b| a * b),
        FoldOp::Max => (f64::NEG_INFINITY, scalar::larger),
        FoldOp::Min => (f64::INFINITY, scalar::smaller),
        FoldOp::All | FoldOp::Any => ill_typed(),
    }
}

fn int32(op: FoldOp) -> Step<i32> {
    match op {
        FoldOp::Sum => (0, i32::wrapping_add),
        FoldOp::Prod => (1, i32::wrapping_mul),
        FoldOp::Max => (i32::MIN, i32::max),
        FoldOp::Min => (i32::MAX, i32::min),
        FoldOp::All | FoldOp::Any => ill_typed(),
    }
}

fn int64(op: FoldOp) -> Step<i64> {
    match op {
        FoldOp::Sum => (0, i64::wrapping_add),
        FoldOp::Prod => (1, i64::wrapping_mul),
        FoldOp::Max => (i64::MIN, i64::max),
        FoldOp::Min => (i64::MAX, i64::min),
        FoldOp::All | FoldOp::Any => ill_typed(),
    }
}

fn truth(op: FoldOp) -> Step<bool> {
    match op {
        FoldOp::All => (true, |a, b| a && b),
        FoldOp::Any => (false, |a, b| a || b),
        FoldOp::Sum | FoldOp::Prod | FoldOp::Max | FoldOp::Min => ill_typed(),
    }
}

/// Type rules come first, so this is a bug of whoever skipped them.
fn ill_typed() -> ! {
    panic!("a reduction was applied to a dtype that its type rule refuses")
}
