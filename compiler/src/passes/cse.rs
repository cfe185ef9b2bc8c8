//! Computes equal things once.

use super::rewrite::rewrite;
use crate::ir::{Graph, Node, Op, Value};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem::discriminant;
use sx_artifact::tensor::Tensor;

/// The graph in which equal operations on equal operands are one node.
pub fn run(graph: &Graph) -> Graph {
    let mut known: HashMap<u64, Vec<Vec<Value>>> = HashMap::new();
    rewrite(graph, |work, node| {
        if matches!(node.op, Op::Input(_)) || node.results.is_empty() {
            return work.copy(node);
        }
        let args = work.args(node);
        let alike = known.entry(fingerprint(node, &args)).or_default();
        let is_same = |results: &&Vec<Value>| same(work.new.node(results[0].node), node, &args);
        if let Some(results) = alike.iter().find(is_same) {
            return results.clone();
        }
        let results = work.copy(node);
        alike.push(results.clone());
        results
    })
}

/// A number that is equal where nodes are. What is left out of it, [`same`] compares.
fn fingerprint(node: &Node, args: &[Value]) -> u64 {
    let mut hasher = DefaultHasher::new();
    discriminant(&node.op).hash(&mut hasher);
    (args, node.marks).hash(&mut hasher);
    match &node.op {
        Op::Map(map) => map.f.hash(&mut hasher),
        Op::Slice(slice) => (slice.axis, slice.start, slice.stop).hash(&mut hasher),
        Op::Param(param) => param.name.hash(&mut hasher),
        Op::Constant(constant) => content(&constant.value, &mut hasher),
        _ => {}
    }
    hasher.finish()
}

/// The first elements are enough to tell most constants apart.
fn content(tensor: &Tensor, hasher: &mut DefaultHasher) {
    let bytes = tensor.bytes();
    (tensor.dtype(), tensor.shape(), &bytes[..bytes.len().min(64)]).hash(hasher);
}

/// Whether a node of the new graph is `node` with `args`.
fn same(known: &Node, node: &Node, args: &[Value]) -> bool {
    known.args == args && known.marks == node.marks && known.op == node.op
}
