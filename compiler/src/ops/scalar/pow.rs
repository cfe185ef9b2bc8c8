//! `(pow x y)`

use super::{Eval, Image, InsteadOfMask, Scalar, Tolerance, Valid};
use crate::ir::Interval;

pub(super) static RECORD: Scalar = Scalar {
    signature: "(pow x y)",
    summary: "`x` to the power of `y`; NaN where `x` is below 0 and `y` is not whole",
    example: "(pow (full [2] 2.0) 3.0) ; => [8.0 8.0]",
    tolerance: Tolerance::Ulps(8),
    rounds: true,
    instead_of_mask: InsteadOfMask::Binary,
    valid: &[Valid::Everywhere, Valid::Everywhere],
    keeps: &[],
    range: "for exponents 1 and 2, and at the corners for a base that is never negative; else Real",
    image: Image::Range(|x, _| power(x[0], x[1])),
    eval: Eval::Float2(pow),
};

/// As IEEE 754 and C have it; `powf` alone, so that constants and calls agree.
fn pow(x: f64, y: f64) -> f64 {
    x.powf(y)
}

/// Known for exponents 1 and 2 and for a base that is never negative.
fn power(base: Interval, exponent: Interval) -> Interval {
    if exponent.value() == Some(1.0) {
        return base;
    }
    if exponent.value() == Some(2.0) {
        let magnitude = base.magnitude();
        return magnitude.times(magnitude);
    }
    // Zero to a power below zero divides by zero.
    let divides = exponent.lo < 0.0 && base.holds(0.0);
    if base.lo < 0.0 || divides {
        return Interval::REAL;
    }
    // y log(x) has its extremes at the corners.
    let spanned = base.spanned(exponent, f64::powf);
    Interval { lo_open: spanned.lo_open && spanned.lo == 0.0 && base.lo_open, ..spanned }
}
