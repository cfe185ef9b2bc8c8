//! `log` and `log1p`.

use super::lane::{BitLane, Lane};
use super::table::{LN2, LOG};
use super::{INF, NAN, magnitude, poly};

/// The bits of `sqrt(1/2)`: a significand between it and twice it keeps `log` near 0.
pub(super) const SQRT_HALF: u32 = 0x3f35_04f3;

/// `x = 2^k m` with `m` in `[sqrt(1/2), sqrt(2))`: `k` and `m`. For a positive normal `x`.
#[inline(always)]
pub(super) fn significand<L: Lane>(x: L) -> (L::Bits, L) {
    let bits = x.bits();
    let k = (bits - L::Bits::of(SQRT_HALF)).sar(23);
    (k, (bits - k.shl(23)).float())
}

/// `x`, or `2^23 x` where it is subnormal, and the exponent to take off again.
#[inline(always)]
pub(super) fn normal<L: Lane>(x: L) -> (L, L) {
    let small = x.bits().below(L::Bits::of(0x0080_0000));
    (L::select(small, x * L::of(8_388_608.0), x), L::select(small, L::of(23.0), L::of(0.0)))
}

/// `e ln(2) + log(1 + f) + c`, with `1 + f` in `[sqrt(1/2), sqrt(2))` and a small `c`.
#[inline(always)]
fn assemble<L: Lane>(e: L, f: L, c: L) -> L {
    // log(1+f) = 2 atanh(s) = f - f^2/2 + s (f^2/2 + (2 atanh(s) - 2s) / s), where s = f / (2 + f)
    let s = f / (f + L::of(2.0));
    let z = s * s;
    let half = f * f * L::of(0.5);
    let tail = s * (half + z * poly(z, &LOG)) + (e * L::of(LN2[1]) + c);
    e * L::of(LN2[0]) + (f - (half - tail))
}

/// What a logarithm of `u` is where it is no ordinary number: `y` for positive finite `u`.
#[inline(always)]
fn specials<L: Lane>(u: L, y: L) -> L {
    let bits = u.bits();
    let magnitude = magnitude(u);
    let y = L::select(magnitude.less(L::Bits::of(INF)), y, u);
    let y = L::select(bits.less(L::Bits::of(0)), L::Bits::of(NAN).float(), y);
    L::select(magnitude.eq(L::Bits::of(0)), L::Bits::of(INF | 0x8000_0000).float(), y)
}

/// The natural logarithm.
#[inline(always)]
pub fn log<L: Lane>(x: L) -> L {
    let (scaled, adjust) = normal(x);
    let (k, m) = significand(scaled);
    specials(x, assemble(k.signed_to_float() - adjust, m - L::of(1.0), L::of(0.0)))
}

/// `log(1 + x)`, accurate near 0.
#[inline(always)]
pub fn log1p<L: Lane>(x: L) -> L {
    let u = (x + L::of(1.0)).opaque();
    let (k, m) = significand(u);
    // What the addition lost, exactly.
    let grown = (u - L::of(1.0)).opaque();
    let lost = (x - grown) + (L::of(1.0) - (u - grown).opaque());
    let near = k.eq(L::Bits::of(0));
    let f = L::select(near, x, m - L::of(1.0));
    let c = L::select(near, L::of(0.0), lost / u);
    let y = specials(u, assemble(k.signed_to_float(), f, c));
    let tiny = magnitude(x).less(L::Bits::of(0x3300_0000));
    L::select(tiny, x, y)
}
