//! One stored value to one kernel: the walk down from a root.
//!
//! A root's operands are evaluated where they are needed, at positions affine in the kernel's coordinates,
//! until stored values are reached, which are loaded. Meeting a reduction makes the kernel a [`Loop`] with
//! `along` coordinates, meeting a matrix product makes it a [`Contract`] (or, behind a softmax, an
//! `Attention`) whose epilogue is what stood between. Where that cannot be, the walk says what has to change
//! ([`Retry`]): a value that must be stored by a kernel of its own, or a coordinate that must be two.

use super::analysis::{Analysis, CHEAP};
use super::body::BodyBuilder;
use super::finish;
use super::index::{Idx, Space, Term, Unaligned, flatten, unflatten};
use crate::ir::{Graph, NodeId, Op, Value, op};
use std::collections::{BTreeSet, HashMap, HashSet};
use sx_artifact::kernel::{Const, FoldOp, Inst, Kernel, Reg, Val};
use sx_artifact::scalar::ScalarFn;
use sx_artifact::tensor::{Data, Tensor};

/// What has to change before a root can be lowered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Retry {
    /// This value must be stored by a kernel of its own.
    Store(Value),
    /// An axis must have another coordinate, of this size, inside a piece.
    Split {
        /// The axis.
        axis: AxisKey,
        /// Which of its pieces.
        piece: usize,
        /// The size of the new inner piece.
        inner: u64,
    },
}

/// An axis that coordinates are made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AxisKey {
    /// An axis of the root.
    Root(usize),
    /// A reduced axis.
    Along(usize),
    /// The summed axis of a matrix product; the width of queries and keys.
    Summed,
    /// The keys of an attention.
    Keys,
}

/// Where a launch may trap.
#[derive(Clone, Debug)]
pub struct TrapInfo {
    /// The node that indexes.
    pub node: NodeId,
    /// The index operand.
    pub operand: Value,
    /// The flat position in it.
    pub position: Idx,
    /// The size of the indexed axis.
    pub size: u64,
}

/// A kernel with what its arguments are.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The kernel; its name is a description that need not be unique.
    pub kernel: Kernel,
    /// What each read argument holds.
    pub reads: Vec<Value>,
    /// What each written argument holds.
    pub writes: Vec<Value>,
    /// The traps, in the kernel's order, with positions over the coordinates of the body they stand in.
    pub traps: Vec<FinishedTrap>,
    /// The nodes it computes.
    pub nodes: Vec<NodeId>,
}

/// A trap of a finished kernel.
#[derive(Clone, Debug)]
pub struct FinishedTrap {
    /// The node that indexes.
    pub node: NodeId,
    /// The index operand.
    pub operand: Value,
    /// The flat position in it, over the body's coordinates.
    pub position: sx_artifact::kernel::Affine,
    /// The sizes of those coordinates.
    pub dims: Vec<u64>,
    /// The size of the indexed axis.
    pub size: u64,
}

