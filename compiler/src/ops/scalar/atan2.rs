//! `(atan2 y x)`

use super::{Eval, Image, InsteadOfMask, Scalar, Tolerance, Valid};
use crate::ir::Interval;
use std::f64::consts::PI;

pub(super) static RECORD: Scalar = Scalar {
    signature: "(atan2 y x)",
    summary: "the angle of the point `(x, y)` in [-pi, pi]; `y` comes first",
    example: "(atan2 (zeros [2]) 1.0) ; => [0.0 0.0]",
    tolerance: Tolerance::Ulps(4),
    rounds: true,
    instead_of_mask: InsteadOfMask::Binary,
    valid: &[Valid::Everywhere, Valid::Everywhere],
    keeps: &[],
    range: "[-pi, pi]",
    image: Image::Range(|_, _| Interval::closed(-PI, PI)),
    eval: Eval::Float2(f64::atan2),
};
