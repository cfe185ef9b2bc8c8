//! Matrix products: the one a kernel is built around, its operands, and what follows it.

use super::{AxisKey, Lowered, Lowering, Retry};
use crate::ir::{NodeId, Value};
use crate::kernel::body::BodyBuilder;
use crate::kernel::finish;
use crate::kernel::index::{Idx, Term};
use std::collections::HashSet;
use sx_artifact::kernel::{Inst, ScalarType, Val};

/// The matrix product a kernel is built around.
#[derive(Clone, Debug)]
pub struct Product {
    /// The node.
    pub node: NodeId,
    /// The position on each axis of its result.
    pub at: Vec<Idx>,
}

impl Lowering<'_> {
    pub(super) fn matmul(
        &mut self,
        v: Value,
        out_f32: bool,
        at: &[Idx],
        guard: Option<Val>,
    ) -> Result<Val, Retry> {
        let terms = self.graph.ty(self.graph.node(v.node).args[0]).dims.last().map_or(1, |k| k.size);
        if terms == 0 {
            // A sum of nothing; what would be multiplied is never made.
            return Ok(finish::number(&mut self.body, 0.0, ScalarType::of(self.graph.ty(v).dtype)));
        }
        let operand = self.graph.ty(self.graph.node(v.node).args[0]);
        let acc = self.met_product(v, at, guard, ScalarType::of(operand.dtype))?;
        let dtype = self.graph.ty(v).dtype;
        Ok(if out_f32 { acc } else { self.body.rounded(acc, dtype) })
    }

    /// Makes `v` the product that the kernel is built around, and gives its accumulator.
    pub(super) fn met_product(
        &mut self,
        v: Value,
        at: &[Idx],
        guard: Option<Val>,
        ty: ScalarType,
    ) -> Result<Val, Retry> {
        let alone = guard.is_none() && self.along.is_none() && self.product.is_none();
        if !alone || !self.covers_space(v, at) {
            return Err(Retry::Store(self.analysis.cut(v, self.root)));
        }
        self.product = Some(Product { node: v.node, at: at.to_vec() });
        Ok(self.body.inst(Inst::Acc { reg: ty }, ty))
    }

    /// Whether each element of `v` is met exactly once as the coordinates run.
    fn covers_space(&self, v: Value, at: &[Idx]) -> bool {
        let mut seen = HashSet::new();
        for (idx, dim) in at.iter().zip(&self.graph.ty(v).dims) {
            let mut terms = idx.terms.clone();
            terms.sort_by_key(|t| t.1);
            let mut reach = 1;
            for (term, factor) in terms {
                let Term::Coord(coord) = term else { return false };
                if factor != reach || !seen.insert(coord) {
                    return false;
                }
                reach *= self.space.size(coord) as i64;
            }
            if idx.offset != 0 || reach != dim.size as i64 {
                return false;
            }
        }
        seen.len() == self.space.len()
    }

    pub(super) fn contract(&mut self, product: Product, at: &[Idx], result: Val) -> Result<Lowered, Retry> {
        let node = self.graph.node(product.node);
        let k = self.graph.ty(node.args[0]).dims.last().map_or(1, |d| d.size);
        let rank = product.at.len();
        let (batch, row, column) = (&product.at[..rank - 2], &product.at[rank - 2], &product.at[rank - 1]);
        let summed = self.new_axis(AxisKey::Summed, k);
        let epilogue = self.new_body();
        let left: Vec<Idx> = batch.iter().cloned().chain([row.clone(), summed.clone()]).collect();
        let (lhs, lhs_value) = self.operand(node.args[0], &left)?;
        let right: Vec<Idx> = batch.iter().cloned().chain([summed.clone(), column.clone()]).collect();
        let (rhs, rhs_value) = self.operand(node.args[1], &right)?;
        let parts =
            finish::ContractParts { product: &product, summed, lhs, lhs_value, rhs, rhs_value, epilogue };
        Ok(finish::contract_kernel(self, parts, at, result))
    }

    /// The code of an operand of a product, in a body of its own.
    pub fn operand(&mut self, operand: Value, at: &[Idx]) -> Result<(BodyBuilder, Val), Retry> {
        if let Some(costly) = self.analysis.too_costly_for_operand(operand, self.root) {
            return Err(Retry::Store(costly));
        }
        let outer = self.new_body();
        let value = self.value(operand, at, None)?;
        // What was met is defined in the operand's body, and not in the one that is continued.
        self.memo.clear();
        Ok((std::mem::replace(&mut self.body, outer), value))
    }
}
