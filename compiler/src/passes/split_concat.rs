//! Concatenations of many operands become concatenations of few, so that no kernel reads more buffers than every
//! device has, nor holds more code than shader compilers take in good time.

use super::rewrite::{Rewrite, rewrite};
use crate::ir::op::Concat;
use crate::ir::{Graph, Node, NodeId, Op, Value};
use std::collections::BTreeSet;

/// The most operands of one concatenation.
const MOST_PARTS: usize = 32;

/// The graph with every concatenation divided, so that each reads at most so many buffers.
pub fn run(graph: &Graph, most_reads: usize) -> Graph {
    rewrite(graph, |work, node| match &node.op {
        Op::Concat(concat) => divided(work, node, concat.axis, most_reads),
        _ => work.copy(node),
    })
}

/// A concatenation as a tree of concatenations, each small enough.
fn divided(work: &mut Rewrite<'_>, node: &Node, axis: usize, most_reads: usize) -> Vec<Value> {
    let mut parts = work.args(node);
    loop {
        let runs = runs(&work.new, &parts, most_reads);
        if runs.len() == 1 {
            return work.at(node).push(node.op.clone(), &parts, node.results.clone());
        }
        let joined = |run: Vec<Value>| match run[..] {
            [alone] => alone,
            _ => work.at(node).trusted(Op::Concat(Concat { axis }), &run),
        };
        parts = runs.into_iter().map(joined).collect();
    }
}

/// Neighbours that one kernel can join.
fn runs(graph: &Graph, parts: &[Value], most_reads: usize) -> Vec<Vec<Value>> {
    let mut runs: Vec<Vec<Value>> = vec![Vec::new()];
    let mut bases = BTreeSet::new();
    for &part in parts {
        let base = behind_views(graph, part);
        let last = &runs[runs.len() - 1];
        let read = bases.contains(&base) || bases.len() < most_reads;
        if last.len() == MOST_PARTS || !read {
            runs.push(Vec::new());
            bases.clear();
        }
        bases.insert(base);
        let last = runs.len() - 1;
        runs[last].push(part);
    }
    runs
}

/// The node whose value `v` is a view of.
fn behind_views(graph: &Graph, v: Value) -> NodeId {
    let mut at = v.node;
    while let Op::Reshape(_) | Op::As(_) | Op::Transpose(_) | Op::Slice(_) | Op::Broadcast(_) =
        graph.node(at).op
    {
        at = graph.node(at).args[0].node;
    }
    at
}
