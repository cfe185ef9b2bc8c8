//! Kernels as loops: what a launch computes, on every target.
//!
//! A kernel is a loop nest around a [`Body`]: straight-line scalar code in which each instruction defines one
//! value. The CPU runs this form itself; WGSL, SPIR-V and MSL are spelled from it. Nothing here is trusted
//! when it comes from a file: [`crate::validate`] proves that no access leaves its buffer, and says by which rules
//! of a target.
//!
//! Read in this order: the data here, [`body`], [`section`], [`affine`], [`text`], [`interpret`].
//!
//! ## Coordinates
//!
//! Each body has a list of coordinates, the loop variables it may read, in a fixed order: see the kinds of
//! [`KernelKind`]. Strides in an [`Affine`] are one for each coordinate of the body they stand in.
//!
//! ## Levels
//!
//! In a [`Loop`] a value is *per element* if it depends on an `along` coordinate, else *per row*.
//! [`Inst::Fold`] reduces a per-element value over all `along` coordinates to a per-row value.
//! A target runs the body in phases: everything the first folds need, the folds, what the next ones need, …;
//! per-element values may be recomputed in a later phase. A loop without `along` is a map.

pub mod affine;
pub mod body;
pub mod interpret;
pub mod section;
pub mod text;

use crate::dtype::DType;
use crate::scalar::ScalarFn;
use serde::{Deserialize, Serialize};

/// A value of a body: the position of the instruction that defines it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Val(pub u32);

/// The type of a value in a register. `bf16` is loaded as `F32`, and stored from an `F32` that
/// [`Inst::RoundBf16`] has rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScalarType {
    /// binary32
    F32,
    /// 32-bit integer
    I32,
    /// 64-bit integer
    I64,
    /// truth value
    Bool,
}

impl ScalarType {
    /// The register type that holds elements of `dtype`.
    pub fn of(dtype: DType) -> ScalarType {
        match dtype {
            DType::F32 | DType::Bf16 => ScalarType::F32,
            DType::I32 => ScalarType::I32,
            DType::I64 => ScalarType::I64,
            DType::Bool => ScalarType::Bool,
        }
    }
}

/// A scalar known at compile time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Const {
    /// The bits of a binary32.
    F32(u32),
    /// A 32-bit integer.
    I32(i32),
    /// A 64-bit integer.
    I64(i64),
    /// A truth value.
    Bool(bool),
}

/// An integer that is affine in the coordinates: `offset + sum(strides[i] * coord[i])`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Affine {
    /// The value where every coordinate is 0.
    pub offset: i64,
    /// One factor for each coordinate of the body.
    pub strides: Vec<i64>,
}

/// Which element of which argument, in elements (not bytes).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Access {
    /// Position in [`Kernel::args`].
    pub arg: u32,
    /// The part that follows the coordinates.
    pub at: Affine,
    /// The part that follows computed indices: pairs of an [`Inst::Bounded`] value and its stride.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gathered: Vec<(Val, i64)>,
}

/// How a fold combines two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FoldOp {
    /// `a + b` from 0; f32 in a fixed order that depends on the size alone (`numerics` in the book).
    Sum,
    /// The larger, NaN if either is NaN; from -inf or the smallest integer.
    Max,
    /// The smaller, NaN if either is NaN; from inf or the largest integer.
    Min,
    /// `a * b` from 1.
    Prod,
    /// Both, from true.
    All,
    /// Either, from false.
    Any,
}

/// One instruction; it defines the value with its own position.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Inst {
    /// A constant.
    Const(Const),
    /// An integer made of the coordinates, as `I32` or `I64`.
    Index {
        /// The integer.
        at: Affine,
        /// `I32` or `I64`.
        reg: ScalarType,
    },
    /// An element of a read argument. Where `guard` is false nothing is read and the value is 0: the element
    /// may be out of bounds there.
    Load {
        /// Which element.
        access: Access,
        /// A `Bool`, for loads that are only in bounds where it holds (a concatenation's parts).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        guard: Option<Val>,
    },
    /// The accumulator handed to an epilogue ([`Contraction`], [`Attention`]).
    Acc {
        /// The accumulator's type.
        reg: ScalarType,
    },
    /// A scalar function of registers.
    Call {
        /// The function.
        f: ScalarFn,
        /// Its arguments, as many as its arity.
        args: Vec<Val>,
    },
    /// A conversion by the language's cast rules.
    Convert {
        /// The type to convert to.
        to: ScalarType,
        /// What to convert.
        x: Val,
    },
    /// An `F32` rounded to the nearest bf16, ties to even; still an `F32`.
    RoundBf16 {
        /// What to round.
        x: Val,
    },
    /// `x` (`I32` or `I64`) if `0 <= x < size`; otherwise the launch traps with [`Kernel::traps`]`[trap]`
    /// and the value is 0. Gives an `I64`-ranged index that an [`Access`] may use; its type is `x`'s.
    Bounded {
        /// The index.
        x: Val,
        /// The size of the axis it indexes.
        size: u64,
        /// Which trap of the kernel, or `None` where the compiler has proven that the index is in range. A file
        /// cannot show that proof, so there a target clamps the index to `0..size` instead of testing it.
        trap: Option<u32>,
    },
    /// A per-element value reduced over all `along` coordinates. Only in a [`Loop`].
    Fold {
        /// How two values combine.
        op: FoldOp,
        /// What is reduced.
        x: Val,
    },
}

