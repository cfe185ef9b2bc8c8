//! The one door through which nodes enter a graph: typed, and with an origin.

use super::{Fault, rules};
use crate::ir::{Graph, Marks, Node, Op, OriginId, Type, Value};

/// Appends typed nodes that share an origin and marks.
pub struct Builder<'g> {
    /// The graph.
    pub graph: &'g mut Graph,
    origin: OriginId,
    marks: Marks,
}

impl<'g> Builder<'g> {
    /// Every node made through this builder gets `origin` and `marks`.
    pub fn at(graph: &'g mut Graph, origin: OriginId, marks: Marks) -> Builder<'g> {
        Builder { graph, origin, marks }
    }

    /// Appends a node; its results, in order, or why the operation refuses its operands.
    pub fn node(&mut self, op: Op, args: &[Value]) -> Result<Vec<Value>, Fault> {
        let types: Vec<Type> = args.iter().map(|&arg| self.graph.ty(arg).clone()).collect();
        let results = rules(&op).infer(&types)?;
        Ok(self.push(op, args, results))
    }

    /// Appends a source (input, parameter, context) or an opaque node whose types the caller states.
    pub fn push(&mut self, op: Op, args: &[Value], results: Vec<Type>) -> Vec<Value> {
        let count = results.len() as u32;
        let node = Node { op, args: args.to_vec(), results, origin: self.origin, marks: self.marks };
        let node = self.graph.push(node);
        (0..count).map(|result| Value { node, result }).collect()
    }

    /// Appends a node with one result whose operands fit by construction: a fault here is a bug of ours.
    pub fn trusted(&mut self, op: Op, args: &[Value]) -> Value {
        match self.node(op, args) {
            Ok(results) => results[0],
            Err(fault) => panic!("a pass built an ill-typed node: {fault:?}"),
        }
    }
}
