//! `(round x)`

use super::family::Function;
use super::{Keep, Scalar, Tolerance, Valid};

pub(super) static RECORD: Scalar = Scalar {
    tolerance: Tolerance::Exact,
    rounds: false,
    keeps: &[Keep::Binary],
    ..Function {
        signature: "(round x)",
        summary: "the whole number nearest to `x`, the even one of two",
        example: "(round (full [2] 2.5)) ; => [2.0 2.0]",
        valid: &[Valid::Everywhere],
        range: "whole ends; Binary of a Binary",
        image: |x, _| x[0].rising(f64::round_ties_even).closure(),
        eval: f64::round_ties_even,
    }
    .record()
};
