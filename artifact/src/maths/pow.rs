//! `pow`: a logarithm and a product with 36 bits and more, in pairs of floats.

use super::exp::{ROUNDER, expm1_reduced};
use super::lane::{BitLane, Lane};
use super::log::{normal, significand};
use super::table::{LOG_POW, TWO_LOG2E};
use super::{INF, NAN, magnitude, poly, upper};

/// The binary logarithm of a positive finite `x` as a sum of two floats, the first with 12 bits.
#[inline(always)]
fn log2_pair<L: Lane>(x: L) -> (L, L) {
    let (scaled, adjust) = normal(x);
    let (k, m) = significand(scaled);
    let e = k.signed_to_float() - adjust;
    // log2(m) = 2/ln(2) (s + s^3 P(s^2) / 2) with s = f / (2 + f), of which `sh` has the upper half.
    let f = m - L::of(1.0);
    let base = (f + L::of(2.0)).opaque();
    let lost = f - (base - L::of(2.0)).opaque();
    let s = f / base;
    let sh = upper(s);
    let bh = upper(base);
    let bl = (base - bh) + lost;
    let sl = ((f - sh * bh).opaque() - sh * bl) / base;
    let z = s * s;
    let tail = s * z * poly(z, &LOG_POW) * L::of(std::f32::consts::LOG2_E);
    let main = sh * L::of(TWO_LOG2E[0]);
    let rest = (sh * L::of(TWO_LOG2E[1]) + sl * L::of(2.0 * std::f32::consts::LOG2_E)) + tail;
    // The sum of e and the rest without loss, then cut where the first part has 12 bits.
    let sum = (e + main).opaque();
    let rest = (main - (sum - e).opaque()) + rest;
    let high = upper((sum + rest).opaque());
    (high, ((sum - high).opaque()) + rest)
}

/// 2 to the power of `p + q`, flushed to 0 below the smallest normal number, infinity above the largest.
#[inline(always)]
fn exp2_pair<L: Lane>(p: L, q: L) -> L {
    let total = (p + q).opaque();
    let shifted = (total + L::of(ROUNDER)).opaque();
    let n = shifted - L::of(ROUNDER);
    let r = ((p - n).opaque() + q) * L::of(std::f32::consts::LN_2);
    let y = ((L::of(1.0) + expm1_reduced(r)).bits() + shifted.bits().shl(23)).float();
    let y = L::select(total.lt(L::of(128.0)), y, L::Bits::of(INF).float());
    L::select(total.lt(L::of(-126.0)), L::of(0.0), y)
}

/// `x` to the power of `y`, with C99's special cases.
#[inline(always)]
pub fn pow<L: Lane>(x: L, y: L) -> L {
    let of = L::Bits::of;
    let (ax, ay) = (magnitude(x), magnitude(y));
    // From 2^32 on every exponent gives 0, 1 or infinity: a smaller one does as well, and its halves are finite.
    let clamped = (L::Bits::select(of(0x4f80_0000).less(ay), of(0x4f80_0000), ay)
        | (y.bits() & of(0x8000_0000)))
    .float();
    let (high, low) = log2_pair(ax.float());
    let yh = upper(clamped);
    let p = yh * high;
    let q = (clamped - yh) * high + clamped * low;
    let result = exp2_pair(p, q);
    // Zero and infinity, whose logarithm is no number.
    let grows = y.bits().less(of(0));
    let zero = ax.eq(of(0));
    let infinite = of(INF - 1).less(ax);
    let to_zero = (zero & !grows) | (infinite & grows);
    let result = L::select(zero | infinite, L::select(to_zero, L::of(0.0), of(INF).float()), result);
    // The sign, for odd exponents; NaN for a fraction of a negative number.
    let shifted = (ay.float() + L::of(8_388_608.0)).opaque();
    let below_half_ulp = ay.less(of(0x4b00_0000));
    let whole = !below_half_ulp | (shifted - L::of(8_388_608.0)).eq(ay.float());
    let units = L::Bits::select(below_half_ulp, shifted.bits(), ay);
    let odd = whole & ay.less(of(0x4b80_0000)) & (units & of(1)).eq(of(1));
    let negative = x.bits().less(of(0));
    let result = L::select(negative & odd, -result, result);
    let undefined = negative & !whole & !zero & !infinite;
    let result = L::select(undefined | x.is_nan() | y.is_nan(), of(NAN).float(), result);
    L::select(ay.eq(of(0)) | x.bits().eq(of(0x3f80_0000)), L::of(1.0), result)
}
