//! `(* x y)`

use super::{Eval, Image, InsteadOfMask, Keep, Scalar, Tolerance, Valid};

pub(super) static RECORD: Scalar = Scalar {
    signature: "(* x y)",
    summary: "the product of `x` and `y`; integers wrap",
    example: "(* (iota [3]) 2) ; => [0 2 4]",
    tolerance: Tolerance::Exact,
    rounds: true,
    instead_of_mask: InsteadOfMask::And,
    valid: &[Valid::Everywhere, Valid::Everywhere],
    keeps: &[Keep::Binary, Keep::Logit],
    range: "the corners; Binary of two Binary, Logit of a Logit and a plain number",
    image: Image::Wrapping(|x, _| x[0].times(x[1])),
    eval: Eval::Number2(|x, y| x * y, i64::wrapping_mul),
};