/// The matrix product a kernel is built around.
#[derive(Clone, Debug)]
pub struct Product {
    /// The node.
    pub node: NodeId,
    /// The position on each axis of its result.
    pub at: Vec<Idx>,
}

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
    /// The product of the scores, while the score of an attention is walked.
    pub scores: Option<Product>,
    /// True while the score of an attention is walked.
    pub in_score: bool,
    pieces: &'a HashMap<AxisKey, Vec<u64>>,
    owners: Vec<(AxisKey, usize)>,
    memo: HashMap<(Value, Vec<Idx>, Option<Val>), Val>,
    depth: usize,
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
            scores: None,
            in_score: false,
            pieces,
            owners: Vec::new(),
            memo: HashMap::new(),
            depth: 0,
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
            let reg = Reg::of(self.graph.ty(self.root).dtype);
            let nothing = finish::number(&mut self.body, 0.0, reg);
            return Ok(finish::loop_kernel(self, &at, nothing));
        }
        let result = self.value(self.root, &at, None)?;
        let kernel_is_large = self.body.loads() > MOST_LOADS || self.body.len() > MOST_INSTS;
        if kernel_is_large && let Some(value) = self.analysis.costliest_operand(self.root) {
            return Err(Retry::Store(value));
        }
        let product = self.product.clone();
        match product {
            None => Ok(finish::loop_kernel(self, &at, result)),
            Some(product) if self.analysis.is_attention(product.node) => {
                super::attention::lower(self, product, &at, result)
            }
            Some(product) => self.contract(product, &at, result),
        }
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

    /// The value of `v` at a position; nothing is loaded where `guard` is false.
    pub fn value(&mut self, v: Value, at: &[Idx], guard: Option<Val>) -> Result<Val, Retry> {
        if v != self.root && self.analysis.is_stored(v) {
            return Ok(self.load(v, &flatten(at, &self.graph.ty(v).shape()), guard));
        }
        let key = (v, at.to_vec(), guard);
        if let Some(&known) = self.memo.get(&key) {
            return Ok(known);
        }
        if self.depth > MOST_DEPTH {
            return Err(Retry::Store(v));
        }
        self.depth += 1;
        self.nodes.insert(v.node);
        let result = self.compute(v, at, guard)?;
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
            Op::Iota(iota) => Ok(self.body.index(&at[iota.axis], Reg::of(iota.dtype), &self.space)),
            Op::Map(map) => self.map(v, map.f, at, guard),
            Op::Cast(cast) => {
                let from = self.graph.ty(node.args[0]).dtype;
                let x = self.value(node.args[0], at, guard)?;
                Ok(super::finish::cast(&mut self.body, x, from, cast.dtype))
            }
            Op::As(_) => self.value(node.args[0], at, guard),
            Op::Broadcast(_) => self.value(node.args[0], &self.narrowed(node.args[0], at), guard),
            Op::Reshape(_) => self.reshape(v, at, guard),
            Op::Transpose(transpose) => {
                let mut inner = vec![Idx::default(); at.len()];
                for (to, &from) in transpose.order.iter().enumerate() {
                    inner[from] = at[to].clone();
                }
                self.value(node.args[0], &inner, guard)
            }
            Op::Slice(slice) => {
                let mut inner = at.to_vec();
                inner[slice.axis] = inner[slice.axis].shifted(slice.start as i64);
                self.value(node.args[0], &inner, guard)
            }
            Op::Concat(concat) => self.concat(v, concat.axis, at, guard),
            Op::Reduce(reduce) => self.reduce(v, reduce, at, guard),
            Op::Matmul(matmul) => self.matmul(v, matmul.out_f32, at, guard),
            Op::Index(_) => {
                let ids_rank = self.graph.ty(node.args[1]).rank();
                let row = self.gathered(v, 0, &at[..ids_rank], guard)?;
                let inner: Vec<Idx> = std::iter::once(row).chain(at[ids_rank..].iter().cloned()).collect();
                self.table(node.args[0], &inner, guard)
            }
            Op::Gather(gather) => {
                let mut inner = at.to_vec();
                inner[gather.axis] = self.gathered(v, gather.axis, at, guard)?;
                self.table(node.args[0], &inner, guard)
            }
            Op::Composite(_) => Err(Retry::Store(v)),
        }
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

    /// `at` on the axes of a broadcast's operand.
    fn narrowed(&self, operand: Value, at: &[Idx]) -> Vec<Idx> {
        let dims = &self.graph.ty(operand).dims;
        let skipped = at.len() - dims.len();
        let position = |(dim, idx): (&crate::ir::Dim, &Idx)| {
            if dim.size == 1 { Idx::default() } else { idx.clone() }
        };
        dims.iter().zip(&at[skipped..]).map(position).collect()
    }

    fn reshape(&mut self, v: Value, at: &[Idx], guard: Option<Val>) -> Result<Val, Retry> {
        let flat = flatten(at, &self.graph.ty(v).shape());
        let mut operand = self.graph.node(v.node).args[0];
        while !self.analysis.is_stored(operand)
            && matches!(self.graph.node(operand.node).op, Op::Reshape(_) | Op::As(_))
        {
            operand = self.graph.node(operand.node).args[0];
        }
        if self.analysis.is_stored(operand) || self.is_source(operand) {
            return Ok(match &self.graph.node(operand.node).op {
                Op::Constant(c) if uniform(&c.value).is_some() => {
                    self.constant(operand, &c.value, &[], guard)
                }
                _ => self.load(operand, &flat, guard),
            });
        }
        match unflatten(&flat, &self.graph.ty(operand).shape(), &self.space) {
            Ok(inner) => self.value(operand, &inner, guard),
            Err(Unaligned::Split { coord, inner }) => {
                let (axis, piece) = self.owners[coord as usize];
                Err(Retry::Split { axis, piece, inner })
            }
            Err(Unaligned::Never) => Err(Retry::Store(operand)),
        }
    }

    fn concat(&mut self, v: Value, axis: usize, at: &[Idx], guard: Option<Val>) -> Result<Val, Retry> {
        let operands = self.graph.node(v.node).args.clone();
        let (lowest, highest) = (at[axis].offset, self.space.max(&at[axis]));
        let mut parts = Vec::new();
        let mut start = 0i64;
        for operand in operands {
            let stop = start + self.graph.ty(operand).dims[axis].size as i64;
            if start < stop && lowest < stop && start <= highest {
                parts.push((operand, start, stop));
            }
            start = stop;
        }
        let mut result: Option<Val> = None;
        for &(operand, start, stop) in parts.iter().rev() {
            let inside =
                self.within(&at[axis], (start > lowest).then_some(start), (stop <= highest).then_some(stop));
            let part_guard = match (guard, inside) {
                (Some(outer), Some(inner)) => Some(self.body.call(ScalarFn::And, vec![outer, inner])),
                (outer, inner) => outer.or(inner),
            };
            if parts.len() > 1 && self.analysis.cost(operand) > CHEAP {
                return Err(Retry::Store(self.analysis.cut(operand, self.root)));
            }
            let mut inner = at.to_vec();
            inner[axis] = inner[axis].shifted(-start);
            let part = self.value(operand, &inner, part_guard)?;
            result = Some(match (result, inside) {
                (Some(rest), Some(inside)) => self.body.call(ScalarFn::Where, vec![inside, part, rest]),
                (_, _) => part,
            });
        }
        result.ok_or(Retry::Store(v))
    }

    /// Whether a position is in `start..stop`, or `None` where that is sure.
    fn within(&mut self, idx: &Idx, start: Option<i64>, stop: Option<i64>) -> Option<Val> {
        let position = self.body.index(idx, Reg::I32, &self.space);
        let above = start.map(|start| {
            let bound = self.body.constant(Const::I32(start as i32));
            self.body.call(ScalarFn::Ge, vec![position, bound])
        });
        let below = stop.map(|stop| {
            let bound = self.body.constant(Const::I32(stop as i32));
            self.body.call(ScalarFn::Lt, vec![position, bound])
        });
        match (above, below) {
            (Some(a), Some(b)) => Some(self.body.call(ScalarFn::And, vec![a, b])),
            (a, b) => a.or(b),
        }
    }

    /// The bounded index that an `index` or `gather` reads at `at`, as a position on axis `axis` of its table.
    fn gathered(&mut self, v: Value, axis: usize, at: &[Idx], guard: Option<Val>) -> Result<Idx, Retry> {
        let (table, ids) = (self.graph.node(v.node).args[0], self.graph.node(v.node).args[1]);
        let size = self.graph.ty(table).dims[axis].size;
        let mut x = self.value(ids, at, guard)?;
        if let Some(guard) = guard {
            let zero = match self.body.reg(x) {
                Reg::I64 => Const::I64(0),
                Reg::I32 | Reg::F32 | Reg::Bool => Const::I32(0),
            };
            let zero = self.body.constant(zero);
            x = self.body.call(ScalarFn::Where, vec![guard, x, zero]);
        }
        let trap = if self.analysis.proven_below(ids, size) {
            None
        } else {
            let position = flatten(at, &self.graph.ty(ids).shape());
            self.traps.push(TrapInfo { node: v.node, operand: ids, position, size });
            Some(self.traps.len() as u32 - 1)
        };
        let reg = self.body.reg(x);
        let bounded = self.body.inst(Inst::Bounded { x, size, trap }, reg);
        Ok(Idx::term(Term::Gathered(bounded, size)))
    }

    /// An element of a table, which is stored or a view of what is stored.
    fn table(&mut self, table: Value, at: &[Idx], guard: Option<Val>) -> Result<Val, Retry> {
        match self.analysis.computed_behind_views(table) {
            Some(computed) if computed != self.root => Err(Retry::Store(computed)),
            _ => self.value(table, at, guard),
        }
    }

    fn reduce(
        &mut self,
        v: Value,
        reduce: &op::Reduce,
        at: &[Idx],
        guard: Option<Val>,
    ) -> Result<Val, Retry> {
        let refused = Err(Retry::Store(self.analysis.row_cut(v, self.root)));
        if let Some(product) = &self.product
            && self.analysis.computes(v, product.node)
        {
            // What is reduced is the product: it is stored, and this kernel reduces.
            return Err(Retry::Store(self.analysis.cut(product.node.into(), self.root)));
        }
        let operand = self.graph.node(v.node).args[0];
        let operand_ty = self.graph.ty(operand).clone();
        if guard.is_some() || self.product.is_some() || at.iter().any(Idx::is_gathered) {
            return refused;
        }
        let reduced: Vec<u64> = reduce.axes.iter().map(|&axis| operand_ty.dims[axis].size).collect();
        if reduced.contains(&0) {
            return Ok(finish::identity(&mut self.body, reduce.op, Reg::of(operand_ty.dtype)));
        }
        let depends: HashSet<u32> = at.iter().flat_map(Idx::coords).collect();
        if !self.choose_along(&depends, &reduced) {
            return refused;
        }
        let mut flat = Idx::default();
        let mut stride = 1;
        let along = self.along.clone().unwrap_or_default();
        for &coord in along.iter().rev() {
            flat.add_scaled(&Idx::term(Term::Coord(coord)), stride);
            stride *= self.space.size(coord) as i64;
        }
        let inner = match unflatten(&flat, &reduced, &self.space) {
            Ok(inner) => inner,
            Err(Unaligned::Split { coord, inner }) => {
                let (axis, piece) = self.owners[coord as usize];
                return Err(Retry::Split { axis, piece, inner });
            }
            Err(Unaligned::Never) => return refused,
        };
        let mut kept = at.iter();
        let mut position = Vec::with_capacity(operand_ty.rank());
        for axis in 0..operand_ty.rank() {
            match reduce.axes.iter().position(|&a| a == axis) {
                Some(which) => {
                    position.push(inner[which].clone());
                    if reduce.keepdims {
                        kept.next();
                    }
                }
                None => position.push(kept.next().cloned().unwrap_or_default()),
            }
        }
        let x = self.value(operand, &position, None)?;
        let folded = self.fold(reduce.op, x, reduced.iter().product(), &along);
        Ok(self.body.rounded(folded, self.graph.ty(v).dtype))
    }

    /// Decides the reduced coordinates at the first reduction; at a later one, whether it fits them.
    fn choose_along(&mut self, depends: &HashSet<u32>, reduced: &[u64]) -> bool {
        let count: u64 = reduced.iter().product();
        let Some(along) = &self.along else {
            let rest: Vec<u32> = (0..self.space.len() as u32).filter(|c| !depends.contains(c)).collect();
            if rest.is_empty() {
                let first = self.space.len() as u32;
                for (i, &size) in reduced.iter().enumerate() {
                    self.new_axis(AxisKey::Along(i), size);
                }
                self.along = Some((first..self.space.len() as u32).collect());
                return true;
            }
            let fits = rest.iter().map(|&c| self.space.size(c)).product::<u64>() == count;
            if fits {
                self.along = Some(rest);
            }
            return fits;
        };
        let same = along.iter().map(|&c| self.space.size(c)).product::<u64>() == count;
        let rows = (0..self.space.len() as u32).all(|c| along.contains(&c) != depends.contains(&c));
        same && rows
    }

    fn fold(&mut self, op: FoldOp, x: Val, count: u64, along: &[u32]) -> Val {
        let reg = self.body.reg(x);
        let varies = self.body.depends_on(x, along);
        if varies {
            return self.body.inst(Inst::Fold { op, x }, reg);
        }
        match op {
            FoldOp::Max | FoldOp::Min | FoldOp::All | FoldOp::Any => x,
            FoldOp::Sum => {
                let n = finish::number(&mut self.body, count as f64, reg);
                self.body.call(ScalarFn::Mul, vec![x, n])
            }
            FoldOp::Prod => finish::power(&mut self.body, x, count),
        }
    }

    fn matmul(&mut self, v: Value, out_f32: bool, at: &[Idx], guard: Option<Val>) -> Result<Val, Retry> {
        let met = Product { node: v.node, at: at.to_vec() };
        let slot = if self.in_score { &self.scores } else { &self.product };
        let fits = guard.is_none()
            && self.along.is_none()
            && slot.is_none()
            && (self.in_score || self.covers_space(v, at));
        if !fits {
            return Err(Retry::Store(self.analysis.cut(v, self.root)));
        }
        if self.in_score {
            self.scores = Some(met);
        } else {
            self.product = Some(met);
        }
        let (ty, operand) = (self.graph.ty(v), self.graph.ty(self.graph.node(v.node).args[0]));
        let reg = Reg::of(operand.dtype);
        let acc = self.body.inst(Inst::Acc { reg }, reg);
        Ok(if out_f32 { acc } else { self.body.rounded(acc, ty.dtype) })
    }

    /// Whether each element of `v` is met exactly once as the coordinates run.
    fn covers_space(&self, v: Value, at: &[Idx]) -> bool {
        let mut seen = HashSet::new();
        for (idx, dim) in at.iter().zip(&self.graph.ty(v).dims) {
            let mut terms = idx.terms.clone();
            terms.sort_by_key(|t| t.1);
            let mut reach = 1;
            for (term, factor) in terms {
                let Term::Coord(coord) = term else { return false };
                if factor != reach || !seen.insert(coord) {
                    return false;
                }
                reach *= self.space.size(coord) as i64;
            }
            if idx.offset != 0 || reach != dim.size as i64 {
                return false;
            }
        }
        seen.len() == self.space.len()
    }

    fn contract(&mut self, product: Product, at: &[Idx], result: Val) -> Result<Lowered, Retry> {
        let node = self.graph.node(product.node);
        let k = self.graph.ty(node.args[0]).dims.last().map_or(1, |d| d.size);
        let rank = product.at.len();
        let (batch, row, column) = (&product.at[..rank - 2], &product.at[rank - 2], &product.at[rank - 1]);
        let summed = self.new_axis(AxisKey::Summed, k);
        let epilogue = std::mem::take(&mut self.body);
        let left: Vec<Idx> = batch.iter().cloned().chain([row.clone(), summed.clone()]).collect();
        let (lhs, lhs_value) = self.operand(node.args[0], &left)?;
        let right: Vec<Idx> = batch.iter().cloned().chain([summed.clone(), column.clone()]).collect();
        let (rhs, rhs_value) = self.operand(node.args[1], &right)?;
        let parts =
            finish::ContractParts { product: &product, summed, lhs, lhs_value, rhs, rhs_value, epilogue };
        Ok(finish::contract_kernel(self, parts, at, result))
    }

    /// The code of an operand of a product, in a body of its own.
    pub fn operand(&mut self, operand: Value, at: &[Idx]) -> Result<(BodyBuilder, Val), Retry> {
        if let Some(costly) = self.analysis.too_costly_for_operand(operand, self.root) {
            return Err(Retry::Store(costly));
        }
        self.memo.clear();
        let outer = std::mem::take(&mut self.body);
        let value = self.value(operand, at, None)?;
        Ok((std::mem::replace(&mut self.body, outer), value))
    }

    /// Starts an empty body, and forgets what the old one computed; gives the old one.
    pub fn new_body(&mut self) -> BodyBuilder {
        self.memo.clear();
        std::mem::take(&mut self.body)
    }

    fn is_source(&self, v: Value) -> bool {
        matches!(self.graph.node(v.node).op, Op::Input(_) | Op::Param(_) | Op::Context(_) | Op::Constant(_))
    }

    fn constant(&mut self, v: Value, value: &Tensor, at: &[Idx], guard: Option<Val>) -> Val {
        match uniform(value) {
            Some(scalar) => self.body.constant(scalar),
            None => self.load(v, &flatten(at, &self.graph.ty(v).shape()), guard),
        }
    }

    fn load(&mut self, v: Value, flat: &Idx, guard: Option<Val>) -> Val {
        let arg = match self.reads.iter().position(|&read| read == v) {
            Some(known) => known,
            None => {
                self.reads.push(v);
                self.reads.len() - 1
            }
        };
        let dtype = self.graph.ty(v).dtype;
        self.body.load(arg as u32, dtype, flat, guard, &self.space)
    }
}

/// The one scalar that a tensor repeats, if it does.
pub fn uniform(tensor: &Tensor) -> Option<Const> {
    fn same<T: Copy, K: PartialEq>(elements: &[T], key: impl Fn(T) -> K) -> Option<T> {
        let (&first, rest) = elements.split_first()?;
        rest.iter().all(|&x| key(x) == key(first)).then_some(first)
    }
    match tensor.data() {
        Data::F32(v) => same(v, f32::to_bits).map(|x| Const::F32(x.to_bits())),
        Data::Bf16(v) => same(v, |x| x.to_bits()).map(|x| Const::F32(x.to_f32().to_bits())),
        Data::I32(v) => same(v, |x| x).map(Const::I32),
        Data::I64(v) => same(v, |x| x).map(Const::I64),
        Data::Bool(v) => same(v, |x| x).map(Const::Bool),
    }
}
