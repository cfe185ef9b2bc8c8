//! What each scalar function computes on this target: one arm a function.
//!
//! `bool` lanes are bytes 0 and 1.

use super::lanes::{self, F1, F2, F3, LaneFn};
use sx_artifact::kernel::ScalarType;
use sx_artifact::maths::fused::Fused;
use sx_artifact::maths::{self, exact};
use sx_artifact::scalar::ScalarFn;

/// The loop of a function of one argument.
macro_rules! f1 {
    ($heavy:literal, |$x:ident: $a:ty| -> $r:ty { $e:expr }) => {{
        struct F;
        impl F1 for F {
            type A = $a;
            type R = $r;
            const HEAVY: bool = $heavy;
            #[inline(always)]
            fn at<const FMA: bool>($x: $a) -> $r {
                $e
            }
        }
        lanes::unary::<F>()
    }};
}

/// The loop of a function of the maths library that multiplies and adds in one.
macro_rules! fused {
    ($f:ident) => {{
        struct F;
        impl F1 for F {
            type A = f32;
            type R = f32;
            const HEAVY: bool = true;
            #[inline(always)]
            fn at<const FMA: bool>(x: f32) -> f32 {
                if FMA { maths::$f(Fused(x)).0 } else { maths::$f(x) }
            }
        }
        lanes::unary::<F>()
    }};
}

/// The loop of a function of two arguments of one type.
macro_rules! f2 {
    ($many:expr, $heavy:literal, |$x:ident, $y:ident: $a:ty| -> $r:ty { $e:expr }) => {{
        struct F;
        impl F2 for F {
            type A = $a;
            type R = $r;
            const HEAVY: bool = $heavy;
            #[inline(always)]
            fn at($x: $a, $y: $a) -> $r {
                $e
            }
        }
        lanes::binary::<F>($many)
    }};
}

/// The loop that chooses between two values of a type.
macro_rules! choose {
    ($many:expr, $a:ty) => {{
        struct F;
        impl F3 for F {
            type C = u8;
            type A = $a;
            type R = $a;
            #[inline(always)]
            fn at(c: u8, a: $a, b: $a) -> $a {
                if c != 0 { a } else { b }
            }
        }
        lanes::ternary::<F>($many)
    }};
}

/// The six comparisons of a type, or `None` for another function.
macro_rules! compare {
    ($f:expr, $many:expr, $a:ty) => {
        match $f {
            ScalarFn::Eq => Some(f2!($many, false, |x, y: $a| -> u8 { (x == y) as u8 })),
            ScalarFn::Ne => Some(f2!($many, false, |x, y: $a| -> u8 { (x != y) as u8 })),
            ScalarFn::Lt => Some(f2!($many, false, |x, y: $a| -> u8 { (x < y) as u8 })),
            ScalarFn::Le => Some(f2!($many, false, |x, y: $a| -> u8 { (x <= y) as u8 })),
            ScalarFn::Gt => Some(f2!($many, false, |x, y: $a| -> u8 { (x > y) as u8 })),
            ScalarFn::Ge => Some(f2!($many, false, |x, y: $a| -> u8 { (x >= y) as u8 })),
            _ => None,
        }
    };
}

/// The loop of `f` over arguments of type `reg` (of `where`: its choices), or `None` where it has no meaning.
/// `many` says which arguments vary over lanes.
pub(super) fn call(f: ScalarFn, reg: ScalarType, many: [bool; 3]) -> Option<LaneFn> {
    match reg {
        ScalarType::F32 => float(f, many),
        ScalarType::I32 => int32(f, many),
        ScalarType::I64 => int64(f, many),
        ScalarType::Bool => truth(f, many),
    }
}

