//! What the records of like functions have in common.

use super::{Eval, Image, InsteadOfMask, Scalar, Tolerance, Valid};
use crate::ir::Interval;
use sx_artifact::dtype::DType;

/// A function of one float that every target computes within 4 units in the last place.
pub(super) struct Function {
    pub(super) signature: &'static str,
    pub(super) summary: &'static str,
    pub(super) example: &'static str,
    pub(super) valid: &'static [Valid],
    pub(super) range: &'static str,
    pub(super) image: fn(&[Interval], DType) -> Interval,
    pub(super) eval: fn(f64) -> f64,
}

impl Function {
    pub(super) const fn record(self) -> Scalar {
        Scalar {
            signature: self.signature,
            summary: self.summary,
            example: self.example,
            tolerance: Tolerance::Ulps(4),
            rounds: true,
            instead_of_mask: InsteadOfMask::Binary,
            valid: self.valid,
            keeps: &[],
            range: self.range,
            image: Image::Range(self.image),
            eval: Eval::Float1(self.eval),
        }
    }
}

/// The image under a function that falls up to `lowest` and rises from there; a limit it never reaches may be rounded to.
pub(super) fn valley(x: Interval, lowest: f64, f: fn(f64) -> f64) -> Interval {
    let value = |x| f(x) + 0.0;
    let image = if lowest <= x.lo {
        x.rising(value)
    } else if x.hi <= lowest {
        x.falling(value)
    } else {
        let falls = x.clip(Interval::closed(f64::NEG_INFINITY, lowest)).falling(value);
        falls.hull(x.clip(Interval::closed(lowest, f64::INFINITY)).rising(value))
    };
    image.closure()
}

/// A function of two values that gives a truth value.
pub(super) struct Test {
    pub(super) signature: &'static str,
    pub(super) summary: &'static str,
    pub(super) example: &'static str,
    pub(super) eval: Eval,
}

impl Test {
    pub(super) const fn record(self) -> Scalar {
        Scalar {
            signature: self.signature,
            summary: self.summary,
            example: self.example,
            tolerance: Tolerance::Exact,
            rounds: false,
            instead_of_mask: InsteadOfMask::Binary,
            valid: &[Valid::Everywhere, Valid::Everywhere],
            keeps: &[],
            range: "Mask",
            image: Image::Mask,
            eval: self.eval,
        }
    }
}
