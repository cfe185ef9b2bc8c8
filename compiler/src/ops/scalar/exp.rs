//! Exponentials, logarithms, powers, and what is made of them.

use super::{Eval, Image, InsteadOfMask, Kind, Scalar, Tolerance, Valid, error_function};
use crate::ir::Interval;

/// `(exp x)`
pub(super) static EXP: Scalar = Scalar {
    name: "exp",
    signature: "(exp x)",
    summary: "`e` to the power of `x`",
    example: "(exp (zeros [2])) ; => [1.0 1.0]",
    takes: Kind::Float,
    tolerance: Tolerance::Ulps(4),
    instead_of_mask: InsteadOfMask::Binary,
    valid: &[Valid::Everywhere],
    keeps: &[],
    range: "at the ends; Pos of Real",
    image: Image::Range(|x, _| x[0].rising(f64::exp)),
    eval: Eval::Float1(f64::exp),
};

/// `(log x)`
pub(super) static LOG: Scalar = Scalar {
    name: "log",
    signature: "(log x)",
    summary: "the natural logarithm of `x`; -inf of 0, NaN below it",
    example: "(log (ones [2])) ; => [0.0 0.0]",
    takes: Kind::Float,
    tolerance: Tolerance::Ulps(4),
    instead_of_mask: InsteadOfMask::Binary,
    valid: &[Valid::Within(Interval::POS, "above zero")],
    keeps: &[],
    range: "at the ends of what is above 0, else Real",
    image: Image::Range(|x, _| x[0].rising(f64::ln)),
    eval: Eval::Float1(f64::ln),
};

/// `(expm1 x)`
pub(super) static EXPM1: Scalar = Scalar {
    name: "expm1",
    signature: "(expm1 x)",
    summary: "`e` to the power of `x`, less 1, precise near 0",
    example: "(expm1 (zeros [2])) ; => [0.0 0.0]",
    takes: Kind::Float,
    tolerance: Tolerance::Ulps(4),
    instead_of_mask: InsteadOfMask::Binary,
    valid: &[Valid::Everywhere],
    keeps: &[],
    range: "at the ends; above -1 of Real",
    image: Image::Range(|x, _| x[0].rising(f64::exp_m1)),
    eval: Eval::Float1(f64::exp_m1),
};

/// `(log1p x)`
pub(super) static LOG1P: Scalar = Scalar {
    name: "log1p",
    signature: "(log1p x)",
    summary: "the natural logarithm of 1 and `x` together, precise near 0; -inf of -1, NaN below it",
    example: "(log1p (zeros [2])) ; => [0.0 0.0]",
    takes: Kind::Float,
    tolerance: Tolerance::Ulps(4),
    instead_of_mask: InsteadOfMask::Binary,
    valid: &[Valid::Within(
        Interval { lo: -1.0, hi: f64::INFINITY, lo_open: true, hi_open: true },
        "above -1",
    )],
    keeps: &[],
    range: "at the ends of what is above -1, else Real",
    image: Image::Range(|x, _| x[0].rising(f64::ln_1p)),
    eval: Eval::Float1(f64::ln_1p),
};

/// `(sqrt x)`
pub(super) static SQRT: Scalar = Scalar {
    name: "sqrt",
    signature: "(sqrt x)",
    summary: "the square root of `x`; NaN below 0",
    example: "(sqrt (full [2] 9.0)) ; => [3.0 3.0]",
    takes: Kind::Float,
    tolerance: Tolerance::Rounded,
    instead_of_mask: InsteadOfMask::Binary,
    valid: &[Valid::Within(Interval::NON_NEG, "zero or above")],
    keeps: &[],
    range: "at the ends of what is 0 or above, else Real",
    image: Image::Range(|x, _| x[0].rising(f64::sqrt)),
    eval: Eval::Float1(f64::sqrt),
};

/// `(rsqrt x)`
pub(super) static RSQRT: Scalar = Scalar {
    name: "rsqrt",
    signature: "(rsqrt x)",
    summary: "1 divided by the square root of `x`; an infinity of 0, NaN below it",
    example: "(rsqrt (full [2] 4.0)) ; => [0.5 0.5]",
    takes: Kind::Float,
    tolerance: Tolerance::Ulps(4),
    instead_of_mask: InsteadOfMask::Binary,
    valid: &[Valid::Within(Interval::POS, "above zero")],
    keeps: &[],
    range: "at the ends of what is above 0, else Real",
    image: Image::Range(|x, _| x[0].falling(rsqrt)),
    eval: Eval::Float1(rsqrt),
};

/// `(pow x y)`
pub(super) static POW: Scalar = Scalar {
    name: "pow",
    signature: "(pow x y)",
    summary: "`x` to the power of `y`; NaN where `x` is below 0 and `y` is not whole",
    example: "(pow (full [2] 2.0) 3.0) ; => [8.0 8.0]",
    takes: Kind::Float,
    tolerance: Tolerance::Ulps(8),
    instead_of_mask: InsteadOfMask::Binary,
    valid: &[Valid::Everywhere, Valid::Everywhere],
    keeps: &[],
    range: "for exponents 1 and 2, and at the corners for a base that is never negative; else Real",
    image: Image::Range(|x, _| power(x[0], x[1])),
    eval: Eval::Float2(pow),
};

/// `(tanh x)`
pub(super) static TANH: Scalar = Scalar {
    name: "tanh",
    signature: "(tanh x)",
    summary: "the hyperbolic tangent of `x`",
    example: "(tanh (zeros [2])) ; => [0.0 0.0]",
    takes: Kind::Float,
    tolerance: Tolerance::Ulps(4),
    instead_of_mask: InsteadOfMask::Binary,
    valid: &[Valid::Everywhere],
    keeps: &[],
    // The limits are reached: tanh(20.0) rounds to 1.
    range: "at the ends; Signed of Real",
    image: Image::Range(|x, _| x[0].rising(f64::tanh).closure()),
    eval: Eval::Float1(f64::tanh),
};

/// `(erf x)`
pub(super) static ERF: Scalar = Scalar {
    name: "erf",
    signature: "(erf x)",
    summary: "the error function of `x`: how much of a normal distribution lies within `x` times its width",
    example: "(erf (zeros [2])) ; => [0.0 0.0]",
    takes: Kind::Float,
    tolerance: Tolerance::Ulps(4),
    instead_of_mask: InsteadOfMask::Binary,
    valid: &[Valid::Everywhere],
    keeps: &[],
    range: "Unit of what is 0 or above, [-1, 0] of what is 0 or below, else Signed",
    image: Image::Range(|x, _| {
        let lo = if 0.0 <= x[0].lo { 0.0 } else { -1.0 };
        let hi = if x[0].hi <= 0.0 { 0.0 } else { 1.0 };
        Interval::closed(lo, hi)
    }),
    eval: Eval::Float1(error_function::erf),
};

fn rsqrt(x: f64) -> f64 {
    1.0 / x.sqrt()
}

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
