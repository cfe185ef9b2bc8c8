//! `(cos x)`

use super::family::Function;
use super::{Scalar, Valid};
use crate::ir::Interval;

pub(super) static RECORD: Scalar = Function {
    signature: "(cos x)",
    summary: "the cosine of `x`; NaN of an infinity",
    example: "(cos (zeros [2])) ; => [1.0 1.0]",
    valid: &[Valid::Everywhere],
    range: "Signed",
    image: |_, _| Interval::SIGNED,
    eval: f64::cos,
}
.record();
