//! Which values a row keeps for a later phase, and which each phase computes.

use super::block_program::lane_size;
use super::compile::Compiler;
use sx_artifact::kernel::{Inst, Val};
use sx_artifact::scalar::{Cost, ScalarFn};

/// A row keeps values for a later phase in at most this many bytes; beyond, they are computed again.
const KEEP: u64 = 256 << 10;

impl Compiler<'_> {
    /// The block values that each phase computes, after deciding which of them a row keeps.
    pub(super) fn choose_kept(&mut self) -> Vec<Vec<usize>> {
        let phases = self.values.phases;
        let mut first = vec![usize::MAX; self.body.insts.len()];
        for phase in 0..phases {
            for v in self.needed(phase, &vec![false; first.len()]) {
                first[v] = first[v].min(phase);
            }
        }
        let along: u64 = self.values_along();
        let mut keep = vec![false; first.len()];
        let mut bytes = 0;
        for phase in 1..phases {
            let mut again = self.needed(phase, &keep);
            // From the last value on, so that what a kept value needs is not kept for its sake.
            while let Some(v) = again.pop() {
                let size = along.saturating_mul(lane_size(self.values.regs[v]) as u64);
                if first[v] < phase && self.values.many[v] && self.weight(v) >= 2 && bytes + size <= KEEP {
                    keep[v] = true;
                    bytes += size;
                    again = self.needed(phase, &keep).into_iter().filter(|&w| w < v).collect();
                }
            }
        }
        for v in (0..keep.len()).filter(|&v| keep[v]) {
            self.kept[v] = Some(self.nest.kept);
            let size = along as usize * lane_size(self.values.regs[v]);
            self.nest.kept += size.next_multiple_of(64);
        }
        (0..phases)
            .map(|phase| {
                let before: Vec<bool> = (0..keep.len()).map(|v| keep[v] && first[v] < phase).collect();
                self.needed(phase, &before)
            })
            .collect()
    }

    /// The lanes of all blocks of a row.
    pub(super) fn values_along(&self) -> u64 {
        let walk = &self.nest.walk;
        let blocks: u64 =
            walk.blocks.iter().map(|&a| self.nest.space.sizes[a].div_ceil(walk.step[a])).product();
        blocks.saturating_mul(walk.lanes() as u64)
    }

    /// The block values that a phase needs, but for those that are `known` and what only these need.
    pub(super) fn needed(&self, phase: usize, known: &[bool]) -> Vec<usize> {
        let mut wanted = vec![false; self.body.insts.len()];
        let mut want = |v: Val| {
            let v = v.0 as usize;
            wanted[v] |= self.values.block[v] && !known[v];
        };
        self.values
            .stores
            .iter()
            .filter(|s| s.block && self.phase(s.value) == phase)
            .for_each(|s| want(s.value));
        for (v, inst) in self.body.insts.iter().enumerate().filter(|&(v, _)| self.values.live[v]) {
            if inst.is_fold() {
                inst.uses().filter(|&x| self.phase(x) == phase).for_each(&mut want);
            }
            if inst.traps() && self.values.phase[v] == phase {
                want(Val(v as u32));
            }
        }
        for v in (0..wanted.len()).rev() {
            if wanted[v] && !self.body.insts[v].is_fold() {
                for used in self.operands(v) {
                    let used = used.0 as usize;
                    wanted[used] |= self.values.block[used] && !known[used];
                }
            }
        }
        (0..wanted.len()).filter(|&v| wanted[v]).collect()
    }

    /// Roughly how many simple operations computing a block value again costs a lane.
    pub(super) fn weight(&self, v: usize) -> u64 {
        let mut seen = vec![false; v + 1];
        let mut stack = vec![v];
        let mut sum = 0;
        while let Some(v) = stack.pop() {
            if !self.values.many[v] || !self.values.block[v] || std::mem::replace(&mut seen[v], true) {
                continue;
            }
            sum += match &self.body.insts[v] {
                _ if self.fused[v].is_some() => {
                    self.fused[v].as_ref().map_or(0, |fusion| fusion.function.weight())
                }
                Inst::Load { access, guard } => {
                    if guard.is_none() && self.pointed(access, true) {
                        0
                    } else {
                        2
                    }
                }
                Inst::Call { f, .. } => call_weight(*f),
                _ => 1,
            };
            stack.extend(self.operands(v).iter().map(|v| v.0 as usize));
        }
        sum
    }
}

/// Roughly how many simple operations a function costs.
pub(super) fn call_weight(f: ScalarFn) -> u64 {
    match f.cost() {
        Cost::Simple => 1,
        Cost::Division => 4,
        Cost::Series => 16,
    }
}
