//! `(log x)`

use super::family::Function;
use super::{Scalar, Valid};
use crate::ir::Interval;

pub(super) static RECORD: Scalar = Function {
    signature: "(log x)",
    summary: "the natural logarithm of `x`; -inf of 0, NaN below it",
    example: "(log (ones [2])) ; => [0.0 0.0]",
    valid: &[Valid::Within(Interval::POS, "above zero")],
    range: "at the ends of what is above 0, else Real",
    image: |x, _| x[0].rising(f64::ln),
    eval: f64::ln,
}
.record();
