//! `(cbrt x)`

use super::family::Function;
use super::{Scalar, Valid};

pub(super) static RECORD: Scalar = Function {
    signature: "(cbrt x)",
    summary: "the cube root of `x`, which has its sign",
    example: "(cbrt (full [2] -27.0)) ; => [-3.0 -3.0]",
    valid: &[Valid::Everywhere],
    range: "at the ends",
    image: |x, _| x[0].rising(f64::cbrt),
    eval: f64::cbrt,
}
.record();
