//! Local rewrites that are always worth it and always sound: for NaN, for infinities and for -0.
//!
//! `x + 0` is not `x` (it turns -0 into 0) but `x - 0` is; `x * 0` is not 0. Each rule leaves less work and
//! makes nothing that another rule would undo, so the pass ends.

use super::rewrite::{Rewrite, rewrite};
use crate::ir::{Graph, Node, Op, Value, op};
use sx_artifact::kernel::Const;
use sx_artifact::scalar::ScalarFn;
use sx_artifact::tensor::{Data, Tensor};

/// The simplified graph.
pub fn run(graph: &Graph) -> Graph {
    rewrite(graph, |work, node| {
        let args = work.args(node);
        match simpler(work, node, &args) {
            Some(value) if work.new.ty(value).shape() == node.results[0].shape() => vec![value],
            _ => work.copy(node),
        }
    })
}

fn simpler(work: &mut Rewrite<'_>, node: &Node, args: &[Value]) -> Option<Value> {
    match &node.op {
        Op::Map(map) => scalar(work, node, map.f, args),
        Op::Cast(cast) => (work.new.ty(args[0]).dtype == cast.dtype).then_some(args[0]),
        Op::Broadcast(_) => movement(work, node, args[0], |inner| matches!(inner, Op::Broadcast(_))),
        Op::Reshape(_) => movement(work, node, args[0], |inner| matches!(inner, Op::Reshape(_))),
        Op::Transpose(transpose) => transposed(work, node, transpose, args[0]),
        Op::Slice(slice) => {
            let whole = slice.start == 0 && slice.stop == work.new.ty(args[0]).dims[slice.axis].size;
            whole.then_some(args[0])
        }
        Op::Concat(_) => (args.len() == 1).then_some(args[0]),
        Op::Reduce(reduce) => (reduce.axes.is_empty()).then_some(args[0]),
        _ => None,
    }
}

/// A movement that changes nothing, or one of a kind that the inner one can do alone.
fn movement(work: &mut Rewrite<'_>, node: &Node, arg: Value, same_kind: fn(&Op) -> bool) -> Option<Value> {
    if work.new.ty(arg).shape() == node.results[0].shape() {
        return Some(arg);
    }
    let inner = work.new.node(arg.node);
    if !same_kind(&inner.op) {
        return None;
    }
    let source = inner.args[0];
    if work.new.ty(source).shape() == node.results[0].shape() {
        return Some(source);
    }
    Some(work.at(node).push(node.op.clone(), &[source], node.results.clone())[0])
}

fn transposed(work: &mut Rewrite<'_>, node: &Node, transpose: &op::Transpose, arg: Value) -> Option<Value> {
    if transpose.order.iter().copied().eq(0..transpose.order.len()) {
        return Some(arg);
    }
    let inner = work.new.node(arg.node);
    let Op::Transpose(first) = &inner.op else { return None };
    let order: Vec<usize> = transpose.order.iter().map(|&axis| first.order[axis]).collect();
    let source = inner.args[0];
    if order.iter().copied().eq(0..order.len()) {
        return Some(source);
    }
    let both = Op::Transpose(op::Transpose { order });
    Some(work.at(node).push(both, &[source], node.results.clone())[0])
}

fn scalar(work: &mut Rewrite<'_>, node: &Node, f: ScalarFn, args: &[Value]) -> Option<Value> {
    let known = |at: usize| args.get(at).and_then(|&arg| repeated(&work.new, arg));
    let is = |at: usize, number: f64| known(at).is_some_and(|c| equals(c, number));
    match f {
        ScalarFn::Mul if is(1, 1.0) => Some(args[0]),
        ScalarFn::Mul if is(0, 1.0) => Some(args[1]),
        ScalarFn::Div if is(1, 1.0) => Some(args[0]),
        ScalarFn::Sub if is(1, 0.0) => Some(args[0]),
        ScalarFn::Add if is(1, -0.0) => Some(args[0]),
        ScalarFn::Add if is(0, -0.0) => Some(args[1]),
        ScalarFn::Pow if is(1, 1.0) => Some(args[0]),
        ScalarFn::Pow if is(1, 2.0) => Some(
            work.at(node).push(
                Op::Map(op::Map { f: ScalarFn::Mul }),
                &[args[0], args[0]],
                node.results.clone(),
            )[0],
        ),
        ScalarFn::Maximum | ScalarFn::Minimum | ScalarFn::And | ScalarFn::Or if args[0] == args[1] => {
            Some(args[0])
        }
        ScalarFn::Where if args[1] == args[2] => Some(args[1]),
        ScalarFn::Where => match known(0) {
            Some(Const::Bool(true)) => Some(args[1]),
            Some(Const::Bool(false)) => Some(args[2]),
            _ => None,
        },
        ScalarFn::Neg | ScalarFn::Not => {
            let inner = work.new.node(args[0].node);
            matches!(&inner.op, Op::Map(map) if map.f == f).then(|| inner.args[0])
        }
        _ => None,
    }
}

/// Whether a constant is this number, the sign of zero included; integers have one zero.
fn equals(constant: Const, number: f64) -> bool {
    match constant {
        Const::F32(bits) => bits == (number as f32).to_bits(),
        Const::I32(x) => f64::from(x) == number,
        Const::I64(x) => x as f64 == number && x.unsigned_abs() < 1 << 53,
        Const::Bool(_) => false,
    }
}

/// The number that every element of `v` is, where that is plain to see.
fn repeated(graph: &Graph, v: Value) -> Option<Const> {
    let node = graph.node(v.node);
    match &node.op {
        Op::Constant(constant) => single(&constant.value),
        Op::Broadcast(_) | Op::Reshape(_) => repeated(graph, node.args[0]),
        _ => None,
    }
}

fn single(tensor: &Tensor) -> Option<Const> {
    match tensor.data() {
        Data::F32(v) if v.len() == 1 => Some(Const::F32(v[0].to_bits())),
        Data::Bf16(v) if v.len() == 1 => Some(Const::F32(v[0].to_f32().to_bits())),
        Data::I32(v) if v.len() == 1 => Some(Const::I32(v[0])),
        Data::I64(v) if v.len() == 1 => Some(Const::I64(v[0])),
        Data::Bool(v) if v.len() == 1 => Some(Const::Bool(v[0])),
        _ => None,
    }
}
