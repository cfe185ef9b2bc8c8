//! What the functions are written over: one f32 on the CPU, or a symbol while a target records them.

use super::exact;
use std::num::Wrapping;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Sub};

/// A binary32 value. `+ - * /` and [`Lane::sqrt`] round to nearest, and nothing is contracted but what
/// [`Lane::mul_add`] asks for.
pub trait Lane:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
    /// Its bits as an integer.
    type Bits: BitLane<Float = Self, Mask = Self::Mask>;
    /// What a comparison yields.
    type Mask: Copy + BitAnd<Output = Self::Mask> + BitOr<Output = Self::Mask> + Not<Output = Self::Mask>;

    /// A finite constant.
    fn of(value: f32) -> Self;
    /// The bits.
    fn bits(self) -> Self::Bits;
    /// `self * by + plus`. The CPU rounds once, on every machine; a shader may round the product as well, so a
    /// function has to keep its bound either way.
    fn mul_add(self, by: Self, plus: Self) -> Self;
    /// Without its sign.
    fn abs(self) -> Self;
    /// The square root.
    fn sqrt(self) -> Self;
    /// Whether it is NaN. Shader compilers assume that no float is: they ask the bits.
    fn is_nan(self) -> Self::Mask;
    /// Itself; a target whose compiler reorders floating-point code hides the value from it here.
    fn opaque(self) -> Self;
    /// `self < other`; unspecified where either is NaN.
    fn lt(self, other: Self) -> Self::Mask;
    /// `self == other`; unspecified for NaN.
    fn eq(self, other: Self) -> Self::Mask;
    /// `yes` where `mask` holds, else `no`; neither is changed in any bit.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
}

/// 32 bits: an unsigned integer that wraps, or two's complement where a method says so.
pub trait BitLane:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
{
    /// The float of the same width.
    type Float: Lane<Bits = Self, Mask = Self::Mask>;
    /// What a comparison yields.
    type Mask: Copy;

    /// A constant.
    fn of(value: u32) -> Self;
    /// The float with these bits.
    fn float(self) -> Self::Float;
    /// The float nearest to the two's complement integer.
    fn signed_to_float(self) -> Self::Float;
    /// Shifted left by a constant less than 32.
    fn shl(self, by: u32) -> Self;
    /// Shifted right, zeros coming in, by a constant less than 32.
    fn shr(self, by: u32) -> Self;
    /// Shifted right as two's complement, by a constant less than 32.
    fn sar(self, by: u32) -> Self;
    /// Shifted left by a lane less than 32.
    fn shl_lane(self, by: Self) -> Self;
    /// Shifted right, zeros coming in, by a lane less than 32.
    fn shr_lane(self, by: Self) -> Self;
    /// The upper half of the 64-bit product.
    fn mul_high(self, other: Self) -> Self;
    /// Equal.
    fn eq(self, other: Self) -> Self::Mask;
    /// Less, as unsigned integers.
    fn below(self, other: Self) -> Self::Mask;
    /// Less, as two's complement.
    fn less(self, other: Self) -> Self::Mask;
    /// `yes` where `mask` holds, else `no`.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
}

/// Whether every machine that this is compiled for fuses multiplications and additions. Where only some do, code that
/// is compiled for those computes with [`super::fused::Fused`].
const HAS_FMA: bool = cfg!(any(target_feature = "fma", target_arch = "aarch64", target_arch = "riscv64"));

impl Lane for f32 {
    type Bits = Wrapping<u32>;
    type Mask = bool;

    #[inline(always)]
    fn of(value: f32) -> f32 {
        value
    }
    #[inline(always)]
    fn bits(self) -> Wrapping<u32> {
        Wrapping(self.to_bits())
    }
    #[inline(always)]
    fn mul_add(self, by: f32, plus: f32) -> f32 {
        if HAS_FMA { f32::mul_add(self, by, plus) } else { exact::mul_add(self, by, plus) }
    }
    #[inline(always)]
    fn abs(self) -> f32 {
        f32::abs(self)
    }
    #[inline(always)]
    fn sqrt(self) -> f32 {
        f32::sqrt(self)
    }
    #[inline(always)]
    fn is_nan(self) -> bool {
        f32::is_nan(self)
    }
    #[inline(always)]
    fn opaque(self) -> f32 {
        self
    }
    #[inline(always)]
    fn lt(self, other: f32) -> bool {
        self < other
    }
    #[inline(always)]
    fn eq(self, other: f32) -> bool {
        self == other
    }
    #[inline(always)]
    fn select(mask: bool, yes: f32, no: f32) -> f32 {
        if mask { yes } else { no }
    }
}

impl BitLane for Wrapping<u32> {
    type Float = f32;
    type Mask = bool;

    #[inline(always)]
    fn of(value: u32) -> Self {
        Wrapping(value)
    }
    #[inline(always)]
    fn float(self) -> f32 {
        f32::from_bits(self.0)
    }
    #[inline(always)]
    fn signed_to_float(self) -> f32 {
        self.0 as i32 as f32
    }
    #[inline(always)]
    fn shl(self, by: u32) -> Self {
        Wrapping(self.0 << by)
    }
    #[inline(always)]
    fn shr(self, by: u32) -> Self {
        Wrapping(self.0 >> by)
    }
    #[inline(always)]
    fn sar(self, by: u32) -> Self {
        Wrapping(((self.0 as i32) >> by) as u32)
    }
    #[inline(always)]
    fn shl_lane(self, by: Self) -> Self {
        Wrapping(self.0 << (by.0 & 31))
    }
    #[inline(always)]
    fn shr_lane(self, by: Self) -> Self {
        Wrapping(self.0 >> (by.0 & 31))
    }
    #[inline(always)]
    fn mul_high(self, other: Self) -> Self {
        Wrapping(((u64::from(self.0) * u64::from(other.0)) >> 32) as u32)
    }
    #[inline(always)]
    fn eq(self, other: Self) -> bool {
        self.0 == other.0
    }
    #[inline(always)]
    fn below(self, other: Self) -> bool {
        self.0 < other.0
    }
    #[inline(always)]
    fn less(self, other: Self) -> bool {
        (self.0 as i32) < (other.0 as i32)
    }
    #[inline(always)]
    fn select(mask: bool, yes: Self, no: Self) -> Self {
        if mask { yes } else { no }
    }
}
