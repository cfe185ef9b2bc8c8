//! `(expm1 x)`

use super::family::Function;
use super::{Scalar, Valid};

pub(super) static RECORD: Scalar = Function {
    signature: "(expm1 x)",
    summary: "`e` to the power of `x`, less 1, precise near 0",
    example: "(expm1 (zeros [2])) ; => [0.0 0.0]",
    valid: &[Valid::Everywhere],
    range: "at the ends; above -1 of Real",
    image: |x, _| x[0].rising(f64::exp_m1),
    eval: f64::exp_m1,
}
.record();