/// Straight-line scalar code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Body {
    /// The instructions; each uses only values defined before it.
    pub insts: Vec<Inst>,
}

impl Inst {
    /// The type of the value it defines, given those defined `before` it, or `None` where it names an
    /// argument or value that is not there.
    pub fn reg(&self, args: &[Arg], before: &[ScalarType]) -> Option<ScalarType> {
        let of = |value: Val| before.get(value.0 as usize).copied();
        match self {
            Inst::Const(value) => Some(value.ty()),
            Inst::Index { reg, .. } | Inst::Acc { reg } => Some(*reg),
            Inst::Load { access, .. } => args.get(access.arg as usize).map(|arg| ScalarType::of(arg.dtype)),
            Inst::Call { f, args } => {
                f.gives(&args.iter().map(|&arg| of(arg)).collect::<Option<Vec<ScalarType>>>()?)
            }
            Inst::Convert { to, .. } => Some(*to),
            Inst::RoundBf16 { x } | Inst::Bounded { x, .. } | Inst::Fold { x, .. } => of(*x),
        }
    }
}

/// A value written to an argument.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Store {
    /// What is written; its register type is that of the argument's dtype.
    pub value: Val,
    /// Where. Never gathered. In a [`Loop`], all `along` strides are 0 exactly when it is written once a row.
    pub access: Access,
}

/// A map, or reductions over one set of axes with what surrounds them.
///
/// Coordinates of the body: `dims` then `along`. For each point of `dims`, the body runs over `along`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Loop {
    /// The rows: sizes of the parallel coordinates, outermost first.
    pub dims: Vec<u64>,
    /// The reduced coordinates; empty for a map.
    pub along: Vec<u64>,
    /// What is computed.
    pub body: Body,
    /// What is written, once a row or once an element. Together they cover each output exactly once.
    pub stores: Vec<Store>,
}

/// Code that yields one operand.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Operand {
    /// The code.
    pub body: Body,
    /// Its result.
    pub value: Val,
}

/// `acc[batch, m, n] = sum over k of lhs[batch, m, k] * rhs[batch, k, n]`, then the epilogue.
///
/// Each of batch, m, n, k is a list of sizes (several axes that do not collapse into one, or none).
/// Coordinates: of `lhs`, batch then m then k; of `rhs`, batch then k then n; of the epilogue, batch, m, n.
/// Both operands have one register type, `F32`, `I32` or `I64`; it is the accumulator's.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Contraction {
    /// Sizes of the axes that both operands share and the result keeps.
    pub batch: Vec<u64>,
    /// Sizes of the axes of the left operand alone.
    pub m: Vec<u64>,
    /// Sizes of the axes of the right operand alone.
    pub n: Vec<u64>,
    /// Sizes of the summed axes.
    pub k: Vec<u64>,
    /// The left operand.
    pub lhs: Operand,
    /// The right operand.
    pub rhs: Operand,
    /// Code over the accumulator.
    pub epilogue: Body,
    /// What is written of it.
    pub stores: Vec<Store>,
}

/// `acc[batch, t, e] = sum over s of softmax_s(score(query · key)) * value[batch, s, e]`, then the epilogue,
/// without the scores ever being stored.
///
/// Coordinates: of `query`, batch then t then d; of `key`, batch then s then d; of `value`, batch then s then
/// e; of `score`, batch then t then s, with the dot product as [`Inst::Acc`]; of the epilogue, batch, t, e.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Attention {
    /// Batch and head axes.
    pub batch: Vec<u64>,
    /// How many queries.
    pub t: u64,
    /// How many keys.
    pub s: u64,
    /// Width of queries and keys.
    pub d: u64,
    /// Width of values.
    pub e: u64,
    /// The queries, `F32`.
    pub query: Operand,
    /// The keys, `F32`.
    pub key: Operand,
    /// The values, `F32`.
    pub value: Operand,
    /// From the dot product to the score: scale, mask, bias. -inf hides a key.
    pub score: Operand,
    /// True where the score is known to be -inf for every key `s > t + (S - T)`: those need not be computed.
    pub causal: bool,
    /// Whether a query whose every score is -inf gives 0; otherwise it gives NaN, as a softmax does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub zero_hidden_rows: bool,
    /// Code over the accumulator.
    pub epilogue: Body,
    /// What is written of it.
    pub stores: Vec<Store>,
}

/// What a kernel computes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KernelKind {
    /// A map or reductions.
    Loop(Loop),
    /// A matrix product.
    Contraction(Contraction),
    /// Attention.
    Attention(Attention),
}

/// Whether a kernel reads or writes an argument; never both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Only read.
    Read,
    /// Only written.
    Write,
}

/// A buffer that a kernel is launched with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Arg {
    /// How its elements are stored.
    pub dtype: DType,
    /// How many elements the kernel may reach, from the start of the binding.
    pub len: u64,
    /// Read or written.
    pub mode: Mode,
}

/// One kernel: launched with as many buffers as it has arguments.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Kernel {
    /// A readable name, unique in its program: what profiles, files and messages call it.
    pub name: String,
    /// The arguments, reads first.
    pub args: Vec<Arg>,
    /// How many traps it has; a launch names the site of each.
    pub traps: u32,
    /// What it computes.
    pub kind: KernelKind,
}
