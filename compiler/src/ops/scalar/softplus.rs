//! `(softplus x)`

use super::family::Function;
use super::{Scalar, Valid};

pub(super) static RECORD: Scalar = Function {
    signature: "(softplus x)",
    summary: "`log(1 + exp(x))`, a smooth `relu`",
    example: "(softplus (full [2] 100.0)) ; => [100.0 100.0]",
    valid: &[Valid::Everywhere],
    range: "at the ends; NonNeg of Real",
    image: |x, _| x[0].rising(softplus).closure(),
    eval: softplus,
}
.record();

/// `max(x, 0) + log(1 + exp(-|x|))`; NaN is kept by the logarithm.
pub(super) fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}
