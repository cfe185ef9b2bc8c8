//! `(or x y)`

use super::family::Test;
use super::{Eval, InsteadOfMask, Scalar};

pub(super) static RECORD: Scalar = Scalar {
    instead_of_mask: InsteadOfMask::Or,
    ..Test {
        signature: "(or x y)",
        summary: "whether `x` or `y` or both hold",
        example: "(or (< (iota [3]) 1) (< 1 (iota [3]))) ; => [true false true]",
        eval: Eval::Mask2(|x, y| x || y),
    }
    .record()
};
