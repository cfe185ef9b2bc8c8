//! `(asin x)`

use super::family::Function;
use super::{Scalar, Valid};
use crate::ir::Interval;

pub(super) static RECORD: Scalar = Function {
    signature: "(asin x)",
    summary: "the angle in [-pi/2, pi/2] whose sine is `x`; NaN outside [-1, 1]",
    example: "(asin (zeros [2])) ; => [0.0 0.0]",
    valid: &[Valid::Within(Interval::SIGNED, "in [-1, 1]")],
    range: "at the ends within [-1, 1], else Real",
    image: |x, _| x[0].rising(f64::asin),
    eval: f64::asin,
}
.record();
