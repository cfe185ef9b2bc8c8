//! `(< x y)`

use super::family::Test;
use super::{Eval, Scalar};

pub(super) static RECORD: Scalar = Test {
    signature: "(< x y)",
    summary: "whether `x` is below `y`",
    example: "(< (iota [3]) 1) ; => [true false false]",
    eval: Eval::Test(|x, y| x < y, |x, y| x < y),
}
.record();
