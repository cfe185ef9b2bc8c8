//! `(minimum x y)`

use super::{Eval, Image, InsteadOfMask, Keep, Scalar, Tolerance, Valid};

pub(super) static RECORD: Scalar = Scalar {
    signature: "(minimum x y)",
    summary: "the smaller of `x` and `y`, NaN if either is NaN; -0.0 is below 0.0",
    example: "(minimum (iota [3]) 1) ; => [0 1 1]",
    tolerance: Tolerance::Exact,
    rounds: false,
    instead_of_mask: InsteadOfMask::And,
    valid: &[Valid::Everywhere, Valid::Everywhere],
    keeps: &[Keep::Binary, Keep::Additive],
    range: "the smaller of the ends; Binary of two Binary, Additive of two Additive",
    image: Image::Range(|x, _| x[0].smaller(x[1])),
    eval: Eval::Number2(smaller, i64::min),
};

/// The smaller, NaN if either is; of two zeros the negative one.
pub fn smaller(x: f64, y: f64) -> f64 {
    -super::larger(-x, -y)
}
