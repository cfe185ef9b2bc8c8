//! Coefficients, made by `fit.py`. Lowest order first.

/// `(exp(r) - 1 - r) / r^2` for `|r| <= ln(2) / 2`, relative to `exp(r) - 1`. Largest weighted error 2^-26.0.
#[rustfmt::skip]
pub(super) const EXP: [f32; 5] = [
    f32::from_bits(0x3effffff), // 0.49999997
    f32::from_bits(0x3e2aaa53), // 0.16666536
    f32::from_bits(0x3d2aabc7), // 0.041667726
    f32::from_bits(0x3c091815), // 0.008367558
    f32::from_bits(0x3ab56ad1), // 0.0013841038
];

/// `(2 atanh(s) - 2 s) / s^3` in `z = s^2` for `s <= 3 - 2 sqrt(2)`, relative to `2 atanh(s)`. Largest weighted error 2^-30.2.
#[rustfmt::skip]
pub(super) const LOG: [f32; 3] = [
    f32::from_bits(0x3f2aaabd), // 0.66666776
    f32::from_bits(0x3eccaf69), // 0.39977577
    f32::from_bits(0x3e98f09b), // 0.29871067
];

/// The same as `LOG`, finer, for `pow`. Largest weighted error 2^-35.2.
#[rustfmt::skip]
pub(super) const LOG_POW: [f32; 4] = [
    f32::from_bits(0x3f2aaaaa), // 0.6666666
    f32::from_bits(0x3eccce13), // 0.40000972
    f32::from_bits(0x3e91e9f0), // 0.28498793
    f32::from_bits(0x3e789d91), // 0.24278857
];

/// `(sin(r) - r) / r^3` in `z = r^2` for `|r| <= pi / 4`, relative to `sin(r)`. Largest weighted error 2^-28.0.
#[rustfmt::skip]
pub(super) const SIN: [f32; 3] = [
    f32::from_bits(0xbe2aaaa3), // -0.16666655
    f32::from_bits(0x3c0883be), // 0.008332191
    f32::from_bits(0xb94caad6), // -0.00019518597
];

/// `(cos(r) - 1 + z / 2) / z^2` in `z = r^2` for `|r| <= pi / 4`, relative to `cos(r)`. Largest weighted error 2^-33.0.
#[rustfmt::skip]
pub(super) const COS: [f32; 3] = [
    f32::from_bits(0x3d2aaaa5), // 0.041666646
    f32::from_bits(0xbab60614), // -0.001388731
    f32::from_bits(0x37ccf406), // 2.4432327e-05
];

/// `(asin(x) - x) / x^3` in `z = x^2` for `|x| <= 1/2`, relative to `asin(x)`. Largest weighted error 2^-27.4.
#[rustfmt::skip]
pub(super) const ASIN: [f32; 5] = [
    f32::from_bits(0x3e2aaae5), // 0.16666754
    f32::from_bits(0x3d9980bc), // 0.07495257
    f32::from_bits(0x3d3a43e8), // 0.045474917
    f32::from_bits(0x3cc5ea6e), // 0.024159636
    f32::from_bits(0x3d2cd574), // 0.042195752
];

/// `(atan(x) - x) / x^3` in `z = x^2` for `|x| <= sqrt(2) - 1`, relative to `atan(x)`. Largest weighted error 2^-28.4.
#[rustfmt::skip]
pub(super) const ATAN: [f32; 5] = [
    f32::from_bits(0xbeaaaaa5), // -0.33333316
    f32::from_bits(0x3e4cc8f4), // 0.19998533
    f32::from_bits(0xbe11dd21), // -0.1424451
    f32::from_bits(0x3dd93392), // 0.106055394
    f32::from_bits(0xbd7ae5cc), // -0.061254308
];

/// `erf(x) / x - 1` in `z = x^2` for `|x| <= 0.95`, relative to `erf(x)`. Largest weighted error 2^-27.9.
#[rustfmt::skip]
pub(super) const ERF_NEAR: [f32; 7] = [
    f32::from_bits(0x3e0375d4), // 0.12837917
    f32::from_bits(0xbec093a0), // -0.3761263
    f32::from_bits(0x3de716b0), // 0.11283624
    f32::from_bits(0xbcdc003a), // -0.026855577
    f32::from_bits(0x3baa2071), // 0.0051918556
    f32::from_bits(0xba52cf96), // -0.0008041797
    f32::from_bits(0x38a6e1fb), // 7.957589e-05
];

