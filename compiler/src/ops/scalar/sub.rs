//! `(- x y)`

use super::{Eval, Image, InsteadOfMask, Keep, Scalar, Tolerance, Valid};

pub(super) static RECORD: Scalar = Scalar {
    signature: "(- x y)",
    summary: "`x` less `y`; integers wrap",
    example: "(- (iota [3]) 1) ; => [-1 0 1]",
    tolerance: Tolerance::Exact,
    rounds: true,
    instead_of_mask: InsteadOfMask::Binary,
    valid: &[Valid::Everywhere, Valid::Everywhere],
    keeps: &[Keep::Logit],
    range: "differences of the ends; Logit of a Logit and a plain number",
    image: Image::Wrapping(|x, _| x[0].plus(x[1].negated())),
    eval: Eval::Number2(|x, y| x - y, i64::wrapping_sub),
};
