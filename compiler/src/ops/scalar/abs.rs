//! `(abs x)`

use super::{Eval, Image, InsteadOfMask, Keep, Scalar, Tolerance, Valid};

pub(super) static RECORD: Scalar = Scalar {
    signature: "(abs x)",
    summary: "the magnitude of `x`; the smallest integer stays",
    example: "(abs (- (iota [3]) 1)) ; => [1 0 1]",
    tolerance: Tolerance::Exact,
    rounds: false,
    instead_of_mask: InsteadOfMask::Binary,
    valid: &[Valid::Everywhere],
    keeps: &[Keep::Binary],
    range: "the magnitudes; Binary of a Binary",
    image: Image::Wrapping(|x, _| x[0].magnitude()),
    eval: Eval::Number1(f64::abs, i64::wrapping_abs),
};
