//! What computing a value in place costs, in simple operations.

use crate::ir::Op;
use sx_artifact::scalar::{Cost, ScalarFn};

/// Values whose cost is at most this are computed again rather than stored.
pub const CHEAP: u32 = 2;
/// The cost of a reduction or a product: never computed twice.
pub(super) const HEAVY: u32 = 1000;

pub(super) fn own_cost(op: &Op) -> u32 {
    match op {
        Op::Input(_) | Op::Param(_) | Op::Context(_) | Op::Constant(_) | Op::Iota(_) => 0,
        Op::As(_) | Op::Broadcast(_) | Op::Reshape(_) | Op::Transpose(_) | Op::Slice(_) => 0,
        Op::Composite(_) => 0,
        Op::Cast(_) => 1,
        Op::Concat(_) | Op::Index(_) | Op::Gather(_) => 3,
        Op::Map(map) => scalar_cost(map.f),
        Op::Reduce(_) | Op::Matmul(_) | Op::Attention(_) => HEAVY,
    }
}

fn scalar_cost(f: ScalarFn) -> u32 {
    match f.cost() {
        Cost::Simple => 1,
        Cost::Division => 3,
        Cost::Series => 8,
    }
}
