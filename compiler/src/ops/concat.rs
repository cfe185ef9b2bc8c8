//! Operands one after the other along an axis.

use super::{About, Fault, Rules, Tolerance, Trap, shape};
use crate::ir::op::Concat;
use crate::ir::{Dim, Domain, Type};
use sx_artifact::tensor::{Data, Tensor};

impl Rules for Concat {
    fn about(&self) -> About<'_> {
        About {
            name: "concat",
            signature: "(concat axis tensors)",
            summary: "the operands one after the other along an axis",
            takes: "every dtype, all the same",
            domain: "what all are, or the range that holds all",
            example: "(concat 0 [(iota [2]) (iota [3])]) ; => [0 1 0 1 2]",
            tolerance: Tolerance::Exact,
        }
    }

    fn infer(&self, args: &[Type]) -> Result<Vec<Type>, Fault> {
        let axis = self.axis;
        let first = args.first().ok_or(Fault::Operands { want: "at least 1", got: 0 })?;
        if first.rank() <= axis {
            return Err(Fault::Axis { axis: axis as i64, rank: first.rank() });
        }
        let mut dims = first.dims.clone();
        for (arg, other) in args.iter().enumerate().skip(1) {
            if other.dtype != first.dtype {
                return Err(Fault::DtypesDiffer { left: first.dtype, right: other.dtype, arg });
            }
            join(&mut dims, first, other, axis)?;
        }
        shape::countable(&dims)?;
        Ok(vec![Type { dtype: first.dtype, dims, domain: domain(args, axis) }])
    }

    fn reference(&self, args: &[&Tensor]) -> Result<Vec<Tensor>, Trap> {
        let mut sizes = args[0].shape().to_vec();
        sizes[self.axis] = args.iter().map(|arg| arg.shape()[self.axis]).sum();
        let outer: u64 = sizes[..self.axis].iter().product();
        let inner: u64 = sizes[self.axis + 1..].iter().product();
        let runs: Vec<usize> = args.iter().map(|arg| (arg.shape()[self.axis] * inner) as usize).collect();
        macro_rules! joined {
            ($variant:ident) => {{
                let parts = args.iter().map(|arg| match arg.data() {
                    Data::$variant(v) => v.as_slice(),
                    _ => panic!("concat of tensors of different dtypes"),
                });
                interleaved(&parts.collect::<Vec<_>>(), &runs, outer as usize).into()
            }};
        }
        let data: Data = match args[0].data() {
            Data::F32(_) => joined!(F32),
            Data::Bf16(_) => joined!(Bf16),
            Data::I32(_) => joined!(I32),
            Data::I64(_) => joined!(I64),
            Data::Bool(_) => joined!(Bool),
        };
        Ok(vec![Tensor::new(&sizes, data)])
    }
}

/// Adds `other` to the dimensions of what has been joined to `first`.
fn join(dims: &mut [Dim], first: &Type, other: &Type, axis: usize) -> Result<(), Fault> {
    if other.rank() != first.rank() {
        return Err(Fault::RanksDiffer { left: first.shape(), right: other.shape() });
    }
    for (at, dim) in dims.iter_mut().enumerate() {
        let new = &other.dims[at];
        if at == axis {
            // A dimension that has grown is no longer the axis it was.
            let size = dim.size.checked_add(new.size);
            *dim = Dim::of(size.ok_or(Fault::TooLarge { shape: other.shape() })?);
        } else if dim.size != new.size {
            return Err(Fault::OffAxis { left: first.shape(), right: other.shape(), axis, at });
        } else {
            *dim = shape::identified(dim, new);
        }
    }
    Ok(())
}

/// What every operand is, unless it is about the joined axis; else the range of all.
fn domain(args: &[Type], axis: usize) -> Domain {
    let first = &args[0].domain;
    if args.iter().all(|arg| arg.domain == *first) && (args.len() == 1 || first.over() != Some(axis)) {
        return first.clone();
    }
    let ranges = args.iter().map(|arg| arg.domain.range());
    ranges.reduce(|a, b| a.hull(b)).map_or(Domain::REAL, Domain::Range)
}

/// One run of each part, `outer` times.
fn interleaved<T: Copy>(parts: &[&[T]], runs: &[usize], outer: usize) -> Vec<T> {
    let mut joined = Vec::with_capacity(parts.iter().map(|part| part.len()).sum());
    for at in 0..outer {
        for (part, run) in parts.iter().zip(runs) {
            joined.extend_from_slice(&part[at * run..(at + 1) * run]);
        }
    }
    joined
}
