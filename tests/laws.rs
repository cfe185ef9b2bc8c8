//! Laws that hold of every entry of a table. The table is the test list: a new entry is tested the day it is
//! added, and a failure names the entry, the point and both values.

use std::collections::HashSet;
use sx_artifact::dtype::DType;
use sx_artifact::scalar::{Class, ScalarFn};
use sx_artifact::tensor::{Data, Tensor};
use sx_compiler::ir::op::Map;
use sx_compiler::ir::{Domain, Interval, Op, Type};
use sx_compiler::ops::scalar::{Eval, Image, Kind, def};
use sx_compiler::ops::{Fault, rules};

/// Both signs, both sides of one, zero, whole and broken, where steps and kinks sit.
const POINTS: [f32; 15] =
    [-7.25, -3.5, -2.0, -1.25, -1.0, -0.75, -0.25, 0.0, 0.25, 0.75, 1.0, 1.25, 2.0, 2.5, 7.25];
const INTS: [i32; 9] = [i32::MIN, -7, -2, -1, 0, 1, 2, 7, i32::MAX];

fn scalar(dtype: DType, range: Interval) -> Type {
    Type { domain: Domain::Range(range), ..Type::plain(dtype, &[]) }
}

/// Every list of as many points as `f` takes.
fn lists<T: Copy>(f: ScalarFn, points: &[T]) -> Vec<Vec<T>> {
    (0..f.arity()).fold(vec![vec![]], |lists, _| {
        let longer = |list: &Vec<T>| points.iter().map(|&x| [&list[..], &[x]].concat()).collect::<Vec<_>>();
        lists.iter().flat_map(longer).collect()
    })
}

/// The value of `f` at one point, and the range its image gives of `ranges`.
fn value_and_image(f: ScalarFn, args: Vec<Data>, ranges: &[Interval]) -> (f64, Interval) {
    let tensors: Vec<Tensor> = args.into_iter().map(|data| Tensor::new(&[], data)).collect();
    let types: Vec<Type> =
        tensors.iter().zip(ranges).map(|(tensor, &range)| scalar(tensor.dtype(), range)).collect();
    let op = Op::Map(Map { f });
    let ty = rules(&op).infer(&types).expect("it takes these dtypes").remove(0);
    let value =
        rules(&op).reference(&tensors.iter().collect::<Vec<_>>()).expect("no index, no trap").remove(0);
    let value = match value.data() {
        Data::F32(v) => f64::from(v[0]),
        Data::I32(v) => f64::from(v[0]),
        other => panic!("{} is no number", other.dtype()),
    };
    (value, ty.domain.range())
}

/// Ranges around a point: itself alone, and wider ones on either side or both.
fn ranges_around(x: f64) -> [Interval; 5] {
    [
        Interval::closed(x, x),
        Interval::closed(x - 0.5, x),
        Interval::closed(x, x + 3.0),
        Interval::closed(f64::NEG_INFINITY, x),
        Interval::closed(x, f64::INFINITY),
    ]
}

/// The functions from numbers to numbers that take `dtype`.
fn numeric(dtype: DType) -> impl Iterator<Item = ScalarFn> {
    let takes = move |f: &ScalarFn| {
        Kind::of(*f).holds(dtype) && matches!(def(*f).image, Image::Range(_) | Image::Wrapping(_))
    };
    ScalarFn::ALL.iter().copied().filter(takes)
}

#[test]
fn images_hold_every_value() {
    for f in numeric(DType::F32) {
        for list in lists(f, &POINTS) {
            for at in 0..5 {
                let ranges: Vec<Interval> = list.iter().map(|&x| ranges_around(f64::from(x))[at]).collect();
                let args = list.iter().map(|&x| vec![x].into()).collect();
                let (value, image) = value_and_image(f, args, &ranges);
                let held =
                    image.holds(value) || value.is_nan() || (value.is_infinite() && image == Interval::REAL);
                assert!(held, "{f:?}{list:?} = {value}, outside {image} of {ranges:?}");
            }
        }
    }
}

#[test]
fn images_of_integers_hold_every_value() {
    for f in numeric(DType::I32) {
        for list in lists(f, &INTS) {
            for at in 0..5 {
                let around = |&x: &i32| {
                    let range = ranges_around(f64::from(x))[at];
                    let fits = Interval::closed(f64::from(i32::MIN), f64::from(i32::MAX)).contains(&range);
                    if fits || range.lo.is_infinite() || range.hi.is_infinite() {
                        range
                    } else {
                        Interval::point(f64::from(x))
                    }
                };
                let ranges: Vec<Interval> = list.iter().map(around).collect();
                let args = list.iter().map(|&x| vec![x].into()).collect();
                let (value, image) = value_and_image(f, args, &ranges);
                assert!(image.holds(value), "{f:?}{list:?} = {value}, outside {image} of {ranges:?}");
            }
        }
    }
}

