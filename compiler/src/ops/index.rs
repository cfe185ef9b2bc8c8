//! Rows and elements by integers.

use super::scalar::Kind;
use super::{About, Fault, Rules, Tolerance, Trap, shape, walk};
use crate::ir::op::{Gather, Index};
use crate::ir::{Domain, Type};
use sx_artifact::tensor::Tensor;

impl Rules for Index {
    fn about(&self) -> About<'_> {
        About {
            name: "index",
            signature: "(index table ids)",
            summary: "rows of a table by integers; one outside the table is refused",
            takes: "every dtype; the ids i32 or i64",
            domain: "that of the table, over where its axis went; a range where its axis is the first",
            example: "(index (iota [3 2]) (- 2 (iota [2]))) ; => [[2 2] [1 1]]",
            tolerance: Tolerance::Exact,
        }
    }

    fn infer(&self, args: &[Type]) -> Result<Vec<Type>, Fault> {
        let [table, ids] = shape::operands(args, "2")?;
        integers(args, 1)?;
        if table.rank() == 0 {
            return Err(Fault::Rank { arg: 0, got: 0, least: 1 });
        }
        reaches(table, 0, ids)?;
        let dims: Vec<_> = ids.dims.iter().chain(&table.dims[1..]).cloned().collect();
        shape::countable(&dims)?;
        let domain = table.domain.moved(|axis| axis.checked_sub(1).map(|rest| ids.rank() + rest));
        Ok(vec![Type { dtype: table.dtype, dims, domain }])
    }

    fn reference(&self, args: &[&Tensor]) -> Result<Vec<Tensor>, Trap> {
        let (table, ids) = (args[0], args[1]);
        let size = table.shape()[0];
        let row: u64 = table.shape()[1..].iter().product();
        let rows = bounded(ids, size)?;
        let offsets = rows.into_iter().flat_map(|at| at * row as usize..(at + 1) * row as usize);
        let sizes: Vec<u64> = ids.shape().iter().chain(&table.shape()[1..]).copied().collect();
        Ok(vec![walk::picked(table, &sizes, offsets)])
    }
}

impl Rules for Gather {
    fn about(&self) -> About<'_> {
        About {
            name: "gather",
            signature: "(gather x ids :axis -1)",
            summary: "elements along an axis by integers; one outside the axis is refused",
            takes: "every dtype; the ids i32 or i64",
            domain: "that of `x`; Prob and LogProb become ranges",
            example: "(gather (iota [2 3] :axis 1) (- 2 (iota [2 2] :axis 1)) :axis 1) ; => [[2 1] [2 1]]",
            tolerance: Tolerance::Exact,
        }
    }

    fn infer(&self, args: &[Type]) -> Result<Vec<Type>, Fault> {
        let [x, ids] = shape::operands(args, "2")?;
        let axis = self.axis;
        integers(args, 1)?;
        if x.rank() != ids.rank() {
            return Err(Fault::RanksDiffer { left: x.shape(), right: ids.shape() });
        }
        if x.rank() <= axis {
            return Err(Fault::Axis { axis: axis as i64, rank: x.rank() });
        }
        let differs = |&at: &usize| at != axis && x.dims[at].size != ids.dims[at].size;
        if let Some(at) = (0..x.rank()).find(differs) {
            return Err(Fault::OffAxis { left: x.shape(), right: ids.shape(), axis, at });
        }
        reaches(x, axis, ids)?;
        let dim = |at: usize| {
            if at == axis { ids.dims[at].clone() } else { shape::identified(&ids.dims[at], &x.dims[at]) }
        };
        let dims = (0..x.rank()).map(dim).collect();
        // Positions are chosen element by element: what was a distribution need not be one.
        let domain = match &x.domain {
            Domain::Prob { .. } | Domain::LogProb { .. } => Domain::Range(x.domain.range()),
            domain => domain.moved(|over| (over != axis).then_some(over)),
        };
        Ok(vec![Type { dtype: x.dtype, dims, domain }])
    }

    fn reference(&self, args: &[&Tensor]) -> Result<Vec<Tensor>, Trap> {
        let (x, ids) = (args[0], args[1]);
        let mut strides = walk::strides(x.shape());
        let step = std::mem::take(&mut strides[self.axis]);
        let positions = bounded(ids, x.shape()[self.axis])?;
        let lines = walk::offsets(ids.shape(), &strides);
        let offsets = lines.into_iter().zip(positions).map(|(line, at)| line + at * step);
        Ok(vec![walk::picked(x, ids.shape(), offsets)])
    }
}

/// Refuses operand `arg` unless it holds integers.
fn integers(args: &[Type], arg: usize) -> Result<(), Fault> {
    let got = args[arg].dtype;
    if got.is_int() { Ok(()) } else { Err(Fault::Dtype { arg, got, want: Kind::Integer }) }
}

/// Refuses ids into an axis without positions: none of them could be right.
fn reaches(x: &Type, axis: usize, ids: &Type) -> Result<(), Fault> {
    if x.dims[axis].size == 0 && ids.count() > 0 {
        return Err(Fault::EmptyAxis { shape: x.shape(), axis });
    }
    Ok(())
}

/// The elements of `ids` as positions on an axis of `size`.
fn bounded(ids: &Tensor, size: u64) -> Result<Vec<usize>, Trap> {
    let check = |(position, value): (usize, i64)| match usize::try_from(value) {
        Ok(at) if (at as u64) < size => Ok(at),
        _ => Err(Trap { position: position as u64, value, size }),
    };
    walk::integers(ids).into_iter().enumerate().map(check).collect()
}
