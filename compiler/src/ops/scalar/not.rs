//! `(not x)`

use super::family::Test;
use super::{Eval, InsteadOfMask, Scalar, Valid};

pub(super) static RECORD: Scalar = Scalar {
    instead_of_mask: InsteadOfMask::Not,
    valid: &[Valid::Everywhere],
    ..Test {
        signature: "(not x)",
        summary: "whether `x` does not hold",
        example: "(not (< (iota [3]) 1)) ; => [false true true]",
        eval: Eval::Mask1(|x| !x),
    }
    .record()
};
