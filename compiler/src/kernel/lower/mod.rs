//! One stored value to one kernel: the walk down from a root.
//!
//! A root's operands are evaluated where they are needed, at positions affine in the kernel's coordinates,
//! until stored values are reached, which are loaded. Meeting a reduction makes the kernel a `Loop` with
//! `along` coordinates, meeting a matrix product makes it a `Contraction`, and meeting an attention an
//! `Attention`, whose epilogue is what stood between. Where that cannot be, the walk says what has to change
//! ([`Retry`]): a value that must be stored by a kernel of its own, or a coordinate that must be two.
//!
//! [`Lowering`] is the walk, with an arm for each operation; `source` is where it ends, `movement` where it only
//! turns to other positions, and `reduce`, `product` and `gather` are what shapes the kernel. `lowered` is what it
//! gives.

mod gather;
mod lowered;
mod movement;
mod product;
mod reduce;
mod source;

pub use self::lowered::{AxisKey, FinishedTrap, Lowered, Retry, TrapInfo};
pub use self::product::Product;

use self::movement::{shifted, transposed};
use super::analysis::{Analysis, is_movement};
use super::attention;
use super::body::BodyBuilder;
use super::finish;
use super::index::{Idx, Space, Unaligned, flatten};
use crate::ir::{Graph, NodeId, Op, Value};
use std::collections::{BTreeSet, HashMap};
use sx_artifact::dtype::DType;
use sx_artifact::kernel::{ScalarType, Val};
use sx_artifact::scalar::ScalarFn;

/// The most loads a kernel may have: shader compilers take seconds for more.
const MOST_LOADS: usize = 40;
/// The most instructions a kernel may have.
const MOST_INSTS: usize = 400;
/// The deepest chain of operands followed.
const MOST_DEPTH: usize = 200;

/// The state of one walk.
pub struct Lowering<'a> {
    /// The graph.
    pub graph: &'a Graph,
    /// What is known of it.
    pub analysis: &'a Analysis<'a>,
    /// What the kernel computes.
    pub root: Value,
    /// The coordinates.
    pub space: Space,
    /// The code being written.
    pub body: BodyBuilder,
    /// What is loaded, in order of first use.
    pub reads: Vec<Value>,
    /// The reduced coordinates, once a reduction was met.
    pub along: Option<Vec<u32>>,
    /// The product, once one was met.
    pub product: Option<Product>,
    /// Traps met.
    pub traps: Vec<TrapInfo>,
    /// Nodes computed.
    pub nodes: BTreeSet<NodeId>,
    pieces: &'a HashMap<AxisKey, Vec<u64>>,
    owners: Vec<(AxisKey, usize)>,
    memo: HashMap<(Value, Vec<Idx>, Option<Val>), Val>,
    depth: usize,
    /// The best value to store should the body become too large.
    part: Option<Part>,
}

/// A value whose code is part of the body that is being written.
#[derive(Clone, Copy)]
struct Part {
    value: Value,
    /// How much of what a kernel may have at most it takes, in instructions.
    size: usize,
}
/// Lowers `root`, or says what has to change first.
pub fn lower(graph: &Graph, analysis: &Analysis<'_>, root: Value) -> Result<Lowered, Retry> {
    let mut pieces: HashMap<AxisKey, Vec<u64>> = HashMap::new();
    loop {
        let mut walk = Lowering::new(graph, analysis, root, &pieces);
        let result = walk.run();
        let Err(Retry::Split { axis, piece, inner }) = result else { return result };
        let whole = walk.axis_size(axis);
        let list = pieces.entry(axis).or_insert_with(|| vec![whole]);
        list[piece] /= inner;
        list.insert(piece + 1, inner);
    }
}

