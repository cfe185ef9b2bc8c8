//! `sin`, `cos`, `asin`, `acos`, `atan2`.

use super::lane::{BitLane, Lane};
use super::table::{ASIN, ATAN, COS, PI, SIN, TWO_OVER_PI};
use super::{INF, NAN, magnitude, poly, with_sign_of};
use std::f32::consts::{FRAC_PI_2, FRAC_PI_4};

/// The 96 bits of `2 / pi` that matter for a significand with this biased exponent, high word first.
///
/// Bits further up make whole turns; those further down are below 2^-70 of a quarter turn.
#[inline(always)]
fn window<B: BitLane>(exponent: B) -> [B; 3] {
    // The table starts with 32 zeros; the smallest exponent that gets here, -1, needs 25 of them.
    let start = exponent - B::of(120);
    let set = |n: u32| B::of(0).below(start & B::of(1 << n));
    // Constants one by one: an array would be memory, and its loads would keep loops from vectorising.
    let [w0, w1, w2, w3] = const { [TWO_OVER_PI[0], TWO_OVER_PI[1], TWO_OVER_PI[2], TWO_OVER_PI[3]] };
    let [w4, w5, w6, w7] = const { [TWO_OVER_PI[4], TWO_OVER_PI[5], TWO_OVER_PI[6], TWO_OVER_PI[7]] };
    let (by_4, by_2, by_1) = (set(7), set(6), set(5));
    // Skip 4 words or none, then 2, then 1. Nothing follows a skip of 4.
    let a0 = B::select(by_2, B::of(w2), B::select(by_4, B::of(w4), B::of(w0)));
    let a1 = B::select(by_2, B::of(w3), B::select(by_4, B::of(w5), B::of(w1)));
    let a2 = B::select(by_2, B::of(w4), B::select(by_4, B::of(w6), B::of(w2)));
    let a3 = B::select(by_2, B::of(w5), B::select(by_4, B::of(w7), B::of(w3)));
    let a4 = B::select(by_2, B::of(w6), B::of(w4));
    let b0 = B::select(by_1, a1, a0);
    let b1 = B::select(by_1, a2, a1);
    let b2 = B::select(by_1, a3, a2);
    let b3 = B::select(by_1, a4, a3);
    let shift = start & B::of(31);
    let back = B::of(31) - shift;
    // The bits from below come in two steps, because shifting by 32 is not defined.
    let joined = |up: B, down: B| up.shl_lane(shift) | down.shr(1).shr_lane(back);
    [joined(b0, b1), joined(b1, b2), joined(b2, b3)]
}

/// `|x| = q pi/2 + r` with `|r| <= pi/4`: `q` modulo 4, and `r`. Integers all the way, so it holds for every finite `x`.
#[inline(always)]
fn reduce<L: Lane>(x: L) -> (L::Bits, L) {
    let of = L::Bits::of;
    let a = magnitude(x);
    let m = (a & of(0x007f_ffff)) | of(0x0080_0000);
    let [high, middle, low] = window(a.shr(23));
    // The product modulo 4, as a fixed-point number with 2 bits before the point and 62 behind.
    let carried = m.mul_high(low);
    let lower = m * middle + carried;
    let carry = L::Bits::select(lower.below(carried), of(1), of(0));
    let upper = m * high + m.mul_high(middle) + carry;
    // To the nearest integer. The rest has a sign; without it (and without a last bit that is worth 2^-62) its
    // pieces do not cancel, however small it is.
    let q = (upper + of(0x2000_0000)).shr(30);
    let rest = upper - q.shl(30);
    let sign = rest.sar(31);
    let (rest, lower) = (rest ^ sign, lower ^ sign);
    // Three pieces that are exact as floats; the first is 0 where the others matter.
    let first = rest.shr(8).signed_to_float() * L::of(1.0 / 4_194_304.0);
    let second = (rest.shl(16) & of(0x00ff_0000)) | lower.shr(16);
    let second = second.signed_to_float() * L::of(1.0 / 70_368_744_177_664.0);
    let third = (lower & of(0xffff)).signed_to_float() * L::of(1.0 / 4_611_686_018_427_387_904.0);
    let r = (first + (second + third)) * L::of(FRAC_PI_2);
    let r = (r.bits() | (sign & of(0x8000_0000))).float();
    // Below pi/4 there is nothing to reduce.
    let small = a.less(of(FRAC_PI_4.to_bits()));
    (L::Bits::select(small, of(0), q), L::select(small, a.float(), r))
}