/// `log(1 - erf(x))` for `0.95 <= x <= 4`, as an error of `erf(x)`. Largest weighted error 2^-25.5.
#[rustfmt::skip]
pub(super) const ERF_FAR: [f32; 6] = [
    f32::from_bits(0xbb12f088), // -0.00224212
    f32::from_bits(0xbf8f3846), // -1.1189048
    f32::from_bits(0xbf270c22), // -0.6525289
    f32::from_bits(0xbdb82587), // -0.08991533
    f32::from_bits(0x3c78d3ca), // 0.015187213
    f32::from_bits(0xba9d7977), // -0.0012014349
];

/// Numerator of `sqrt(pi) - (1 / (exp(x^2) erfc(x)) - 1) / x` for `x <= 9.25`, as an error of the exponential over it. Largest weighted error 2^-25.6.
#[rustfmt::skip]
pub(super) const ERFC_OVER: [f32; 4] = [
    f32::from_bits(0x3f24e215), // 0.64407474
    f32::from_bits(0x3f0c50cb), // 0.5481078
    f32::from_bits(0x3e5c10c3), // 0.21490769
    f32::from_bits(0x3d150103), // 0.036377918
];

/// Denominator of `sqrt(pi) - (1 / (exp(x^2) erfc(x)) - 1) / x` for `x <= 9.25`, as an error of the exponential over it. Largest weighted error 2^-25.6.
#[rustfmt::skip]
pub(super) const ERFC_UNDER: [f32; 5] = [
    f32::from_bits(0x3f800000), // 1.0
    f32::from_bits(0x3fa33aa4), // 1.2752271
    f32::from_bits(0x3f44fb94), // 0.7694638
    f32::from_bits(0x3e7ce307), // 0.24695979
    f32::from_bits(0x3d1507a5), // 0.036384244
];

/// Numerator of `sqrt(2 pi) - (1 / (exp(x^2 / 2) p) - 2) / x`, where `p` of a normal distribution is beyond `x`, for `x <= 13.25`, as an error of `p`. Largest weighted error 2^-25.6.
#[rustfmt::skip]
pub(super) const NORMAL_OVER: [f32; 4] = [
    f32::from_bits(0x3f692e11), // 0.91085917
    f32::from_bits(0x3f0c6a0d), // 0.5484932
    f32::from_bits(0x3e1bcb8f), // 0.1521437
    f32::from_bits(0x3c954980), // 0.018223524
];

/// Denominator of `sqrt(2 pi) - (1 / (exp(x^2 / 2) p) - 2) / x`, where `p` of a normal distribution is beyond `x`, for `x <= 13.25`, as an error of `p`. Largest weighted error 2^-25.6.
#[rustfmt::skip]
pub(super) const NORMAL_UNDER: [f32; 5] = [
    f32::from_bits(0x3f800000), // 1.0
    f32::from_bits(0x3f66f2f8), // 0.9021449
    f32::from_bits(0x3ec5264e), // 0.38505787
    f32::from_bits(0x3db30c87), // 0.08742624
    f32::from_bits(0x3c155016), // 0.009113332
];

/// `ln(2)`: the first part times any exponent is exact.
#[rustfmt::skip]
pub(super) const LN2: [f32; 2] = [
    f32::from_bits(0x3f317200), // 0.69314575
    f32::from_bits(0x35bfbe8e), // 1.4286068e-06
];

/// `pi` in two parts.
#[rustfmt::skip]
pub(super) const PI: [f32; 2] = [
    f32::from_bits(0x40490fdb), // 3.1415927
    f32::from_bits(0xb3bbbd2e), // -8.742278e-08
];

/// `2 / ln(2)`: the first part times 12 bits is exact.
#[rustfmt::skip]
pub(super) const TWO_LOG2E: [f32; 2] = [
    f32::from_bits(0x4038b000), // 2.8857422
    f32::from_bits(0xb9b89ad4), // -0.0003521057
];

/// `2 sqrt(2/pi)`, of which the first part has 12 bits.
#[rustfmt::skip]
pub(super) const GELU_LINEAR: [f32; 2] = [
    f32::from_bits(0x3fcc4000), // 1.5957031
    f32::from_bits(0x388a67a8), // 6.59966e-05
];

/// `0.044715 * 2 sqrt(2/pi)`, of which the first part has 12 bits.
#[rustfmt::skip]
pub(super) const GELU_CUBIC: [f32; 2] = [
    f32::from_bits(0x3d922000), // 0.0713501
    f32::from_bits(0x369e549b), // 4.7186163e-06
];

/// A word of zeros, then the binary digits of `2 / pi` after the point.
#[rustfmt::skip]
pub(super) const TWO_OVER_PI: [u32; 8] = [
    0x00000000, 0xa2f9836e, 0x4e441529, 0xfc2757d1,
    0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab,
];
