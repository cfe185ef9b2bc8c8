//! `(mod x y)`

use super::{Eval, Image, InsteadOfMask, Scalar, Tolerance, Valid};
use crate::ir::Interval;

pub(super) static RECORD: Scalar = Scalar {
    signature: "(mod x y)",
    summary: "what is left of `x` after taking away whole `y`s, with the sign of `y`; of integers 0 where `y` is 0",
    example: "(mod (- (iota [4]) 2) 3) ; => [1 2 0 1]",
    tolerance: Tolerance::Exact,
    rounds: true,
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
