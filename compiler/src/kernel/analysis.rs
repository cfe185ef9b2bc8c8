//! What is known of a graph while its roots are lowered, for one choice of values that must be stored.
//!
//! Nodes that reach fusion have one result each, so whatever is known of a value is kept by its node.

use crate::ir::{Domain, Graph, NodeId, Op, Value};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashSet};
use std::rc::Rc;
use sx_artifact::scalar::{Cost, ScalarFn};
use sx_artifact::tensor::Data;

/// Values whose cost is at most this are computed again rather than stored.
pub const CHEAP: u32 = 2;
/// The cost of a reduction or a product: never computed twice.
const HEAVY: u32 = 1000;
/// The most buffers a kernel reads, so that with its output and the traps it stays within the eight that
/// WebGPU promises.
pub const MOST_READS: usize = 6;

/// What is known of a graph whatever is stored.
pub struct Facts<'a> {
    graph: &'a Graph,
    users: Vec<Vec<NodeId>>,
    outputs: HashSet<Value>,
    /// What each node costs without its operands.
    own_costs: Vec<u32>,
    /// Whether a broadcast repeats a node's value many times over.
    repeated: Vec<bool>,
}

/// What is known of a graph while its roots are lowered.
pub struct Analysis<'a> {
    facts: Rc<Facts<'a>>,
    graph: &'a Graph,
    stored: Vec<bool>,
    costs: Vec<u32>,
    asked: Asked,
}

/// What the lowering of a root has asked: as long as the answers stay the same, so does its result.
#[derive(Default)]
struct Asked {
    /// The round of questions, and for each node the last round in which each question was asked.
    round: Cell<u32>,
    last: Vec<[Cell<u32>; 2]>,
    stored: RefCell<Vec<NodeId>>,
    costs: RefCell<Vec<NodeId>>,
}

/// The answers that a lowering relied on.
pub struct Answers {
    stored: Vec<(NodeId, bool)>,
    costs: Vec<(NodeId, u32)>,
}

impl<'a> Facts<'a> {
    /// The facts of a graph.
    pub fn new(graph: &'a Graph) -> Facts<'a> {
        let mut users = vec![Vec::new(); graph.nodes().len()];
        for id in graph.ids() {
            for arg in &graph.node(id).args {
                if users[arg.node.0 as usize].last() != Some(&id) {
                    users[arg.node.0 as usize].push(id);
                }
            }
        }
        let count = |id: NodeId| graph.ty(id.into()).count();
        let repeats = |id: NodeId, user: &NodeId| {
            matches!(graph.node(*user).op, Op::Broadcast(_)) && count(*user) >= count(id).saturating_mul(8)
        };
        let repeated = graph
            .ids()
            .map(|id| count(id) > 1 && users[id.0 as usize].iter().any(|user| repeats(id, user)))
            .collect();
        let outputs = graph.outputs.iter().map(|output| output.value).collect();
        let own_costs = graph.nodes().iter().map(|node| own_cost(&node.op)).collect();
        Facts { graph, users, outputs, own_costs, repeated }
    }
}

impl<'a> Analysis<'a> {
    /// What holds where the outputs and the values of `forced` are stored.
    pub fn new(facts: &Rc<Facts<'a>>, forced: &BTreeSet<Value>) -> Analysis<'a> {
        let graph = facts.graph;
        let nodes = graph.nodes().len();
        let asked = Asked { last: vec![Default::default(); nodes], ..Asked::default() };
        let mut analysis =
            Analysis { facts: Rc::clone(facts), graph, stored: vec![false; nodes], costs: Vec::new(), asked };
        let outputs = facts.outputs.iter().filter(|v| !is_source(graph, **v));
        for v in forced.iter().chain(outputs) {
            analysis.stored[v.node.0 as usize] = true;
        }
        analysis.costs = analysis.count_costs();
        analysis.store_what_many_need(forced);
        analysis
    }

    /// Forgets what was asked.
    pub fn listen(&self) {
        self.asked.round.set(self.asked.round.get() + 1);
        self.asked.stored.borrow_mut().clear();
        self.asked.costs.borrow_mut().clear();
    }

    /// What was asked since [`Self::listen`], with the answers.
    pub fn answers(&self) -> Answers {
        let stored = self.asked.stored.borrow().iter().map(|&id| (id, self.stores(id))).collect();
        let costs = self.asked.costs.borrow().iter().map(|&id| (id, self.cost_of(id))).collect();
        Answers { stored, costs }
    }

    /// Whether the same questions have the same answers here.
    pub fn agrees(&self, answers: &Answers) -> bool {
        answers.stored.iter().all(|&(id, stored)| self.stores(id) == stored)
            && answers.costs.iter().all(|&(id, cost)| self.cost_of(id) == cost)
    }

    fn note(&self, id: NodeId, question: usize, list: &RefCell<Vec<NodeId>>) {
        if self.asked.last[id.0 as usize][question].replace(self.asked.round.get()) != self.asked.round.get()
        {
            list.borrow_mut().push(id);
        }
    }

    fn stores(&self, id: NodeId) -> bool {
        self.stored[id.0 as usize]
    }

    fn cost_of(&self, id: NodeId) -> u32 {
        if self.stores(id) { 0 } else { self.costs[id.0 as usize] }
    }

    /// Whether a kernel of its own stores this value.
    pub fn is_stored(&self, v: Value) -> bool {
        debug_assert_eq!(v.result, 0, "a node that reaches fusion has one result");
        self.note(v.node, 0, &self.asked.stored);
        self.stores(v.node)
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
        self.stores(v.node)
            || is_source(self.graph, v)
            || (matches!(node.op, Op::Reshape(_) | Op::As(_)) && self.is_buffer(node.args[0]))
    }

    /// Roughly how many operations computing `v` in place takes.
    pub fn cost(&self, v: Value) -> u32 {
        self.note(v.node, 1, &self.asked.costs);
        self.cost_of(v.node)
    }

    fn count_costs(&self) -> Vec<u32> {
        let mut costs: Vec<u32> = Vec::with_capacity(self.stored.len());
        for (node, &own) in self.graph.nodes().iter().zip(&self.facts.own_costs) {
            let below = |total: u32, arg: &Value| match self.stores(arg.node) {
                true => total,
                false => total.saturating_add(costs[arg.node.0 as usize]),
            };
            costs.push(node.args.iter().fold(own, below));
        }
        costs
    }

    /// Stores what more than one kernel would compute, where that costs more than loading it.
    fn store_what_many_need(&mut self, forced: &BTreeSet<Value>) {
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
        self.costs = self.count_costs();
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
        self.costs = self.count_costs();
    }

    /// Whether a costly value without reductions is repeated many times over by a broadcast.
    fn is_blown_up(&self, id: NodeId) -> bool {
        self.facts.repeated[id.0 as usize] && (4..HEAVY).contains(&self.costs[id.0 as usize])
    }

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
        let mut open: BTreeSet<NodeId> = self.facts.users[v.node.0 as usize].iter().copied().collect();
        if self.facts.outputs.contains(&v) {
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
            open.extend(&self.facts.users[first.0 as usize]);
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

    /// The operand of a kernel with too many reads whose storing spares most of them.
    pub fn most_reads_below(&self, root: Value) -> Option<Value> {
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

/// Whether a value is there before anything runs.
pub fn is_source(graph: &Graph, v: Value) -> bool {
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
