//! Functions with one right answer, bit for bit on every target: extremes, remainders, divisions, conversions.

use super::NAN;
use super::lane::{BitLane, Lane};

/// The larger; NaN if either is NaN; +0 of two zeros of which one is +0.
#[inline(always)]
pub fn maximum<L: Lane>(a: L, b: L) -> L {
    // Equal floats have equal bits, zeros aside.
    let equal = (a.bits() & b.bits()).float();
    let y = L::select(a.lt(b), b, L::select(b.lt(a), a, equal));
    L::select(a.is_nan() | b.is_nan(), L::Bits::of(NAN).float(), y)
}

/// The smaller; NaN if either is NaN; -0 of two zeros of which one is -0.
#[inline(always)]
pub fn minimum<L: Lane>(a: L, b: L) -> L {
    let equal = (a.bits() | b.bits()).float();
    let y = L::select(a.lt(b), a, L::select(b.lt(a), b, equal));
    L::select(a.is_nan() | b.is_nan(), L::Bits::of(NAN).float(), y)
}

/// The nearest bf16, ties to even, as an f32. A NaN stays a NaN with its sign.
#[inline(always)]
pub fn round_bf16<L: Lane>(x: L) -> L {
    let of = L::Bits::of;
    let bits = x.bits();
    let rounded = bits + of(0x7fff) + (bits.shr(16) & of(1));
    (L::Bits::select(x.is_nan(), bits | of(0x0040_0000), rounded) & of(0xffff_0000)).float()
}

/// The remainder of a division rounded down: it has the divisor's sign.
///
/// It is exact however far apart the two are, but for one rounding where the divisor has to be added to it.
/// NaN for an infinite dividend or a divisor of 0; a zero takes the divisor's sign.
pub fn modulo(a: f32, b: f32) -> f32 {
    let rest = a % b;
    if rest == 0.0 {
        0.0_f32.copysign(b)
    } else if (rest < 0.0) != (b < 0.0) {
        rest + b
    } else {
        rest
    }
}

/// Towards zero, saturating; NaN is 0.
#[inline(always)]
pub fn f32_to_i32(x: f32) -> i32 {
    x as i32
}

/// Towards zero, saturating; NaN is 0.
#[inline(always)]
pub fn f32_to_i64(x: f32) -> i64 {
    x as i64
}

macro_rules! integers {
    ($div:ident $modulo:ident $int:ty) => {
        /// Rounds towards zero; 0 where `b` is 0; the smallest integer over -1 wraps to itself.
        #[inline(always)]
        pub fn $div(a: $int, b: $int) -> $int {
            if b == 0 { 0 } else { a.wrapping_div(b) }
        }

        /// The remainder of a division rounded down: it has the divisor's sign. 0 where `b` is 0.
        #[inline(always)]
        pub fn $modulo(a: $int, b: $int) -> $int {
            if b == 0 {
                return 0;
            }
            let rest = a.wrapping_rem(b);
            if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest }
        }
    };
}

integers!(div_i32 mod_i32 i32);
integers!(div_i64 mod_i64 i64);

/// `a * b + c`, rounded once, on machines that round the product as well.
///
/// The product is exact in f64. The sum is rounded to odd there (towards zero, and the last bit is set where anything
/// was lost), so that rounding it again, to f32, gives what one rounding would:
/// Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", IEEE Transactions on Computers 57 (2008).
#[inline(always)]
pub fn mul_add(a: f32, b: f32, c: f32) -> f32 {
    let (product, c) = (f64::from(a) * f64::from(b), f64::from(c));
    let sum = product + c;
    // What the sum lost, exactly: Knuth's two-sum. NaN where the sum is not finite, and then nothing is changed.
    let part = sum - product;
    let lost = (product - (sum - part)) + (c - part);
    let inexact = u64::from(0.0 < lost.abs());
    // Towards zero where the sum was rounded away from it; then the last bit says that something was lost.
    let outward = (sum.to_bits() ^ lost.to_bits()) >> 63;
    f64::from_bits((sum.to_bits() - (inexact & outward)) | inexact) as f32
}
