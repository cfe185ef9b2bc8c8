//! Running a graph node by node: the meaning of composites and, in `reference`, of programs.

use super::{Fault, Trap, rules};
use crate::ir::{Graph, Node, NodeId, Type, Value};
use std::sync::Arc;
use sx_artifact::tensor::Tensor;

/// Refuses operands that differ from a region's inputs in number, dtype or shape.
pub fn check(region: &Graph, args: &[Type]) -> Result<(), Fault> {
    if region.inputs.len() != args.len() {
        return Err(Fault::Operands { want: "as many as its region has", got: args.len() });
    }
    for (arg, (&input, got)) in region.inputs.iter().zip(args).enumerate() {
        let want = region.ty(input.into());
        if want.dtype != got.dtype || want.shape() != got.shape() {
            return Err(Fault::Region { arg, want: want.clone().into(), got: got.clone().into() });
        }
    }
    Ok(())
}

/// The outputs of a region whose inputs are `args`.
pub fn apply(region: &Graph, args: &[&Tensor]) -> Result<Vec<Tensor>, Trap> {
    let args: Vec<Arc<Tensor>> = args.iter().map(|&arg| Arc::new(arg.clone())).collect();
    let position = |id| region.inputs.iter().position(|&input| input == id);
    let outputs =
        evaluate(region, &|id, _| position(id).map(|at| args[at].clone())).map_err(|(_, trap)| trap)?;
    Ok(outputs.into_iter().map(Arc::unwrap_or_clone).collect())
}

/// The outputs of `graph`. Each node that they need is asked of `source` first, and computed where that has no value for it.
/// A trap comes with the node that met it.
pub fn evaluate(
    graph: &Graph,
    source: &dyn Fn(NodeId, &Node) -> Option<Arc<Tensor>>,
) -> Result<Vec<Arc<Tensor>>, (NodeId, Trap)> {
    let mut left = graph.uses();
    // What no output needs is computed nowhere, so an index among it meets no trap.
    let live = graph.live();
    let mut values: Vec<Vec<Option<Arc<Tensor>>>> = Vec::with_capacity(graph.nodes().len());
    for id in graph.ids() {
        let node = graph.node(id);
        let results = match live[id.0 as usize].then(|| source(id, node)) {
            None => vec![None; node.results.len()],
            Some(Some(fed)) => vec![Some(fed)],
            Some(None) => {
                let held: Vec<Arc<Tensor>> = node.args.iter().map(|&arg| held(&values, arg)).collect();
                compute(node, &held).map_err(|trap| (id, trap))?
            }
        };
        values.push(results);
        for arg in &node.args {
            release(&mut values, &mut left, *arg);
        }
    }
    Ok(graph.outputs.iter().map(|output| held(&values, output.value)).collect())
}

fn compute(node: &Node, args: &[Arc<Tensor>]) -> Result<Vec<Option<Arc<Tensor>>>, Trap> {
    if let crate::ir::Op::Constant(constant) = &node.op {
        return Ok(vec![Some(constant.value.clone())]);
    }
    let args: Vec<&Tensor> = args.iter().map(|arg| &**arg).collect();
    Ok(rules(&node.op).reference(&args)?.into_iter().map(|result| Some(Arc::new(result))).collect())
}

fn held(values: &[Vec<Option<Arc<Tensor>>>], value: Value) -> Arc<Tensor> {
    let result = &values[value.node.0 as usize][value.result as usize];
    result.clone().expect("a value is kept until its last use")
}

/// Drops the results of a node after the last use of them.
fn release(values: &mut [Vec<Option<Arc<Tensor>>>], left: &mut [u32], arg: Value) {
    let node = arg.node.0 as usize;
    left[node] -= 1;
    if left[node] == 0 {
        values[node].iter_mut().for_each(|result| *result = None);
    }
}
