//! Computes equal things once.

use super::rewrite::rewrite;
use crate::ir::{Graph, Marks, Op, Value};
use std::collections::HashMap;
use std::sync::Arc;

/// The graph in which equal operations on equal operands are one node.
pub fn run(graph: &Graph) -> Graph {
    let mut known: HashMap<(String, Vec<Value>, Marks), Vec<Value>> = HashMap::new();
    rewrite(graph, |work, node| {
        if matches!(node.op, Op::Input(_)) {
            return work.copy(node);
        }
        let key = (fingerprint(&node.op), work.args(node), node.marks);
        if let Some(results) = known.get(&key) {
            return results.clone();
        }
        let results = work.copy(node);
        known.insert(key, results.clone());
        results
    })
}

/// Text that is equal exactly where operations are. Large constants and regions are named by identity, for
/// they are shared by reference where they are the same.
fn fingerprint(op: &Op) -> String {
    match op {
        Op::Constant(c) if c.value.len() > 64 => format!("constant {:p}", Arc::as_ptr(&c.value)),
        op => format!("{op:?}"),
    }
}
