//! `(exp x)`

use super::family::Function;
use super::{Scalar, Valid};

pub(super) static RECORD: Scalar = Function {
    signature: "(exp x)",
    summary: "`e` to the power of `x`",
    example: "(exp (zeros [2])) ; => [1.0 1.0]",
    valid: &[Valid::Everywhere],
    range: "at the ends; Pos of Real",
    image: |x, _| x[0].rising(f64::exp),
    eval: f64::exp,
}
.record();
