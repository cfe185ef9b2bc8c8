//! The bounds, held against f64 over bit patterns of the whole range.

use super::*;
use crate::scalar::ScalarFn;

/// erf in f64: the Taylor series up to 3, a continued fraction above.
fn erf_f64(x: f64) -> f64 {
    let a = x.abs();
    let y = if a < 3.0 {
        let (mut term, mut sum) = (a, a);
        for n in 1..200 {
            term *= -a * a / f64::from(n);
            let add = term / f64::from(2 * n + 1);
            sum += add;
            if add.abs() < 1e-18 * sum.abs() {
                break;
            }
        }
        sum * std::f64::consts::FRAC_2_SQRT_PI
    } else if a < 6.5 {
        let mut tail = a;
        for n in (1..60).rev() {
            tail = a + f64::from(n) / 2.0 / tail;
        }
        1.0 - (-a * a).exp() / tail / std::f64::consts::PI.sqrt()
    } else if a.is_nan() {
        a
    } else {
        1.0
    };
    y.copysign(x)
}

/// How far `got` is from `want` in units of the spacing of f32 at `want`; infinite for a wrong kind of value.
fn distance(got: f32, want: f64) -> f64 {
    let nearest = want as f32;
    if nearest.is_nan() || got.is_nan() {
        return if nearest.is_nan() && got.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if want == 0.0 || nearest.is_infinite() || got.is_infinite() {
        // At the edge of the range the next number is infinity.
        let close =
            got.abs().max(nearest.abs()) == f32::INFINITY && got.abs().min(nearest.abs()) > 3.402_8e38;
        let same = got == nearest && got.is_sign_negative() == nearest.is_sign_negative();
        return if same || (close && got.is_sign_negative() == nearest.is_sign_negative()) {
            0.0
        } else {
            f64::INFINITY
        };
    }
    // A result below the normal numbers may be 0.
    let smallest = f64::from(f32::MIN_POSITIVE);
    if want.abs() < smallest && (f64::from(got) - want).abs() <= smallest {
        return 0.0;
    }
    let exponent = ((nearest.to_bits() >> 23) & 0xff).max(1) as i32 - 150;
    (f64::from(got) - want).abs() / 2f64.powi(exponent)
}

/// A function and its meaning.
type Case = (ScalarFn, fn(f64) -> f64);

const UNARY: &[Case] = &[
    (ScalarFn::Exp, f64::exp),
    (ScalarFn::Log, f64::ln),
    (ScalarFn::Expm1, f64::exp_m1),
    (ScalarFn::Log1p, f64::ln_1p),
    (ScalarFn::Sin, f64::sin),
    (ScalarFn::Cos, f64::cos),
    (ScalarFn::Tanh, f64::tanh),
    (ScalarFn::Asin, f64::asin),
    (ScalarFn::Acos, f64::acos),
    (ScalarFn::Erf, erf_f64),
    (ScalarFn::Cbrt, f64::cbrt),
    (ScalarFn::Rsqrt, |x| 1.0 / x.sqrt()),
];

const EDGES: &[f32] = &[
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    2.0,
    -2.0,
    3.0,
    -3.0,
    1e-45,
    -1e-45,
    f32::MIN_POSITIVE,
    -f32::MIN_POSITIVE,
    f32::MAX,
    f32::MIN,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
    16_777_215.0,
    -16_777_215.0,
    8_388_607.5,
    1.000_000_1,
    0.999_999_94,
    -0.999_999_94,
    88.722_84,
    -87.336_54,
    1e30,
    -1e30,
    1e-30,
    // Next to multiples of pi/2.
    f32::from_bits(0x77d8_4625),
    f32::from_bits(0x7ebd_cda0),
];

#[test]
fn unary_functions_keep_their_bound() {
    for &(f, want) in UNARY {
        let got = unary_f32(f).expect("a unary function");
        // 4093 is odd, so the stride's low bits vary.
        let strided = (0..=u32::MAX).step_by(4093).map(f32::from_bits);
        let (worst, at) = strided
            .chain(EDGES.iter().copied())
            .map(|x| (distance(got(x), want(f64::from(x))), x))
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .expect("some patterns");
        assert!(
            worst <= 4.0,
            "{} of {at:e} ({:#010x}) is {:e}, {worst} ulp off",
            f.name(),
            at.to_bits(),
            got(at)
        );
    }
}

#[test]
fn binary_functions_keep_their_bound() {
    type Binary = (ScalarFn, fn(f64, f64) -> f64, f64);
    let cases: [Binary; 2] = [(ScalarFn::Pow, f64::powf, 8.0), (ScalarFn::Atan2, f64::atan2, 4.0)];
    for (f, want, bound) in cases {
        let got = binary_f32(f).expect("a binary function");
        let mut worst = (0.0, 0.0, 0.0);
        let mut see = |x: f32, y: f32| {
            let off = distance(got(x, y), want(f64::from(x), f64::from(y)));
            if off > worst.0 {
                worst = (off, x, y);
            }
        };
        for &x in EDGES {
            EDGES.iter().for_each(|&y| see(x, y));
        }
        let mut state = 1u32;
        let mut next = || {
            state = state.wrapping_mul(0x915f_77f5).wrapping_add(0x3c6e_f35f);
            state.rotate_left(16)
        };
        for i in 0..1 << 20 {
            let (x, y) = (f32::from_bits(next()), f32::from_bits(next()));
            // Any two patterns; a base near 1 with a large exponent; a positive base with a moderate one.
            match i % 3 {
                0 => see(x, y),
                1 => see(1.0 + (x.to_bits() as i32 >> 12) as f32 * 1e-7, y % 3000.0),
                _ => see(x.abs(), (y.to_bits() as i32 >> 8) as f32 * 1e-6),
            }
        }
        let (off, x, y) = worst;
        assert!(off <= bound, "{} of {x:e}, {y:e} is {:e}, {off} ulp off", f.name(), got(x, y));
    }
}

#[test]
fn the_reference_of_erf_is_right() {
    // From mpmath with 40 digits.
    let known = [
        (1e-8, 1.128_379_167_095_512_6e-08),
        (0.25, 0.276_326_390_168_236_96),
        (0.9, 0.796_908_212_422_832_2),
        (1.5, 0.966_105_146_475_310_8),
        (2.75, 0.999_899_378_077_880_3),
        (2.999, 0.999_977_769_831_400_2),
        (3.001, 0.999_978_048_339_082_2),
        (3.9, 0.999_999_965_207_751_4),
        (5.0, 0.999_999_999_998_462_6),
    ];
    for (x, want) in known {
        assert!((erf_f64(x) - want).abs() <= 1e-12 * want, "erf {x}: {}", erf_f64(x));
    }
}

#[test]
fn extremes_spread_nan_and_order_zeros() {
    use exact::{maximum, minimum};
    let cases = [(1.0, 2.0), (-0.0, 0.0), (f32::NEG_INFINITY, f32::MAX), (-2.0, -2.0)];
    for (low, high) in cases {
        for (a, b) in [(low, high), (high, low)] {
            assert_eq!(maximum(a, b).to_bits(), f32::to_bits(high), "maximum of {a} and {b}");
            assert_eq!(minimum(a, b).to_bits(), f32::to_bits(low), "minimum of {a} and {b}");
        }
        assert!(
            [maximum(low, f32::NAN), maximum(f32::NAN, low), minimum(low, f32::NAN), minimum(f32::NAN, low)]
                .iter()
                .all(|y| y.is_nan())
        );
    }
}

#[test]
fn bf16_rounds_like_the_half_crate() {
    for bits in (0..=u32::MAX).step_by(4093) {
        let x = f32::from_bits(bits);
        let want = half::bf16::from_f32(x).to_f32().to_bits();
        assert_eq!(exact::round_bf16(x).to_bits(), want, "of {bits:#010x}");
    }
}

#[test]
fn remainders_and_divisions_have_their_one_answer() {
    // By numpy.mod in float32.
    let floats: [(f32, f32, u32); 12] = [
        (5.5, 2.0, 0x3fc0_0000),
        (-5.5, 2.0, 0x3f00_0000),
        (5.5, -2.0, 0xbf00_0000),
        (-5.5, -2.0, 0xbfc0_0000),
        (-6.0, 3.0, 0),
        (6.0, -3.0, 0x8000_0000),
        (1e30, 7.0, 0x3f80_0000),
        (3e38, 1.1e-38, 0x0058_23aa),
        (0.3, 0.1, 0x3200_0000),
        (-1.0, f32::INFINITY, 0x7f80_0000),
        (1.0, f32::INFINITY, 0x3f80_0000),
        (-1e-30, 1.0, 0x3f80_0000),
    ];
    for (a, b, want) in floats {
        assert_eq!(exact::modulo(a, b).to_bits(), want, "{a} mod {b}");
    }
    for (a, b) in [(f32::INFINITY, 2.0), (1.0, 0.0), (f32::NAN, 1.0), (1.0, f32::NAN)] {
        assert!(exact::modulo(a, b).is_nan(), "{a} mod {b}");
    }
    let integers = [
        (7, 2, 3, 1),
        (-7, 2, -3, 1),
        (7, -2, -3, -1),
        (-7, -2, 3, -1),
        (5, 0, 0, 0),
        (i32::MIN, -1, i32::MIN, 0),
    ];
    for (a, b, quotient, rest) in integers {
        assert_eq!((exact::div_i32(a, b), exact::mod_i32(a, b)), (quotient, rest), "{a} and {b}");
        if a != i32::MIN {
            let (a, b) = (i64::from(a), i64::from(b));
            let want = (i64::from(quotient), i64::from(rest));
            assert_eq!((exact::div_i64(a, b), exact::mod_i64(a, b)), want, "{a} and {b}");
        }
    }
    assert_eq!((exact::div_i64(i64::MIN, -1), exact::mod_i64(i64::MIN, -1)), (i64::MIN, 0));
    let casts = [(2.9, 2), (-2.9, -2), (3e9, i32::MAX), (-3e9, i32::MIN), (f32::NAN, 0)];
    for (x, want) in casts {
        assert_eq!(exact::f32_to_i32(x), want, "{x} as an integer");
    }
}

/// The function of one float that `f` is, or `None` where it takes more or is no function of floats.
fn unary_f32(f: ScalarFn) -> Option<fn(f32) -> f32> {
    Some(match f {
        ScalarFn::Exp => exp,
        ScalarFn::Log => log,
        ScalarFn::Expm1 => expm1,
        ScalarFn::Log1p => log1p,
        ScalarFn::Sin => sin,
        ScalarFn::Cos => cos,
        ScalarFn::Tanh => tanh,
        ScalarFn::Asin => asin,
        ScalarFn::Acos => acos,
        ScalarFn::Erf => erf,
        ScalarFn::Cbrt => cbrt,
        ScalarFn::Rsqrt => rsqrt,
        ScalarFn::Sqrt => f32::sqrt,
        ScalarFn::Neg => |x| -x,
        ScalarFn::Abs => f32::abs,
        ScalarFn::Floor => f32::floor,
        ScalarFn::Ceil => f32::ceil,
        ScalarFn::Round => f32::round_ties_even,
        _ => return None,
    })
}

/// The function of two floats that `f` is, or `None` where it is none.
fn binary_f32(f: ScalarFn) -> Option<fn(f32, f32) -> f32> {
    Some(match f {
        ScalarFn::Add => |a, b| a + b,
        ScalarFn::Sub => |a, b| a - b,
        ScalarFn::Mul => |a, b| a * b,
        ScalarFn::Div => |a, b| a / b,
        ScalarFn::Mod => exact::modulo,
        ScalarFn::Maximum => exact::maximum,
        ScalarFn::Minimum => exact::minimum,
        ScalarFn::Pow => pow,
        ScalarFn::Atan2 => atan2,
        _ => return None,
    })
}
