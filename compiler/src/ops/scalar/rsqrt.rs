//! `(rsqrt x)`

use super::family::Function;
use super::{Scalar, Valid};
use crate::ir::Interval;

pub(super) static RECORD: Scalar = Function {
    signature: "(rsqrt x)",
    summary: "1 divided by the square root of `x`; an infinity of 0, NaN below it",
    example: "(rsqrt (full [2] 4.0)) ; => [0.5 0.5]",
    valid: &[Valid::Within(Interval::POS, "above zero")],
    range: "at the ends of what is above 0, else Real",
    image: |x, _| x[0].falling(rsqrt),
    eval: rsqrt,
}
.record();

fn rsqrt(x: f64) -> f64 {
    1.0 / x.sqrt()
}
