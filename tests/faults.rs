//! Every refusal of an operation, as the user reads it.

use std::sync::Arc;

use sx_artifact::dtype::DType;
use sx_artifact::kernel::FoldOp;
use sx_artifact::scalar::ScalarFn;
use sx_compiler::diag::{FileId, Span};
use sx_compiler::ir::op::*;
use sx_compiler::ir::{Dim, Domain, Graph, Marks, Op, Type, Value};
use sx_compiler::ops::{self, Builder, Fault, Operand};
use sx_tests::assert_none;
use sx_tests::sample::{input, nowhere, output};

/// Names every variant of [`Fault`]: one that is left out does not compile.
macro_rules! variants {
    ($($name:ident)*) => {
        const VARIANTS: &[&str] = &[$(stringify!($name)),*];

        fn variant(fault: &Fault) -> &'static str {
            match fault {
                $(Fault::$name { .. } => stringify!($name),)*
            }
        }
    };
}

variants! {
    Operands DtypesDiffer Dtype ResultDtype OutF32 MaskArithmetic MaskNeeded Broadcast BroadcastTo ShapesDiffer
    InnerDims LeadingDims Rank RanksDiffer OffAxis Axis AxisTwice Order Elements TooLarge TooManyAxes Bounds EmptyAxis
    LastPosition DomainSense Region Source
}

