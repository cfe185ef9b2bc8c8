//! `(+ x y)`

use super::{Eval, Image, InsteadOfMask, Keep, Scalar, Tolerance, Valid};

pub(super) static RECORD: Scalar = Scalar {
    signature: "(+ x y)",
    summary: "the sum of `x` and `y`; integers wrap",
    example: "(+ (iota [3]) 10) ; => [10 11 12]",
    tolerance: Tolerance::Exact,
    rounds: true,
    instead_of_mask: InsteadOfMask::Or,
    valid: &[Valid::Everywhere, Valid::Everywhere],
    keeps: &[Keep::Additive, Keep::Logit],
    range: "sums of the ends; Additive of two Additive, Logit of a Logit and a plain number",
    image: Image::Wrapping(|x, _| x[0].plus(x[1])),
    eval: Eval::Number2(|x, y| x + y, i64::wrapping_add),
};
