//! `(tanh x)`

use super::family::Function;
use super::{Scalar, Valid};

pub(super) static RECORD: Scalar = Function {
    signature: "(tanh x)",
    summary: "the hyperbolic tangent of `x`",
    example: "(tanh (zeros [2])) ; => [0.0 0.0]",
    valid: &[Valid::Everywhere],
    // The limits are reached: tanh(20.0) rounds to 1.
    range: "at the ends; Signed of Real",
    image: |x, _| x[0].rising(f64::tanh).closure(),
    eval: f64::tanh,
}
.record();
