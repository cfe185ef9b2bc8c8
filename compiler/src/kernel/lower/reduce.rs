//! Reductions: the coordinates a kernel folds along, and the folds.

use super::{AxisKey, Lowering, Retry};
use crate::ir::{Value, op};
use crate::kernel::finish;
use crate::kernel::index::{Idx, Term, unflatten};
use std::collections::HashSet;
use sx_artifact::kernel::{FoldOp, Inst, ScalarType, Val};
use sx_artifact::scalar::ScalarFn;

impl Lowering<'_> {
    pub(super) fn reduce(
        &mut self,
        v: Value,
        reduce: &op::Reduce,
        at: &[Idx],
        guard: Option<Val>,
    ) -> Result<Val, Retry> {
        if let Some(product) = &self.product
            && self.analysis.computes(v, product.node)
        {
            // What is reduced is the product: it is stored, and this kernel reduces.
            return Err(Retry::Store(self.analysis.cut(product.node.into(), self.root)));
        }
        let operand = self.graph.node(v.node).args[0];
        let operand_ty = self.graph.ty(operand);
        let instead = |walk: &Self| walk.analysis.row_cut(v, walk.root);
        if guard.is_some() || self.product.is_some() || at.iter().any(Idx::is_gathered) {
            return Err(Retry::Store(instead(self)));
        }
        let reduced: Vec<u64> = reduce.axes.iter().map(|&axis| operand_ty.dims[axis].size).collect();
        if reduced.contains(&0) {
            return Ok(finish::identity(&mut self.body, reduce.op, ScalarType::of(operand_ty.dtype)));
        }
        let depends: HashSet<u32> = at.iter().flat_map(Idx::coords).collect();
        if !self.choose_along(&depends, &reduced) {
            return Err(Retry::Store(instead(self)));
        }
        let along = self.along.clone().unwrap_or_default();
        let inner = unflatten(&self.position_along(&along), &reduced, &self.space)
            .map_err(|problem| self.realigned(problem, instead(self)))?;
        let x = self.value(operand, &unreduced(reduce, at, &inner, operand_ty.rank()), None)?;
        let folded = self.fold(reduce.op, x, reduced.iter().product(), &along);
        Ok(self.body.rounded(folded, self.graph.ty(v).dtype))
    }

    /// Decides the reduced coordinates at the first reduction; at a later one, whether it fits them.
    fn choose_along(&mut self, depends: &HashSet<u32>, reduced: &[u64]) -> bool {
        let count: u64 = reduced.iter().product();
        let Some(along) = &self.along else {
            let rest: Vec<u32> = (0..self.space.len() as u32).filter(|c| !depends.contains(c)).collect();
            if rest.is_empty() {
                let first = self.space.len() as u32;
                for (i, &size) in reduced.iter().enumerate() {
                    self.new_axis(AxisKey::Along(i), size);
                }
                self.along = Some((first..self.space.len() as u32).collect());
                return true;
            }
            let fits = rest.iter().map(|&c| self.space.size(c)).product::<u64>() == count;
            if fits {
                self.along = Some(rest);
            }
            return fits;
        };
        let same = along.iter().map(|&c| self.space.size(c)).product::<u64>() == count;
        let rows = (0..self.space.len() as u32).all(|c| along.contains(&c) != depends.contains(&c));
        same && rows
    }

    /// The flat position along the reduced coordinates.
    fn position_along(&self, along: &[u32]) -> Idx {
        let mut flat = Idx::default();
        let mut stride = 1;
        for &coord in along.iter().rev() {
            flat.add_scaled(&Idx::term(Term::Coord(coord)), stride);
            stride *= self.space.size(coord) as i64;
        }
        flat
    }

    fn fold(&mut self, op: FoldOp, x: Val, count: u64, along: &[u32]) -> Val {
        let reg = self.body.reg(x);
        let varies = self.body.depends_on(x, along);
        if varies {
            return self.body.inst(Inst::Fold { op, x }, reg);
        }
        match op {
            FoldOp::Max | FoldOp::Min | FoldOp::All | FoldOp::Any => x,
            FoldOp::Sum => {
                let n = finish::number(&mut self.body, count as f64, reg);
                self.body.call(ScalarFn::Mul, vec![x, n])
            }
            FoldOp::Prod => finish::power(&mut self.body, x, count),
        }
    }
}

/// The position in a reduction's operand: `at` on the axes that are kept, `inner` on those that are reduced.
fn unreduced(reduce: &op::Reduce, at: &[Idx], inner: &[Idx], rank: usize) -> Vec<Idx> {
    let mut kept = at.iter();
    let mut position = Vec::with_capacity(rank);
    for axis in 0..rank {
        match reduce.axes.iter().position(|&a| a == axis) {
            Some(which) => {
                position.push(inner[which].clone());
                if reduce.keepdims {
                    kept.next();
                }
            }
            None => position.push(kept.next().cloned().unwrap_or_default()),
        }
    }
    position
}
