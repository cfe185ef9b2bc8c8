//! `(gelu x)`

use super::erf::erfc;
use super::family::{Function, valley};
use super::{Scalar, Valid};
use std::f64::consts::FRAC_1_SQRT_2;

pub(super) static RECORD: Scalar = Function {
    signature: "(gelu x)",
    summary: "`x` times the share of the normal distribution below `x`; -0.0 of -inf",
    example: "(gelu (full [2] 100.0)) ; => [100.0 100.0]",
    valid: &[Valid::Everywhere],
    range: "between the smallest value, at -0.752, and the ends",
    image: |x, _| valley(x[0], LOWEST, gelu),
    eval: gelu,
}
.record();

/// Where it is smallest.
const LOWEST: f64 = -0.751_791_524_693_564_5;

fn gelu(x: f64) -> f64 {
    if x == f64::NEG_INFINITY { -0.0 } else { 0.5 * x * erfc(-x * FRAC_1_SQRT_2) }
}
