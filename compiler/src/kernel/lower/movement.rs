//! Movement: positions are rewritten, and nothing is computed but which part of a concatenation one is in.

use super::source::uniform;
use super::{Lowering, Retry};
use crate::ir::{Dim, Op, Value};
use crate::kernel::analysis::CHEAP;
use crate::kernel::index::{Idx, flatten, unflatten};
use sx_artifact::kernel::{Const, ScalarType, Val};
use sx_artifact::scalar::ScalarFn;

impl Lowering<'_> {
    /// `at` on the axes of a broadcast's operand.
    pub(super) fn narrowed(&self, operand: Value, at: &[Idx]) -> Vec<Idx> {
        let dims = &self.graph.ty(operand).dims;
        let skipped = at.len() - dims.len();
        let position = |(dim, idx): (&Dim, &Idx)| {
            if dim.size == 1 { Idx::default() } else { idx.clone() }
        };
        dims.iter().zip(&at[skipped..]).map(position).collect()
    }

    pub(super) fn reshape(&mut self, v: Value, at: &[Idx], guard: Option<Val>) -> Result<Val, Retry> {
        let flat = flatten(at, &self.graph.ty(v).shape());
        let mut operand = self.graph.node(v.node).args[0];
        while !self.analysis.is_stored(operand)
            && matches!(self.graph.node(operand.node).op, Op::Reshape(_) | Op::As(_))
        {
            operand = self.graph.node(operand.node).args[0];
        }
        if self.analysis.is_stored(operand) || self.is_source(operand) {
            return Ok(match &self.graph.node(operand.node).op {
                Op::Constant(c) if uniform(&c.value).is_some() => {
                    self.constant(operand, &c.value, &[], guard)
                }
                _ => self.load(operand, &flat, guard),
            });
        }
        let inner = unflatten(&flat, &self.graph.ty(operand).shape(), &self.space)
            .map_err(|problem| self.realigned(problem, operand))?;
        self.value(operand, &inner, guard)
    }

    pub(super) fn concat(
        &mut self,
        v: Value,
        axis: usize,
        at: &[Idx],
        guard: Option<Val>,
    ) -> Result<Val, Retry> {
        let (lowest, highest) = (at[axis].offset, self.space.max(&at[axis]));
        let parts = self.parts_between(v, axis, lowest, highest);
        let mut result: Option<Val> = None;
        for &(operand, start, stop) in parts.iter().rev() {
            let inside =
                self.within(&at[axis], (start > lowest).then_some(start), (stop <= highest).then_some(stop));
            let part_guard = match (guard, inside) {
                (Some(outer), Some(inner)) => Some(self.body.call(ScalarFn::And, vec![outer, inner])),
                (outer, inner) => outer.or(inner),
            };
            if parts.len() > 1 && self.analysis.cost(operand) > CHEAP {
                return Err(Retry::Store(self.analysis.cut(operand, self.root)));
            }
            let part = self.value(operand, &shifted(at, axis, -start), part_guard)?;
            result = Some(match (result, inside) {
                (Some(rest), Some(inside)) => self.body.call(ScalarFn::Where, vec![inside, part, rest]),
                (_, _) => part,
            });
        }
        result.ok_or(Retry::Store(v))
    }

    /// The operands of a concatenation that have a position in `lowest..=highest`, each with where it starts and
    /// stops.
    fn parts_between(&self, v: Value, axis: usize, lowest: i64, highest: i64) -> Vec<(Value, i64, i64)> {
        let mut parts = Vec::new();
        let mut start = 0i64;
        for &operand in &self.graph.node(v.node).args {
            let stop = start + self.graph.ty(operand).dims[axis].size as i64;
            if start < stop && lowest < stop && start <= highest {
                parts.push((operand, start, stop));
            }
            start = stop;
        }
        parts
    }

    /// Whether a position is in `start..stop`, or `None` where that is sure.
    fn within(&mut self, idx: &Idx, start: Option<i64>, stop: Option<i64>) -> Option<Val> {
        let position = self.body.index(idx, ScalarType::I32, &self.space);
        let above = start.map(|start| {
            let bound = self.body.constant(Const::I32(start as i32));
            self.body.call(ScalarFn::Ge, vec![position, bound])
        });
        let below = stop.map(|stop| {
            let bound = self.body.constant(Const::I32(stop as i32));
            self.body.call(ScalarFn::Lt, vec![position, bound])
        });
        match (above, below) {
            (Some(a), Some(b)) => Some(self.body.call(ScalarFn::And, vec![a, b])),
            (a, b) => a.or(b),
        }
    }
}

/// The position in a transpose's operand.
pub(super) fn transposed(order: &[usize], at: &[Idx]) -> Vec<Idx> {
    let mut inner = vec![Idx::default(); at.len()];
    for (to, &from) in order.iter().enumerate() {
        inner[from] = at[to].clone();
    }
    inner
}

/// `at`, further along one axis.
pub(super) fn shifted(at: &[Idx], axis: usize, by: i64) -> Vec<Idx> {
    let mut inner = at.to_vec();
    inner[axis] = inner[axis].shifted(by);
    inner
}
