//! `(where mask x y)`

use super::{Eval, Image, InsteadOfMask, Scalar, Tolerance, Valid};
use crate::ir::{Domain, Type};

pub(super) static RECORD: Scalar = Scalar {
    signature: "(where mask x y)",
    summary: "`x` where `mask` is true, else `y`, whatever the other one is; both are computed, so that ids are checked in both",
    example: "(where (< (iota [3]) 1) 7 (iota [3])) ; => [7 1 2]",
    tolerance: Tolerance::Exact,
    rounds: false,
    instead_of_mask: InsteadOfMask::Binary,
    valid: &[Valid::Everywhere, Valid::Everywhere, Valid::Everywhere],
    keeps: &[],
    range: "what both are, or the range that holds both; Logit of a Logit and numbers",
    image: Image::Choice,
    eval: Eval::Choose,
};

/// The domain of values that are either from `x` or from `y`, element by element.
pub(super) fn either(x: &Type, y: &Type) -> Domain {
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
