//! The error function.

use super::exp::exp_inside;
use super::lane::{BitLane, Lane};
use super::table::{ERF_FAR, ERF_NEAR};
use super::{magnitude, poly, with_sign_of};

/// The error function: a polynomial up to 0.95, above it `1 - exp(p)` with a polynomial `p`.
#[inline(always)]
pub fn erf<L: Lane>(x: L) -> L {
    let of = L::Bits::of;
    let a = magnitude(x);
    // As a larger number, of which no share is subnormal.
    let large = (x * L::of(16_777_216.0)).opaque();
    let near = (large + large * poly(x * x, &ERF_NEAR)) * L::of(1.0 / 16_777_216.0);
    // From 3.92 on the result rounds to 1, and so it does at 4.
    let clamped = L::Bits::select(of(0x4080_0000).less(a), of(0x4080_0000), a).float();
    let far = with_sign_of(L::of(1.0) - exp_inside(poly(clamped, &ERF_FAR)), x);
    let y = L::select(a.less(of(0x3f73_3333)), near, far);
    L::select(x.is_nan(), x, y)
}