/// Functions of `f32`.
fn float(f: ScalarFn, many: [bool; 3]) -> Option<LaneFn> {
    use ScalarFn::*;
    Some(match f {
        Add => f2!(many, false, |x, y: f32| -> f32 { x + y }),
        Sub => f2!(many, false, |x, y: f32| -> f32 { x - y }),
        Mul => f2!(many, false, |x, y: f32| -> f32 { x * y }),
        Div => f2!(many, false, |x, y: f32| -> f32 { x / y }),
        Mod => f2!(many, false, |x, y: f32| -> f32 { exact::modulo(x, y) }),
        Maximum => f2!(many, false, |x, y: f32| -> f32 { exact::maximum(x, y) }),
        Minimum => f2!(many, false, |x, y: f32| -> f32 { exact::minimum(x, y) }),
        Pow => f2!(many, true, |x, y: f32| -> f32 { maths::pow(x, y) }),
        Atan2 => f2!(many, true, |x, y: f32| -> f32 { maths::atan2(x, y) }),
        Eq | Ne | Lt | Le | Gt | Ge => return compare!(f, many, f32),
        And | Or | Not => return None,
        Where => choose!(many, f32),
        Neg => f1!(false, |x: f32| -> f32 { -x }),
        Abs => f1!(false, |x: f32| -> f32 { x.abs() }),
        Sqrt => f1!(false, |x: f32| -> f32 { x.sqrt() }),
        Rsqrt => f1!(true, |x: f32| -> f32 { maths::rsqrt(x) }),
        Exp => f1!(true, |x: f32| -> f32 { maths::exp(x) }),
        Log => f1!(true, |x: f32| -> f32 { maths::log(x) }),
        Expm1 => f1!(true, |x: f32| -> f32 { maths::expm1(x) }),
        Log1p => f1!(true, |x: f32| -> f32 { maths::log1p(x) }),
        Sin => f1!(true, |x: f32| -> f32 { maths::sin(x) }),
        Cos => f1!(true, |x: f32| -> f32 { maths::cos(x) }),
        Tanh => f1!(true, |x: f32| -> f32 { maths::tanh(x) }),
        Asin => f1!(true, |x: f32| -> f32 { maths::asin(x) }),
        Acos => f1!(true, |x: f32| -> f32 { maths::acos(x) }),
        Erf => f1!(true, |x: f32| -> f32 { maths::erf(x) }),
        Cbrt => f1!(true, |x: f32| -> f32 { maths::cbrt(x) }),
        Sigmoid => fused!(sigmoid),
        Softplus => fused!(softplus),
        LogSigmoid => fused!(log_sigmoid),
        Silu => fused!(silu),
        Gelu => fused!(gelu),
        GeluTanh => fused!(gelu_tanh),
        Erfc => fused!(erfc),
        Floor => f1!(false, |x: f32| -> f32 { x.floor() }),
        Ceil => f1!(false, |x: f32| -> f32 { x.ceil() }),
        Round => f1!(false, |x: f32| -> f32 { x.round_ties_even() }),
    })
}

/// Makes the functions of an integer type.
macro_rules! integers {
    ($name:ident, $t:ty, $div:ident, $modulo:ident, $pow:ident) => {
        /// Functions of an integer type; all wrap.
        fn $name(f: ScalarFn, many: [bool; 3]) -> Option<LaneFn> {
            use ScalarFn::*;
            Some(match f {
                Add => f2!(many, false, |x, y: $t| -> $t { x.wrapping_add(y) }),
                Sub => f2!(many, false, |x, y: $t| -> $t { x.wrapping_sub(y) }),
                Mul => f2!(many, false, |x, y: $t| -> $t { x.wrapping_mul(y) }),
                Div => f2!(many, false, |x, y: $t| -> $t { exact::$div(x, y) }),
                Mod => f2!(many, false, |x, y: $t| -> $t { exact::$modulo(x, y) }),
                Maximum => f2!(many, false, |x, y: $t| -> $t { x.max(y) }),
                Minimum => f2!(many, false, |x, y: $t| -> $t { x.min(y) }),
                Pow => f2!(many, false, |x, y: $t| -> $t { $pow(x, y) }),
                Eq | Ne | Lt | Le | Gt | Ge => return compare!(f, many, $t),
                Where => choose!(many, $t),
                Neg => f1!(false, |x: $t| -> $t { x.wrapping_neg() }),
                Abs => f1!(false, |x: $t| -> $t { x.wrapping_abs() }),
                Floor | Ceil | Round => f1!(false, |x: $t| -> $t { x }),
                _ => return None,
            })
        }

        /// `x` to the power `y`, wrapping; a negative power truncates towards zero, that of 0 is 0.
        fn $pow(x: $t, y: $t) -> $t {
            if y < 0 {
                return match x {
                    1 => 1,
                    -1 if y & 1 == 0 => 1,
                    -1 => -1,
                    _ => 0,
                };
            }
            let (mut result, mut base, mut left): ($t, $t, $t) = (1, x, y);
            while left > 0 {
                if left & 1 == 1 {
                    result = result.wrapping_mul(base);
                }
                base = base.wrapping_mul(base);
                left >>= 1;
            }
            result
        }
    };
}
integers!(int32, i32, div_i32, mod_i32, pow32);
integers!(int64, i64, div_i64, mod_i64, pow64);

