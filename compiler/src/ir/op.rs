//! What a node may compute: the vocabulary of graphs. The meaning is in `ops`.

use super::domain::Domain;
use super::graph::Graph;
use super::ty::Dim;
use std::sync::Arc;
use sx_artifact::dtype::DType;
use sx_artifact::kernel::FoldOp;
use sx_artifact::scalar::ScalarFn;
use sx_artifact::tensor::Tensor;

/// An operation with its attributes. Operands and result types stand in the node.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// A graph's input, by name; or, in a region, its argument.
    Input(Input),
    /// A learned value, by name.
    Param(Param),
    /// An integer scalar the runtime feeds.
    Context(Context),
    /// A value known at compile time.
    Constant(Constant),
    /// Positions along an axis.
    Iota(Iota),
    /// A scalar function, elementwise. All operands have the result's shape: broadcasts are nodes.
    Map(Map),
    /// A change of dtype.
    Cast(Cast),
    /// An assertion about values (`as`): the operand itself, of another domain.
    As(As),
    /// Repetition along axes, right aligned, as NumPy does it.
    Broadcast(Broadcast),
    /// The same elements in row-major order in another shape.
    Reshape(Reshape),
    /// A permutation of the axes.
    Transpose(Transpose),
    /// A range of positions of one axis.
    Slice(Slice),
    /// Operands one after the other along an axis.
    Concat(Concat),
    /// A fold over axes.
    Reduce(Reduce),
    /// A batched matrix product.
    Matmul(Matmul),
    /// Rows of a table by integers.
    Index(Index),
    /// Elements along an axis by integers.
    Gather(Gather),
    /// `softmax(score(q k)) v`, recorded by `passes::attention` so that fusion need not store the scores.
    Attention(Attention),
    /// A library function as one node with a region, expanded just before fusion.
    Composite(Composite),
}

impl Op {
    /// The regions it owns. An operation of a region sees nothing but the region's inputs.
    pub fn regions(&self) -> &[Arc<Graph>] {
        match self {
            Op::Attention(attention) => std::slice::from_ref(&attention.score),
            Op::Composite(composite) => std::slice::from_ref(&composite.region),
            Op::Input(_) | Op::Param(_) | Op::Context(_) | Op::Constant(_) | Op::Iota(_) => &[],
            Op::Map(_) | Op::Cast(_) | Op::As(_) | Op::Reduce(_) | Op::Matmul(_) => &[],
            Op::Broadcast(_) | Op::Reshape(_) | Op::Transpose(_) | Op::Slice(_) | Op::Concat(_) => &[],
            Op::Index(_) | Op::Gather(_) => &[],
        }
    }

    /// The same operation with other regions, as many as it has.
    pub fn with_regions(mut self, regions: Vec<Arc<Graph>>) -> Op {
        let mut regions = regions.into_iter();
        match &mut self {
            Op::Attention(Attention { score: own, .. }) | Op::Composite(Composite { region: own, .. }) => {
                if let Some(region) = regions.next() {
                    *own = region;
                }
            }
            Op::Input(_) | Op::Param(_) | Op::Context(_) | Op::Constant(_) | Op::Iota(_) => {}
            Op::Map(_) | Op::Cast(_) | Op::As(_) | Op::Reduce(_) | Op::Matmul(_) => {}
            Op::Broadcast(_) | Op::Reshape(_) | Op::Transpose(_) | Op::Slice(_) | Op::Concat(_) => {}
            Op::Index(_) | Op::Gather(_) => {}
        }
        self
    }
}

/// See [`Op::Input`].
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// The name it is fed by.
    pub name: String,
}

/// See [`Op::Param`].
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// The name, scopes included.
    pub name: String,
}

/// See [`Op::Context`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Context {
    /// `(getf ctx :step)`
    Step,
    /// `(getf ctx :microbatch)`
    Microbatch,
}

/// See [`Op::Constant`].
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    /// The value.
    pub value: Arc<Tensor>,
}

/// See [`Op::Iota`].
#[derive(Clone, Debug, PartialEq)]
pub struct Iota {
    /// The shape of the result.
    pub dims: Vec<Dim>,
    /// The axis whose positions are counted.
    pub axis: usize,
    /// `i32` or `i64`.
    pub dtype: DType,
}

/// See [`Op::Map`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Map {
    /// The function.
    pub f: ScalarFn,
}

/// See [`Op::Cast`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cast {
    /// The dtype of the result.
    pub dtype: DType,
}

/// See [`Op::As`].
#[derive(Clone, Debug, PartialEq)]
pub struct As {
    /// What is asserted.
    pub domain: Domain,
}

/// See [`Op::Broadcast`].
#[derive(Clone, Debug, PartialEq)]
pub struct Broadcast {
    /// The shape of the result.
    pub dims: Vec<Dim>,
}

/// See [`Op::Reshape`].
#[derive(Clone, Debug, PartialEq)]
pub struct Reshape {
    /// The shape of the result.
    pub dims: Vec<Dim>,
}

/// See [`Op::Transpose`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transpose {
    /// Axis `i` of the result is axis `order[i]` of the operand.
    pub order: Vec<usize>,
}

/// See [`Op::Slice`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    /// The axis.
    pub axis: usize,
    /// The first position kept.
    pub start: u64,
    /// One past the last position kept.
    pub stop: u64,
}

/// See [`Op::Concat`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Concat {
    /// The axis.
    pub axis: usize,
}

/// See [`Op::Reduce`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reduce {
    /// How two values combine.
    pub op: FoldOp,
    /// The axes folded, ascending.
    pub axes: Vec<usize>,
    /// Whether they stay, with size 1.
    pub keepdims: bool,
}

/// See [`Op::Matmul`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Matmul {
    /// `:out :f32`: store the f32 accumulator of bf16 operands unrounded.
    pub out_f32: bool,
}

/// See [`Op::Index`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Index;

/// See [`Op::Gather`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gather {
    /// The axis.
    pub axis: usize,
}

/// See [`Op::Attention`]. Its operands are `q [.. t d]`, `k [.. d s]`, `v [.. s e]`, then what else the scores are
/// made of, each `[.. t s]`; the leading axes are equal. The result is `[.. t e]`. All floats are f32.
#[derive(Clone, Debug, PartialEq)]
pub struct Attention {
    /// The scores: elementwise work (`Map` and `As`) on its inputs, which are the products `q k` and the operands
    /// after `v`, each `[.. t s]`.
    pub score: Arc<Graph>,
    /// Whether a row of scores that are all -inf gives 0; otherwise it gives NaN, as a softmax does.
    pub zero_hidden_rows: bool,
}

/// See [`Op::Composite`].
#[derive(Clone, Debug, PartialEq)]
pub struct Composite {
    /// The library function's name, for people to read: nothing depends on it.
    pub name: String,
    /// The domain of the first result, where the library states it; otherwise that of the region's output.
    pub domain: Option<Domain>,
    /// What it computes: its inputs are the node's operands, its outputs the node's results.
    pub region: Arc<Graph>,
}
