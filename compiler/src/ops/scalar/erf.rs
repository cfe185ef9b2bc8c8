//! `(erf x)`

use super::family::Function;
use super::{Scalar, Valid};
use crate::ir::Interval;
use std::f64::consts::FRAC_2_SQRT_PI;

pub(super) static RECORD: Scalar = Function {
    signature: "(erf x)",
    summary: "the error function of `x`: how much of a normal distribution lies within `x` times its width",
    example: "(erf (zeros [2])) ; => [0.0 0.0]",
    valid: &[Valid::Everywhere],
    range: "Unit of what is 0 or above, [-1, 0] of what is 0 or below, else Signed",
    image: |x, _| {
        let lo = if 0.0 <= x[0].lo { 0.0 } else { -1.0 };
        let hi = if x[0].hi <= 0.0 { 0.0 } else { 1.0 };
        Interval::closed(lo, hi)
    },
    eval: erf,
}
.record();

/// `2/sqrt(pi)` times the integral of `exp(-t^2)` from 0 to `x`.
fn erf(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    let magnitude = x.abs();
    let value = match magnitude {
        m if m < 2.0 => series(m),
        m if m < 6.0 => 1.0 - tail(m),
        // 1 - erf(6) is 2e-17: nothing beside 1.
        _ => 1.0,
    };
    value.copysign(x)
}

/// `1 - erf(x)`: what is small is not the difference of what is large.
pub(super) fn erfc(x: f64) -> f64 {
    match x {
        x if x < 0.0 => 1.0 + erf(-x),
        x if x < 1.0 => 1.0 - erf(x),
        _ => tail(x),
    }
}

/// `erf(x) = 2/sqrt(pi) exp(-x^2) sum over n of 2^n x^(2n+1) / (1·3·5·…·(2n+1))`: every term is positive, so
/// nothing cancels.
fn series(x: f64) -> f64 {
    let (mut term, mut sum, mut odd) = (x, x, 1.0);
    while sum * 1e-17 < term {
        odd += 2.0;
        term *= 2.0 * x * x / odd;
        sum += term;
    }
    FRAC_2_SQRT_PI * (-x * x).exp() * sum
}

/// `erfc(x) = exp(-x^2)/sqrt(pi) / (x + (1/2)/(x + 1/(x + (3/2)/(x + …))))`, from the inside out.
fn tail(x: f64) -> f64 {
    let fraction = (1..=200).rev().fold(x, |inner, n| x + f64::from(n) / 2.0 / inner);
    0.5 * FRAC_2_SQRT_PI * (-x * x).exp() / fraction
}

#[cfg(test)]
mod tests {
    use super::{erf, erfc};

    /// Values of the error function to 17 digits, from Abramowitz and Stegun's table 7.1 and arbitrary-precision
    /// arithmetic.
    #[test]
    fn known_values() {
        let known = [
            (1e-300, 1.1283791670955126e-300),
            (0.1, 0.1124629160182849),
            (0.5, 0.520_499_877_813_046_5),
            (1.0, 0.842_700_792_949_714_9),
            (1.5, 0.966_105_146_475_310_7),
            (2.0, 0.995_322_265_018_952_7),
            (2.5, 0.999_593_047_982_555),
            (3.0, 0.999_977_909_503_001_4),
            (5.0, 0.999_999_999_998_462_5),
            (7.0, 1.0),
        ];
        let complements = [
            (-1.0, 1.842_700_792_949_715),
            (0.25, 0.723_673_609_831_763),
            (0.99, 0.161_491_930_444_630_2),
            (1.0, 0.157_299_207_050_285_13),
            (5.0, 1.537_459_794_428_034_8e-12),
            (9.0, 4.137_031_746_513_81e-37),
        ];
        for (x, want) in complements {
            let got = erfc(x);
            assert!((got - want).abs() <= 1e-14 * want, "erfc({x}) = {got}, not {want}");
        }
        for (x, want) in known {
            for sign in [1.0, -1.0] {
                let got = erf(sign * x);
                assert!((got - sign * want).abs() <= 1e-15 * want, "erf({x}) = {got}, not {want}");
            }
        }
        assert!(erf(f64::NAN).is_nan());
        assert_eq!(erf(-0.0).to_bits(), (-0.0f64).to_bits());
    }
}
