//! The maths library: one algorithm for each function, the same on every target.
//!
//! A function is written once, over a [`Lane`]. On the CPU the lane is an `f32`; a target that takes
//! text runs the same code on symbols and spells what they record. Only binary32 and 32-bit integer
//! arithmetic is used and no table in memory, and no function branches, so loops over slices vectorise. The bounds
//! stand in the book's page on numerics; the tests hold them.
//!
//! Read in this order: [`lane`] and [`fused`], `exp`, `log`, `trig`, `pow`, `erf`, `logistic`, `normal`, then
//! [`exact`], whose functions have one right answer. `table.rs` is made by `fit.py`.

mod cbrt;
mod erf;
pub mod exact;
mod exp;
pub mod fused;
pub mod lane;
mod log;
mod logistic;
mod normal;
mod pow;
#[allow(clippy::excessive_precision, reason = "made by a script")]
mod table;
#[cfg(test)]
mod tests;
mod trig;

pub use self::cbrt::cbrt;
pub use self::erf::erf;
pub use self::exp::{exp, expm1, tanh};
pub use self::log::{log, log1p};
pub use self::logistic::{gelu_tanh, log_sigmoid, sigmoid, silu, softplus};
pub use self::normal::{erfc, gelu};
pub use self::pow::pow;
pub use self::trig::{acos, asin, atan2, cos, sin};

use lane::{BitLane, Lane};

/// The bits of infinity.
const INF: u32 = 0x7f80_0000;
/// The bits of the NaN that functions make.
const NAN: u32 = 0x7fc0_0000;

/// The bits without the sign. They order like the absolute values, infinity and NaN at the top.
#[inline(always)]
fn magnitude<L: Lane>(x: L) -> L::Bits {
    x.bits() & L::Bits::of(0x7fff_ffff)
}

/// `y`, which has no sign, with the sign of `x`.
#[inline(always)]
fn with_sign_of<L: Lane>(y: L, x: L) -> L {
    (y.bits() | (x.bits() & L::Bits::of(0x8000_0000))).float()
}

/// `c[0] + c[1] x + c[2] x^2 + …`
#[inline(always)]
fn poly<L: Lane, const N: usize>(x: L, c: &[f32; N]) -> L {
    let mut sum = L::of(c[N - 1]);
    for &c in c[..N - 1].iter().rev() {
        sum = sum * x + L::of(c);
    }
    sum
}

/// As [`poly`], each step fused.
#[inline(always)]
fn horner<L: Lane, const N: usize>(x: L, c: &[f32; N]) -> L {
    let mut sum = L::of(c[N - 1]);
    for &c in c[..N - 1].iter().rev() {
        sum = sum.mul_add(x, L::of(c));
    }
    sum
}

/// The upper 12 bits of the significand: products of two such values are exact.
#[inline(always)]
fn upper<L: Lane>(x: L) -> L {
    (x.bits() & L::Bits::of(0xffff_f000)).float()
}

/// `x` without its sign, and `most` where that is more, or where `x` is NaN.
#[inline(always)]
fn clamped<L: Lane>(x: L, most: f32) -> L {
    let (bits, most) = (magnitude(x), L::Bits::of(most.to_bits()));
    L::Bits::select(bits.less(most), bits, most).float()
}

/// Whether the sign of `x` is negative, that of -0 as well.
#[inline(always)]
fn is_negative<L: Lane>(x: L) -> L::Mask {
    x.bits().less(L::Bits::of(0))
}

/// `1 / sqrt(x)`.
#[inline(always)]
pub fn rsqrt<L: Lane>(x: L) -> L {
    L::of(1.0) / x.sqrt()
}
