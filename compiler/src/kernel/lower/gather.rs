//! Indexing: a position that is itself a value, kept inside its axis by a bound that may trap.

use super::lowered::TrapInfo;
use super::{Lowering, Retry};
use crate::ir::Value;
use crate::kernel::index::{Idx, Term, flatten};
use sx_artifact::kernel::{Const, Inst, ScalarType, Val};
use sx_artifact::scalar::ScalarFn;

impl Lowering<'_> {
    /// `index`: the positions of its ids choose rows of a table.
    pub(super) fn rows(&mut self, v: Value, at: &[Idx], guard: Option<Val>) -> Result<Val, Retry> {
        let args = &self.graph.node(v.node).args;
        let (chosen, within) = at.split_at(self.graph.ty(args[1]).rank());
        let row = self.gathered(v, 0, chosen, guard)?;
        let inner: Vec<Idx> = std::iter::once(row).chain(within.iter().cloned()).collect();
        self.table(args[0], &inner, guard)
    }

    /// `gather`: the position on one axis is replaced.
    pub(super) fn gather(
        &mut self,
        v: Value,
        axis: usize,
        at: &[Idx],
        guard: Option<Val>,
    ) -> Result<Val, Retry> {
        let mut inner = at.to_vec();
        inner[axis] = self.gathered(v, axis, at, guard)?;
        self.table(self.graph.node(v.node).args[0], &inner, guard)
    }

    /// The bounded index that an `index` or `gather` reads at `at`, as a position on axis `axis` of its table.
    fn gathered(&mut self, v: Value, axis: usize, at: &[Idx], guard: Option<Val>) -> Result<Idx, Retry> {
        let (table, ids) = (self.graph.node(v.node).args[0], self.graph.node(v.node).args[1]);
        let size = self.graph.ty(table).dims[axis].size;
        let mut x = self.value(ids, at, guard)?;
        if let Some(guard) = guard {
            let zero = match self.body.reg(x) {
                ScalarType::I64 => Const::I64(0),
                ScalarType::I32 | ScalarType::F32 | ScalarType::Bool => Const::I32(0),
            };
            let zero = self.body.constant(zero);
            x = self.body.call(ScalarFn::Where, vec![guard, x, zero]);
        }
        let trap = if self.analysis.proven_below(ids, size) {
            None
        } else {
            let position = flatten(at, &self.graph.ty(ids).shape());
            self.traps.push(TrapInfo { node: v.node, operand: ids, position, size });
            Some(self.traps.len() as u32 - 1)
        };
        let reg = self.body.reg(x);
        let bounded = self.body.inst(Inst::Bounded { x, size, trap }, reg);
        Ok(Idx::term(Term::Gathered(bounded, size)))
    }

    /// An element of a table, which is stored or a view of what is stored.
    fn table(&mut self, table: Value, at: &[Idx], guard: Option<Val>) -> Result<Val, Retry> {
        match self.analysis.computed_behind_views(table) {
            Some(computed) if computed != self.root => Err(Retry::Store(computed)),
            _ => self.value(table, at, guard),
        }
    }
}
