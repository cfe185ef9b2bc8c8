//! `exp`, `expm1`, `tanh`, and the reduction they share.

use super::lane::{BitLane, Lane};
use super::table::{EXP, LN2};
use super::{INF, horner, magnitude, poly, with_sign_of};

/// Adding it to a value below 2^22 rounds the value to an integer, which then stands in the low bits.
pub(super) const ROUNDER: f32 = 12_582_912.0;

/// `exp` of anything above is infinite.
const LAST_FINITE: f32 = 88.722_83;

/// `x = n ln(2) + r` with `|r| <= ln(2) / 2`: `n << 23`, an exponent ready to add, and `r`.
#[inline(always)]
fn reduce<L: Lane>(x: L) -> (L::Bits, L) {
    let shifted = (x * L::of(std::f32::consts::LOG2_E) + L::of(ROUNDER)).opaque();
    let n = shifted - L::of(ROUNDER);
    let r = (x - n * L::of(LN2[0])).opaque() - n * L::of(LN2[1]);
    (shifted.bits().shl(23), r)
}

/// `exp(r) - 1` for `|r| <= ln(2) / 2`.
#[inline(always)]
pub(super) fn expm1_reduced<L: Lane>(r: L) -> L {
    r + (r * r) * poly(r, &EXP)
}

/// `exp(x)` for `-87.3 < x < 88.7`, with no care for anything else.
#[inline(always)]
pub(super) fn exp_inside<L: Lane>(x: L) -> L {
    let (exponent, r) = reduce(x);
    ((L::of(1.0) + expm1_reduced(r)).bits() + exponent).float()
}

/// What [`exp_scaled`] is multiplied by to be the exponential.
pub(super) const UNSCALE: f32 = 1.0 / 18_446_744_073_709_551_616.0;

/// `factor exp(x + low)` times 2^64 for `-131 < x <= 0` and a `low` that is small beside `x`: the exponential is not
/// subnormal then, and a factor may still bring it back among the normal numbers.
#[inline(always)]
pub(super) fn exp_scaled<L: Lane>(factor: L, x: L, low: L) -> L {
    let shifted = (x + low).mul_add(L::of(std::f32::consts::LOG2_E), L::of(ROUNDER)).opaque();
    let n = shifted - L::of(ROUNDER);
    let high = n.mul_add(L::of(-LN2[0]), x).opaque();
    let r = high + n.mul_add(L::of(-LN2[1]), low);
    let less_one = (r * r).mul_add(horner(r, &EXP), r);
    let scale = (shifted.bits().shl(23) + L::Bits::of((64 + 127) << 23)).float();
    less_one.mul_add(factor, factor).opaque() * scale
}

/// e to the power of `x`. Below the smallest normal number the result is 0.
#[inline(always)]
pub fn exp<L: Lane>(x: L) -> L {
    let over = L::of(LAST_FINITE).lt(x);
    let under = x.lt(L::of(-87.336_54));
    let y = L::select(over, L::Bits::of(INF).float(), exp_inside(x));
    let y = L::select(under, L::of(0.0), y);
    L::select(x.is_nan(), x, y)
}

/// `exp(x) - 1`, accurate near 0.
#[inline(always)]
pub fn expm1<L: Lane>(x: L) -> L {
    let (exponent, r) = reduce(x);
    // Half of it, so that 2^128 is never needed: 2^n (q + 1) - 1 = 2 (2^(n-1) q + (2^(n-1) - 1/2)).
    let scale = (exponent + L::Bits::of(126 << 23)).float();
    let half = scale * expm1_reduced(r) + (scale - L::of(0.5));
    let over = L::of(LAST_FINITE).lt(x);
    let under = x.lt(L::of(-17.4));
    let y = L::select(over, L::Bits::of(INF).float(), half + half);
    let y = L::select(under, L::of(-1.0), y);
    let tiny = magnitude(x).less(L::Bits::of(0x3300_0000));
    L::select(tiny | x.is_nan(), x, y)
}

/// The hyperbolic tangent: `t / (t + 2)` with `t = expm1(2 |x|)`.
#[inline(always)]
pub fn tanh<L: Lane>(x: L) -> L {
    // From 9.02 on the result rounds to 1, and so it does at 9.1.
    let a = x.abs();
    let a = L::select(a.lt(L::of(9.1)), a, L::of(9.1));
    let (exponent, r) = reduce(a + a);
    let scale = (exponent + L::Bits::of(127 << 23)).float();
    let t = scale * expm1_reduced(r) + (scale - L::of(1.0));
    let y = with_sign_of(t / (t + L::of(2.0)), x);
    L::select(x.is_nan(), x, y)
}
