//! `(log-sigmoid x)`

use super::family::Function;
use super::softplus::softplus;
use super::{Scalar, Valid};

pub(super) static RECORD: Scalar = Function {
    signature: "(log-sigmoid x)",
    summary: "`log(sigmoid(x))`, also where `sigmoid` would be 0",
    example: "(log-sigmoid (full [2] -100.0)) ; => [-100.0 -100.0]",
    valid: &[Valid::Everywhere],
    range: "at the ends; (-inf, 0] of Real",
    image: |x, _| x[0].rising(log_sigmoid).closure(),
    eval: log_sigmoid,
}
.record();

fn log_sigmoid(x: f64) -> f64 {
    -softplus(-x)
}
