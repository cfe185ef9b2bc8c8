//! Whether an answer is close enough: what `docs/numerics.md` promises, element by element.

use crate::cases::Case;
use half::bf16;
use sx_artifact::tensor::{Data, Tensor};
use sx_compiler::ir::Node;
use sx_compiler::ops::{Tolerance, rules};

/// What a device may do that the reference does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leeway {
    /// Take subnormal operands and results for zero.
    pub flushes: bool,
    /// Miss the correctly rounded quotient or root by a unit in the last place.
    pub rounds_loosely: bool,
}

impl Leeway {
    /// None: the reference, the kernel interpreter, the CPU.
    pub const NONE: Leeway = Leeway { flushes: false, rounds_loosely: false };
    /// What `wgpu` may do.
    pub const WGPU: Leeway = Leeway { flushes: true, rounds_loosely: true };
}

/// Runs every case that `target` must hold, and panics with the first ones it does not.
pub fn hold(
    target: &str,
    leeway: Leeway,
    cases: &[Case],
    run: impl Fn(&Case) -> Result<Vec<Tensor>, String>,
) {
    let mut wrong = Vec::new();
    let held = cases.iter().filter(|case| !(leeway.flushes && case.subnormal));
    for case in held {
        let verdict = run(case).and_then(|got| match got.as_slice() {
            [got] => compare(case, got, leeway),
            _ => Err(format!("{} outputs", got.len())),
        });
        if let Err(why) = verdict {
            wrong.push(format!("{}: {why}", case.name));
        }
    }
    let shown = wrong.iter().take(12).cloned().collect::<Vec<_>>().join("\n  ");
    assert!(wrong.is_empty(), "{target}: {} of {} cases are wrong:\n  {shown}", wrong.len(), cases.len());
}

/// Compares one answer with the expected one.
pub fn compare(case: &Case, got: &Tensor, leeway: Leeway) -> Result<(), String> {
    let want = &case.expected;
    if (got.dtype(), got.shape()) != (want.dtype(), want.shape()) {
        return Err(format!("{:?} {}, not {:?} {}", got.shape(), got.dtype(), want.shape(), want.dtype()));
    }
    let last = case.graph.nodes().last().expect("a case has an operation");
    let slack = slack(case, last, leeway);
    match (got.data(), want.data()) {
        (Data::F32(got), Data::F32(want)) => {
            floats(got, want, |&x| f64::from(x), spacing_f32, &slack, leeway)
        }
        (Data::Bf16(got), Data::Bf16(want)) => {
            floats(got, want, |x| x.to_f64(), spacing_bf16, &slack, leeway)
        }
        (got, want) if got == want => Ok(()),
        (got, want) => Err(format!("{got:?}, not {want:?}")),
    }
}

/// How far each element may be off.
enum Slack {
    /// Not at all.
    Exact,
    /// Units in the last place of the result, in its own dtype.
    Ulps(f64),
    /// Absolute distances, before the result is rounded to its dtype.
    Off(Vec<f64>),
}

fn slack(case: &Case, node: &Node, leeway: Leeway) -> Slack {
    match rules(&node.op).about().tolerance {
        Tolerance::Exact => Slack::Exact,
        Tolerance::Rounded if leeway.rounds_loosely => Slack::Ulps(1.0),
        Tolerance::Rounded => Slack::Exact,
        // A bf16 holds the f32 within so many of its own much smaller units, rounded once.
        Tolerance::Ulps(_) if matches!(case.expected.data(), Data::Bf16(_)) => Slack::Ulps(1.0),
        Tolerance::Ulps(ulps) => Slack::Ulps(f64::from(ulps)),
        Tolerance::Prod => Slack::Ulps(case.inputs[0].len() as f64),
        Tolerance::Sum | Tolerance::Dot if !case.expected.dtype().is_float() => Slack::Exact,
        Tolerance::Sum => Slack::Off(magnitudes(case, 16.0)),
        Tolerance::Dot => {
            let k = case.inputs[0].shape().last().map_or(1.0, |&k| k as f64);
            Slack::Off(magnitudes(case, 4.0 * k.sqrt().max(1.0)))
        }
        Tolerance::Region => panic!("a case holds one operation"),
    }
}

