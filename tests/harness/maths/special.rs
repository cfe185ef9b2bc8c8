//! The special values of `docs/numerics.md`.

use sx_artifact::scalar::ScalarFn;

/// Calls with the one result that they have on every device; a NaN is any NaN.
#[rustfmt::skip]
pub const SPECIAL: &[(ScalarFn, f32, f32, f32)] = {
    use ScalarFn::*;
    use std::f32::consts::{FRAC_PI_2, FRAC_PI_4, PI};
    const INF: f32 = f32::INFINITY;
    const NAN: f32 = f32::NAN;
    &[
        (Exp, 88.723, 0.0, INF), (Exp, 89.0, 0.0, INF), (Exp, INF, 0.0, INF), (Exp, f32::MAX, 0.0, INF),
        (Exp, -87.337, 0.0, 0.0), (Exp, -1e30, 0.0, 0.0), (Exp, -INF, 0.0, 0.0), (Exp, NAN, 0.0, NAN),
        (Exp, 0.0, 0.0, 1.0), (Exp, -0.0, 0.0, 1.0),
        (Expm1, -INF, 0.0, -1.0), (Expm1, INF, 0.0, INF), (Expm1, -0.0, 0.0, -0.0), (Expm1, 0.0, 0.0, 0.0),
        (Expm1, NAN, 0.0, NAN),
        (Tanh, INF, 0.0, 1.0), (Tanh, -INF, 0.0, -1.0), (Tanh, 1e30, 0.0, 1.0), (Tanh, 100.0, 0.0, 1.0),
        (Tanh, -0.0, 0.0, -0.0), (Tanh, 0.0, 0.0, 0.0), (Tanh, NAN, 0.0, NAN),
        (Erf, INF, 0.0, 1.0), (Erf, -INF, 0.0, -1.0), (Erf, -0.0, 0.0, -0.0), (Erf, 0.0, 0.0, 0.0),
        (Erf, NAN, 0.0, NAN),
        (Cbrt, INF, 0.0, INF), (Cbrt, -INF, 0.0, -INF), (Cbrt, -0.0, 0.0, -0.0), (Cbrt, 0.0, 0.0, 0.0),
        (Cbrt, NAN, 0.0, NAN), (Cbrt, 27.0, 0.0, 3.0), (Cbrt, -8.0, 0.0, -2.0),
        (Sigmoid, INF, 0.0, 1.0), (Sigmoid, 30.0, 0.0, 1.0), (Sigmoid, -0.0, 0.0, 0.5), (Sigmoid, 0.0, 0.0, 0.5),
        (Sigmoid, -INF, 0.0, 0.0), (Sigmoid, f32::MIN, 0.0, 0.0), (Sigmoid, NAN, 0.0, NAN),
        (Softplus, INF, 0.0, INF), (Softplus, -INF, 0.0, 0.0), (Softplus, -1e30, 0.0, 0.0), (Softplus, 100.0, 0.0, 100.0),
        (Softplus, f32::MAX, 0.0, f32::MAX), (Softplus, NAN, 0.0, NAN),
        (LogSigmoid, -INF, 0.0, -INF), (LogSigmoid, INF, 0.0, -0.0), (LogSigmoid, -100.0, 0.0, -100.0),
        (LogSigmoid, f32::MIN, 0.0, f32::MIN), (LogSigmoid, NAN, 0.0, NAN),
        (Silu, INF, 0.0, INF), (Silu, -INF, 0.0, -0.0), (Silu, -1e30, 0.0, -0.0), (Silu, -0.0, 0.0, -0.0),
        (Silu, 0.0, 0.0, 0.0), (Silu, f32::MAX, 0.0, f32::MAX), (Silu, NAN, 0.0, NAN),
        (Gelu, INF, 0.0, INF), (Gelu, -INF, 0.0, -0.0), (Gelu, -1e30, 0.0, -0.0), (Gelu, -0.0, 0.0, -0.0),
        (Gelu, 0.0, 0.0, 0.0), (Gelu, f32::MAX, 0.0, f32::MAX), (Gelu, NAN, 0.0, NAN),
        (GeluTanh, INF, 0.0, INF), (GeluTanh, -INF, 0.0, -0.0), (GeluTanh, -1e30, 0.0, -0.0), (GeluTanh, -0.0, 0.0, -0.0),
        (GeluTanh, 0.0, 0.0, 0.0), (GeluTanh, f32::MAX, 0.0, f32::MAX), (GeluTanh, NAN, 0.0, NAN),
        (Erfc, INF, 0.0, 0.0), (Erfc, -INF, 0.0, 2.0), (Erfc, 1e30, 0.0, 0.0), (Erfc, -1e30, 0.0, 2.0),
        (Erfc, 0.0, 0.0, 1.0), (Erfc, -0.0, 0.0, 1.0), (Erfc, NAN, 0.0, NAN),
        (Log, 0.0, 0.0, -INF), (Log, -0.0, 0.0, -INF), (Log, -1.0, 0.0, NAN), (Log, -INF, 0.0, NAN),
        (Log, INF, 0.0, INF), (Log, 1.0, 0.0, 0.0), (Log, NAN, 0.0, NAN),
        (Log1p, -1.0, 0.0, -INF), (Log1p, -1.5, 0.0, NAN), (Log1p, -INF, 0.0, NAN), (Log1p, INF, 0.0, INF),
        (Log1p, -0.0, 0.0, -0.0), (Log1p, 0.0, 0.0, 0.0), (Log1p, NAN, 0.0, NAN),
        (Sin, INF, 0.0, NAN), (Sin, -INF, 0.0, NAN), (Sin, NAN, 0.0, NAN), (Sin, 0.0, 0.0, 0.0),
        (Sin, -0.0, 0.0, -0.0),
        (Cos, INF, 0.0, NAN), (Cos, -INF, 0.0, NAN), (Cos, NAN, 0.0, NAN), (Cos, 0.0, 0.0, 1.0),
        (Asin, 1.5, 0.0, NAN), (Asin, -1.000_000_1, 0.0, NAN), (Asin, INF, 0.0, NAN), (Asin, NAN, 0.0, NAN),
        (Asin, -0.0, 0.0, -0.0), (Asin, 0.0, 0.0, 0.0),
        (Acos, 1.5, 0.0, NAN), (Acos, -1.000_000_1, 0.0, NAN), (Acos, -INF, 0.0, NAN), (Acos, NAN, 0.0, NAN),
        (Acos, 1.0, 0.0, 0.0),
        (Rsqrt, 0.0, 0.0, INF), (Rsqrt, -0.0, 0.0, -INF), (Rsqrt, INF, 0.0, 0.0), (Rsqrt, -1.0, 0.0, NAN),
        (Rsqrt, -INF, 0.0, NAN), (Rsqrt, NAN, 0.0, NAN),
        (Atan2, 0.0, 1.0, 0.0), (Atan2, -0.0, 1.0, -0.0), (Atan2, 0.0, 0.0, 0.0), (Atan2, -0.0, 0.0, -0.0),
        (Atan2, 0.0, INF, 0.0), (Atan2, 0.0, -1.0, PI), (Atan2, -0.0, -1.0, -PI), (Atan2, 0.0, -0.0, PI),
        (Atan2, -0.0, -0.0, -PI), (Atan2, -0.0, -INF, -PI),
        (Atan2, INF, 1.0, FRAC_PI_2), (Atan2, -INF, 1.0, -FRAC_PI_2), (Atan2, INF, -0.0, FRAC_PI_2),
        (Atan2, INF, INF, FRAC_PI_4), (Atan2, -INF, INF, -FRAC_PI_4),
        (Atan2, INF, -INF, 3.0 * FRAC_PI_4), (Atan2, -INF, -INF, -3.0 * FRAC_PI_4),
        (Atan2, NAN, 1.0, NAN), (Atan2, 1.0, NAN, NAN),
        (Pow, NAN, 0.0, 1.0), (Pow, 5.0, -0.0, 1.0), (Pow, INF, 0.0, 1.0), (Pow, 0.0, 0.0, 1.0),
        (Pow, 1.0, NAN, 1.0), (Pow, 1.0, INF, 1.0), (Pow, -1.0, INF, 1.0), (Pow, -1.0, -INF, 1.0),
        (Pow, -2.0, 3.0, -8.0), (Pow, -2.0, 2.0, 4.0), (Pow, -2.0, 0.5, NAN), (Pow, -1.0, 16_777_215.0, -1.0),
        (Pow, -1.0, 16_777_216.0, 1.0), (Pow, NAN, 1.0, NAN), (Pow, 2.0, NAN, NAN),
        (Pow, 0.0, -1.0, INF), (Pow, 0.0, -0.5, INF), (Pow, 0.0, 0.5, 0.0), (Pow, 0.0, 3.0, 0.0),
        (Pow, -0.0, 3.0, -0.0), (Pow, -0.0, 2.0, 0.0), (Pow, -0.0, -3.0, -INF), (Pow, -0.0, -2.0, INF),
        (Pow, 0.0, INF, 0.0), (Pow, 0.0, -INF, INF), (Pow, 2.0, INF, INF), (Pow, 2.0, -INF, 0.0),
        (Pow, 0.5, INF, 0.0), (Pow, 0.5, -INF, INF), (Pow, INF, 2.0, INF), (Pow, INF, -2.0, 0.0),
        (Pow, -INF, 3.0, -INF), (Pow, -INF, 2.0, INF), (Pow, -INF, -3.0, -0.0), (Pow, -INF, 0.5, INF),
    ]
};

/// What is wrong with what a device gave, if it is not that result.
pub fn complaint(special: (ScalarFn, f32, f32, f32), got: f32) -> Option<String> {
    let (f, x, y, want) = special;
    let same = got.to_bits() == want.to_bits() || (got.is_nan() && want.is_nan());
    let args = if f.arity() == 2 { format!("{x:e}, {y:e}") } else { format!("{x:e}") };
    (!same).then(|| format!("{} of {args} is {got:e}, not {want:e}", f.name()))
}
