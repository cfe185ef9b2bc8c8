//! `(maximum x y)`

use super::{Eval, Image, InsteadOfMask, Keep, Scalar, Tolerance, Valid};

pub(super) static RECORD: Scalar = Scalar {
    signature: "(maximum x y)",
    summary: "the larger of `x` and `y`, NaN if either is NaN; 0.0 is above -0.0",
    example: "(maximum (iota [3]) 1) ; => [1 1 2]",
    tolerance: Tolerance::Exact,
    rounds: false,
    instead_of_mask: InsteadOfMask::Or,
    valid: &[Valid::Everywhere, Valid::Everywhere],
    keeps: &[Keep::Binary, Keep::Additive],
    range: "the larger of the ends; Binary of two Binary, Additive of two Additive",
    image: Image::Range(|x, _| x[0].larger(x[1])),
    eval: Eval::Number2(larger, i64::max),
};

/// The larger, NaN if either is; of two zeros the positive one, so that the order never matters.
pub fn larger(x: f64, y: f64) -> f64 {
    if x.is_nan() || y.is_nan() {
        f64::NAN
    } else if x == y {
        if x.is_sign_positive() { x } else { y }
    } else if x < y {
        y
    } else {
        x
    }
}
