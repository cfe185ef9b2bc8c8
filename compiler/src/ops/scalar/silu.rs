//! `(silu x)`

use super::family::{Function, valley};
use super::sigmoid::sigmoid;
use super::{Scalar, Valid};

pub(super) static RECORD: Scalar = Function {
    signature: "(silu x)",
    summary: "`x` times `sigmoid(x)`; -0.0 of -inf",
    example: "(silu (full [2] 100.0)) ; => [100.0 100.0]",
    valid: &[Valid::Everywhere],
    range: "between the smallest value, at -1.278, and the ends",
    image: |x, _| valley(x[0], LOWEST, silu),
    eval: silu,
}
.record();

/// Where it is smallest.
const LOWEST: f64 = -1.278_464_542_761_074;

fn silu(x: f64) -> f64 {
    if x == f64::NEG_INFINITY { -0.0 } else { x * sigmoid(x) }
}
