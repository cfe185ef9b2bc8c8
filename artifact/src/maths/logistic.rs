//! The logistic function, its logarithm, its integral, and numbers times it.

use super::exp::{UNSCALE, exp_scaled};
use super::lane::Lane;
use super::table::{GELU_CUBIC, GELU_LINEAR, LN2, LOG};
use super::{clamped, horner, is_negative, upper};

/// `exp(-a)` for `0 <= a < 131`.
#[inline(always)]
fn exp_of_negative<L: Lane>(a: L) -> L {
    exp_scaled(L::of(1.0), -a, L::of(0.0)) * L::of(UNSCALE)
}

/// `1 / (1 + exp(-x))`, by the exponential of `-|x|`.
#[inline(always)]
pub fn sigmoid<L: Lane>(x: L) -> L {
    // From -104 on the result rounds to 0.
    let e = exp_of_negative(clamped(x, 104.0));
    let y = L::select(is_negative(x), e, L::of(1.0)) / (e + L::of(1.0));
    L::select(x.is_nan(), x, y)
}

/// `log(1 + exp(x))`, which is `max(x, 0) + log(1 + exp(-|x|))`.
#[inline(always)]
pub fn softplus<L: Lane>(x: L) -> L {
    let e = exp_of_negative(clamped(x, 104.0));
    let near = log1p_unit(e);
    let y = L::select(is_negative(x), near, x + near);
    L::select(x.is_nan(), x, y)
}

/// `log(sigmoid(x))`.
#[inline(always)]
pub fn log_sigmoid<L: Lane>(x: L) -> L {
    -softplus(-x)
}

/// `log(1 + e)` for `0 <= e <= 1`: as [`super::log1p`], with an exponent of 0 or 1.
#[inline(always)]
fn log1p_unit<L: Lane>(e: L) -> L {
    let one = L::of(1.0);
    let far = L::of(std::f32::consts::SQRT_2 - 1.0).lt(e);
    let f = L::select(far, (e - one) * L::of(0.5), e);
    let s = f / (f + L::of(2.0));
    let z = s * s;
    let half = f * f * L::of(0.5);
    let low = L::select(far, L::of(LN2[1]), L::of(0.0));
    let tail = s.mul_add(z.mul_add(horner(z, &LOG), half), low);
    L::select(far, L::of(LN2[0]), L::of(0.0)) + (f - (half - tail))
}

/// `x sigmoid(x)`.
#[inline(always)]
pub fn silu<L: Lane>(x: L) -> L {
    // From -110 on the result rounds to -0.
    let a = clamped(x, 110.0);
    times_sigmoid(x, a, a, L::of(0.0))
}

/// `x sigmoid(z)` with `z = 2 sqrt(2/pi) (x + 0.044715 x^3)`, which is `x / 2` times one and a hyperbolic tangent.
///
/// The exponential takes `z` with 35 bits and more: `x` and `x^2` are cut where products of their upper parts are exact.
#[inline(always)]
pub fn gelu_tanh<L: Lane>(x: L) -> L {
    // From -11 on the result rounds to -0.
    let a = clamped(x, 11.0);
    let ah = upper(a);
    let square = ah * ah;
    let square_low = (a - ah) * (a + ah);
    // z / x = linear + cubic x^2
    let sh = upper(square);
    let rest = (square - sh) + square_low;
    let main = sh * L::of(GELU_CUBIC[0]);
    let rest =
        rest.mul_add(L::of(GELU_CUBIC[0]), (a * a).mul_add(L::of(GELU_CUBIC[1]), L::of(GELU_LINEAR[1])));
    let wh = upper((main + L::of(GELU_LINEAR[0])).opaque());
    let wl = ((L::of(GELU_LINEAR[0]) - wh).opaque() + main).opaque() + rest;
    let low = (a - ah).mul_add(wh, a * wl);
    times_sigmoid(x, a, ah * wh, low)
}

/// `x sigmoid(z)` where `z` has the sign of `x` and is `high + low` without it, and `a` is `|x|` or where the result is 0
/// the least such.
#[inline(always)]
fn times_sigmoid<L: Lane>(x: L, a: L, high: L, low: L) -> L {
    // One of the two is left: the exponential over what it and one are together, times `x`, or `x` over that.
    let negative = is_negative(x);
    let e = exp_scaled(L::of(1.0), -high, -low) * L::of(UNSCALE);
    let top = L::select(negative, exp_scaled(-a, -high, -low), x);
    let y = (top / (e + L::of(1.0))).opaque();
    let y = L::select(negative, y * L::of(UNSCALE), y);
    L::select(x.is_nan(), x, y)
}
