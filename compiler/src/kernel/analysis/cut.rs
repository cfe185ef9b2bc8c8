//! Where to cut a kernel in two: which value is stored when a root cannot be computed in one kernel.

use super::cost::HEAVY;
use super::{Analysis, MOST_READS};
use crate::ir::{NodeId, Op, Value};
use std::collections::{BTreeSet, HashMap};

/// How far above a reduction it is looked for what comes together.
const MOST_STEPS: usize = 1000;

impl Analysis<'_> {
    /// Where to cut between `v`, which `root` cannot compute in place, and `root`: the last value before
    /// `root` that is `v` with elementwise work on top.
    pub fn cut(&self, v: Value, root: Value) -> Value {
        let mut cut = v;
        while let [user] = self.facts.users[cut.node.0 as usize][..] {
            let node = self.graph.node(user);
            let elementwise =
                matches!(node.op, Op::Map(_) | Op::Cast(_) | Op::As(_) | Op::Reshape(_) | Op::Transpose(_));
            let others = node.args.iter().filter(|arg| arg.node != cut.node);
            let light = others.clone().all(|&arg| self.cost(arg) < HEAVY);
            let next = Value::from(user);
            let same = self.graph.ty(next).count() == self.graph.ty(cut).count();
            if next == root || self.is_stored(next) || !elementwise || !light || !same {
                break;
            }
            cut = next;
        }
        if matches!(self.graph.node(cut.node).op, Op::Reshape(_) | Op::Transpose(_)) { v } else { cut }
    }

    /// What to store where `root` cannot hold the reduction `v`: the last value before `root` in which everything made
    /// from `v` comes together, of the shape that is reduced, such as a whole softmax or norm; else with one element
    /// a row that took several reductions, such as a row's cross-entropy; else `v` with elementwise work on top.
    pub fn row_cut(&self, v: Value, root: Value) -> Value {
        let operand = self.graph.node(v.node).args[0];
        let shape = self.graph.ty(operand).shape();
        let rows = self.graph.ty(v).count();
        let mut reductions = self.cost(operand) >= HEAVY;
        let (mut whole, mut of_row) = (None, None);
        let mut at = v;
        while let Some((next, reduces)) = self.meeting_point(at, v, root) {
            let ty = self.graph.ty(next);
            reductions |= reduces;
            let elementwise = matches!(self.graph.node(next.node).op, Op::Map(_) | Op::Cast(_) | Op::As(_));
            match elementwise && ty.shape() == shape {
                true => whole = Some(next),
                false if ty.count() == rows => {
                    of_row = (elementwise && reductions).then_some(next).or(of_row)
                }
                false if matches!(self.graph.node(next.node).op, Op::Broadcast(_)) => {}
                false => break,
            }
            at = next;
        }
        whole.or(of_row).unwrap_or_else(|| self.cut(v, root))
    }

    /// The first value that everything made from `v` passes through, if what lies between is elementwise work
    /// and reductions like `reduction`, and it is neither stored nor `root`; and whether there are such reductions.
    fn meeting_point(&self, v: Value, reduction: Value, root: Value) -> Option<(Value, bool)> {
        let Op::Reduce(like) = &self.graph.node(reduction.node).op else { return None };
        let mut open: BTreeSet<NodeId> = self.facts.users[v.node.0 as usize].iter().copied().collect();
        if self.facts.outputs.contains(&v) {
            return None;
        }
        let rows = self.graph.ty(reduction).count();
        let mut reduces = false;
        let mut steps = 0;
        while let Some(first) = open.pop_first() {
            steps += 1;
            if steps > MOST_STEPS {
                return None;
            }
            let value = Value::from(first);
            let node = self.graph.node(first);
            reduces |= matches!(node.op, Op::Reduce(_));
            let fits = match &node.op {
                Op::Map(_) | Op::Cast(_) | Op::As(_) | Op::Broadcast(_) => true,
                Op::Reshape(_) => self.graph.ty(value).count() == rows,
                Op::Reduce(reduce) => reduce.axes == like.axes,
                _ => false,
            };
            if !fits || value == root || self.is_stored(value) {
                return None;
            }
            if open.is_empty() {
                return Some((value, reduces));
            }
            open.extend(&self.facts.users[first.0 as usize]);
        }
        None
    }

    /// The operand of a kernel with too many reads whose storing spares most of them. `reads` is what the kernel of
    /// `root` reads.
    pub fn most_reads_below(&self, root: Value, reads: &[Value]) -> Option<Value> {
        let bases: Vec<Value> = reads.iter().map(|&read| self.storage(read)).collect();
        let mut read_by: HashMap<Value, u128> = HashMap::new();
        // Operands come first, so each is known before it is asked for.
        for v in self.inlined_below(root) {
            let mut mine = 0;
            for &arg in &self.graph.node(v.node).args {
                mine |= match self.is_buffer(arg) {
                    true => bases
                        .iter()
                        .position(|&base| base == self.storage(arg))
                        .map_or(0, |at| 1 << (at % 128)),
                    false => read_by.get(&arg).copied().unwrap_or(0),
                };
            }
            read_by.insert(v, mine);
        }
        let count = |v: Value| read_by[&v].count_ones() as usize;
        let useful = read_by.keys().filter(|v| **v != root && (2..=MOST_READS).contains(&count(**v)));
        useful.max_by_key(|v| (count(**v), **v)).copied()
    }
}
