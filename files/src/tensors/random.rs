//! Values for trying a graph out: random, within an input's domain, and the same for the same seed.

use super::Want;
use super::raw::bf16_of;
use half::bf16;
use sx_artifact::check;
use sx_artifact::dtype::DType;
use sx_artifact::program::Check;
use sx_artifact::tensor::{Data, Tensor};

/// A tensor that `want` accepts, unless its domain is empty.
pub(super) fn tensor(want: &Want<'_>, seed: u64) -> Tensor {
    // Inputs of one call differ although they share a seed.
    let mut source = Source(want.name.bytes().fold(seed, |state, byte| mix(state ^ u64::from(byte))));
    let count = want.shape.iter().product::<u64>() as usize;
    let data = match want.dtype {
        DType::F32 => Data::F32(floats(want, count, &mut source)),
        DType::Bf16 => {
            let of = |x: f32| within(want.check, f64::from(bf16_of(f64::from(x)).to_f32()));
            Data::Bf16(
                floats(want, count, &mut source).into_iter().map(|x| bf16::from_f32(of(x) as f32)).collect(),
            )
        }
        DType::I32 => Data::I32((0..count).map(|_| int(want.check, &mut source) as i32).collect()),
        DType::I64 => Data::I64((0..count).map(|_| int(want.check, &mut source)).collect()),
        DType::Bool => Data::Bool((0..count).map(|_| source.next() & 1 == 1).collect()),
    };
    let tensor = Tensor::new(want.shape, data);
    debug_assert!(
        want.shape.contains(&0) || check::demand(want, &tensor).is_ok() || want.dtype == DType::Bf16
    );
    tensor
}

fn floats(want: &Want<'_>, count: usize, source: &mut Source) -> Vec<f32> {
    let mut values: Vec<f32> = (0..count).map(|_| float(want.check, source)).collect();
    if let Some(Check::Prob { over }) = want.check {
        normalise(&mut values, want.shape, *over as usize);
    }
    values
}

fn float(check: Option<&Check>, source: &mut Source) -> f32 {
    let bit = source.next() & 1 == 1;
    match check {
        Some(Check::Binary) => f32::from(u8::from(bit)),
        Some(Check::Additive) => {
            if bit {
                0.0
            } else {
                f32::NEG_INFINITY
            }
        }
        Some(Check::Prob { .. }) => (source.unit() + 1e-3) as f32,
        Some(Check::Range { .. }) => {
            let (low, high) = span(check);
            within(check, low + (high - low) * source.unit()) as f32
        }
        Some(Check::Index { .. }) | None => (2.0 * source.unit() - 1.0) as f32,
    }
}

/// Where to draw from: the range itself, or a unit of it where it has no end.
fn span(check: Option<&Check>) -> (f64, f64) {
    match check {
        Some(Check::Range { low, high, .. }) => match (*low, *high) {
            (Some(low), Some(high)) => (low, high),
            (Some(low), None) => (low, low + 1.0),
            (None, Some(high)) => (high - 1.0, high),
            (None, None) => (-1.0, 1.0),
        },
        _ => (-1.0, 1.0),
    }
}

/// `x`, or the middle of the range where rounding has moved `x` out of it.
fn within(check: Option<&Check>, x: f64) -> f64 {
    let (low, high) = span(check);
    let Some(Check::Range { low_open, high_open, .. }) = check else { return x };
    let x32 = f64::from(x as f32);
    let outside = x32 < low || x32 > high || (*low_open && x32 == low) || (*high_open && x32 == high);
    if outside { (low + high) / 2.0 } else { x }
}

fn int(check: Option<&Check>, source: &mut Source) -> i64 {
    let below = |source: &mut Source, end: u64| (source.next() % end.max(1)) as i64;
    match check {
        Some(Check::Index { size }) => below(source, *size),
        Some(Check::Binary) => below(source, 2),
        Some(Check::Range { .. }) => {
            let (low, high) = span(check);
            let (low, high) = (low.ceil() as i64, high.floor() as i64);
            low.saturating_add(below(source, high.saturating_sub(low).max(0) as u64 + 1))
        }
        Some(Check::Additive) => 0,
        Some(Check::Prob { .. }) | None => below(source, 10),
    }
}

/// Divides each row along `over` by its sum.
fn normalise(values: &mut [f32], shape: &[u64], over: usize) {
    let size = shape[over] as usize;
    let inner = shape[over + 1..].iter().product::<u64>() as usize;
    for row in 0..values.len() / size.max(1) {
        let start = row / inner * size * inner + row % inner;
        let sum: f32 = (0..size).map(|k| values[start + k * inner]).sum();
        (0..size).for_each(|k| values[start + k * inner] /= sum);
    }
}

/// SplitMix64.
struct Source(u64);

impl Source {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0)
    }

    /// A number in [0, 1).
    fn unit(&mut self) -> f64 {
        (self.next() >> 40) as f64 / f64::from(1u32 << 24)
    }
}

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
