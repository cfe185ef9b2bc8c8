//! What every operation means.
//!
//! One operation is one record (scalar functions, `scalar/`) or one implementation of [`Rules`] (everything
//! else), in one file. [`rules`] is the register: an exhaustive match, so that rustc lists what is missing.

pub mod build;
pub mod fault;
pub mod sense;
pub mod shape;

pub mod scalar;

mod attention;
pub mod broadcast;
pub mod called;
pub mod cast;
mod composite;
mod concat;
mod index;
mod iota;
pub mod matmul;
mod reduce;
mod reshape;
mod slice;
mod source;
mod transpose;

pub mod region;
pub mod verify;
pub mod walk;

pub use broadcast::broadcast_shape;
pub use build::Builder;
pub use fault::{Fault, Operand};
pub use shape::{axes, axis};

use crate::ir::{Op, Type};
use sx_artifact::tensor::Tensor;

/// The questions the compiler asks of an operation. No method has a default: a new operation does not
/// compile until it answers every question, and a new question until every operation answers it.
pub trait Rules {
    /// What there is to say about it.
    fn about(&self) -> About<'_>;

    /// The types of the results, domains included: the dtype, shape and domain rules together.
    fn infer(&self, args: &[Type]) -> Result<Vec<Type>, Fault>;

    /// The meaning. Slow, plain and right: floats in f64, rounded to the dtype after the operation.
    fn reference(&self, args: &[&Tensor]) -> Result<Vec<Tensor>, Trap>;
}

/// What there is to say about an operation.
pub struct About<'a> {
    /// The name in printed graphs and messages.
    pub name: &'a str,
    /// A call of it, `(slice x axis start stop)`; empty for what no call makes.
    pub signature: &'static str,
    /// One sentence for the book and `sxc doc`, lower case, no full stop.
    pub summary: &'static str,
    /// Which dtypes it takes, in words.
    pub takes: &'static str,
    /// Which domain its results have, in words: what `infer` does.
    pub domain: &'static str,
    /// A program and its value, `(neg 1.0) ; => -1`; a test runs it.
    pub example: &'static str,
    /// How far a target may stray from `reference`.
    pub tolerance: Tolerance,
}

/// An element that the program may not use was reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trap {
    /// The flat position in the index operand.
    pub position: u64,
    /// The value that was refused.
    pub value: i64,
    /// The size of the axis.
    pub size: u64,
}

/// How far a target may stray from the reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// Bit for bit, operands that are subnormal aside.
    Exact,
    /// Correctly rounded on `cpu` and `cuda`, within 1 unit in the last place on `wgpu`.
    Rounded,
    /// Units in the last place of the correctly rounded result.
    Ulps(u32),
    /// Units in the last place of the sum of the magnitudes of what is added: `Sum` over n, pairwise.
    Sum,
    /// One unit in the last place of the result for each factor.
    Prod,
    /// `4 sqrt(k)` units in the last place of the product of the magnitudes.
    Dot,
    /// What the operations of the region add up to.
    Region,
}

/// The rules of an operation. This match is the register.
pub fn rules(op: &Op) -> &dyn Rules {
    match op {
        Op::Input(op) => op,
        Op::Param(op) => op,
        Op::Context(op) => op,
        Op::Constant(op) => op,
        Op::Iota(op) => op,
        Op::Map(op) => op,
        Op::Cast(op) => op,
        Op::As(op) => op,
        Op::Broadcast(op) => op,
        Op::Reshape(op) => op,
        Op::Transpose(op) => op,
        Op::Slice(op) => op,
        Op::Concat(op) => op,
        Op::Reduce(op) => op,
        Op::Matmul(op) => op,
        Op::Index(op) => op,
        Op::Gather(op) => op,
        Op::Attention(op) => op,
        Op::Composite(op) => op,
    }
}
