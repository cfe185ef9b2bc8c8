//! The lane of code that is compiled for machines with a fused multiply-add while the rest of the program is not.
//!
//! A loop that asks for the instruction, by `#[target_feature(enable = "fma")]`, computes with [`Fused`]; elsewhere f32
//! emulates it. Both give the same bits.

use super::lane::{BitLane, Lane};
use std::num::Wrapping;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Sub};

/// An f32, or its bits, whose multiply-add is the machine's.
#[derive(Clone, Copy, Debug)]
pub struct Fused<T>(pub T);

macro_rules! operators {
    ($($operator:ident $method:ident),*) => {$(
        impl<T: $operator<Output = T>> $operator for Fused<T> {
            type Output = Fused<T>;
            #[inline(always)]
            fn $method(self, other: Fused<T>) -> Fused<T> {
                Fused(self.0.$method(other.0))
            }
        }
    )*};
}
operators!(Add add, Sub sub, Mul mul, Div div, BitAnd bitand, BitOr bitor, BitXor bitxor);

impl Neg for Fused<f32> {
    type Output = Fused<f32>;
    #[inline(always)]
    fn neg(self) -> Fused<f32> {
        Fused(-self.0)
    }
}

impl Lane for Fused<f32> {
    type Bits = Fused<Wrapping<u32>>;
    type Mask = bool;

    #[inline(always)]
    fn of(value: f32) -> Self {
        Fused(value)
    }
    #[inline(always)]
    fn bits(self) -> Self::Bits {
        Fused(self.0.bits())
    }
    #[inline(always)]
    fn mul_add(self, by: Self, plus: Self) -> Self {
        Fused(f32::mul_add(self.0, by.0, plus.0))
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Fused(Lane::abs(self.0))
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Fused(Lane::sqrt(self.0))
    }
    #[inline(always)]
    fn opaque(self) -> Self {
        Fused(Lane::opaque(self.0))
    }
    #[inline(always)]
    fn is_nan(self) -> bool {
        self.0.is_nan()
    }
    #[inline(always)]
    fn lt(self, other: Self) -> bool {
        Lane::lt(self.0, other.0)
    }
    #[inline(always)]
    fn eq(self, other: Self) -> bool {
        Lane::eq(self.0, other.0)
    }
    #[inline(always)]
    fn select(mask: bool, yes: Self, no: Self) -> Self {
        Fused(Lane::select(mask, yes.0, no.0))
    }
}

impl BitLane for Fused<Wrapping<u32>> {
    type Float = Fused<f32>;
    type Mask = bool;

    #[inline(always)]
    fn of(value: u32) -> Self {
        Fused(Wrapping(value))
    }
    #[inline(always)]
    fn float(self) -> Fused<f32> {
        Fused(self.0.float())
    }
    #[inline(always)]
    fn signed_to_float(self) -> Fused<f32> {
        Fused(self.0.signed_to_float())
    }
    #[inline(always)]
    fn shl(self, by: u32) -> Self {
        Fused(BitLane::shl(self.0, by))
    }
    #[inline(always)]
    fn shr(self, by: u32) -> Self {
        Fused(BitLane::shr(self.0, by))
    }
    #[inline(always)]
    fn sar(self, by: u32) -> Self {
        Fused(BitLane::sar(self.0, by))
    }
    #[inline(always)]
    fn shl_lane(self, by: Self) -> Self {
        Fused(self.0.shl_lane(by.0))
    }
    #[inline(always)]
    fn shr_lane(self, by: Self) -> Self {
        Fused(self.0.shr_lane(by.0))
    }
    #[inline(always)]
    fn mul_high(self, other: Self) -> Self {
        Fused(self.0.mul_high(other.0))
    }
    #[inline(always)]
    fn eq(self, other: Self) -> bool {
        BitLane::eq(self.0, other.0)
    }
    #[inline(always)]
    fn below(self, other: Self) -> bool {
        self.0.below(other.0)
    }
    #[inline(always)]
    fn less(self, other: Self) -> bool {
        self.0.less(other.0)
    }
    #[inline(always)]
    fn select(mask: bool, yes: Self, no: Self) -> Self {
        Fused(BitLane::select(mask, yes.0, no.0))
    }
}
