//! Angles, in radians.

use super::{Eval, Image, InsteadOfMask, Kind, Scalar, Tolerance, Valid};
use crate::ir::Interval;
use std::f64::consts::PI;

/// `(sin x)`
pub(super) static SIN: Scalar = Scalar {
    name: "sin",
    signature: "(sin x)",
    summary: "the sine of `x`; NaN of an infinity",
    example: "(sin (zeros [2])) ; => [0.0 0.0]",
    takes: Kind::Float,
    tolerance: Tolerance::Ulps(4),
    instead_of_mask: InsteadOfMask::Binary,
    valid: &[Valid::Everywhere],
    keeps: &[],
    range: "Signed",
    image: Image::Range(|_, _| Interval::SIGNED),
    eval: Eval::Float1(f64::sin),
};

/// `(cos x)`
pub(super) static COS: Scalar = Scalar {
    name: "cos",
    signature: "(cos x)",
    summary: "the cosine of `x`; NaN of an infinity",
    example: "(cos (zeros [2])) ; => [1.0 1.0]",
    takes: Kind::Float,
    tolerance: Tolerance::Ulps(4),
    instead_of_mask: InsteadOfMask::Binary,
    valid: &[Valid::Everywhere],
    keeps: &[],
    range: "Signed",
    image: Image::Range(|_, _| Interval::SIGNED),
    eval: Eval::Float1(f64::cos),
};

/// `(asin x)`
pub(super) static ASIN: Scalar = Scalar {
    name: "asin",
    signature: "(asin x)",
    summary: "the angle in [-pi/2, pi/2] whose sine is `x`; NaN outside [-1, 1]",
    example: "(asin (zeros [2])) ; => [0.0 0.0]",
    takes: Kind::Float,
    tolerance: Tolerance::Ulps(4),
    instead_of_mask: InsteadOfMask::Binary,
    valid: &[Valid::Within(Interval::SIGNED, "in [-1, 1]")],
    keeps: &[],
    range: "at the ends within [-1, 1], else Real",
    image: Image::Range(|x, _| x[0].rising(f64::asin)),
    eval: Eval::Float1(f64::asin),
};

/// `(acos x)`
pub(super) static ACOS: Scalar = Scalar {
    name: "acos",
    signature: "(acos x)",
    summary: "the angle in [0, pi] whose cosine is `x`; NaN outside [-1, 1]",
    example: "(acos (ones [2])) ; => [0.0 0.0]",
    takes: Kind::Float,
    tolerance: Tolerance::Ulps(4),
    instead_of_mask: InsteadOfMask::Binary,
    valid: &[Valid::Within(Interval::SIGNED, "in [-1, 1]")],
    keeps: &[],
    range: "at the ends within [-1, 1], else Real",
    image: Image::Range(|x, _| x[0].falling(f64::acos)),
    eval: Eval::Float1(f64::acos),
};

/// `(atan2 y x)`
pub(super) static ATAN2: Scalar = Scalar {
    name: "atan2",
    signature: "(atan2 y x)",
    summary: "the angle of the point `(x, y)` in [-pi, pi]; `y` comes first",
    example: "(atan2 (zeros [2]) 1.0) ; => [0.0 0.0]",
    takes: Kind::Float,
    tolerance: Tolerance::Ulps(4),
    instead_of_mask: InsteadOfMask::Binary,
    valid: &[Valid::Everywhere, Valid::Everywhere],
    keeps: &[],
    range: "[-pi, pi]",
    image: Image::Range(|_, _| Interval::closed(-PI, PI)),
    eval: Eval::Float2(f64::atan2),
};
