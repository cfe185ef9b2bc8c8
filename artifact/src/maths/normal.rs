//! What lies beyond a point of the normal distribution: `erfc`, and `gelu`.
//!
//! Both are the exponential of a square, which is taken in two parts, over a function close to a straight line: to the
//! line is added a quotient of two polynomials of which all coefficients are positive, so nothing cancels.

use super::exp::{UNSCALE, exp_scaled};
use super::lane::Lane;
use super::table::{ERFC_OVER, ERFC_UNDER, NORMAL_OVER, NORMAL_UNDER};
use super::{clamped, horner, is_negative, upper};

/// `sqrt(pi)`
const SLOPE_ERFC: f32 = 1.772_453_9;
/// `sqrt(2 pi)`
const SLOPE_NORMAL: f32 = 2.506_628_3;

/// `factor exp(-share a^2)` times 2^64, for a `share` that is a power of two.
#[inline(always)]
fn exp_of_square<L: Lane>(factor: L, a: L, share: f32) -> L {
    let high = upper(a);
    exp_scaled(factor, high * high * L::of(-share), (a - high) * (a + high) * L::of(-share))
}

/// `first + (slope - less) a` for `less < slope`. The largest part of the product is exact, and what the first sum loses
/// is put back, so only the last one rounds.
#[inline(always)]
fn line<L: Lane>(a: L, slope: f32, first: f32, less: L) -> L {
    let steep = f32::from_bits(slope.to_bits() & 0xffff_f000);
    let high = upper(a);
    let main = high * L::of(steep);
    let rest = (a - high).mul_add(L::of(slope), high * L::of(slope - steep)) - a * less;
    let sum = (main + rest).opaque();
    let lost = rest - (sum - main).opaque();
    sum + (L::of(first) + lost).opaque()
}

/// `1 - erf(x)`, without the cancellation.
#[inline(always)]
pub fn erfc<L: Lane>(x: L) -> L {
    // From 10.5 on the result rounds to 0.
    let a = clamped(x, 10.5);
    let below = line(a, SLOPE_ERFC, 1.0, horner(a, &ERFC_OVER) / horner(a, &ERFC_UNDER));
    let beyond = (exp_of_square(L::of(1.0), a, 1.0) / below).opaque() * L::of(UNSCALE);
    let y = L::select(is_negative(x), L::of(2.0) - beyond, beyond);
    L::select(x.is_nan(), x, y)
}

/// `x` times the share of the normal distribution below `x`.
#[inline(always)]
pub fn gelu<L: Lane>(x: L) -> L {
    // From -16 on the result rounds to -0.
    let a = clamped(x, 16.0);
    let below = line(a, SLOPE_NORMAL, 2.0, horner(a, &NORMAL_OVER) / horner(a, &NORMAL_UNDER));
    let negative = is_negative(x);
    let factor = L::select(negative, -a, L::of(1.0));
    let beyond = (exp_of_square(factor, a, 0.5) / below).opaque() * L::of(UNSCALE);
    let y = L::select(negative, beyond, x * (L::of(1.0) - beyond));
    L::select(x.is_nan(), x, y)
}
