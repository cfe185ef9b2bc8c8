//! Masks combined.

use super::{Eval, Image, InsteadOfMask, Kind, Scalar, Tolerance, Valid};

/// `(and x y)`
pub(super) static AND: Scalar = Scalar {
    name: "and",
    signature: "(and x y)",
    summary: "whether both `x` and `y` hold",
    example: "(and (< 0 (iota [3])) (< (iota [3]) 2)) ; => [false true false]",
    takes: Kind::Mask,
    tolerance: Tolerance::Exact,
    instead_of_mask: InsteadOfMask::And,
    valid: &[Valid::Everywhere, Valid::Everywhere],
    keeps: &[],
    range: "Mask",
    image: Image::Mask,
    eval: Eval::Mask2(|x, y| x && y),
};

/// `(or x y)`
pub(super) static OR: Scalar = Scalar {
    name: "or",
    signature: "(or x y)",
    summary: "whether `x` or `y` or both hold",
    example: "(or (< (iota [3]) 1) (< 1 (iota [3]))) ; => [true false true]",
    takes: Kind::Mask,
    tolerance: Tolerance::Exact,
    instead_of_mask: InsteadOfMask::Or,
    valid: &[Valid::Everywhere, Valid::Everywhere],
    keeps: &[],
    range: "Mask",
    image: Image::Mask,
    eval: Eval::Mask2(|x, y| x || y),
};

/// `(not x)`
pub(super) static NOT: Scalar = Scalar {
    name: "not",
    signature: "(not x)",
    summary: "whether `x` does not hold",
    example: "(not (< (iota [3]) 1)) ; => [false true true]",
    takes: Kind::Mask,
    tolerance: Tolerance::Exact,
    instead_of_mask: InsteadOfMask::Not,
    valid: &[Valid::Everywhere],
    keeps: &[],
    range: "Mask",
    image: Image::Mask,
    eval: Eval::Mask1(|x| !x),
};
