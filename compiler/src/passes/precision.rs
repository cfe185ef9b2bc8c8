//! `:precision :bf16`: every marked operation that computes an f32 value stores bf16 instead.
//!
//! Its f32 operands are rounded on use; parameters, inputs and outputs keep their dtype. `:out :f32` is an
//! island: the product is of bf16 operands, the result is f32.

use super::rewrite::Rewrite;
use crate::ir::{Graph, Node, Op, Type, Value, op};
use std::sync::Arc;
use sx_artifact::dtype::DType;

/// The graph with a stored dtype for every node.
pub fn run(graph: &Graph) -> Graph {
    let marked = |node: &Node| node.marks.precision == Some(DType::Bf16);
    if !graph.nodes().iter().any(marked) {
        return graph.clone();
    }
    let wanted: Vec<Type> = graph.outputs.iter().map(|o| graph.ty(o.value).clone()).collect();
    let mut lowered = lower(graph);
    for (at, ty) in wanted.iter().enumerate() {
        let value = lowered.outputs[at].value;
        if lowered.ty(value).dtype != ty.dtype {
            lowered.outputs[at].value = cast(&mut lowered, value, ty.dtype);
        }
    }
    lowered
}

/// The graph in which marked nodes compute in bf16; outputs may have become bf16.
fn lower(graph: &Graph) -> Graph {
    let mut work = Rewrite::new(graph);
    for node in graph.nodes() {
        let args = work.args(node);
        let results = match &node.op {
            Op::Input(_) | Op::Param(_) | Op::Context(_) | Op::Constant(_) | Op::Iota(_) => work.copy(node),
            Op::Cast(cast) => {
                let dtype =
                    if is_marked(node) && cast.dtype == DType::F32 { DType::Bf16 } else { cast.dtype };
                rebuild(&mut work, node, Op::Cast(op::Cast { dtype }), args)
            }
            Op::Composite(composite) if is_marked(node) => {
                let args = as_dtype(&mut work, node, &args, DType::F32, DType::Bf16);
                let region = lower(&narrowed_inputs(&composite.region));
                let op = Op::Composite(op::Composite { region: Arc::new(region), ..composite.clone() });
                rebuild(&mut work, node, op, args)
            }
            op if is_marked(node) => {
                let args = as_dtype(&mut work, node, &args, DType::F32, DType::Bf16);
                rebuild(&mut work, node, op.clone(), args)
            }
            op => {
                // An unmarked operation computes in the dtype it was traced in.
                let args = restored(&mut work, graph, node, args);
                rebuild(&mut work, node, op.clone(), args)
            }
        };
        work.set(results);
    }
    work.finish()
}

fn is_marked(node: &Node) -> bool {
    node.marks.precision == Some(DType::Bf16)
}

fn rebuild(work: &mut Rewrite<'_>, node: &Node, op: Op, args: Vec<Value>) -> Vec<Value> {
    match work.at(node).node(op, &args) {
        Ok(results) => results,
        Err(fault) => panic!("precision built an ill-typed node: {fault:?}"),
    }
}

fn as_dtype(work: &mut Rewrite<'_>, node: &Node, args: &[Value], from: DType, to: DType) -> Vec<Value> {
    let mut cast = |&arg: &Value| {
        if work.new.ty(arg).dtype == from {
            work.at(node).trusted(Op::Cast(op::Cast { dtype: to }), &[arg])
        } else {
            arg
        }
    };
    args.iter().map(&mut cast).collect()
}

fn restored(work: &mut Rewrite<'_>, graph: &Graph, node: &Node, args: Vec<Value>) -> Vec<Value> {
    let mut restore = |(new, old): (Value, &Value)| {
        let dtype = graph.ty(*old).dtype;
        if work.new.ty(new).dtype == dtype {
            new
        } else {
            work.at(node).trusted(Op::Cast(op::Cast { dtype }), &[new])
        }
    };
    args.into_iter().zip(&node.args).map(&mut restore).collect()
}

/// A region whose f32 inputs are bf16: its operands were rounded before they got there.
fn narrowed_inputs(region: &Graph) -> Graph {
    super::rewrite::rewrite(region, |work, node| match &node.op {
        Op::Input(_) => {
            let mut results = node.results.clone();
            results.iter_mut().filter(|ty| ty.dtype == DType::F32).for_each(|ty| ty.dtype = DType::Bf16);
            work.at(node).push(node.op.clone(), &[], results)
        }
        _ => work.copy(node),
    })
}

fn cast(graph: &mut Graph, value: Value, dtype: DType) -> Value {
    let node = graph.node(value.node).clone();
    let mut b = crate::ops::Builder::at(graph, node.origin, node.marks);
    b.trusted(Op::Cast(op::Cast { dtype }), &[value])
}
