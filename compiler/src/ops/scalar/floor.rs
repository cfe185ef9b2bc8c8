//! `(floor x)`

use super::family::Function;
use super::{Keep, Scalar, Tolerance, Valid};

pub(super) static RECORD: Scalar = Scalar {
    tolerance: Tolerance::Exact,
    rounds: false,
    keeps: &[Keep::Binary],
    ..Function {
        signature: "(floor x)",
        summary: "the largest whole number that is at most `x`",
        example: "(floor (full [2] -1.5)) ; => [-2.0 -2.0]",
        valid: &[Valid::Everywhere],
        range: "whole ends; Binary of a Binary",
        image: |x, _| x[0].rising(f64::floor).closure(),
        eval: f64::floor,
    }
    .record()
};