/// What `build` is refused with, for operands `x`, `y`, `z` of these types: the fault's name, and its message, notes
/// and help.
fn refusal(
    operation: &str,
    types: &[Type],
    build: impl Fn(&mut Builder<'_>, &[Value]) -> Result<(), Fault>,
) -> (&'static str, String) {
    let mut graph = Graph::new("test");
    let origin = nowhere(&mut graph);
    let mut b = Builder::at(&mut graph, origin, Marks::default());
    let names = ["x", "y", "z"];
    let values: Vec<Value> =
        names.iter().zip(types).map(|(name, ty)| input(&mut b, name, ty.clone())).collect();
    let operands: Vec<Operand> = names
        .iter()
        .zip(types)
        .map(|(name, ty)| Operand { text: (*name).to_owned(), ty: Some(ty.clone()) })
        .collect();
    let fault = build(&mut b, &values).expect_err("it should be refused");
    let variant = variant(&fault);
    let diagnostic = fault.diagnostic(operation, Span { file: FileId(0), start: 0, end: 0 }, &operands);
    let notes = diagnostic.notes.iter().map(|note| format!("\nnote: {}", note.text));
    let help = diagnostic.help.iter().map(|help| format!("\nhelp: {help}"));
    let head = format!("error[{}]: {}", diagnostic.code.as_str(), diagnostic.message);
    (variant, notes.chain(help).fold(head, |text, line| text + &line))
}

fn ty(dtype: DType, shape: &[u64]) -> Type {
    Type::plain(dtype, shape)
}

fn node(op: Op) -> impl Fn(&mut Builder<'_>, &[Value]) -> Result<(), Fault> {
    move |b, args| b.node(op.clone(), args).map(|_| ())
}

fn map(f: ScalarFn) -> impl Fn(&mut Builder<'_>, &[Value]) -> Result<(), Fault> {
    move |b, args| b.map(f, args).map(|_| ())
}

fn matmul(b: &mut Builder<'_>, args: &[Value]) -> Result<(), Fault> {
    b.matmul(Matmul { out_f32: false }, args[0], args[1]).map(|_| ())
}

fn reduce(op: FoldOp, axes: Vec<usize>) -> Op {
    Op::Reduce(Reduce { op, axes, keepdims: false })
}

/// A composite of a region that gives its one input, of this type.
fn region_of(ty: Type) -> Composite {
    let mut region = Graph::new("region");
    let origin = nowhere(&mut region);
    let value = input(&mut Builder::at(&mut region, origin, Marks::default()), "0", ty);
    output(&mut region, "out", value);
    Composite { name: "softmax".to_owned(), domain: None, region: Arc::new(region) }
}

#[test]
fn every_refusal() {
    use DType::{Bf16, Bool, F32, I32};
    let shape = |sizes: &[u64]| sizes.iter().map(|&size| Dim::of(size)).collect::<Vec<_>>();
    let all = [
        refusal("matmul", &[ty(F32, &[2, 16]), ty(F32, &[32, 8])], matmul),
        refusal("matmul", &[ty(F32, &[4, 1, 2, 16]), ty(F32, &[3, 32, 8])], matmul),
        refusal("matmul", &[ty(F32, &[4, 2, 16]), ty(F32, &[3, 16, 8])], matmul),
        refusal("matmul", &[ty(F32, &[16]), ty(F32, &[16, 8])], matmul),
        refusal("matmul", &[ty(F32, &[2, 2]), ty(I32, &[2, 2])], matmul),
        refusal("matmul", &[ty(Bool, &[2, 2]), ty(Bool, &[2, 2])], matmul),
        refusal("matmul", &[ty(F32, &[2, 2]), ty(F32, &[2, 2])], node(Op::Matmul(Matmul { out_f32: true }))),
        refusal("+", &[ty(F32, &[2, 3]), ty(F32, &[4])], map(ScalarFn::Add)),
        refusal("+", &[ty(F32, &[2]), ty(Bf16, &[2])], map(ScalarFn::Add)),
        refusal("+", &[ty(F32, &[2]), ty(Bool, &[2])], map(ScalarFn::Add)),
        refusal("*", &[ty(F32, &[2]), ty(Bool, &[2])], map(ScalarFn::Mul)),
        refusal("*", &[ty(Bool, &[2]), ty(Bool, &[2])], map(ScalarFn::Mul)),
        refusal("+", &[ty(Bool, &[2]), ty(Bool, &[2])], map(ScalarFn::Add)),
        refusal("-", &[ty(Bool, &[2])], map(ScalarFn::Neg)),
        refusal("exp", &[ty(Bool, &[2])], map(ScalarFn::Exp)),
        refusal("exp", &[ty(I32, &[2])], map(ScalarFn::Exp)),
        refusal("not", &[ty(F32, &[2])], map(ScalarFn::Not)),
        refusal("not", &[Type { domain: Domain::Binary, ..ty(F32, &[2]) }], map(ScalarFn::Not)),
        refusal("where", &[ty(I32, &[2]), ty(F32, &[2]), ty(F32, &[2])], map(ScalarFn::Where)),
        refusal("where", &[ty(Bool, &[2]), ty(F32, &[2]), ty(I32, &[2])], map(ScalarFn::Where)),
        refusal("sum", &[ty(Bool, &[2])], node(reduce(FoldOp::Sum, vec![0]))),
        refusal("max", &[ty(Bool, &[2])], node(reduce(FoldOp::Max, vec![0]))),
        refusal("any", &[ty(I32, &[2])], node(reduce(FoldOp::Any, vec![0]))),
        refusal("max", &[ty(F32, &[2, 0])], node(reduce(FoldOp::Max, vec![1]))),
        refusal("sum", &[ty(F32, &[2, 3])], |_, _| ops::axes(&[2], 2).map(|_| ())),
        refusal("sum", &[ty(F32, &[2, 3])], |_, _| ops::axes(&[1, -1], 2).map(|_| ())),
        refusal("sum", &[ty(F32, &[2, 3])], |_, _| ops::axes(&[0, 0], 2).map(|_| ())),
        refusal("sum", &[ty(F32, &[])], |_, _| ops::axis(-1, 0).map(|_| ())),
        refusal("reshape", &[ty(F32, &[2, 3])], node(Op::Reshape(Reshape { dims: shape(&[4, 2]) }))),
        refusal("reshape", &[ty(F32, &[0])], node(Op::Reshape(Reshape { dims: shape(&[0, u64::MAX, 9]) }))),
        refusal("reshape", &[ty(F32, &[1])], node(Op::Reshape(Reshape { dims: shape(&[1; 33]) }))),
        refusal("broadcast-to", &[ty(F32, &[2, 3])], node(Op::Broadcast(Broadcast { dims: shape(&[4, 3]) }))),
        refusal("broadcast-to", &[ty(F32, &[2, 3])], node(Op::Broadcast(Broadcast { dims: shape(&[3]) }))),
        refusal("transpose", &[ty(F32, &[2, 3])], node(Op::Transpose(Transpose { order: vec![0, 0] }))),
        refusal("slice", &[ty(F32, &[2, 3])], node(Op::Slice(Slice { axis: 1, start: 1, stop: 4 }))),
        refusal("concat", &[], node(Op::Concat(Concat { axis: 0 }))),
        refusal("concat", &[ty(F32, &[2, 3]), ty(F32, &[2])], node(Op::Concat(Concat { axis: 0 }))),
        refusal("concat", &[ty(F32, &[2, 3]), ty(F32, &[2, 4])], node(Op::Concat(Concat { axis: 0 }))),
        refusal("index", &[ty(F32, &[2, 3]), ty(F32, &[2])], node(Op::Index(Index))),
        refusal("index", &[ty(F32, &[]), ty(I32, &[2])], node(Op::Index(Index))),
        refusal("gather", &[ty(F32, &[2, 3]), ty(I32, &[2])], node(Op::Gather(Gather { axis: 0 }))),
        refusal("gather", &[ty(F32, &[2, 3]), ty(I32, &[2, 2])], node(Op::Gather(Gather { axis: 0 }))),
        refusal("index", &[ty(F32, &[0, 3]), ty(I32, &[2])], node(Op::Index(Index))),
        refusal("gather", &[ty(F32, &[2, 0]), ty(I32, &[2, 1])], node(Op::Gather(Gather { axis: 1 }))),
        refusal("iota", &[], node(Op::Iota(Iota { dims: shape(&[2]), axis: 0, dtype: F32 }))),
        refusal("iota", &[], node(Op::Iota(Iota { dims: shape(&[(1 << 31) + 1, 2]), axis: 0, dtype: I32 }))),
        refusal("+", &[ty(F32, &[2, 3]), ty(F32, &[3])], node(Op::Map(Map { f: ScalarFn::Add }))),
        refusal("softmax", &[ty(F32, &[2])], node(Op::Composite(region_of(ty(F32, &[3]))))),
        refusal("input", &[], node(Op::Input(Input { name: "x".to_owned() }))),
        refusal("as", &[ty(I32, &[2])], node(Op::As(As { domain: Domain::Prob { over: 0 } }))),
        refusal("as", &[ty(F32, &[2])], node(Op::As(As { domain: Domain::Prob { over: 1 } }))),
        refusal("as", &[ty(F32, &[2])], node(Op::As(As { domain: Domain::Mask }))),
    ];
    let (shown, texts): (Vec<_>, Vec<_>) = all.into_iter().unzip();
    let missing = VARIANTS.iter().filter(|name| !shown.contains(name));
    assert_none(&missing.map(|name| format!("no refusal here shows `Fault::{name}`")).collect::<Vec<_>>());
    crate::snapshot::check("snapshots", "faults", &texts.join("\n\n"));
}