/// `ulps` units in the last place of the case's operation on the magnitudes of its operands.
fn magnitudes(case: &Case, ulps: f64) -> Vec<f64> {
    let inputs: Vec<Tensor> = case.inputs.iter().map(magnitude).collect();
    let total = crate::reference(&case.graph, &inputs).expect("sums do not trap").remove(0);
    let values: Vec<f64> = match total.data() {
        Data::F32(v) => v.iter().map(|&x| f64::from(x)).collect(),
        Data::Bf16(v) => v.iter().map(|x| x.to_f64()).collect(),
        other => panic!("a sum of {} is exact", other.dtype()),
    };
    values.into_iter().map(|total| ulps * spacing_f32(total)).collect()
}

fn magnitude(x: &Tensor) -> Tensor {
    let data: Data = match x.data() {
        Data::F32(v) => v.iter().map(|x| x.abs()).collect::<Vec<_>>().into(),
        Data::Bf16(v) => v.iter().map(|x| bf16::from_f32(x.to_f32().abs())).collect::<Vec<_>>().into(),
        other => other.clone(),
    };
    Tensor::new(x.shape(), data)
}

fn floats<T>(
    got: &[T],
    want: &[T],
    wide: impl Fn(&T) -> f64,
    spacing: fn(f64) -> f64,
    slack: &Slack,
    leeway: Leeway,
) -> Result<(), String> {
    for (at, (got, want)) in got.iter().zip(want).enumerate() {
        let (got, want) = (wide(got), wide(want));
        let flushed = |x: f64| x.abs() < f64::from(f32::MIN_POSITIVE);
        let fits = match slack {
            _ if got.is_nan() || want.is_nan() => got.is_nan() && want.is_nan(),
            // A subnormal result, or a subnormal step on the way, was taken for zero.
            Slack::Exact
                if leeway.flushes && got != want && want.abs() <= 4.0 * f64::from(f32::MIN_POSITIVE) =>
            {
                (got - want).abs() <= f64::from(f32::MIN_POSITIVE)
            }
            _ if leeway.flushes && flushed(want) => flushed(got),
            Slack::Exact => got.to_bits() == want.to_bits(),
            _ if got == want => true,
            // The bounds of the maths library leave subnormal results aside, on every device.
            Slack::Ulps(_) if flushed(want) => flushed(got),
            Slack::Ulps(ulps) => near(got, want, ulps * spacing(want)),
            Slack::Off(off) => near(got, want, off[at] + spacing(want)),
        };
        if !fits {
            return Err(format!("element {at} is {got:e}, not {want:e}"));
        }
    }
    Ok(())
}

/// Within `distance`. An infinity is as near to the largest float as that is to where the next would be.
fn near(got: f64, want: f64, distance: f64) -> bool {
    let beyond = 2f64.powi(128);
    let finite = |x: f64| if x.is_infinite() { beyond.copysign(x) } else { x };
    (finite(got) - finite(want)).abs() <= distance
}

/// The distance between f32 values near `x`.
fn spacing_f32(x: f64) -> f64 {
    spacing(x, 23)
}

/// The distance between bf16 values near `x`.
fn spacing_bf16(x: f64) -> f64 {
    spacing(x, 7)
}

fn spacing(x: f64, digits: i32) -> f64 {
    let exponent = ((x.abs().to_bits() >> 52) as i32 - 1023).clamp(-126, 127);
    2f64.powi(exponent - digits)
}

/// Equal, or within what rounding after each operation can do; a value that is beyond it in a long chain of
/// cancelling sums is compared by the size of the largest element.
pub fn same_within_rounding(want: &Tensor, got: &Tensor) -> bool {
    same_within(want, got, 1e-4)
}

/// Equal, or floats that differ by at most this part of the largest element.
pub fn same_within(want: &Tensor, got: &Tensor, part: f32) -> bool {
    match (want.data(), got.data()) {
        (Data::F32(a), Data::F32(b)) => {
            let scale = a.iter().filter(|x| x.is_finite()).fold(1.0f32, |m, x| m.max(x.abs()));
            let same = |x: f32, y: f32| x == y || (x.is_nan() && y.is_nan()) || (x - y).abs() <= part * scale;
            a.len() == b.len() && a.iter().zip(b).all(|(&x, &y)| same(x, y))
        }
        // A sum of products that are all -0 is either zero: a device may start with the first or with 0.
        (Data::Bf16(a), Data::Bf16(b)) => {
            let same = |x: f32, y: f32| x == y || (x.is_nan() && y.is_nan());
            a.len() == b.len() && a.iter().zip(b).all(|(x, y)| same(x.to_f32(), y.to_f32()))
        }
        _ => want == got,
    }
}
