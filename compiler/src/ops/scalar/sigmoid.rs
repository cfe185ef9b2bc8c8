//! `(sigmoid x)`

use super::family::Function;
use super::{Scalar, Valid};

pub(super) static RECORD: Scalar = Function {
    signature: "(sigmoid x)",
    summary: "`1 / (1 + exp(-x))`",
    example: "(sigmoid (zeros [2])) ; => [0.5 0.5]",
    valid: &[Valid::Everywhere],
    range: "at the ends; Unit of Real",
    image: |x, _| x[0].rising(sigmoid).closure(),
    eval: sigmoid,
}
.record();

/// The exponential is only taken of what is not positive, so nothing overflows and nothing cancels.
pub(super) fn sigmoid(x: f64) -> f64 {
    let e = (-x.abs()).exp();
    (if x < 0.0 { e } else { 1.0 }) / (1.0 + e)
}
