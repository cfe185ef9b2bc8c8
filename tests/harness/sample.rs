//! A graph in which every operation stands once.

use std::sync::Arc;
use sx_artifact::dtype::DType;
use sx_artifact::kernel::FoldOp;
use sx_artifact::scalar::{Class, ScalarFn};
use sx_artifact::tensor::{Data, Tensor};
use sx_compiler::diag::{FileId, Span};
use sx_compiler::ir::op::*;
use sx_compiler::ir::{
    Axis, Dim, Domain, Graph, Interval, Marks, Op, Origin, OriginId, Output, Type, Value, Why,
};
use sx_compiler::ops::{Builder, Fault};

/// An origin that says nothing, for graphs that no program made.
pub fn nowhere(graph: &mut Graph) -> OriginId {
    let span = Span { file: FileId(0), start: 0, end: 0 };
    graph.add_origin(Origin { span, why: Why::Written, parent: None })
}

/// Appends an input called `name`.
pub fn input(b: &mut Builder<'_>, name: &str, ty: Type) -> Value {
    let value = b.push(Op::Input(Input { name: name.to_owned() }), &[], vec![ty])[0];
    b.graph.inputs.push(value.node);
    value
}

/// Makes the last value an output called `name`.
pub fn output(graph: &mut Graph, name: &str, value: Value) {
    graph.outputs.push(Output { name: name.to_owned(), value });
}

/// A graph in which every operation stands, with named axes, every domain, marks and a region.
pub fn every_operation() -> Graph {
    build().unwrap_or_else(|fault| panic!("the sample graph is ill-typed: {fault:?}"))
}

fn build() -> Result<Graph, Fault> {
    let mut graph = Graph::new("every \"operation\"");
    let origin = nowhere(&mut graph);
    let vocabulary = Dim { size: 6, axis: Some(Axis { id: 3, name: "V".into() }) };
    let width = Dim { size: 4, axis: Some(Axis { id: 7, name: "D".into() }) };
    let other_width = Dim { size: 4, axis: Some(Axis { id: 8, name: "D".into() }) };
    let marks = Marks { precision: Some(DType::Bf16), tf32: true };
    let mut b = Builder::at(&mut graph, origin, marks);
    let ids = Type {
        dtype: DType::I32,
        dims: vec![Dim::of(2), Dim::of(3)],
        domain: Domain::Index(vocabulary.clone()),
    };
    let ids = input(&mut b, "ids", ids);
    let table = Type { dtype: DType::F32, dims: vec![vocabulary, width.clone()], domain: Domain::REAL };
    let table = b.push(Op::Param(Param { name: "emb.table".to_owned() }), &[], vec![table])[0];
    let step = b.node(Op::Context(Context::Step), &[])?[0];
    let rows = b.node(Op::Index(Index), &[table, ids])?[0];
    let mut b = Builder::at(&mut graph, origin, Marks::default());
    let flat = b.node(Op::Reshape(Reshape { dims: vec![Dim::of(6), width.clone()] }), &[rows])?[0];
    let turned = b.node(Op::Transpose(Transpose { order: vec![1, 0] }), &[flat])?[0];
    let product = b.matmul(Matmul { out_f32: false }, flat, turned)?;
    let zero = constant(&mut b, &[], vec![0.1f32].into());
    let scaled = b.map(ScalarFn::Mul, &[product, zero])?;
    for &f in ScalarFn::ALL.iter().filter(|f| f.args()[0] != Class::Truth) {
        b.map(f, &vec![scaled; f.arity()])?;
    }
    let odd = [f32::NAN, -0.0, f32::INFINITY, f32::MIN_POSITIVE, f32::from_bits(0xffc0_0001), 1e30].to_vec();
    let odd = constant(&mut b, &[6], odd.into());
    let mask = b.map(ScalarFn::Lt, &[odd, scaled])?;
    let both = b.map(ScalarFn::And, &[mask, mask])?;
    let either = b.map(ScalarFn::Or, &[mask, both])?;
    let neither = b.map(ScalarFn::Not, &[either])?;
    let chosen = b.map(ScalarFn::Where, &[neither, scaled, zero])?;
    let softmax = softmax()?;
    let composite = Composite {
        name: "softmax".to_owned(),
        domain: Some(Domain::Prob { over: 1 }),
        region: Arc::new(softmax),
    };
    let probabilities = b.node(Op::Composite(composite), &[chosen])?[0];
    for (op, x) in [
        (FoldOp::Sum, chosen),
        (FoldOp::Max, chosen),
        (FoldOp::Min, chosen),
        (FoldOp::Prod, chosen),
        (FoldOp::All, mask),
        (FoldOp::Any, mask),
    ] {
        b.node(Op::Reduce(Reduce { op, axes: vec![0], keepdims: op == FoldOp::Max }), &[x])?;
    }
    let attention = Attention { score: Arc::new(score()?), zero_hidden_rows: true };
    b.node(Op::Attention(attention), &[flat, turned, flat, chosen])?;
    let narrow = b.node(Op::Cast(Cast { dtype: DType::Bf16 }), &[probabilities])?[0];
    b.matmul(Matmul { out_f32: true }, narrow, narrow)?;
    b.node(Op::As(As { domain: Domain::LogProb { over: 0 } }), &[narrow])?;
    b.node(Op::As(As { domain: Domain::Logit { over: 1 } }), &[narrow])?;
    b.node(Op::As(As { domain: Domain::Additive }), &[narrow])?;
    let some = Domain::Range(Interval { lo: 0.05, hi: f64::INFINITY, lo_open: true, hi_open: true });
    b.node(Op::As(As { domain: some }), &[narrow])?;
    b.node(Op::Cast(Cast { dtype: DType::F32 }), &[mask])?;
    let count = Iota { dims: vec![Dim::of(2), Dim::of(3)], axis: 1, dtype: DType::I64 };
    let count = b.node(Op::Iota(count), &[])?[0];
    let part = b.node(Op::Slice(Slice { axis: 1, start: 1, stop: 3 }), &[count])?[0];
    let joined = b.node(Op::Concat(Concat { axis: 1 }), &[part, count])?[0];
    let gathered = b.node(Op::Gather(Gather { axis: 1 }), &[joined, count])?[0];
    b.map(ScalarFn::Add, &[gathered, step])?;
    let dims = vec![Dim::of(5), Dim::of(1), other_width];
    let row = b.node(Op::Slice(Slice { axis: 0, start: 0, stop: 1 }), &[flat])?[0];
    let wide = b.node(Op::Broadcast(Broadcast { dims }), &[row])?[0];
    for data in [Data::from(vec![true, false]), vec![-3i32, 7].into(), vec![i64::MIN, i64::MAX].into()] {
        constant(&mut b, &[2], data);
    }
    constant(&mut b, &[0, 2], Data::Bf16(vec![]));
    output(&mut graph, "wide", wide);
    output(&mut graph, "out.0", probabilities);
    Ok(graph)
}

