//! The functions that have one right answer. Those that are promised within bounds are held to them in `tests/`,
//! where every device is.

use super::*;

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

/// What the machine or the C library computes. A sum that cancels, a small addend and products below the normal
/// numbers are the hard cases.
#[test]
fn a_multiply_add_rounds_once() {
    let mut state = 0x1234_5678_9abc_def1_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u32
    };
    for i in 0..4_000_000 {
        let (mut a, b) = (f32::from_bits(next()), f32::from_bits(next()));
        let c = match i % 4 {
            0 => f32::from_bits(next()),
            1 => f32::from_bits((-(a * b)).to_bits().wrapping_add(next() % 65).wrapping_sub(32)),
            2 => f32::from_bits(((a * b).to_bits() & 0xff80_0000).wrapping_sub((next() % 60) << 23)),
            _ => {
                // A product around 2^-140: the result is subnormal.
                a = f32::from_bits(
                    (a.to_bits() & 0x807f_ffff) | ((114 - (b.to_bits() >> 23 & 0xff) % 114) << 23),
                );
                f32::from_bits(next() & 0x80ff_ffff)
            }
        };
        let (got, want) = (exact::mul_add(a, b, c), f32::mul_add(a, b, c));
        let same = got.to_bits() == want.to_bits() || (got.is_nan() && want.is_nan());
        assert!(same, "{a:e} * {b:e} + {c:e} is {got:e}, not {want:e}");
    }
    for a in EXTREME {
        for (b, c) in EXTREME.iter().flat_map(|&b| EXTREME.iter().map(move |&c| (b, c))) {
            let (got, want) = (exact::mul_add(a, b, c), f32::mul_add(a, b, c));
            let same = got.to_bits() == want.to_bits() || (got.is_nan() && want.is_nan());
            assert!(same, "{a:e} * {b:e} + {c:e} is {got:e}, not {want:e}");
        }
    }
}

const EXTREME: [f32; 14] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    1e-45,
    -1e-45,
    f32::MIN_POSITIVE,
    -f32::MIN_POSITIVE,
    f32::MAX,
    f32::MIN,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
    f32::EPSILON,
];

/// A loop that is compiled for machines with the instruction gives the bits of any other.
#[test]
fn fused_lanes_give_the_same_bits() {
    use fused::Fused;
    let same = |a: f32, b: f32| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
    for bits in (0..=u32::MAX).step_by(40_009) {
        let x = f32::from_bits(bits);
        assert!(same(gelu(x), gelu(Fused(x)).0), "gelu of {x:e}");
        assert!(same(gelu_tanh(x), gelu_tanh(Fused(x)).0), "gelu-tanh of {x:e}");
        assert!(same(softplus(x), softplus(Fused(x)).0), "softplus of {x:e}");
        assert!(same(exact::round_bf16(x), exact::round_bf16(Fused(x)).0), "{x:e} rounded");
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
