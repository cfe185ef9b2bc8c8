//! `(/ x y)`

use super::{Eval, Image, InsteadOfMask, Keep, Scalar, Tolerance, Valid};

pub(super) static RECORD: Scalar = Scalar {
    signature: "(/ x y)",
    summary: "`x` divided by `y`; of integers truncated towards zero, and 0 where `y` is 0",
    example: "(/ (iota [4]) 2) ; => [0 0 1 1]",
    tolerance: Tolerance::Rounded,
    rounds: true,
    instead_of_mask: InsteadOfMask::Binary,
    valid: &[Valid::Everywhere, Valid::NotZero("anything but zero")],
    keeps: &[Keep::FirstLogit],
    range: "the corners where the divisor is not 0, else Real; Logit of a Logit by a plain number",
    image: Image::Wrapping(|x, dtype| {
        let quotient = x[0].times(x[1].reciprocal());
        if dtype.is_int() { quotient.rising(f64::trunc).closure() } else { quotient }
    }),
    eval: Eval::Number2(|x, y| x / y, |x, y| if y == 0 { 0 } else { x.wrapping_div(y) }),
};