/// Functions of truth values.
fn truth(f: ScalarFn, many: [bool; 3]) -> Option<LaneFn> {
    use ScalarFn::*;
    Some(match f {
        And | Minimum => f2!(many, false, |x, y: u8| -> u8 { x & y }),
        Or | Maximum => f2!(many, false, |x, y: u8| -> u8 { x | y }),
        Not => f1!(false, |x: u8| -> u8 { x ^ 1 }),
        Where => choose!(many, u8),
        Eq | Ne | Lt | Le | Gt | Ge => return compare!(f, many, u8),
        _ => return None,
    })
}

/// The loop of a conversion: floats truncate and saturate (NaN is 0), integers wrap, a truth value is `!= 0`.
pub(super) fn convert(from: ScalarType, to: ScalarType) -> LaneFn {
    match (from, to) {
        (ScalarType::F32, ScalarType::F32) | (ScalarType::I32, ScalarType::I32) => lanes::copy(4),
        (ScalarType::I64, ScalarType::I64) => lanes::copy(8),
        (ScalarType::Bool, ScalarType::Bool) => lanes::copy(1),
        (ScalarType::F32, ScalarType::I32) => f1!(false, |x: f32| -> i32 { x as i32 }),
        (ScalarType::F32, ScalarType::I64) => f1!(false, |x: f32| -> i64 { x as i64 }),
        (ScalarType::F32, ScalarType::Bool) => f1!(false, |x: f32| -> u8 { (x != 0.0) as u8 }),
        (ScalarType::I32, ScalarType::F32) => f1!(false, |x: i32| -> f32 { x as f32 }),
        (ScalarType::I32, ScalarType::I64) => f1!(false, |x: i32| -> i64 { x as i64 }),
        (ScalarType::I32, ScalarType::Bool) => f1!(false, |x: i32| -> u8 { (x != 0) as u8 }),
        (ScalarType::I64, ScalarType::F32) => f1!(false, |x: i64| -> f32 { x as f32 }),
        (ScalarType::I64, ScalarType::I32) => f1!(false, |x: i64| -> i32 { x as i32 }),
        (ScalarType::I64, ScalarType::Bool) => f1!(false, |x: i64| -> u8 { (x != 0) as u8 }),
        (ScalarType::Bool, ScalarType::F32) => f1!(false, |x: u8| -> f32 { x as f32 }),
        (ScalarType::Bool, ScalarType::I32) => f1!(false, |x: u8| -> i32 { x as i32 }),
        (ScalarType::Bool, ScalarType::I64) => f1!(false, |x: u8| -> i64 { x as i64 }),
    }
}

/// The loop that rounds to bf16 and stays in f32.
pub(super) fn round_bf16() -> LaneFn {
    f1!(false, |x: f32| -> f32 { exact::round_bf16(x) })
}

/// The nearest bf16, ties to even; a NaN stays one.
#[inline(always)]
pub(super) fn bf16_bits(x: f32) -> u16 {
    (exact::round_bf16(x).to_bits() >> 16) as u16
}
