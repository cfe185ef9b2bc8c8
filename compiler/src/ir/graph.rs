//! Graphs: nodes in topological order, typed ids. A region of a node is a graph too.
//!
//! Nodes enter a graph through `ops::Builder` alone, which types them and gives them an origin.

use super::op::Op;
use super::origin::{Origin, OriginId};
use super::ty::Type;
use sx_artifact::dtype::DType;

#[cfg(debug_assertions)]
thread_local! {
    static VISITS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// How often this thread has looked at a node, in builds for debugging; a test holds that it grows in proportion to
/// the graph.
#[cfg(debug_assertions)]
pub fn visits() -> u64 {
    VISITS.with(std::cell::Cell::get)
}

/// A node, by its position in its graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// A result of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value {
    /// The node.
    pub node: NodeId,
    /// Which of its results.
    pub result: u32,
}

impl From<NodeId> for Value {
    fn from(node: NodeId) -> Value {
        Value { node, result: 0 }
    }
}

/// What `with-numerics` and `defrun` say about a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Marks {
    /// The precision that f32 results are stored in: `Some(Bf16)` or `Some(F32)` where it was said.
    pub precision: Option<DType>,
    /// `:matmul :tf32`
    pub tf32: bool,
}

/// One operation with its operands and the types of its results.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// What it computes.
    pub op: Op,
    /// From what.
    pub args: Vec<Value>,
    /// What it gives: one type a result.
    pub results: Vec<Type>,
    /// Where it came from.
    pub origin: OriginId,
    /// What was said about its numerics.
    pub marks: Marks,
}

/// A named result of a graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// The name.
    pub name: String,
    /// The value.
    pub value: Value,
}

/// Nodes in topological order with inputs and outputs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    /// The graph's or region's name.
    pub name: String,
    nodes: Vec<Node>,
    origins: Vec<Origin>,
    /// The input nodes, in order.
    pub inputs: Vec<NodeId>,
    /// The outputs, in order.
    pub outputs: Vec<Output>,
}

impl Graph {
    /// An empty graph.
    pub fn new(name: impl Into<String>) -> Graph {
        Graph { name: name.into(), ..Graph::default() }
    }

    /// A graph with the same name and origins, and nothing else.
    pub fn without_nodes(&self) -> Graph {
        Graph { name: self.name.clone(), origins: self.origins.clone(), ..Graph::default() }
    }

    /// Every origin, by number.
    pub fn origins(&self) -> &[Origin] {
        &self.origins
    }

    /// Every node, operands before users.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Every node's id, in order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = NodeId> + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }

    /// The node.
    pub fn node(&self, id: NodeId) -> &Node {
        #[cfg(debug_assertions)]
        VISITS.with(|visits| visits.set(visits.get() + 1));
        &self.nodes[id.0 as usize]
    }

    /// The type of a value.
    pub fn ty(&self, value: Value) -> &Type {
        &self.node(value.node).results[value.result as usize]
    }

    /// The origin.
    pub fn origin(&self, id: OriginId) -> &Origin {
        &self.origins[id.0 as usize]
    }

    /// Records an origin.
    pub fn add_origin(&mut self, origin: Origin) -> OriginId {
        self.origins.push(origin);
        OriginId(self.origins.len() as u32 - 1)
    }

    /// Appends a node. For `ops::Builder`: everybody else goes through it.
    pub fn push(&mut self, node: Node) -> NodeId {
        debug_assert!(
            node.args.iter().all(|v| (v.node.0 as usize) < self.nodes.len()),
            "operands come first"
        );
        self.nodes.push(node);
        NodeId(self.nodes.len() as u32 - 1)
    }

    /// Whether an output needs each node.
    pub fn live(&self) -> Vec<bool> {
        let mut live = vec![false; self.nodes.len()];
        self.outputs.iter().for_each(|output| live[output.value.node.0 as usize] = true);
        for (at, node) in self.nodes.iter().enumerate().rev().filter(|(_, node)| !node.args.is_empty()) {
            if live[at] {
                node.args.iter().for_each(|arg| live[arg.node.0 as usize] = true);
            }
        }
        live
    }

    /// How many of the outputs and operands use each node.
    pub fn uses(&self) -> Vec<u32> {
        let mut uses = vec![0; self.nodes.len()];
        let operands = self.nodes.iter().flat_map(|node| &node.args);
        for value in operands.chain(self.outputs.iter().map(|output| &output.value)) {
            uses[value.node.0 as usize] += 1;
        }
        uses
    }
}
