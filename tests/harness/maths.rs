//! What the maths library promises, in a form that every device can be held to: arguments from the whole range,
//! answers in f64, the distance between the two, and the special values.

pub mod special;

use std::f64::consts::{FRAC_2_SQRT_PI, FRAC_PI_2, PI};
use sx_artifact::scalar::ScalarFn;
use sx_compiler::ops::Tolerance;
use sx_compiler::ops::scalar::{Eval, def};

/// The functions that are promised within units in the last place.
pub fn functions() -> impl Iterator<Item = ScalarFn> {
    ScalarFn::ALL.iter().copied().filter(|&f| matches!(def(f).tolerance, Tolerance::Ulps(_)))
}

/// How many units in the last place `f` may be off.
pub fn bound(f: ScalarFn) -> f64 {
    match def(f).tolerance {
        Tolerance::Ulps(ulps) => f64::from(ulps),
        _ => 0.0,
    }
}

/// A function of floats in f64, of one argument or of two, as its record has it.
pub fn meaning(f: ScalarFn, x: f64, y: f64) -> f64 {
    match def(f).eval {
        // Computed in another way than the record does.
        _ if f == ScalarFn::Erf => erf(x),
        Eval::Float1(of) => of(x),
        Eval::Float2(of) => of(x, y),
        _ => panic!("`{}` is no function of floats alone", f.name()),
    }
}

/// The error function: the Taylor series up to 3, a continued fraction above.
fn erf(x: f64) -> f64 {
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
        sum * FRAC_2_SQRT_PI
    } else if a < 6.5 {
        let mut tail = a;
        for n in (1..60).rev() {
            tail = a + f64::from(n) / 2.0 / tail;
        }
        1.0 - (-a * a).exp() / tail / PI.sqrt()
    } else if a.is_nan() {
        a
    } else {
        1.0
    };
    y.copysign(x)
}

/// How far `got` is from `want` in units of the spacing of f32 at `want`; infinite for a wrong kind of value.
pub fn distance(got: f32, want: f64) -> f64 {
    let nearest = want as f32;
    if nearest.is_nan() || got.is_nan() {
        return if nearest.is_nan() && got.is_nan() { 0.0 } else { f64::INFINITY };
    }
    let same_sign = got.is_sign_negative() == nearest.is_sign_negative();
    if want == 0.0 || nearest.is_infinite() || got.is_infinite() {
        // At the edge of the range the next number is infinity.
        let (least, most) = (got.abs().min(nearest.abs()), got.abs().max(nearest.abs()));
        let close = most == f32::INFINITY && least > 3.402_8e38;
        return if same_sign && (got == nearest || close) { 0.0 } else { f64::INFINITY };
    }
    // A result below the normal numbers may be 0.
    let smallest = f64::from(f32::MIN_POSITIVE);
    if want.abs() < smallest && (f64::from(got) - want).abs() <= smallest {
        return 0.0;
    }
    let exponent = ((nearest.to_bits() >> 23) & 0xff).max(1) as i32 - 150;
    (f64::from(got) - want).abs() / 2f64.powi(exponent)
}

/// Where functions change their kind, their branch or their piece.
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
    8_388_607.5,
    16_777_215.0,
    -16_777_215.0,
    4_294_967_296.0,
    std::f32::consts::FRAC_1_SQRT_2,
    std::f32::consts::SQRT_2,
    std::f32::consts::FRAC_PI_4,
    std::f32::consts::FRAC_PI_2,
    0.414_213_57,
    0.95,
    3.92,
    -4.0,
    9.02,
    -9.1,
    -17.4,
    88.722_84,
    -87.336_54,
    // Where the tails of `gelu-tanh`, `silu`, `gelu` and `erfc` leave the normal numbers, and where they are cut.
    -10.02,
    -11.0,
    -91.86,
    -104.0,
    -110.0,
    -13.15,
    -16.0,
    9.19,
    10.5,
    1e30,
    -1e30,
    1e-30,
    // Next to multiples of pi/2.
    f32::from_bits(0x77d8_4625),
    f32::from_bits(0x7ebd_cda0),
];
/// How many neighbours of an edge are taken, half of them on each side.
const NEAR: u64 = 64;
/// How many multiples of pi/2 are taken.
const TURNS: u64 = 1 << 14;

/// How many arguments there are.
#[derive(Clone, Copy)]
pub struct Sample {
    /// Of all bit patterns one in so many.
    pub everywhere: u32,
    /// One in so many where a function is neither linear nor constant.
    pub inside: u32,
    /// So many pairs, for a function of two.
    pub pairs: u64,
}

impl Sample {
    /// One to three million for each function. The steps are odd, so the low bits vary.
    pub const QUICK: Sample = Sample { everywhere: 4093, inside: 2039, pairs: 1 << 21 };
    /// Everything that can be gone through in minutes, for a function of one argument all that matters.
    pub const FULL: Sample = Sample { everywhere: 61, inside: 1, pairs: 1 << 28 };

    /// How many arguments or pairs there are for `f`.
    pub fn len(self, f: ScalarFn) -> u64 {
        let edges = EDGES.len() as u64;
        if f.arity() == 2 {
            return edges * edges + self.pairs;
        }
        let (low, high) = inside(f);
        edges * NEAR
            + TURNS
            + (1 << 32) / u64::from(self.everywhere)
            + 2 * u64::from((high - low) / self.inside)
    }

