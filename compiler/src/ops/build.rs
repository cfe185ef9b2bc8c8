//! The one door through which nodes enter a graph: typed, and with an origin.

use super::{Fault, broadcast, matmul, rules, scalar, shape};
use crate::ir::op::{Broadcast, Map, Matmul};
use crate::ir::{Dim, Graph, Marks, Node, Op, OriginId, Type, Value};
use sx_artifact::scalar::ScalarFn;

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
        let types = self.types(args);
        let results = rules(&op).infer(&types)?;
        Ok(self.push(op, args, results))
    }

    /// Appends `f` of `args`, each broadcast to the shape they have in common where it differs.
    pub fn map(&mut self, f: ScalarFn, args: &[Value]) -> Result<Value, Fault> {
        let types = self.types(args);
        // A wrong dtype is told before a wrong shape.
        scalar::dtype(f, &types)?;
        let dims = broadcast::broadcast_shape(&types)?;
        let mut whole = Vec::with_capacity(args.len());
        for &arg in args {
            whole.push(self.broadcast_to(arg, &dims)?);
        }
        Ok(self.node(Op::Map(Map { f }), &whole)?[0])
    }

    /// Appends a broadcast of `x` to `dims`, or nothing where it has those sizes already.
    pub fn broadcast_to(&mut self, x: Value, dims: &[Dim]) -> Result<Value, Fault> {
        if self.graph.ty(x).shape() == shape::sizes(dims) {
            return Ok(x);
        }
        Ok(self.node(Op::Broadcast(Broadcast { dims: dims.to_vec() }), &[x])?[0])
    }

    /// Appends a matrix product, its operands' leading dimensions broadcast where they differ.
    pub fn matmul(&mut self, op: Matmul, a: Value, b: Value) -> Result<Value, Fault> {
        let types = self.types(&[a, b]);
        matmul::check(&types, op)?;
        let (left, right) = (&types[0], &types[1]);
        let leading = broadcast::dims(&[matmul::leading(left), matmul::leading(right)])
            .map_err(|_| Fault::LeadingDims { left: left.shape(), right: right.shape() })?;
        let whole = |ty: &Type| [&leading, &ty.dims[ty.rank() - 2..]].concat();
        let a = self.broadcast_to(a, &whole(left))?;
        let b = self.broadcast_to(b, &whole(right))?;
        Ok(self.node(Op::Matmul(op), &[a, b])?[0])
    }

    fn types(&self, args: &[Value]) -> Vec<Type> {
        args.iter().map(|&arg| self.graph.ty(arg).clone()).collect()
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
