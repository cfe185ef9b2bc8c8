//! Scalar functions and conversions at many points.

use super::super::ScalarType;
use super::column::Column;
use crate::maths::exact;
use crate::scalar::ScalarFn;
use crate::scalar_functions;
use crate::tensor::Data;

/// The functions of floats alone, each by the name of its module.
mod float {
    pub(super) use crate::maths::*;

    pub(super) fn sqrt(x: f32) -> f32 {
        x.sqrt()
    }
    pub(super) fn floor(x: f32) -> f32 {
        x.floor()
    }
    pub(super) fn ceil(x: f32) -> f32 {
        x.ceil()
    }
    pub(super) fn round(x: f32) -> f32 {
        x.round_ties_even()
    }
}

/// A function of one float, or of two, where its entry in the list is one.
macro_rules! of_floats {
    ([Float] $module:ident 1 $x:ident) => {
        Some(float::$module($x))
    };
    ([Float Float] $module:ident 2 $x:ident $y:ident) => {
        Some(float::$module($x, $y))
    };
    ($args:tt $module:ident $($other:tt)*) => {
        None
    };
}

macro_rules! functions_of_floats {
    ($($args:tt -> $result:ident, $cost:ident:
        $($variant:ident $module:ident $(= $name:literal)?),+;)*) => {
        fn unary_of_floats(f: ScalarFn, x: f32) -> Option<f32> {
            match f { $($(ScalarFn::$variant => of_floats!($args $module 1 x),)+)* }
        }

        fn binary_of_floats(f: ScalarFn, x: f32, y: f32) -> Option<f32> {
            match f { $($(ScalarFn::$variant => of_floats!($args $module 2 x y),)+)* }
        }
    };
}
scalar_functions!(functions_of_floats);

/// `f` at every point. Panics on arguments that it does not take.
pub(super) fn call(f: ScalarFn, args: &[Column]) -> Column {
    let wrong = || format!("`{}` does not take these arguments", f.name());
    match args {
        [Data::Bool(condition), yes, no] if f == ScalarFn::Where => choose(condition, yes, no),
        [Data::F32(x)] => Data::F32(x.iter().map(|&x| unary(f, x)).collect()),
        [Data::I32(x)] => {
            Data::I32(x.iter().map(|&x| unary_i32(f, x).expect("an integer function")).collect())
        }
        [Data::I64(x)] => {
            Data::I64(x.iter().map(|&x| unary_i64(f, x).expect("an integer function")).collect())
        }
        [Data::Bool(x)] if f == ScalarFn::Not => Data::Bool(x.iter().map(|&x| !x).collect()),
        [Data::F32(x), Data::F32(y)] => pairs(f, x, y, binary).map_or_else(|c| c, Data::F32),
        [Data::I32(x), Data::I32(y)] => pairs(f, x, y, binary_i32).map_or_else(|c| c, Data::I32),
        [Data::I64(x), Data::I64(y)] => pairs(f, x, y, binary_i64).map_or_else(|c| c, Data::I64),
        [Data::Bool(x), Data::Bool(y)] => pairs(f, x, y, binary_truth).map_or_else(|c| c, Data::Bool),
        _ => panic!("{}", wrong()),
    }
}

/// A comparison of each pair as truth values (`Err`), or another function of each pair (`Ok`).
fn pairs<T: Copy + PartialOrd>(
    f: ScalarFn,
    x: &[T],
    y: &[T],
    function: fn(ScalarFn, T, T) -> T,
) -> Result<Vec<T>, Column> {
    let pairs = || x.iter().copied().zip(y.iter().copied());
    let holds: fn(T, T) -> bool = match f {
        ScalarFn::Eq => |x, y| x == y,
        ScalarFn::Ne => |x, y| x != y,
        ScalarFn::Lt => |x, y| x < y,
        ScalarFn::Le => |x, y| x <= y,
        ScalarFn::Gt => |x, y| x > y,
        ScalarFn::Ge => |x, y| x >= y,
        _ => return Ok(pairs().map(|(x, y)| function(f, x, y)).collect()),
    };
    Err(Data::Bool(pairs().map(|(x, y)| holds(x, y)).collect()))
}

fn unary(f: ScalarFn, x: f32) -> f32 {
    match f {
        ScalarFn::Neg => -x,
        ScalarFn::Abs => x.abs(),
        _ => unary_of_floats(f, x).unwrap_or_else(|| panic!("`{}` is no function of one float", f.name())),
    }
}

fn binary(f: ScalarFn, x: f32, y: f32) -> f32 {
    match f {
        ScalarFn::Add => x + y,
        ScalarFn::Sub => x - y,
        ScalarFn::Mul => x * y,
        ScalarFn::Div => x / y,
        ScalarFn::Mod => exact::modulo(x, y),
        ScalarFn::Maximum => exact::maximum(x, y),
        ScalarFn::Minimum => exact::minimum(x, y),
        _ => {
            binary_of_floats(f, x, y).unwrap_or_else(|| panic!("`{}` is no function of two floats", f.name()))
        }
    }
}