/// Appends a constant.
pub fn constant(b: &mut Builder<'_>, shape: &[u64], data: Data) -> Value {
    let value = Arc::new(Tensor::new(shape, data));
    b.trusted(Op::Constant(Constant { value }), &[])
}

/// The region of a softmax over the last of two axes of six.
fn softmax() -> Result<Graph, Fault> {
    let mut graph = Graph::new("softmax");
    let origin = nowhere(&mut graph);
    let mut b = Builder::at(&mut graph, origin, Marks::default());
    let x = input(&mut b, "x", Type::plain(DType::F32, &[6, 6]));
    let fold = |op| Op::Reduce(Reduce { op, axes: vec![1], keepdims: true });
    let top = b.node(fold(FoldOp::Max), &[x])?[0];
    let shifted = b.map(ScalarFn::Sub, &[x, top])?;
    let powers = b.map(ScalarFn::Exp, &[shifted])?;
    let total = b.node(fold(FoldOp::Sum), &[powers])?[0];
    let y = b.map(ScalarFn::Div, &[powers, total])?;
    output(&mut graph, "out", y);
    Ok(graph)
}

/// The region of an attention whose scores are six by six: a bias is added.
fn score() -> Result<Graph, Fault> {
    let mut graph = Graph::new("score");
    let origin = nowhere(&mut graph);
    let mut b = Builder::at(&mut graph, origin, Marks::default());
    let dots = input(&mut b, "0", Type::plain(DType::F32, &[6, 6]));
    let bias = input(&mut b, "1", Type::plain(DType::F32, &[6, 6]));
    let y = b.map(ScalarFn::Add, &[dots, bias])?;
    output(&mut graph, "score", y);
    Ok(graph)
}
