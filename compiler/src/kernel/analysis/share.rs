//! Values that more than one kernel needs: which of them are stored rather than computed again.

use super::cost::CHEAP;
use super::{Analysis, is_movement, is_source};
use crate::ir::{NodeId, Value};
use std::collections::BTreeSet;

impl Analysis<'_> {
    /// Stores what more than one kernel would compute, where that costs more than loading it.
    pub(super) fn store_what_many_need(&mut self, forced: &BTreeSet<Value>) {
        self.store_what_is_needed_twice();
        self.costs = self.count_costs();
        self.keep_what_is_worth_it(forced);
        self.costs = self.count_costs();
    }

    fn store_what_is_needed_twice(&mut self) {
        let mut kernel: Vec<Kernels> = vec![Kernels::None; self.graph.nodes().len()];
        for id in self.graph.ids().rev() {
            let mut mine = Kernels::None;
            for &user in &self.facts.users[id.0 as usize] {
                let theirs = match self.stores(user) {
                    true => Kernels::One(user),
                    false => kernel[user.0 as usize],
                };
                mine = mine.and(theirs);
            }
            kernel[id.0 as usize] = mine;
            let many = mine == Kernels::Many && self.cost_of(id) > CHEAP;
            if (many || self.is_blown_up(id))
                && !is_source(self.graph, id.into())
                && !is_movement(&self.graph.node(id).op)
            {
                self.stored[id.0 as usize] = true;
            }
        }
    }

    /// Takes back what turned out to be cheap, once what it is computed from is stored.
    fn keep_what_is_worth_it(&mut self, forced: &BTreeSet<Value>) {
        let kept = |id: NodeId| {
            let recomputed = self.costs[id.0 as usize];
            let v = Value::from(id);
            recomputed > CHEAP
                || forced.contains(&v)
                || self.facts.outputs.contains(&v)
                || self.is_blown_up(id)
        };
        let stored = self.graph.ids().map(|id| self.stores(id) && kept(id)).collect();
        self.stored = stored;
    }
}

/// Which kernels compute a value in place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kernels {
    None,
    One(NodeId),
    Many,
}

impl Kernels {
    fn and(self, other: Kernels) -> Kernels {
        match (self, other) {
            (Kernels::None, x) | (x, Kernels::None) => x,
            (Kernels::One(a), Kernels::One(b)) if a == b => self,
            _ => Kernels::Many,
        }
    }
}
