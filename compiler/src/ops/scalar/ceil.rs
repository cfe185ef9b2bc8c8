//! `(ceil x)`

use super::family::Function;
use super::{Keep, Scalar, Tolerance, Valid};

pub(super) static RECORD: Scalar = Scalar {
    tolerance: Tolerance::Exact,
    rounds: false,
    keeps: &[Keep::Binary],
    ..Function {
        signature: "(ceil x)",
        summary: "the smallest whole number that is at least `x`",
        example: "(ceil (full [2] -1.5)) ; => [-1.0 -1.0]",
        valid: &[Valid::Everywhere],
        range: "whole ends; Binary of a Binary",
        image: |x, _| x[0].rising(f64::ceil).closure(),
        eval: f64::ceil,
    }
    .record()
};
