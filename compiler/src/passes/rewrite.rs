//! Rebuilding a graph node by node: what most passes are made of.

use crate::ir::{Graph, Node, Value};
use crate::ops::Builder;
use std::sync::Arc;

/// A graph being rebuilt. Origins keep their numbers.
pub struct Rewrite<'g> {
    /// The graph that is read.
    pub old: &'g Graph,
    /// The graph that is made.
    pub new: Graph,
    map: Vec<Vec<Value>>,
}

impl<'g> Rewrite<'g> {
    /// Starts with an empty copy.
    pub fn new(old: &'g Graph) -> Rewrite<'g> {
        Rewrite { old, new: old.without_nodes(), map: Vec::with_capacity(old.nodes().len()) }
    }

    /// The new value for an old one.
    pub fn value(&self, old: Value) -> Value {
        self.map[old.node.0 as usize][old.result as usize]
    }

    /// The new operands of an old node.
    pub fn args(&self, node: &Node) -> Vec<Value> {
        node.args.iter().map(|&arg| self.value(arg)).collect()
    }

    /// A builder for what replaces `node`.
    pub fn at(&mut self, node: &Node) -> Builder<'_> {
        Builder::at(&mut self.new, node.origin, node.marks)
    }

    /// Copies a node with its types.
    pub fn copy(&mut self, node: &Node) -> Vec<Value> {
        let args = self.args(node);
        self.at(node).push(node.op.clone(), &args, node.results.clone())
    }

    /// Says what the next old node's results are now.
    pub fn set(&mut self, results: Vec<Value>) {
        self.map.push(results);
    }

    /// The new graph, with the old one's inputs and outputs.
    pub fn finish(mut self) -> Graph {
        self.new.inputs = self.old.inputs.iter().map(|&id| self.value(id.into()).node).collect();
        self.new.outputs = self.old.outputs.clone();
        for output in &mut self.new.outputs {
            output.value = self.map[output.value.node.0 as usize][output.value.result as usize];
        }
        self.new
    }
}

/// Rebuilds `graph`; `f` gives the results that replace each node's.
pub fn rewrite(graph: &Graph, mut f: impl FnMut(&mut Rewrite<'_>, &Node) -> Vec<Value>) -> Graph {
    let mut work = Rewrite::new(graph);
    for node in graph.nodes() {
        let results = f(&mut work, node);
        work.set(results);
    }
    work.finish()
}

/// Runs `pass` on every region of `graph`, inner ones first, and then on `graph` itself.
pub fn with_regions(graph: &Graph, pass: &dyn Fn(&Graph) -> Graph) -> Graph {
    if graph.nodes().iter().all(|node| node.op.regions().is_empty()) {
        return pass(graph);
    }
    let inside = rewrite(graph, |work, node| {
        let regions = node.op.regions().iter().map(|region| Arc::new(with_regions(region, pass))).collect();
        let args = work.args(node);
        work.at(node).push(node.op.clone().with_regions(regions), &args, node.results.clone())
    });
    pass(&inside)
}
