//! One of several values.

use super::{Eval, Image, InsteadOfMask, Keep, Kind, Scalar, Tolerance, Valid};
use crate::ir::{Domain, Type};

/// `(maximum x y)`
pub(super) static MAXIMUM: Scalar = Scalar {
    name: "maximum",
    signature: "(maximum x y)",
    summary: "the larger of `x` and `y`, NaN if either is NaN; 0.0 is above -0.0",
    example: "(maximum (iota [3]) 1) ; => [1 1 2]",
    takes: Kind::Number,
    tolerance: Tolerance::Exact,
    instead_of_mask: InsteadOfMask::Or,
    valid: &[Valid::Everywhere, Valid::Everywhere],
    keeps: &[Keep::Binary, Keep::Additive],
    range: "the larger of the ends; Binary of two Binary, Additive of two Additive",
    image: Image::Range(|x, _| x[0].larger(x[1])),
    eval: Eval::Number2(larger, i64::max),
};

/// `(minimum x y)`
pub(super) static MINIMUM: Scalar = Scalar {
    name: "minimum",
    signature: "(minimum x y)",
    summary: "the smaller of `x` and `y`, NaN if either is NaN; -0.0 is below 0.0",
    example: "(minimum (iota [3]) 1) ; => [0 1 1]",
    takes: Kind::Number,
    tolerance: Tolerance::Exact,
    instead_of_mask: InsteadOfMask::And,
    valid: &[Valid::Everywhere, Valid::Everywhere],
    keeps: &[Keep::Binary, Keep::Additive],
    range: "the smaller of the ends; Binary of two Binary, Additive of two Additive",
    image: Image::Range(|x, _| x[0].smaller(x[1])),
    eval: Eval::Number2(smaller, i64::min),
};

/// `(where mask x y)`
pub(super) static WHERE: Scalar = Scalar {
    name: "where",
    signature: "(where mask x y)",
    summary: "`x` where `mask` is true, else `y`; the other one is never looked at",
    example: "(where (< (iota [3]) 1) 7 (iota [3])) ; => [7 1 2]",
    takes: Kind::MaskThenAny,
    tolerance: Tolerance::Exact,
    instead_of_mask: InsteadOfMask::Binary,
    valid: &[Valid::Everywhere, Valid::Everywhere, Valid::Everywhere],
    keeps: &[],
    range: "what both are, or the range that holds both; Logit of a Logit and numbers",
    image: Image::Choice,
    eval: Eval::Choose,
};

/// The larger, NaN if either is; of two zeros the positive one, so that the order never matters.
pub fn larger(x: f64, y: f64) -> f64 {
    if x.is_nan() || y.is_nan() {
        f64::NAN
    } else if x == y {
        if x.is_sign_positive() { x } else { y }
    } else if x < y {
        y
    } else {
        x
    }
}

/// The smaller, NaN if either is; of two zeros the negative one.
pub fn smaller(x: f64, y: f64) -> f64 {
    -larger(-x, -y)
}

/// The domain of values that are either from `x` or from `y`, element by element.
pub fn either(x: &Type, y: &Type) -> Domain {
    let mixes = |domain: &Domain| matches!(domain, Domain::Prob { .. } | Domain::LogProb { .. });
    let numbers = |domain: &Domain| !matches!(domain, Domain::Mask | Domain::Logit { .. });
    match (&x.domain, &y.domain) {
        // Two distributions mixed element by element are none.
        (a, b) if a == b && !mixes(a) => a.clone(),
        (logit @ Domain::Logit { .. }, other) | (other, logit @ Domain::Logit { .. }) if numbers(other) => {
            logit.clone()
        }
        (a, b) => Domain::Range(a.range().hull(b.range())),
    }
}
