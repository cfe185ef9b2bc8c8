//! Fusion: which values are stored. Decided once, for every target.
//!
//! Outputs are stored. So is what several kernels would have to compute again at a cost, what a gather reads
//! other than through views, and whatever [`super::lower`] finds it cannot compute in place. Everything else
//! lives in registers.

use super::lower::{Lowered, Retry, lower};
use crate::ir::{Domain, Graph, NodeId, Op, Value};
use std::collections::{BTreeSet, HashMap, HashSet};
use sx_artifact::scalar::{Cost, ScalarFn};
use sx_artifact::tensor::Data;

/// Values whose cost is at most this are computed again rather than stored.
pub const CHEAP: u32 = 2;
/// The cost of a reduction or a product: never computed twice.
const HEAVY: u32 = 1000;
/// The most buffers a kernel reads, so that with its output and the traps it stays within the eight that
/// WebGPU promises.
const MOST_READS: usize = 6;

/// What is known of a graph while its roots are lowered.
pub struct Analysis<'a> {
    graph: &'a Graph,
    users: Vec<Vec<NodeId>>,
    outputs: HashSet<Value>,
    stored: HashSet<Value>,
    costs: Vec<u32>,
}

/// A graph's kernels, operands before users, each computing one stored value.
pub struct Groups<'a> {
    /// The kernels.
    pub kernels: Vec<Lowered>,
    analysis: Analysis<'a>,
}

impl Groups<'_> {
    /// The value in whose buffer `v` is.
    pub fn storage(&self, v: Value) -> Value {
        self.analysis.storage(v)
    }
}

/// Groups a graph into kernels.
pub fn kernels(graph: &Graph) -> Groups<'_> {
    let mut forced = BTreeSet::new();
    let mut groups = loop {
        let analysis = Analysis::new(graph, &forced);
        let (kernels, missing) = analysis.lower_all();
        if missing.is_empty() {
            break Groups { kernels, analysis };
        }
        let before = forced.len();
        forced.extend(missing);
        assert!(forced.len() > before, "a value that must be stored is stored: {}", graph.name);
    };
    // What was stored before its surroundings were may be needed no longer.
    for value in forced.clone().into_iter().rev() {
        let fewer: BTreeSet<Value> = forced.iter().copied().filter(|v| *v != value).collect();
        let analysis = Analysis::new(graph, &fewer);
        let (kernels, missing) = analysis.lower_all();
        if missing.is_empty() && kernels.len() < groups.kernels.len() {
            forced = fewer;
            groups = Groups { kernels, analysis };
        }
    }
    groups
}

