//! What is known of a graph while its roots are lowered, for one choice of values that must be stored.
//!
//! Nodes that reach fusion have one result each, so whatever is known of a value is kept by its node.

mod answers;
mod cost;
mod cut;
mod share;

pub use self::answers::Answers;
pub use self::cost::CHEAP;

use self::answers::Asked;
use self::cost::{HEAVY, own_cost};
use crate::ir::{Domain, Graph, Node, NodeId, Op, Value};
use std::collections::{BTreeSet, HashSet};
use std::rc::Rc;
use sx_artifact::tensor::Data;

/// The most buffers a kernel reads, so that with its output and the traps it stays within the eight that
/// WebGPU promises.
pub const MOST_READS: usize = 6;

/// What is known of a graph whatever is stored.
pub struct Facts<'a> {
    graph: &'a Graph,
    /// The operands of all nodes, one node after the other, and where each node's end: they are read so often that it
    /// matters that they lie side by side.
    args: Vec<NodeId>,
    arg_ends: Vec<u32>,
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
        let args = graph.nodes().iter().flat_map(|node| &node.args).map(|arg| arg.node).collect();
        let end = |end: &mut u32, node: &Node| {
            *end += node.args.len() as u32;
            Some(*end)
        };
        let arg_ends = graph.nodes().iter().scan(0, end).collect();
        let outputs = graph.outputs.iter().map(|output| output.value).collect();
        let own_costs = graph.nodes().iter().map(|node| own_cost(&node.op)).collect();
        Facts { graph, args, arg_ends, users, outputs, own_costs, repeated }
    }
}

impl<'a> Analysis<'a> {
    /// What holds where the outputs and the values of `forced` are stored.
    pub fn new(facts: &Rc<Facts<'a>>, forced: &BTreeSet<Value>) -> Analysis<'a> {
        let graph = facts.graph;
        let nodes = graph.nodes().len();
        let (stored, asked) = (vec![false; nodes], Asked::of(nodes));
        let mut analysis = Analysis { facts: Rc::clone(facts), graph, stored, costs: Vec::new(), asked };
        let outputs = facts.outputs.iter().filter(|v| !is_source(graph, **v));
        for v in forced.iter().chain(outputs) {
            analysis.stored[v.node.0 as usize] = true;
        }
        analysis.costs = analysis.count_costs();
        analysis.store_what_many_need(forced);
        analysis
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
        self.asked.about_storing(v.node);
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
        self.asked.about_cost(v.node);
        self.cost_of(v.node)
    }

    /// From now on `v` is stored, or no longer.
    pub fn set_stored(&mut self, v: Value, stored: bool) {
        self.stored[v.node.0 as usize] = stored;
        let mut waiting: BTreeSet<NodeId> = self.facts.users[v.node.0 as usize].iter().copied().collect();
        while let Some(id) = waiting.pop_first() {
            let at = id.0 as usize;
            let operands = self.graph.node(id).args.iter().map(|arg| self.cost_of(arg.node));
            let cost = operands.fold(self.facts.own_costs[at], u32::saturating_add);
            if std::mem::replace(&mut self.costs[at], cost) != cost && !self.stores(id) {
                waiting.extend(&self.facts.users[at]);
            }
        }
    }

    /// Whether a value that is stored is worth computing in place by the `kernels` kernels that read it.
    pub fn may_be_inlined(&self, v: Value, kernels: usize) -> bool {
        let cheap = self.costs[v.node.0 as usize] <= CHEAP;
        !self.facts.outputs.contains(&v) && !self.is_blown_up(v.node) && (kernels <= 1 || cheap)
    }

    fn count_costs(&self) -> Vec<u32> {
        let mut costs: Vec<u32> = Vec::with_capacity(self.stored.len());
        let mut args = self.facts.args.as_slice();
        let mut start = 0;
        for (&own, &end) in self.facts.own_costs.iter().zip(&self.facts.arg_ends) {
            let (mine, rest) = args.split_at((end - start) as usize);
            let below = |total: u32, arg: &NodeId| match self.stores(*arg) {
                true => total,
                false => total.saturating_add(costs[arg.0 as usize]),
            };
            costs.push(mine.iter().fold(own, below));
            (args, start) = (rest, end);
        }
        costs
    }

    /// Whether a costly value without reductions is repeated many times over by a broadcast.
    fn is_blown_up(&self, id: NodeId) -> bool {
        self.facts.repeated[id.0 as usize] && (4..HEAVY).contains(&self.costs[id.0 as usize])
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
        let mut seen = HashSet::from([ids]);
        let mut waiting = vec![ids];
        while let Some(ids) = waiting.pop() {
            let node = self.graph.node(ids.node);
            let proven = match &node.op {
                Op::Input(_) => matches!(&self.graph.ty(ids).domain, Domain::Index(dim) if dim.size <= size),
                Op::Iota(iota) => iota.dims[iota.axis].size <= size,
                Op::Constant(constant) => match constant.value.data() {
                    Data::I32(v) => v.iter().all(|&x| x >= 0 && (x as u64) < size),
                    Data::I64(v) => v.iter().all(|&x| x >= 0 && (x as u64) < size),
                    Data::F32(_) | Data::Bf16(_) | Data::Bool(_) => false,
                },
                Op::Reshape(_)
                | Op::Broadcast(_)
                | Op::Transpose(_)
                | Op::Slice(_)
                | Op::As(_)
                | Op::Concat(_) => {
                    waiting.extend(node.args.iter().copied().filter(|arg| seen.insert(*arg)));
                    true
                }
                _ => false,
            };
            if !proven {
                return false;
            }
        }
        true
    }

    /// Whether a product is an attention.
    pub fn is_attention(&self, id: NodeId) -> bool {
        matches!(self.graph.node(id).op, Op::Attention(_))
    }

    /// Whether computing `v` computes `node` in place.
    pub fn computes(&self, v: Value, node: NodeId) -> bool {
        // Operands come first, so nothing before `node` leads to it.
        let mut seen = HashSet::from([v]);
        let mut waiting = vec![v];
        while let Some(v) = waiting.pop() {
            if v.node == node {
                return true;
            }
            let inlined =
                |arg: &Value| arg.node >= node && !self.is_stored(*arg) && !is_source(self.graph, *arg);
            waiting.extend(
                self.graph.node(v.node).args.iter().copied().filter(inlined).filter(|arg| seen.insert(*arg)),
            );
        }
        false
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

/// Whether a value is there before anything runs.
pub fn is_source(graph: &Graph, v: Value) -> bool {
    matches!(graph.node(v.node).op, Op::Input(_) | Op::Param(_) | Op::Context(_) | Op::Constant(_))
}

/// Whether an operation only turns positions.
pub fn is_movement(op: &Op) -> bool {
    matches!(
        op,
        Op::Broadcast(_) | Op::Reshape(_) | Op::Transpose(_) | Op::Slice(_) | Op::As(_) | Op::Iota(_)
    )
}
