//! The cube root.

use super::lane::{BitLane, Lane};
use super::{INF, magnitude, with_sign_of};

/// The cube root: a third of the bits is within 4 %, and each step of Halley's triples the number of right digits.
#[inline(always)]
pub fn cbrt<L: Lane>(x: L) -> L {
    let of = L::Bits::of;
    let bits = magnitude(x);
    let small = bits.less(of(0x0080_0000));
    let a = L::select(small, bits.float() * L::of(16_777_216.0), bits.float());
    // The exponent is biased by 127, and a third of that is missing.
    let first = (a.bits().mul_high(of(0x5555_5556)) + of(0x2a51_19f2)).float();
    let y = closer(closer(first, a), a);
    let y = L::select(small, y * L::of(1.0 / 256.0), y);
    // Zero, infinity and NaN are their own cube roots.
    let ordinary = !(bits.eq(of(0)) | !bits.less(of(INF)));
    L::select(ordinary, with_sign_of(y, x), x)
}

/// A cube root of `a` that is closer than `y`. Nothing overflows, as `y^3` might.
#[inline(always)]
fn closer<L: Lane>(y: L, a: L) -> L {
    let third = (a / (y * y)).opaque();
    y + y * ((third - y) / (y + y + third))
}
