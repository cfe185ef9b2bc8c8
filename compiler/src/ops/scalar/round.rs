//! Whole numbers near a float.

use super::{Eval, Image, InsteadOfMask, Keep, Kind, Scalar, Tolerance, Valid};

/// `(floor x)`
pub(super) static FLOOR: Scalar = Scalar {
    name: "floor",
    signature: "(floor x)",
    summary: "the largest whole number that is at most `x`",
    example: "(floor (full [2] -1.5)) ; => [-2.0 -2.0]",
    takes: Kind::Float,
    tolerance: Tolerance::Exact,
    instead_of_mask: InsteadOfMask::Binary,
    valid: &[Valid::Everywhere],
    keeps: &[Keep::Binary],
    range: "whole ends; Binary of a Binary",
    image: Image::Range(|x, _| x[0].rising(f64::floor).closure()),
    eval: Eval::Float1(f64::floor),
};

/// `(ceil x)`
pub(super) static CEIL: Scalar = Scalar {
    name: "ceil",
    signature: "(ceil x)",
    summary: "the smallest whole number that is at least `x`",
    example: "(ceil (full [2] -1.5)) ; => [-1.0 -1.0]",
    takes: Kind::Float,
    tolerance: Tolerance::Exact,
    instead_of_mask: InsteadOfMask::Binary,
    valid: &[Valid::Everywhere],
    keeps: &[Keep::Binary],
    range: "whole ends; Binary of a Binary",
    image: Image::Range(|x, _| x[0].rising(f64::ceil).closure()),
    eval: Eval::Float1(f64::ceil),
};

/// `(round x)`
pub(super) static ROUND: Scalar = Scalar {
    name: "round",
    signature: "(round x)",
    summary: "the whole number nearest to `x`, the even one of two",
    example: "(round (full [2] 2.5)) ; => [2.0 2.0]",
    takes: Kind::Float,
    tolerance: Tolerance::Exact,
    instead_of_mask: InsteadOfMask::Binary,
    valid: &[Valid::Everywhere],
    keeps: &[Keep::Binary],
    range: "whole ends; Binary of a Binary",
    image: Image::Range(|x, _| x[0].rising(f64::round_ties_even).closure()),
    eval: Eval::Float1(f64::round_ties_even),
};
