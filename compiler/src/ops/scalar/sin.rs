//! `(sin x)`

use super::family::Function;
use super::{Scalar, Valid};
use crate::ir::Interval;

pub(super) static RECORD: Scalar = Function {
    signature: "(sin x)",
    summary: "the sine of `x`; NaN of an infinity",
    example: "(sin (zeros [2])) ; => [0.0 0.0]",
    valid: &[Valid::Everywhere],
    range: "Signed",
    image: |_, _| Interval::SIGNED,
    eval: f64::sin,
}
.record();
