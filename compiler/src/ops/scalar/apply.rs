//! Scalar functions on whole tensors: the loops behind the meaning, one for each storage.

use super::Eval;
use crate::ops::walk::to_bf16;
use half::bf16;
use sx_artifact::tensor::{Data, Tensor};

/// An element of a number dtype: computed in f64 or i64, stored in its own width.
trait Element: Copy {
    type Wide: Copy;
    fn wide(self) -> Self::Wide;
    fn narrow(wide: Self::Wide) -> Self;
}

macro_rules! element {
    ($($narrow:ty as $wide:ty: |$x:ident| $to_wide:expr, |$y:ident| $to_narrow:expr;)*) => {$(
        impl Element for $narrow {
            type Wide = $wide;
            fn wide(self) -> $wide { let $x = self; $to_wide }
            fn narrow($y: $wide) -> $narrow { $to_narrow }
        }
    )*};
}
element! {
    f32 as f64: |x| f64::from(x), |y| y as f32;
    bf16 as f64: |x| x.to_f64(), |y| to_bf16(y);
    i32 as i64: |x| i64::from(x), |y| y as i32;
    i64 as i64: |x| x, |y| y;
    bool as i64: |x| i64::from(x), |y| y != 0;
}

/// `eval` at every element of `args`, which have one shape and dtypes that the function takes.
pub fn apply(eval: &Eval, args: &[&Tensor]) -> Tensor {
    let first = args[0].data();
    let data = match eval {
        Eval::Float1(float) => floats1(first, *float),
        Eval::Number1(float, int) => match first {
            Data::I32(x) => unary(x, *int).into(),
            Data::I64(x) => unary(x, *int).into(),
            _ => floats1(first, *float),
        },
        Eval::Float2(float) => floats2(first, args[1].data(), *float),
        Eval::Number2(float, int) => match (first, args[1].data()) {
            (Data::I32(x), Data::I32(y)) => binary(x, y, *int).into(),
            (Data::I64(x), Data::I64(y)) => binary(x, y, *int).into(),
            (x, y) => floats2(x, y, *float),
        },
        Eval::Test(float, int) => match (first, args[1].data()) {
            (Data::F32(x), Data::F32(y)) => test(x, y, *float),
            (Data::Bf16(x), Data::Bf16(y)) => test(x, y, *float),
            (Data::I32(x), Data::I32(y)) => test(x, y, *int),
            (Data::I64(x), Data::I64(y)) => test(x, y, *int),
            (Data::Bool(x), Data::Bool(y)) => test(x, y, *int),
            (x, y) => ill_typed(x, y),
        },
        Eval::Mask1(f) => mask(first).iter().map(|&x| f(x)).collect::<Vec<_>>().into(),
        Eval::Mask2(f) => {
            let pairs = mask(first).iter().zip(mask(args[1].data()));
            pairs.map(|(&x, &y)| f(x, y)).collect::<Vec<_>>().into()
        }
        Eval::Choose => choose(mask(first), args[1].data(), args[2].data()),
    };
    Tensor::new(args[0].shape(), data)
}

fn unary<T: Element>(x: &[T], f: fn(T::Wide) -> T::Wide) -> Vec<T> {
    x.iter().map(|x| T::narrow(f(x.wide()))).collect()
}

fn binary<T: Element>(x: &[T], y: &[T], f: fn(T::Wide, T::Wide) -> T::Wide) -> Vec<T> {
    x.iter().zip(y).map(|(x, y)| T::narrow(f(x.wide(), y.wide()))).collect()
}

fn test<T: Element>(x: &[T], y: &[T], f: fn(T::Wide, T::Wide) -> bool) -> Data {
    x.iter().zip(y).map(|(x, y)| f(x.wide(), y.wide())).collect::<Vec<bool>>().into()
}

fn floats1(x: &Data, f: fn(f64) -> f64) -> Data {
    match x {
        Data::F32(x) => unary(x, f).into(),
        Data::Bf16(x) => unary(x, f).into(),
        _ => ill_typed(x, x),
    }
}

fn floats2(x: &Data, y: &Data, f: fn(f64, f64) -> f64) -> Data {
    match (x, y) {
        (Data::F32(x), Data::F32(y)) => binary(x, y, f).into(),
        (Data::Bf16(x), Data::Bf16(y)) => binary(x, y, f).into(),
        _ => ill_typed(x, y),
    }
}

fn mask(x: &Data) -> &[bool] {
    match x {
        Data::Bool(x) => x,
        _ => ill_typed(x, x),
    }
}

fn choose(mask: &[bool], x: &Data, y: &Data) -> Data {
    fn pick<T: Copy>(mask: &[bool], x: &[T], y: &[T]) -> Vec<T> {
        mask.iter().zip(x.iter().zip(y)).map(|(&first, (&x, &y))| if first { x } else { y }).collect()
    }
    match (x, y) {
        (Data::F32(x), Data::F32(y)) => pick(mask, x, y).into(),
        (Data::Bf16(x), Data::Bf16(y)) => pick(mask, x, y).into(),
        (Data::I32(x), Data::I32(y)) => pick(mask, x, y).into(),
        (Data::I64(x), Data::I64(y)) => pick(mask, x, y).into(),
        (Data::Bool(x), Data::Bool(y)) => pick(mask, x, y).into(),
        _ => ill_typed(x, y),
    }
}

/// Type rules come first, so this is a bug of whoever skipped them.
fn ill_typed(x: &Data, y: &Data) -> ! {
    panic!("a scalar function was applied to {} and {}, which its type rule refuses", x.dtype(), y.dtype())
}
