//! Computes at build time what depends on constants alone, by the reference: a device would give the same.

use super::rewrite::rewrite;
use crate::ir::{Graph, Node, Op, Value, op};
use crate::ops::rules;
use std::sync::Arc;
use sx_artifact::dtype::DType;
use sx_artifact::scalar::Cost;
use sx_artifact::tensor::Tensor;

/// The largest result that is stored in the artifact rather than computed where it runs.
const MOST_ELEMENTS: u64 = 1 << 22;

/// Masks of at most so many elements are stored even where they could stay code.
const FEW: u64 = 64;

/// The graph with constant subgraphs as constants. Broadcasts, positions and masks made of
/// positions stay symbolic: as code they cost nothing.
pub fn run(graph: &Graph) -> Graph {
    let mut known: Vec<Option<Arc<Tensor>>> = Vec::with_capacity(graph.nodes().len());
    let mut positional: Vec<bool> = Vec::with_capacity(graph.nodes().len());
    rewrite(graph, |work, node| {
        let value = constant(node, &known);
        positional.push(is_positional(node, &positional));
        let ty = &node.results[0];
        let is_mask = ty.dtype == DType::Bool && ty.count() > FEW && positional[positional.len() - 1];
        let results = match &value {
            Some(tensor) if !is_mask && !stays_symbolic(&node.op) => {
                let op = Op::Constant(op::Constant { value: Arc::clone(tensor) });
                work.at(node).push(op, &[], node.results.clone())
            }
            _ => work.copy(node),
        };
        known.push(value);
        results
    })
}

fn constant(node: &Node, known: &[Option<Arc<Tensor>>]) -> Option<Arc<Tensor>> {
    if let Op::Constant(constant) = &node.op {
        return Some(Arc::clone(&constant.value));
    }
    let computes = !matches!(node.op, Op::Input(_) | Op::Param(_) | Op::Context(_));
    let small = node.results.iter().all(|ty| ty.count() <= MOST_ELEMENTS);
    if !computes || !small || node.results.len() != 1 {
        return None;
    }
    let value = |arg: &Value| known[arg.node.0 as usize].as_deref();
    let args: Option<Vec<&Tensor>> = node.args.iter().map(value).collect();
    let folded = rules(&node.op).reference(&args?).ok()?;
    folded.into_iter().next().map(Arc::new)
}

/// Whether a value is positions, numbers, and simple functions of them. Masks of that kind, such as the causal one, stay
/// code: fusion sees in it which elements nobody needs.
fn is_positional(node: &Node, positional: &[bool]) -> bool {
    match &node.op {
        Op::Iota(_) => true,
        Op::Constant(constant) => constant.value.len() == 1,
        Op::Map(map) => map.f.cost() == Cost::Simple && all(node, positional),
        Op::Cast(_) | Op::As(_) | Op::Broadcast(_) | Op::Reshape(_) | Op::Transpose(_) | Op::Slice(_) => {
            all(node, positional)
        }
        _ => false,
    }
}

fn all(node: &Node, positional: &[bool]) -> bool {
    node.args.iter().all(|arg| positional[arg.node.0 as usize])
}

fn stays_symbolic(op: &Op) -> bool {
    matches!(
        op,
        Op::Iota(_)
            | Op::Broadcast(_)
            | Op::Constant(_)
            | Op::Reshape(_)
            | Op::Transpose(_)
            | Op::Slice(_)
            | Op::As(_)
    )
}