impl<'a> Analysis<'a> {
    fn new(graph: &'a Graph, forced: &BTreeSet<Value>) -> Analysis<'a> {
        let mut users = vec![Vec::new(); graph.nodes().len()];
        for id in graph.ids() {
            for arg in &graph.node(id).args {
                if users[arg.node.0 as usize].last() != Some(&id) {
                    users[arg.node.0 as usize].push(id);
                }
            }
        }
        let outputs: HashSet<Value> = graph.outputs.iter().map(|output| output.value).collect();
        let mut stored: HashSet<Value> = forced.iter().copied().collect();
        stored.extend(outputs.iter().filter(|v| !is_source(graph, **v)));
        let mut analysis = Analysis { graph, users, outputs, stored, costs: Vec::new() };
        analysis.costs = analysis.count_costs();
        analysis.store_what_many_need(forced);
        analysis
    }

    /// Lowers what the outputs need. Gives the kernels, operands first, and what else must be stored.
    fn lower_all(&self) -> (Vec<Lowered>, Vec<Value>) {
        let mut waiting: Vec<Value> =
            self.graph.outputs.iter().map(|o| self.storage(o.value)).filter(|v| self.is_stored(*v)).collect();
        let mut found: HashMap<Value, Lowered> = HashMap::new();
        let mut missing = Vec::new();
        let mut seen: HashSet<Value> = waiting.iter().copied().collect();
        while let Some(root) = waiting.pop() {
            match lower(self.graph, self, root) {
                Ok(mut lowered) => {
                    if lowered.reads.len() > MOST_READS
                        && let Some(value) = self.most_reads_below(root)
                    {
                        missing.push(value);
                    }
                    lowered.reads = lowered.reads.iter().map(|&v| self.storage(v)).collect();
                    for &read in lowered.reads.iter().filter(|v| self.is_stored(**v)) {
                        if seen.insert(read) {
                            waiting.push(read);
                        }
                    }
                    found.insert(root, lowered);
                }
                Err(Retry::Store(value)) => missing.push(value),
                Err(Retry::Split { .. }) => unreachable!("splits are made by `lower`"),
            }
        }
        let mut kernels: Vec<Lowered> = found.into_values().collect();
        kernels.sort_by_key(|lowered| lowered.writes[0]);
        (kernels, missing)
    }

    /// Whether a kernel of its own stores this value.
    pub fn is_stored(&self, v: Value) -> bool {
        self.stored.contains(&v)
    }

    /// The value in whose buffer `v` is: a reshape of a buffer is that buffer.
    pub fn storage(&self, v: Value) -> Value {
        let node = self.graph.node(v.node);
        match node.op {
            Op::Reshape(_) | Op::As(_) if self.is_buffer(node.args[0]) => self.storage(node.args[0]),
            _ => v,
        }
    }

    fn is_buffer(&self, v: Value) -> bool {
        let node = self.graph.node(v.node);
        self.is_stored(v)
            || is_source(self.graph, v)
            || (matches!(node.op, Op::Reshape(_) | Op::As(_)) && self.is_buffer(node.args[0]))
    }

    /// Roughly how many operations computing `v` in place takes.
    pub fn cost(&self, v: Value) -> u32 {
        if self.is_stored(v) { 0 } else { self.costs[v.node.0 as usize] }
    }

    fn count_costs(&self) -> Vec<u32> {
        let mut costs: Vec<u32> = Vec::with_capacity(self.graph.nodes().len());
        for node in self.graph.nodes() {
            let below = |total: u32, arg: &Value| {
                if self.is_stored(*arg) { total } else { total.saturating_add(costs[arg.node.0 as usize]) }
            };
            costs.push(node.args.iter().fold(own_cost(&node.op), below));
        }
        costs
    }

    /// Stores what more than one kernel would compute, where that costs more than loading it.
    fn store_what_many_need(&mut self, forced: &BTreeSet<Value>) {
        let mut kernel: Vec<Kernels> = vec![Kernels::None; self.graph.nodes().len()];
        for id in self.graph.ids().rev() {
            let mut mine = Kernels::None;
            for &user in &self.users[id.0 as usize] {
                let user_value = Value::from(user);
                let theirs = if self.is_stored(user_value) {
                    Kernels::One(user_value)
                } else {
                    kernel[user.0 as usize]
                };
                mine = mine.and(theirs);
            }
            kernel[id.0 as usize] = mine;
            let v = Value::from(id);
            let many = mine == Kernels::Many && self.cost(v) > CHEAP;
            if (many || self.is_blown_up(id))
                && !is_source(self.graph, v)
                && !is_movement(&self.graph.node(id).op)
            {
                self.stored.insert(v);
            }
        }
        self.costs = self.count_costs();
        let cheap = |v: &Value| {
            forced.contains(v)
                || self.outputs.contains(v)
                || self.is_blown_up(v.node)
                || self.recomputed(*v) > CHEAP
        };
        let kept: HashSet<Value> = self.stored.iter().copied().filter(cheap).collect();
        self.stored = kept;
        self.costs = self.count_costs();
    }

    /// The cost of computing a stored value from what is stored below it.
    fn recomputed(&self, v: Value) -> u32 {
        self.costs[v.node.0 as usize]
    }

    /// Whether a costly value without reductions is repeated many times over by a broadcast.
    fn is_blown_up(&self, id: NodeId) -> bool {
        let count = self.graph.ty(id.into()).count();
        let cost = self.costs[id.0 as usize];
        let repeated = |user: &NodeId| {
            matches!(self.graph.node(*user).op, Op::Broadcast(_))
                && self.graph.ty((*user).into()).count() >= count.saturating_mul(8)
        };
        count > 1 && (4..HEAVY).contains(&cost) && self.users[id.0 as usize].iter().any(repeated)
    }

    /// Where to cut between `v`, which `root` cannot compute in place, and `root`: the last value before
    /// `root` that is `v` with elementwise work on top.
    pub fn cut(&self, v: Value, root: Value) -> Value {
        let mut cut = v;
        while let [user] = self.users[cut.node.0 as usize][..] {
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

    /// What to store where `root` cannot hold the reduction `v`: the last value before `root` of the shape that
    /// is reduced in which everything made from `v` comes together, such as a whole softmax or norm; else `v`
    /// with elementwise work on top.
    pub fn row_cut(&self, v: Value, root: Value) -> Value {
        let operand = self.graph.node(v.node).args[0];
        let shape = self.graph.ty(operand).shape();
        let rows = self.graph.ty(v).count();
        let mut best = None;
        let mut at = v;
        while let Some(next) = self.meeting_point(at, v, root) {
            let ty = self.graph.ty(next);
            let elementwise = matches!(self.graph.node(next.node).op, Op::Map(_) | Op::Cast(_) | Op::As(_));
            match elementwise && ty.shape() == shape {
                true => best = Some(next),
                false if ty.count() == rows || matches!(self.graph.node(next.node).op, Op::Broadcast(_)) => {}
                false => break,
            }
            at = next;
        }
        best.unwrap_or_else(|| self.cut(v, root))
    }

    /// The first value that everything made from `v` passes through, if what lies between is elementwise work
    /// and reductions like `reduction`, and it is neither stored nor `root`.
    fn meeting_point(&self, v: Value, reduction: Value, root: Value) -> Option<Value> {
        let Op::Reduce(like) = &self.graph.node(reduction.node).op else { return None };
        let mut open: BTreeSet<NodeId> = self.users[v.node.0 as usize].iter().copied().collect();
        if self.outputs.contains(&v) {
            return None;
        }
        while let Some(first) = open.pop_first() {
            let value = Value::from(first);
            let node = self.graph.node(first);
            let fits = match &node.op {
                Op::Map(_) | Op::Cast(_) | Op::As(_) | Op::Broadcast(_) => true,
                Op::Reduce(reduce) => reduce.axes == like.axes,
                _ => false,
            };
            if !fits || value == root || self.is_stored(value) {
                return None;
            }
            if open.is_empty() {
                return Some(value);
            }
            open.extend(&self.users[first.0 as usize]);
        }
        None
    }

    /// What `v` is a view of, if that is neither stored nor a source.
    pub fn computed_behind_views(&self, v: Value) -> Option<Value> {
        if self.is_stored(v) || is_source(self.graph, v) {
            return None;
        }
        let node = self.graph.node(v.node);
        match node.op {
            Op::Reshape(_) | Op::As(_) | Op::Transpose(_) | Op::Slice(_) | Op::Broadcast(_) => {
                self.computed_behind_views(node.args[0])
            }
            _ => Some(v),
        }
    }

    /// What must be stored before `v` can be an operand of a product, which reads it many times.
    pub fn too_costly_for_operand(&self, v: Value, root: Value) -> Option<Value> {
        let costly = self.cost(v) > CHEAP;
        self.computed_behind_views(v).filter(|&computed| costly && computed != root)
    }

    /// Whether every element of `ids` is known to be in `0..size`: by validation or by construction.
    pub fn proven_below(&self, ids: Value, size: u64) -> bool {
        let node = self.graph.node(ids.node);
        match &node.op {
            Op::Input(_) => matches!(&self.graph.ty(ids).domain, Domain::Index(dim) if dim.size <= size),
            Op::Iota(iota) => iota.dims[iota.axis].size <= size,
            Op::Constant(constant) => match constant.value.data() {
                Data::I32(v) => v.iter().all(|&x| x >= 0 && (x as u64) < size),
                Data::I64(v) => v.iter().all(|&x| x >= 0 && (x as u64) < size),
                Data::F32(_) | Data::Bf16(_) | Data::Bool(_) => false,
            },
            Op::Reshape(_) | Op::Broadcast(_) | Op::Transpose(_) | Op::Slice(_) | Op::As(_) => {
                self.proven_below(node.args[0], size)
            }
            Op::Concat(_) => node.args.iter().all(|&arg| self.proven_below(arg, size)),
            _ => false,
        }
    }

    /// Whether this product is the second of an attention.
    pub fn is_attention(&self, id: NodeId) -> bool {
        let weights = self.graph.node(id).args[0];
        matches!(self.graph.node(weights.node).op, Op::Composite(_))
    }

    /// The operand of a large kernel whose storing helps most.
    pub fn costliest_operand(&self, root: Value) -> Option<Value> {
        let inlined = self.inlined_below(root);
        let total = inlined.len();
        let size = |v: &Value| self.inlined_below(*v).len();
        let computed = |v: &&Value| !is_movement(&self.graph.node(v.node).op) && **v != root;
        inlined.iter().filter(computed).min_by_key(|v| size(v).abs_diff(total / 2)).copied()
    }

    fn most_reads_below(&self, root: Value) -> Option<Value> {
        let reads = |v: &Value| {
            let inlined = self.inlined_below(*v);
            let operands = inlined.iter().flat_map(|v| &self.graph.node(v.node).args);
            operands
                .filter(|arg| self.is_buffer(**arg))
                .map(|arg| self.storage(*arg))
                .collect::<BTreeSet<_>>()
                .len()
        };
        let inlined = self.inlined_below(root);
        let useful = |v: &&Value| **v != root && (2..=MOST_READS).contains(&reads(v));
        inlined.iter().filter(useful).max_by_key(|v| reads(v)).copied()
    }

    /// Whether computing `v` computes `node` in place.
    pub fn computes(&self, v: Value, node: NodeId) -> bool {
        self.inlined_below(v).iter().any(|value| value.node == node)
    }

    /// Every value that computing `v` computes in place, `v` among them.
    fn inlined_below(&self, v: Value) -> BTreeSet<Value> {
        let mut found = BTreeSet::from([v]);
        let mut waiting = vec![v];
        while let Some(v) = waiting.pop() {
            for &arg in &self.graph.node(v.node).args {
                if !self.is_stored(arg) && !is_source(self.graph, arg) && found.insert(arg) {
                    waiting.push(arg);
                }
            }
        }
        found
    }
}

/// Which kernels compute a value in place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kernels {
    None,
    One(Value),
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

fn is_source(graph: &Graph, v: Value) -> bool {
    matches!(graph.node(v.node).op, Op::Input(_) | Op::Param(_) | Op::Context(_) | Op::Constant(_))
}

fn is_movement(op: &Op) -> bool {
    matches!(
        op,
        Op::Broadcast(_) | Op::Reshape(_) | Op::Transpose(_) | Op::Slice(_) | Op::As(_) | Op::Iota(_)
    )
}

fn own_cost(op: &Op) -> u32 {
    match op {
        Op::Input(_) | Op::Param(_) | Op::Context(_) | Op::Constant(_) | Op::Iota(_) => 0,
        Op::As(_) | Op::Broadcast(_) | Op::Reshape(_) | Op::Transpose(_) | Op::Slice(_) => 0,
        Op::Composite(_) => 0,
        Op::Cast(_) => 1,
        Op::Concat(_) | Op::Index(_) | Op::Gather(_) => 3,
        Op::Map(map) => scalar_cost(map.f),
        Op::Reduce(_) | Op::Matmul(_) => HEAVY,
    }
}

fn scalar_cost(f: ScalarFn) -> u32 {
    match f.cost() {
        Cost::Simple => 1,
        Cost::Division => 3,
        Cost::Series => 8,
    }
}