/// The sine of `|x| + turn pi/2`, negated where `flip` has its highest bit.
#[inline(always)]
fn wave<L: Lane>(x: L, turn: u32, flip: L::Bits) -> L {
    let of = L::Bits::of;
    let (q, r) = reduce(x);
    let q = q + of(turn);
    let z = r * r;
    let sine = r + r * (z * poly(z, &SIN));
    let cosine = (L::of(1.0) - z * L::of(0.5)) + (z * z) * poly(z, &COS);
    let y = L::select((q & of(1)).eq(of(0)), sine, cosine);
    let y = (y.bits() ^ (q & of(2)).shl(30) ^ flip).float();
    L::select(magnitude(x).less(of(INF)), y, of(NAN).float())
}

/// The sine, of however large an angle.
#[inline(always)]
pub fn sin<L: Lane>(x: L) -> L {
    wave(x, 0, x.bits() & L::Bits::of(0x8000_0000))
}

/// The cosine, of however large an angle.
#[inline(always)]
pub fn cos<L: Lane>(x: L) -> L {
    wave(x, 1, L::Bits::of(0))
}

/// For `|x| <= 1`: whether `|x| > 1/2`, and `asin(|x|)`, or where so `asin(sqrt((1 - |x|) / 2))`.
#[inline(always)]
fn asin_part<L: Lane>(x: L) -> (L::Mask, L) {
    let a = x.abs();
    let wide = L::of(0.5).lt(a);
    let half = (L::of(1.0) - a) * L::of(0.5);
    let z = L::select(wide, half, a * a);
    let base = L::select(wide, half.sqrt(), a);
    (wide, base + base * (z * poly(z, &ASIN)))
}

/// NaN outside [-1, 1], else `y`.
#[inline(always)]
fn inside_one<L: Lane>(x: L, y: L) -> L {
    L::select(L::Bits::of(0x3f80_0000).less(magnitude(x)), L::Bits::of(NAN).float(), y)
}

/// The angle in [-pi/2, pi/2] whose sine is `x`.
#[inline(always)]
pub fn asin<L: Lane>(x: L) -> L {
    let (wide, part) = asin_part(x);
    let y = L::select(wide, L::of(FRAC_PI_2) - (part + part), part);
    inside_one(x, with_sign_of(y, x))
}

/// The angle in [0, pi] whose cosine is `x`.
#[inline(always)]
pub fn acos<L: Lane>(x: L) -> L {
    let (wide, part) = asin_part(x);
    let negative = x.bits().less(L::Bits::of(0));
    let twice = part + part;
    let far = L::select(negative, L::of(PI[0]) - (twice - L::of(PI[1])), twice);
    let signed = with_sign_of(part, x);
    let near = L::of(FRAC_PI_2) - (signed - L::of(0.5 * PI[1]));
    inside_one(x, L::select(wide, far, near))
}

/// The angle of the point `(x, y)`, in [-pi, pi].
#[inline(always)]
pub fn atan2<L: Lane>(y: L, x: L) -> L {
    let of = L::Bits::of;
    let (ax, ay) = (magnitude(x), magnitude(y));
    let steep = ax.less(ay);
    let (large, small) = (L::Bits::select(steep, ay, ax), L::Bits::select(steep, ax, ay));
    // Two infinities are like two ones; beside one infinity everything else is 0.
    let infinite = large.eq(of(INF));
    let one = L::of(1.0);
    let num = L::select(infinite, L::select(small.eq(of(INF)), one, L::of(0.0)), small.float());
    let den = L::select(infinite | large.eq(of(0)), one, large.float());
    // Sums of very large numbers would overflow, and differences of very small ones be subnormal. It stays true if
    // nobody sees that the scale could be taken out of them.
    let scale = L::select(den.bits().less(of(0x2000_0000)), L::of(18_446_744_073_709_551_616.0), one);
    let scale = L::select(of(0x7e80_0000).less(den.bits()), L::of(0.25), scale);
    let (num, den) = ((num * scale).opaque(), (den * scale).opaque());
    // atan(q) = pi/4 + atan((q - 1) / (q + 1)) above tan(pi/8)
    let upper = (den * L::of(0.414_213_57)).lt(num);
    let t = L::select(upper, num - den, num) / L::select(upper, num + den, den);
    let z = t * t;
    let part = t + t * (z * poly(z, &ATAN));
    let angle = L::select(upper, L::of(FRAC_PI_4) + part, part);
    // Counted from the nearest axis: to or fro, from 0, pi or pi/2, of which the float lacks a share.
    let left = x.bits() & of(0x8000_0000);
    let fro = left ^ L::Bits::select(steep, of(0x8000_0000), of(0));
    let axis = L::Bits::select(left.eq(of(0)), of(0), of(PI[0].to_bits()));
    let axis = L::Bits::select(steep, of(FRAC_PI_2.to_bits()), axis).float();
    let angle = axis + (axis * L::of(PI[1] / PI[0]) + (angle.bits() ^ fro).float());
    L::select(x.is_nan() | y.is_nan(), of(NAN).float(), with_sign_of(angle, y))
}
