//! `(sqrt x)`

use super::family::Function;
use super::{Scalar, Tolerance, Valid};
use crate::ir::Interval;

pub(super) static RECORD: Scalar = Scalar {
    tolerance: Tolerance::Rounded,
    ..Function {
        signature: "(sqrt x)",
        summary: "the square root of `x`; NaN below 0",
        example: "(sqrt (full [2] 9.0)) ; => [3.0 3.0]",
        valid: &[Valid::Within(Interval::NON_NEG, "zero or above")],
        range: "at the ends of what is 0 or above, else Real",
        image: |x, _| x[0].rising(f64::sqrt),
        eval: f64::sqrt,
    }
    .record()
};
