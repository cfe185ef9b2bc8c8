//! `(log1p x)`

use super::family::Function;
use super::{Scalar, Valid};
use crate::ir::Interval;

pub(super) static RECORD: Scalar = Function {
    signature: "(log1p x)",
    summary: "the natural logarithm of 1 and `x` together, precise near 0; -inf of -1, NaN below it",
    example: "(log1p (zeros [2])) ; => [0.0 0.0]",
    valid: &[Valid::Within(
        Interval { lo: -1.0, hi: f64::INFINITY, lo_open: true, hi_open: true },
        "above -1",
    )],
    range: "at the ends of what is above -1, else Real",
    image: |x, _| x[0].rising(f64::ln_1p),
    eval: f64::ln_1p,
}
.record();
