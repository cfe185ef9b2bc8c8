//! The answers in `ops/*.json`, as graphs of one operation with their operands.

use crate::sample::{input, nowhere, output};
use serde::Deserialize;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use sx_artifact::dtype::DType;
use sx_artifact::kernel::FoldOp;
use sx_artifact::scalar::ScalarFn;
use sx_artifact::tensor::Tensor;
use sx_compiler::ir::op::*;
use sx_compiler::ir::{Dim, Graph, Marks, Op, Type, Value};
use sx_compiler::ops::{self, Builder, Fault};

/// One operation on given operands, and the answer.
#[derive(Clone, Debug)]
pub struct Case {
    /// The file and the position in it, with the operation.
    pub name: String,
    /// What kind of case it is: cases that agree here differ only in shapes and values.
    pub kind: String,
    /// The operation and its shapes: cases that agree here differ only in functions, dtypes and values.
    pub form: String,
    /// Inputs, broadcasts where the operation needs them, and the operation, with one output.
    pub graph: Graph,
    /// The value of each input.
    pub inputs: Vec<Tensor>,
    /// The answer.
    pub expected: Tensor,
    /// Whether operands are subnormal: a device may take them for zero.
    pub subnormal: bool,
}

/// What a file holds.
#[derive(Deserialize)]
struct File {
    pool: HashMap<String, Packed>,
    cases: Vec<Written>,
}

/// A dtype, a shape, and the little-endian bytes in hexadecimal.
#[derive(Clone, Deserialize)]
struct Packed(DType, Vec<u64>, String);

#[derive(Deserialize)]
struct Written {
    op: String,
    args: Vec<String>,
    out: Packed,
    #[serde(default)]
    subnormal: bool,
    f: Option<String>,
    fold: Option<FoldOp>,
    #[serde(default)]
    axes: Vec<i64>,
    #[serde(default)]
    axis: i64,
    #[serde(default)]
    keepdims: bool,
    #[serde(default)]
    order: Vec<usize>,
    #[serde(default)]
    start: u64,
    #[serde(default)]
    stop: u64,
}

/// The files there are.
pub const FILES: [&str; 8] = ["unary", "binary", "where", "cast", "movement", "indexing", "reduce", "matmul"];

/// Every case of every file.
pub fn all() -> Vec<Case> {
    FILES.iter().flat_map(|file| load(file)).collect()
}

/// The cases of `ops/NAME.json`.
pub fn load(name: &str) -> Vec<Case> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("ops").join(format!("{name}.json"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let file: File =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let pool: HashMap<&str, Tensor> =
        file.pool.iter().map(|(name, packed)| (&**name, tensor(packed))).collect();
    let case = |(at, written): (usize, &Written)| {
        let inputs: Vec<Tensor> = written.args.iter().map(|arg| pool[&**arg].clone()).collect();
        let expected = tensor(&written.out);
        let kind = kind(written, &inputs, &expected);
        let name = format!("{name}.json, case {at}: {kind}");
        let graph = graph(written, &inputs, &expected).unwrap_or_else(|fault| panic!("{name}: {fault:?}"));
        let form = form(written, &inputs, &expected);
        Case { name, kind, form, graph, inputs, expected, subnormal: written.subnormal }
    };
    file.cases.iter().enumerate().map(case).collect()
}

fn tensor(packed: &Packed) -> Tensor {
    let Packed(dtype, shape, hex) = packed;
    let byte = |at: usize| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).expect("two hexadecimal digits");
    let bytes: Vec<u8> = (0..hex.len() / 2).map(byte).collect();
    Tensor::from_bytes(*dtype, shape, &bytes).expect("as many bytes as the shape needs")
}

/// The operation with its dtypes: `map exp f32`, `reduce sum bf16`, `cast i64 f32`.
fn kind(written: &Written, inputs: &[Tensor], expected: &Tensor) -> String {
    let mut words = vec![written.op.clone()];
    words.extend(written.f.clone());
    words.extend(written.fold.map(|fold| format!("{fold:?}").to_lowercase()));
    words.extend(inputs.first().map(|x| x.dtype().to_string()));
    if written.op != "map" {
        words.extend(inputs.get(1).filter(|_| written.op != "concat").map(|x| x.dtype().to_string()));
        words.push(expected.dtype().to_string());
    }
    words.dedup();
    words.join(" ")
}

/// The operation with its attributes and shapes.
fn form(written: &Written, inputs: &[Tensor], expected: &Tensor) -> String {
    let Written { op, axes, axis, keepdims, order, start, stop, .. } = written;
    let shapes: Vec<&[u64]> = inputs.iter().map(Tensor::shape).collect();
    format!("{op} {shapes:?} {:?} {axes:?} {axis} {keepdims} {order:?} {start} {stop}", expected.shape())
}

fn graph(written: &Written, inputs: &[Tensor], expected: &Tensor) -> Result<Graph, Fault> {
    let mut graph = Graph::new("case");
    let origin = nowhere(&mut graph);
    let mut b = Builder::at(&mut graph, origin, Marks::default());
    let mut args = Vec::new();
    for (at, tensor) in inputs.iter().enumerate() {
        args.push(input(&mut b, &format!("x{at}"), Type::plain(tensor.dtype(), tensor.shape())));
    }
    let result = build(&mut b, written, &args, expected)?;
    output(&mut graph, "out", result);
    Ok(graph)
}

fn build(b: &mut Builder<'_>, written: &Written, args: &[Value], expected: &Tensor) -> Result<Value, Fault> {
    let dims: Vec<Dim> = expected.shape().iter().map(|&size| Dim::of(size)).collect();
    let rank = args.first().map_or(dims.len(), |&x| b.graph.ty(x).rank());
    let axis = || ops::axis(written.axis, rank);
    let op = match written.op.as_str() {
        "map" => {
            let f = written.f.as_deref().and_then(ScalarFn::named);
            return b.map(f.expect("a map has a function"), args);
        }
        "matmul" => {
            let narrow = b.graph.ty(args[0]).dtype == DType::Bf16;
            return b.matmul(Matmul { out_f32: narrow && expected.dtype() == DType::F32 }, args[0], args[1]);
        }
        "full" => {
            // One value of the answer, repeated.
            let one =
                expected.bytes().get(..expected.dtype().size()).unwrap_or(&[0; 8][..expected.dtype().size()]);
            let value = Tensor::from_bytes(expected.dtype(), &[], one).expect("one element");
            let value = b.trusted(Op::Constant(Constant { value: Arc::new(value) }), &[]);
            return b.broadcast_to(value, &dims);
        }
        "cast" => Op::Cast(Cast { dtype: expected.dtype() }),
        "iota" => Op::Iota(Iota { dims, axis: axis()?, dtype: expected.dtype() }),
        "broadcast" => Op::Broadcast(Broadcast { dims }),
        "reshape" => Op::Reshape(Reshape { dims }),
        "transpose" => Op::Transpose(Transpose { order: written.order.clone() }),
        "slice" => Op::Slice(Slice { axis: axis()?, start: written.start, stop: written.stop }),
        "concat" => Op::Concat(Concat { axis: axis()? }),
        "index" => Op::Index(Index),
        "gather" => Op::Gather(Gather { axis: axis()? }),
        "reduce" => Op::Reduce(Reduce {
            op: written.fold.expect("a reduction has a fold"),
            axes: ops::axes(&written.axes, rank)?,
            keepdims: written.keepdims,
        }),
        other => panic!("`{other}` is no kind of case"),
    };
    Ok(b.node(op, args)?[0])
}
