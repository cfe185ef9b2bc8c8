//! `(and x y)`

use super::family::Test;
use super::{Eval, InsteadOfMask, Scalar};

pub(super) static RECORD: Scalar = Scalar {
    instead_of_mask: InsteadOfMask::And,
    ..Test {
        signature: "(and x y)",
        summary: "whether both `x` and `y` hold",
        example: "(and (< 0 (iota [3])) (< (iota [3]) 2)) ; => [false true false]",
        eval: Eval::Mask2(|x, y| x && y),
    }
    .record()
};
