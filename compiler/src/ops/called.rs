//! The operations by the names that programs call: for their documentation, which stands with each.

use super::rules;
use crate::ir::Domain;
use crate::ir::Op;
use crate::ir::op::*;
use std::collections::HashMap;
use std::sync::LazyLock;
use sx_artifact::dtype::DType;
use sx_artifact::kernel::FoldOp;
use sx_artifact::scalar::ScalarFn;

static CALLED: LazyLock<HashMap<&'static str, Op>> = LazyLock::new(|| {
    let folds = [FoldOp::Sum, FoldOp::Prod, FoldOp::Max, FoldOp::Min, FoldOp::Any, FoldOp::All];
    let fold = |op| Op::Reduce(Reduce { op, axes: Vec::new(), keepdims: false });
    let scalars = ScalarFn::ALL.iter().map(|&f| Op::Map(Map { f }));
    let others = [
        Op::Matmul(Matmul { out_f32: false }),
        Op::Index(Index),
        Op::Gather(Gather { axis: 0 }),
        Op::Reshape(Reshape { dims: Vec::new() }),
        Op::Transpose(Transpose { order: Vec::new() }),
        Op::Broadcast(Broadcast { dims: Vec::new() }),
        Op::Slice(Slice { axis: 0, start: 0, stop: 1 }),
        Op::Concat(Concat { axis: 0 }),
        Op::Cast(Cast { dtype: DType::F32 }),
        Op::As(As { domain: Domain::widest(DType::F32) }),
        Op::Iota(Iota { dims: Vec::new(), axis: 0, dtype: DType::I32 }),
        Op::Param(Param { name: String::new() }),
    ];
    let all = scalars.chain(folds.map(fold)).chain(others);
    all.filter_map(|op| Some((head(rules(&op).about().signature)?, op))).collect()
});

/// The name that a signature calls.
fn head(signature: &'static str) -> Option<&'static str> {
    signature.strip_prefix('(')?.split([' ', ')']).next()
}

/// The operation that a program calls by this name, some instance of it.
pub fn called(name: &str) -> Option<&'static Op> {
    CALLED.get(name)
}