/// The seed's own examples of range inference.
#[test]
fn images_are_as_narrow_as_promised() {
    use ScalarFn::*;
    let (unit, pos, nonneg, real, signed) =
        (Interval::UNIT, Interval::POS, Interval::NON_NEG, Interval::REAL, Interval::SIGNED);
    let point = Interval::point;
    let cases: &[(ScalarFn, &[Interval], &str)] = &[
        (Mul, &[unit, point(2.0)], "[0, 2]"),
        (Sub, &[Interval::closed(0.0, 2.0), point(1.0)], "[-1, 1]"),
        (Sub, &[signed, signed], "[-2, 2]"),
        (Exp, &[real], "(0, inf)"),
        (Exp, &[Interval::closed(f64::NEG_INFINITY, 0.0)], "(0, 1]"),
        (Expm1, &[nonneg], "[0, inf)"),
        (Log, &[Interval::closed(1.0, 4.0)], "[0, 1.3862944]"),
        (Log, &[nonneg], "(-inf, inf)"),
        (Log, &[pos], "(-inf, inf)"),
        (Log1p, &[nonneg], "[0, inf)"),
        (Sqrt, &[nonneg], "[0, inf)"),
        (Sqrt, &[signed], "(-inf, inf)"),
        (Rsqrt, &[pos], "(0, inf)"),
        (Rsqrt, &[Interval::closed(4.0, 16.0)], "[0.25, 0.5]"),
        (Div, &[point(1.0), pos], "(0, inf)"),
        (Div, &[point(1.0), unit], "(-inf, inf)"),
        (Div, &[unit, Interval::closed(2.0, 4.0)], "[0, 0.5]"),
        (Tanh, &[real], "[-1, 1]"),
        (Erf, &[nonneg], "[0, 1]"),
        (Sigmoid, &[real], "[0, 1]"),
        (Sigmoid, &[nonneg], "[0.5, 1]"),
        (Softplus, &[real], "[0, inf)"),
        (LogSigmoid, &[real], "(-inf, 0]"),
        (Erfc, &[nonneg], "[0, 1]"),
        (Gelu, &[nonneg], "[0, inf)"),
        (Silu, &[Interval::closed(f64::NEG_INFINITY, -2.0)], "[-0.23840585, 0]"),
        (Silu, &[real], "[-0.27846456, inf)"),
        (GeluTanh, &[Interval::closed(-1.0, 0.5)], "[-0.17004076, 0.34571403]"),
        (Sin, &[unit], "[-1, 1]"),
        (Floor, &[Interval::closed(0.5, 2.5)], "[0, 2]"),
        (Abs, &[Interval::closed(-3.0, 2.0)], "[0, 3]"),
        (Neg, &[unit], "[-1, 0]"),
        (Maximum, &[real, point(0.0)], "[0, inf)"),
        (Minimum, &[nonneg, point(6.0)], "[0, 6]"),
        (Pow, &[signed, point(2.0)], "[0, 1]"),
        (Pow, &[signed, point(1.0)], "[-1, 1]"),
        (Pow, &[signed, point(3.0)], "(-inf, inf)"),
        (Pow, &[unit, point(3.0)], "[0, 1]"),
        (Pow, &[point(2.0), Interval::closed(-1.0, 3.0)], "[0.5, 8]"),
    ];
    for (f, ranges, want) in cases {
        let types: Vec<Type> = ranges.iter().map(|&range| scalar(DType::F32, range)).collect();
        let got = rules(&Op::Map(Map { f: *f })).infer(&types).expect("it takes f32")[0].domain.range();
        assert_eq!(got.to_string(), *want, "{f:?}{ranges:?}");
    }
}

#[test]
fn records_agree_with_the_list_of_names() {
    let mut names = HashSet::new();
    for &f in ScalarFn::ALL {
        let record = def(f);
        assert!(names.insert(f.name()), "two functions are called {}", f.name());
        assert_eq!(record.valid.len(), f.arity(), "{f:?}");
        let arity = match record.eval {
            Eval::Float1(_) | Eval::Number1(..) | Eval::Mask1(_) => 1,
            Eval::Float2(_) | Eval::Number2(..) | Eval::Test(..) | Eval::Mask2(_) => 2,
            Eval::Choose => 3,
        };
        assert_eq!(arity, f.arity(), "{f:?}");
        let takes = Kind::of(f);
        let fits = match record.eval {
            Eval::Float1(_) | Eval::Float2(_) => takes == Kind::Float,
            Eval::Number1(..) | Eval::Number2(..) => takes == Kind::Number,
            Eval::Test(..) => matches!(takes, Kind::Number | Kind::Any),
            Eval::Mask1(_) | Eval::Mask2(_) => takes == Kind::Mask,
            Eval::Choose => takes == Kind::MaskThenAny,
        };
        assert!(fits, "{f:?} takes {} and has no meaning for them", takes.words());
        assert_eq!(matches!(record.image, Image::Mask), f.result() == Class::Truth, "{f:?}");
        let called = record.signature.strip_prefix('(').and_then(|rest| rest.split(' ').next());
        assert_eq!(called, Some(f.name()), "{f:?}");
        assert!(!record.summary.ends_with('.') && record.example.contains(" ; => "), "{f:?}");
    }
}

/// Each function takes exactly the dtypes its record lists, and says what it would take otherwise.
#[test]
fn dtypes_are_refused_by_the_record() {
    for &f in ScalarFn::ALL {
        for dtype in DType::ALL {
            let mut args = vec![Type::plain(dtype, &[3]); f.arity()];
            if Kind::of(f) == Kind::MaskThenAny {
                args[0] = Type::plain(DType::Bool, &[3]);
            }
            let result = rules(&Op::Map(Map { f })).infer(&args);
            assert_eq!(result.is_ok(), Kind::of(f).holds(dtype), "{f:?} of {dtype}: {result:?}");
            match result {
                Err(Fault::MaskArithmetic { .. }) => assert_eq!(dtype, DType::Bool),
                Err(Fault::MaskNeeded { .. }) => assert_eq!(Kind::of(f), Kind::Mask),
                Err(fault) => assert!(matches!(fault, Fault::Dtype { .. }), "{f:?} of {dtype}: {fault:?}"),
                Ok(_) => {}
            }
        }
    }
}
