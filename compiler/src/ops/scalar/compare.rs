//! Comparisons. With NaN every one is false but `!=`.

use super::{Eval, Image, InsteadOfMask, Kind, Scalar, Tolerance, Valid};

/// What the six have in common.
const fn comparison(
    name: &'static str,
    signature: &'static str,
    summary: &'static str,
    example: &'static str,
    takes: Kind,
    eval: Eval,
) -> Scalar {
    Scalar {
        name,
        signature,
        summary,
        example,
        takes,
        tolerance: Tolerance::Exact,
        instead_of_mask: InsteadOfMask::Binary,
        valid: &[Valid::Everywhere, Valid::Everywhere],
        keeps: &[],
        range: "Mask",
        image: Image::Mask,
        eval,
    }
}

/// `(= x y)`
pub(super) static EQ: Scalar = comparison(
    "=",
    "(= x y)",
    "whether `x` and `y` are equal",
    "(= (iota [3]) 1) ; => [false true false]",
    Kind::Any,
    Eval::Test(|x, y| x == y, |x, y| x == y),
);

/// `(!= x y)`
pub(super) static NE: Scalar = comparison(
    "!=",
    "(!= x y)",
    "whether `x` and `y` differ; true of NaN",
    "(!= (iota [3]) 1) ; => [true false true]",
    Kind::Any,
    Eval::Test(|x, y| x != y, |x, y| x != y),
);

/// `(< x y)`
pub(super) static LT: Scalar = comparison(
    "<",
    "(< x y)",
    "whether `x` is below `y`",
    "(< (iota [3]) 1) ; => [true false false]",
    Kind::Number,
    Eval::Test(|x, y| x < y, |x, y| x < y),
);

/// `(<= x y)`
pub(super) static LE: Scalar = comparison(
    "<=",
    "(<= x y)",
    "whether `x` is at most `y`",
    "(<= (iota [3]) 1) ; => [true true false]",
    Kind::Number,
    Eval::Test(|x, y| x <= y, |x, y| x <= y),
);

/// `(> x y)`
pub(super) static GT: Scalar = comparison(
    ">",
    "(> x y)",
    "whether `x` is above `y`",
    "(> (iota [3]) 1) ; => [false false true]",
    Kind::Number,
    Eval::Test(|x, y| x > y, |x, y| x > y),
);

/// `(>= x y)`
pub(super) static GE: Scalar = comparison(
    ">=",
    "(>= x y)",
    "whether `x` is at least `y`",
    "(>= (iota [3]) 1) ; => [false true true]",
    Kind::Number,
    Eval::Test(|x, y| x >= y, |x, y| x >= y),
);
