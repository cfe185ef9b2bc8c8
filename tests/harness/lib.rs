//! What the whole-system tests share.

pub mod random_graph;
pub mod cases;
pub mod close;
pub mod golden;
pub mod sample;

use std::sync::Arc;
use sx_artifact::tensor::Tensor;
use sx_compiler::ir::{Graph, Op};
use sx_compiler::reference;

/// The outputs of `graph` as the reference has them, its inputs fed in order; a trap in words.
pub fn reference(graph: &Graph, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
    let name = |op: &Op| match op {
        Op::Input(input) => Some(input.name.clone()),
        _ => None,
    };
    let names: Vec<Option<String>> = graph.inputs.iter().map(|&id| name(&graph.node(id).op)).collect();
    let inputs: Vec<Arc<Tensor>> = inputs.iter().map(|input| Arc::new(input.clone())).collect();
    let feeds = |op: &Op| {
        let wanted = name(op)?;
        let at = names.iter().position(|name| name.as_ref() == Some(&wanted))?;
        inputs.get(at).cloned()
    };
    match reference::run(graph, &feeds) {
        Ok(outputs) => Ok(outputs.into_iter().map(Arc::unwrap_or_clone).collect()),
        Err((node, trap)) => Err(format!("%{}: {trap:?}", node.0)),
    }
}
