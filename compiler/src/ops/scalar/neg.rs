//! `(neg x)`

use super::{Eval, Image, InsteadOfMask, Keep, Scalar, Tolerance, Valid};

pub(super) static RECORD: Scalar = Scalar {
    signature: "(neg x)",
    summary: "`x` with the other sign; the smallest integer stays",
    example: "(neg (iota [3])) ; => [0 -1 -2]",
    tolerance: Tolerance::Exact,
    rounds: false,
    instead_of_mask: InsteadOfMask::Not,
    valid: &[Valid::Everywhere],
    keeps: &[Keep::Logit],
    range: "the ends, negated; Logit of a Logit",
    image: Image::Wrapping(|x, _| x[0].negated()),
    eval: Eval::Number1(|x| -x, i64::wrapping_neg),
};
