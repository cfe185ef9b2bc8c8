//! `(>= x y)`

use super::family::Test;
use super::{Eval, Scalar};

pub(super) static RECORD: Scalar = Test {
    signature: "(>= x y)",
    summary: "whether `x` is at least `y`",
    example: "(>= (iota [3]) 1) ; => [false true true]",
    eval: Eval::Test(|x, y| x >= y, |x, y| x >= y),
}
.record();
