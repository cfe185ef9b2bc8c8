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