impl<'a> Lowering<'a> {
    fn new(
        graph: &'a Graph,
        analysis: &'a Analysis<'a>,
        root: Value,
        pieces: &'a HashMap<AxisKey, Vec<u64>>,
    ) -> Lowering<'a> {
        Lowering {
            graph,
            analysis,
            root,
            space: Space::default(),
            body: BodyBuilder::default(),
            reads: Vec::new(),
            along: None,
            product: None,
            traps: Vec::new(),
            nodes: BTreeSet::new(),
            pieces,
            owners: Vec::new(),
            memo: HashMap::new(),
            depth: 0,
            part: None,
        }
    }

    fn axis_size(&self, axis: AxisKey) -> u64 {
        let mine = self.owners.iter().enumerate().filter(|(_, owner)| owner.0 == axis);
        mine.map(|(coord, _)| self.space.size(coord as u32)).product()
    }

    fn run(&mut self) -> Result<Lowered, Retry> {
        let shape = self.graph.ty(self.root).shape();
        let at: Vec<Idx> =
            shape.iter().enumerate().map(|(i, &size)| self.new_axis(AxisKey::Root(i), size)).collect();
        if shape.contains(&0) {
            // Nothing runs for it, so any code does.
            let reg = ScalarType::of(self.graph.ty(self.root).dtype);
            let nothing = finish::number(&mut self.body, 0.0, reg);
            return Ok(finish::loop_kernel(self, &at, nothing));
        }
        let result = self.value(self.root, &at, None)?;
        let product = self.product.clone();
        match product {
            None => Ok(finish::loop_kernel(self, &at, result)),
            Some(product) if self.analysis.is_attention(product.node) => {
                attention::lower(self, product, &at, result)
            }
            Some(product) => self.contract(product, &at, result),
        }
    }

    /// How much of what a kernel may have at most the body takes, in instructions.
    fn size(&self) -> usize {
        self.body.len().max(self.body.loads() * (MOST_INSTS / MOST_LOADS))
    }

    /// Where the body has more code than shader compilers take in good time, a part of it must be stored: the first
    /// that is half of it, else the largest.
    fn within_limits(&mut self, v: Value, before: usize) -> Result<(), Retry> {
        let size = self.size();
        let part = Part { value: v, size: size - before.min(size) };
        let better = |known: &Part| known.size <= MOST_INSTS / 2 && part.size > known.size;
        if v != self.root
            && !self.is_source(v)
            && !is_movement(&self.graph.node(v.node).op)
            && self.part.as_ref().is_none_or(better)
        {
            self.part = Some(part);
        }
        match self.part {
            Some(part) if size > MOST_INSTS => Err(Retry::Store(part.value)),
            _ => Ok(()),
        }
    }

    /// Starts an empty body, and forgets what the old one computed; gives the old one.
    pub fn new_body(&mut self) -> BodyBuilder {
        self.memo.clear();
        self.part = None;
        std::mem::take(&mut self.body)
    }

    /// The coordinates of an axis, in the pieces it must have.
    pub fn new_axis(&mut self, key: AxisKey, size: u64) -> Idx {
        let whole = [size];
        let pieces = self.pieces.get(&key).map_or(&whole[..], |list| list);
        for (piece, _) in pieces.iter().enumerate().filter(|(_, n)| **n != 1) {
            self.owners.push((key, piece));
        }
        self.space.axis(pieces)
    }

    /// What has to change where positions do not align: a coordinate is split, or `otherwise` is stored.
    fn realigned(&self, problem: Unaligned, otherwise: Value) -> Retry {
        match problem {
            Unaligned::Split { coord, inner } if !self.is_whole(coord) => {
                let (axis, piece) = self.owners[coord as usize];
                Retry::Split { axis, piece, inner }
            }
            Unaligned::Split { .. } | Unaligned::Never => Retry::Store(otherwise),
        }
    }

    /// Whether a coordinate must stay one: an attention's queries, keys and widths are single axes.
    fn is_whole(&self, coord: u32) -> bool {
        let Some(product) = self.product.as_ref().filter(|p| self.analysis.is_attention(p.node)) else {
            return false;
        };
        let (axis, _) = self.owners[coord as usize];
        let last_two = &product.at[product.at.len() - 2..];
        matches!(axis, AxisKey::Keys | AxisKey::Summed)
            || last_two.iter().any(|position| position.coords().any(|c| c == coord))
    }

    /// The value of `v` at a position; nothing is loaded where `guard` is false.
    pub fn value(&mut self, v: Value, at: &[Idx], guard: Option<Val>) -> Result<Val, Retry> {
        if v != self.root && self.analysis.is_stored(v) {
            return Ok(self.load(v, &flatten(at, &self.graph.ty(v).shape()), guard));
        }
        let key = (v, at.to_vec(), guard);
        if let Some(&known) = self.memo.get(&key) {
            return Ok(known);
        }
        if self.depth > MOST_DEPTH && !self.is_source(v) {
            return Err(Retry::Store(v));
        }
        self.depth += 1;
        self.nodes.insert(v.node);
        let before = self.size();
        let result = self.compute(v, at, guard)?;
        self.within_limits(v, before)?;
        self.depth -= 1;
        self.memo.insert(key, result);
        Ok(result)
    }

    fn compute(&mut self, v: Value, at: &[Idx], guard: Option<Val>) -> Result<Val, Retry> {
        let node = self.graph.node(v.node);
        match &node.op {
            Op::Input(_) | Op::Param(_) | Op::Context(_) => {
                Ok(self.load(v, &flatten(at, &self.graph.ty(v).shape()), guard))
            }
            Op::Constant(constant) => Ok(self.constant(v, &constant.value, at, guard)),
            Op::Iota(iota) => Ok(self.body.index(&at[iota.axis], ScalarType::of(iota.dtype), &self.space)),
            Op::Map(map) => self.map(v, map.f, at, guard),
            Op::Cast(cast) => self.cast(node.args[0], cast.dtype, at, guard),
            Op::As(_) => self.value(node.args[0], at, guard),
            Op::Broadcast(_) => self.value(node.args[0], &self.narrowed(node.args[0], at), guard),
            Op::Reshape(_) => self.reshape(v, at, guard),
            Op::Transpose(transpose) => self.value(node.args[0], &transposed(&transpose.order, at), guard),
            Op::Slice(slice) => self.value(node.args[0], &shifted(at, slice.axis, slice.start as i64), guard),
            Op::Concat(concat) => self.concat(v, concat.axis, at, guard),
            Op::Reduce(reduce) => self.reduce(v, reduce, at, guard),
            Op::Matmul(matmul) => self.matmul(v, matmul.out_f32, at, guard),
            Op::Attention(_) => self.met_product(v, at, guard, ScalarType::F32),
            Op::Index(_) => self.rows(v, at, guard),
            Op::Gather(gather) => self.gather(v, gather.axis, at, guard),
            Op::Composite(_) => Err(Retry::Store(v)),
        }
    }

    fn cast(&mut self, x: Value, dtype: DType, at: &[Idx], guard: Option<Val>) -> Result<Val, Retry> {
        let from = self.graph.ty(x).dtype;
        let x = self.value(x, at, guard)?;
        Ok(finish::cast(&mut self.body, x, from, dtype))
    }

    fn map(&mut self, v: Value, f: ScalarFn, at: &[Idx], guard: Option<Val>) -> Result<Val, Retry> {
        let operands = self.graph.node(v.node).args.clone();
        let mut args = Vec::with_capacity(operands.len());
        for operand in operands {
            args.push(self.value(operand, at, guard)?);
        }
        let y = self.body.call(f, args);
        let rounds = crate::ops::scalar::def(f).rounds;
        Ok(if rounds { self.body.rounded(y, self.graph.ty(v).dtype) } else { y })
    }
}
