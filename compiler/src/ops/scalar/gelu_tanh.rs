//! `(gelu-tanh x)`

use super::family::{Function, valley};
use super::sigmoid::sigmoid;
use super::{Scalar, Valid};
use std::f64::consts::{FRAC_2_SQRT_PI, SQRT_2};

pub(super) static RECORD: Scalar = Function {
    signature: "(gelu-tanh x)",
    summary: "`x/2` times `1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))`, which is close to `gelu`; -0.0 of -inf",
    example: "(gelu-tanh (full [2] 100.0)) ; => [100.0 100.0]",
    valid: &[Valid::Everywhere],
    range: "between the smallest value, at -0.752, and the ends",
    image: |x, _| valley(x[0], LOWEST, gelu_tanh),
    eval: gelu_tanh,
}
.record();

/// Where it is smallest.
const LOWEST: f64 = -0.752_461_424_244_4;

/// `x sigmoid(2 sqrt(2/pi) (x + 0.044715 x^3))`, which is the same and does not cancel.
fn gelu_tanh(x: f64) -> f64 {
    let angle = FRAC_2_SQRT_PI * SQRT_2 * (x + 0.044_715 * x * x * x);
    if x == f64::NEG_INFINITY { -0.0 } else { x * sigmoid(angle) }
}