    /// The argument or the pair at a place below [`Sample::len`].
    pub fn at(self, f: ScalarFn, at: u64) -> (f32, f32) {
        if f.arity() == 2 { self.pair(f, at) } else { (self.one(f, at), 0.0) }
    }

    fn one(self, f: ScalarFn, mut at: u64) -> f32 {
        if at < EDGES.len() as u64 * NEAR {
            let edge = EDGES[(at / NEAR) as usize];
            return f32::from_bits(
                edge.to_bits().wrapping_add((at % NEAR) as u32).wrapping_sub(NEAR as u32 / 2),
            );
        }
        at -= EDGES.len() as u64 * NEAR;
        if at < TURNS {
            return (at as f64 * FRAC_PI_2) as f32;
        }
        at -= TURNS;
        if at < (1 << 32) / u64::from(self.everywhere) {
            return f32::from_bits(at as u32 * self.everywhere);
        }
        at -= (1 << 32) / u64::from(self.everywhere);
        f32::from_bits((inside(f).0 + (at / 2) as u32 * self.inside) | ((at as u32 & 1) << 31))
    }

    fn pair(self, f: ScalarFn, at: u64) -> (f32, f32) {
        let edges = EDGES.len() as u64;
        if at < edges * edges {
            return (EDGES[(at / edges) as usize], EDGES[(at % edges) as usize]);
        }
        let bits = scrambled(at);
        let (high, low) = ((bits >> 32) as u32, bits as u32);
        match f {
            ScalarFn::Pow => hard_power(at, high, low),
            _ => hard_angle(at, high, low),
        }
    }
}

/// The magnitudes, as bits, between which `f` is neither linear nor constant.
fn inside(f: ScalarFn) -> (u32, u32) {
    let (low, high) = match f {
        ScalarFn::Exp | ScalarFn::Expm1 => (2f32.powi(-25), 128.0),
        ScalarFn::Log | ScalarFn::Rsqrt | ScalarFn::Cbrt => (f32::MIN_POSITIVE, f32::INFINITY),
        ScalarFn::Log1p => (2f32.powi(-25), f32::INFINITY),
        ScalarFn::Sin | ScalarFn::Cos => (2f32.powi(-13), f32::INFINITY),
        ScalarFn::Tanh | ScalarFn::Erf => (2f32.powi(-14), 16.0),
        ScalarFn::Erfc | ScalarFn::Gelu | ScalarFn::GeluTanh => (2f32.powi(-25), 16.0),
        ScalarFn::Sigmoid | ScalarFn::Softplus | ScalarFn::LogSigmoid | ScalarFn::Silu => {
            (2f32.powi(-25), 128.0)
        }
        _ => (2f32.powi(-26), 1.0),
    };
    (low.to_bits(), high.to_bits())
}

/// Sixty-four bits that look like chance, the same on every run.
fn scrambled(at: u64) -> u64 {
    let mut x = at.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// A number in [-1, 1).
fn unit(bits: u32) -> f32 {
    (bits as i32 >> 8) as f32 / 8_388_608.0
}

/// A base and an exponent: any; a base near 1 with a large exponent; a result anywhere in the range, up to its
/// ends; a whole exponent of a negative base.
fn hard_power(at: u64, high: u32, low: u32) -> (f32, f32) {
    let (any, other) = (f32::from_bits(high), f32::from_bits(low));
    match at % 4 {
        0 => (any, other),
        1 => (1.0 + unit(high) * 0.01, other % 100_000.0),
        2 => {
            let base = any.abs();
            (base, unit(low) * 152.0 / base.log2())
        }
        _ => (-any.abs(), (unit(low) * 40.0).round()),
    }
}

/// An ordinate and an abscissa: any; of about the same size; of nearly the same size; at the border of the
/// polynomial's range.
fn hard_angle(at: u64, high: u32, low: u32) -> (f32, f32) {
    let (any, other) = (f32::from_bits(high), f32::from_bits(low));
    let ratio = match at % 4 {
        0 => return (any, other),
        1 => unit(low) * 8.0,
        2 => 1.0 + unit(low) * 1e-5,
        _ => 0.414_213_57 + unit(low) * 1e-5,
    };
    let small = any * ratio;
    if at & 4 == 0 { (small, any) } else { (any, small) }
}

/// The largest distance found, and where.
#[derive(Clone, Copy, Debug, Default)]
pub struct Worst {
    /// In units in the last place.
    pub ulps: f64,
    /// The argument or the pair.
    pub at: (f32, f32),
    /// What was computed there.
    pub got: f32,
}

impl Worst {
    /// Takes note of what a function gave and what it should have given.
    pub fn see(&mut self, at: (f32, f32), got: f32, want: f64) {
        let ulps = distance(got, want);
        if ulps > self.ulps {
            *self = Worst { ulps, at, got };
        }
    }

    /// What is wrong with `f`, if it is beyond its bound.
    pub fn complaint(&self, f: ScalarFn) -> Option<String> {
        let (x, y) = self.at;
        let second = if f.arity() == 2 { format!(", {y:e} ({:#010x})", y.to_bits()) } else { String::new() };
        (self.ulps > bound(f)).then(|| {
            let (name, bits, got, ulps) = (f.name(), x.to_bits(), self.got, self.ulps);
            format!("{name} of {x:e} ({bits:#010x}){second} is {got:e}, {ulps} ulp off")
        })
    }
}