macro_rules! integers {
    ($unary:ident $binary:ident $t:ty, $div:ident $modulo:ident) => {
        /// All wrap.
        fn $unary(f: ScalarFn, x: $t) -> Option<$t> {
            match f {
                ScalarFn::Neg => Some(x.wrapping_neg()),
                ScalarFn::Abs => Some(x.wrapping_abs()),
                _ => None,
            }
        }

        fn $binary(f: ScalarFn, x: $t, y: $t) -> $t {
            match f {
                ScalarFn::Add => x.wrapping_add(y),
                ScalarFn::Sub => x.wrapping_sub(y),
                ScalarFn::Mul => x.wrapping_mul(y),
                ScalarFn::Div => exact::$div(x, y),
                ScalarFn::Mod => exact::$modulo(x, y),
                ScalarFn::Maximum => x.max(y),
                ScalarFn::Minimum => x.min(y),
                _ => panic!("`{}` is no function of two integers", f.name()),
            }
        }
    };
}
integers!(unary_i32 binary_i32 i32, div_i32 mod_i32);
integers!(unary_i64 binary_i64 i64, div_i64 mod_i64);

fn binary_truth(f: ScalarFn, x: bool, y: bool) -> bool {
    match f {
        ScalarFn::And => x & y,
        ScalarFn::Or => x | y,
        _ => panic!("`{}` is no function of two truth values", f.name()),
    }
}

fn choose(condition: &[bool], yes: &Column, no: &Column) -> Column {
    fn each<T: Copy>(condition: &[bool], yes: &[T], no: &[T]) -> Vec<T> {
        condition.iter().enumerate().map(|(i, &holds)| if holds { yes[i] } else { no[i] }).collect()
    }
    match (yes, no) {
        (Data::F32(yes), Data::F32(no)) => Data::F32(each(condition, yes, no)),
        (Data::I32(yes), Data::I32(no)) => Data::I32(each(condition, yes, no)),
        (Data::I64(yes), Data::I64(no)) => Data::I64(each(condition, yes, no)),
        (Data::Bool(yes), Data::Bool(no)) => Data::Bool(each(condition, yes, no)),
        _ => panic!("`where` chooses between values of one type"),
    }
}

/// The language's casts: floats truncate and saturate (NaN is 0), integers wrap, a number is true unless 0.
pub(super) fn convert(x: &Column, to: ScalarType) -> Column {
    macro_rules! each {
        ($to:ident $v:ident |$x:ident| $e:expr) => {
            Data::$to($v.iter().map(|&$x| $e).collect())
        };
    }
    match (x, to) {
        (Data::F32(_), ScalarType::F32)
        | (Data::I32(_), ScalarType::I32)
        | (Data::I64(_), ScalarType::I64)
        | (Data::Bool(_), ScalarType::Bool) => x.clone(),
        (Data::F32(v), ScalarType::I32) => each!(I32 v |x| exact::f32_to_i32(x)),
        (Data::F32(v), ScalarType::I64) => each!(I64 v |x| exact::f32_to_i64(x)),
        (Data::F32(v), ScalarType::Bool) => each!(Bool v |x| x != 0.0),
        (Data::I32(v), ScalarType::F32) => each!(F32 v |x| x as f32),
        (Data::I32(v), ScalarType::I64) => each!(I64 v |x| x.into()),
        (Data::I32(v), ScalarType::Bool) => each!(Bool v |x| x != 0),
        (Data::I64(v), ScalarType::F32) => each!(F32 v |x| x as f32),
        (Data::I64(v), ScalarType::I32) => each!(I32 v |x| x as i32),
        (Data::I64(v), ScalarType::Bool) => each!(Bool v |x| x != 0),
        (Data::Bool(v), ScalarType::F32) => each!(F32 v |x| f32::from(u8::from(x))),
        (Data::Bool(v), ScalarType::I32) => each!(I32 v |x| x.into()),
        (Data::Bool(v), ScalarType::I64) => each!(I64 v |x| x.into()),
        (Data::Bf16(_), _) => unreachable!("no register holds bf16"),
    }
}

/// Rounded to bf16, still as f32.
pub(super) fn rounded_to_bf16(x: &Column) -> Column {
    match x {
        Data::F32(v) => Data::F32(v.iter().map(|&x| exact::round_bf16(x)).collect()),
        Data::Bf16(_) | Data::I32(_) | Data::I64(_) | Data::Bool(_) => {
            panic!("only floats are rounded to bf16")
        }
    }
}
