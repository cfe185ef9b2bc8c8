//! Sums, products, quotients, signs.

use super::{Eval, Image, InsteadOfMask, Keep, Kind, Scalar, Tolerance, Valid};
use crate::ir::Interval;

/// `(+ x y)`
pub(super) static ADD: Scalar = Scalar {
    name: "+",
    signature: "(+ x y)",
    summary: "the sum of `x` and `y`; integers wrap",
    example: "(+ (iota [3]) 10) ; => [10 11 12]",
    takes: Kind::Number,
    tolerance: Tolerance::Exact,
    instead_of_mask: InsteadOfMask::Or,
    valid: &[Valid::Everywhere, Valid::Everywhere],
    keeps: &[Keep::Additive, Keep::Logit],
    range: "sums of the ends; Additive of two Additive, Logit of a Logit and a plain number",
    image: Image::Wrapping(|x, _| x[0].plus(x[1])),
    eval: Eval::Number2(|x, y| x + y, i64::wrapping_add),
};

/// `(- x y)`
pub(super) static SUB: Scalar = Scalar {
    name: "-",
    signature: "(- x y)",
    summary: "`x` less `y`; integers wrap",
    example: "(- (iota [3]) 1) ; => [-1 0 1]",
    takes: Kind::Number,
    tolerance: Tolerance::Exact,
    instead_of_mask: InsteadOfMask::Binary,
    valid: &[Valid::Everywhere, Valid::Everywhere],
    keeps: &[Keep::Logit],
    range: "differences of the ends; Logit of a Logit and a plain number",
    image: Image::Wrapping(|x, _| x[0].plus(x[1].negated())),
    eval: Eval::Number2(|x, y| x - y, i64::wrapping_sub),
};

/// `(* x y)`
pub(super) static MUL: Scalar = Scalar {
    name: "*",
    signature: "(* x y)",
    summary: "the product of `x` and `y`; integers wrap",
    example: "(* (iota [3]) 2) ; => [0 2 4]",
    takes: Kind::Number,
    tolerance: Tolerance::Exact,
    instead_of_mask: InsteadOfMask::And,
    valid: &[Valid::Everywhere, Valid::Everywhere],
    keeps: &[Keep::Binary, Keep::Logit],
    range: "the corners; Binary of two Binary, Logit of a Logit and a plain number",
    image: Image::Wrapping(|x, _| x[0].times(x[1])),
    eval: Eval::Number2(|x, y| x * y, i64::wrapping_mul),
};

/// `(/ x y)`
pub(super) static DIV: Scalar = Scalar {
    name: "/",
    signature: "(/ x y)",
    summary: "`x` divided by `y`; of integers truncated towards zero, and 0 where `y` is 0",
    example: "(/ (iota [4]) 2) ; => [0 0 1 1]",
    takes: Kind::Number,
    tolerance: Tolerance::Rounded,
    instead_of_mask: InsteadOfMask::Binary,
    valid: &[Valid::Everywhere, Valid::NotZero("anything but zero")],
    keeps: &[Keep::FirstLogit],
    range: "the corners where the divisor is not 0, else Real; Logit of a Logit by a plain number",
    image: Image::Wrapping(|x, dtype| {
        let quotient = x[0].times(x[1].reciprocal());
        if dtype.is_int() { quotient.rising(f64::trunc).closure() } else { quotient }
    }),
    eval: Eval::Number2(|x, y| x / y, |x, y| if y == 0 { 0 } else { x.wrapping_div(y) }),
};

/// `(mod x y)`
pub(super) static MOD: Scalar = Scalar {
    name: "mod",
    signature: "(mod x y)",
    summary: "what is left of `x` after taking away whole `y`s, with the sign of `y`; of integers 0 where `y` is 0",
    example: "(mod (- (iota [4]) 2) 3) ; => [1 2 0 1]",
    takes: Kind::Number,
    tolerance: Tolerance::Exact,
    instead_of_mask: InsteadOfMask::Binary,
    valid: &[Valid::Everywhere, Valid::NotZero("anything but zero")],
    keeps: &[],
    range: "from 0 to the divisor where its sign is known, else Real",
    image: Image::Range(|x, dtype| {
        // A fraction's remainder may round to the divisor; an integer's is below it.
        let beyond = if dtype.is_int() { 1.0 } else { 0.0 };
        let y = x[1];
        if 0.0 <= y.lo {
            Interval::closed(0.0, y.hi - beyond)
        } else if y.hi <= 0.0 {
            Interval::closed(y.lo + beyond, 0.0)
        } else {
            Interval::REAL
        }
    }),
    eval: Eval::Number2(float_mod, int_mod),
};

/// `(neg x)`
pub(super) static NEG: Scalar = Scalar {
    name: "neg",
    signature: "(neg x)",
    summary: "`x` with the other sign; the smallest integer stays",
    example: "(neg (iota [3])) ; => [0 -1 -2]",
    takes: Kind::Number,
    tolerance: Tolerance::Exact,
    instead_of_mask: InsteadOfMask::Not,
    valid: &[Valid::Everywhere],
    keeps: &[Keep::Logit],
    range: "the ends, negated; Logit of a Logit",
    image: Image::Wrapping(|x, _| x[0].negated()),
    eval: Eval::Number1(|x| -x, i64::wrapping_neg),
};

/// `(abs x)`
pub(super) static ABS: Scalar = Scalar {
    name: "abs",
    signature: "(abs x)",
    summary: "the magnitude of `x`; the smallest integer stays",
    example: "(abs (- (iota [3]) 1)) ; => [1 0 1]",
    takes: Kind::Number,
    tolerance: Tolerance::Exact,
    instead_of_mask: InsteadOfMask::Binary,
    valid: &[Valid::Everywhere],
    keeps: &[Keep::Binary],
    range: "the magnitudes; Binary of a Binary",
    image: Image::Wrapping(|x, _| x[0].magnitude()),
    eval: Eval::Number1(f64::abs, i64::wrapping_abs),
};

fn float_mod(x: f64, y: f64) -> f64 {
    let rest = x % y;
    if rest == 0.0 {
        return 0f64.copysign(y);
    }
    // An infinite divisor of the other sign takes the remainder all the way to itself.
    if (rest < 0.0) != (y < 0.0) { rest + y } else { rest }
}

fn int_mod(x: i64, y: i64) -> i64 {
    if y == 0 {
        return 0;
    }
    let rest = x.wrapping_rem(y);
    if rest != 0 && (rest < 0) != (y < 0) { rest + y } else { rest }
}
