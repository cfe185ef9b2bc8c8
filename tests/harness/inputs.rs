//! Values for the inputs of a graph, made from a seed, so that a program and a number are a test case.
//!
//! The values of an input depend on its name, its type and the seed alone: a graph that is made smaller keeps them.

use crate::random::Random;
use half::bf16;
use sx_artifact::dtype::DType;
use sx_artifact::tensor::{Data, Tensor};
use sx_compiler::ir::{Domain, Graph, Op, Type};

/// Ends the name of a float input that has NaN, infinities and zeros of both signs.
pub const SPECIAL: &str = "!";
/// Separates the name of an integer input from what its values stay below, from 0.
pub const BELOW: char = '<';

/// One value for each input, in order.
pub fn values(graph: &Graph, seed: u64) -> Vec<Tensor> {
    let value = |&id| match &graph.node(id).op {
        Op::Input(input) => tensor(&input.name, graph.ty(id.into()), seed),
        other => panic!("{other:?} is no input"),
    };
    graph.inputs.iter().map(value).collect()
}

fn tensor(name: &str, ty: &Type, seed: u64) -> Tensor {
    let salt = name.bytes().fold(seed, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let mut random = Random::new(salt);
    let count = ty.count() as usize;
    let (low, high) = integers(name, &ty.domain);
    let mut float = || float(&mut random, name.ends_with(SPECIAL), &ty.domain);
    let data: Data = match ty.dtype {
        DType::F32 => (0..count).map(|_| float()).collect::<Vec<f32>>().into(),
        DType::Bf16 => (0..count).map(|_| bf16::from_f32(float())).collect::<Vec<bf16>>().into(),
        DType::I32 => (0..count).map(|_| between(&mut random, low, high) as i32).collect::<Vec<_>>().into(),
        DType::I64 => (0..count).map(|_| between(&mut random, low, high)).collect::<Vec<_>>().into(),
        DType::Bool => (0..count).map(|_| random.below(2) == 0).collect::<Vec<_>>().into(),
    };
    Tensor::new(&ty.shape(), data)
}

/// The smallest and the largest integer that an input may be.
fn integers(name: &str, domain: &Domain) -> (i64, i64) {
    if let Some(end) = name.split_once(BELOW).and_then(|(_, end)| end.parse::<i64>().ok()) {
        return (0, end - 1);
    }
    let range = domain.range();
    let end = |x: f64, other: i64| if x.is_finite() { x as i64 } else { other };
    (end(range.lo, -4), end(range.hi, 4))
}

fn between(random: &mut Random, low: i64, high: i64) -> i64 {
    low + random.below((high - low + 1).max(1) as usize) as i64
}

fn float(random: &mut Random, special: bool, domain: &Domain) -> f32 {
    if special && random.below(5) == 0 {
        return *random.one_of(&[f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, 0.0]);
    }
    if *domain == Domain::Additive {
        return *random.one_of(&[0.0, f32::NEG_INFINITY]);
    }
    let range = domain.range();
    let (low, high) = (range.lo.max(-2.0), range.hi.min(2.0));
    (low + (high - low) * (random.below(1 << 16) as f64 + 0.5) / 65536.0) as f32
}
