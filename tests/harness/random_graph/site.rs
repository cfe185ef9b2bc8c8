//! Sites: one kernel kind each, over operands in any layout, with a use of the result.

use super::feature::{Feature, Kind};
use super::maker::Maker;
use sx_artifact::dtype::DType;
use sx_artifact::kernel::FoldOp;
use sx_artifact::scalar::ScalarFn;
use sx_compiler::ir::{Op, Output, Value, op};

/// One site: what is computed, what its operand or its use is, and which operand that is about.
#[derive(Clone, Copy, Debug)]
pub(super) struct Site {
    /// What is computed.
    pub(super) kind: Kind,
    /// What an operand or the use of the result has.
    pub(super) feature: Feature,
}

impl Maker {
    /// Computes a site, and gives its result.
    pub(super) fn site(&mut self, site: Site) -> Value {
        let operands = self.pool.len();
        let result = match site.kind {
            Kind::Map => self.map_site(site),
            Kind::Reduce => self.reduce_site(site),
            Kind::Rows => self.rows_site(site),
            Kind::Product => self.product_site(site, 0),
            Kind::BatchedProduct => {
                let leading = 1 + self.random.below(2);
                self.product_site(site, leading)
            }
            Kind::Attention => self.attention_site(site),
            Kind::LibraryAttention => self.library_attention_site(site),
            Kind::Index => self.index_site(site),
            Kind::Gather => self.gather_site(site),
            Kind::Concat => self.concat_site(site),
        };
        if site.feature == Feature::Shared && operands < self.pool.len() {
            let x = self.pool[operands];
            let x = self.function(x);
            self.pool.push(x);
        }
        self.used(result, site.feature);
        result
    }

    /// A shape that has what the feature asks of sizes.
    fn shaped(&mut self, rank: usize, feature: Feature) -> Vec<u64> {
        let mut shape = self.shape(rank);
        let wanted = match feature {
            Feature::SizeOne => Some(1),
            Feature::SizeZero => Some(0),
            Feature::Prime => Some(self.pick(&[5, 7, 11, 13])),
            _ => None,
        };
        if let (Some(size), false) = (wanted, shape.is_empty()) {
            let at = self.random.below(rank);
            shape[at] = size;
        }
        shape
    }

    /// What an operand is made with: the feature where it is the one of `count` operands that is to have it.
    pub(super) fn features(&mut self, feature: Feature, count: usize) -> Vec<Option<Feature>> {
        let special = matches!(feature, Feature::ReadTwice | Feature::AlsoOutput | Feature::SizeOne)
            || matches!(feature, Feature::SizeZero | Feature::Prime | Feature::ThenMap)
            || matches!(feature, Feature::ThenResidual | Feature::ThenRounded | Feature::ThenReduced)
            || feature == Feature::ThenMoved;
        let chosen = self.random.below(count);
        (0..count).map(|at| if at == chosen && !special { Some(feature) } else { None }).collect()
    }

    /// The dtype of a site's operands.
    fn dtype(&mut self, feature: Feature, choices: &[DType]) -> DType {
        let wanted = match feature {
            Feature::F32 | Feature::Special => DType::F32,
            Feature::Bf16 => DType::Bf16,
            Feature::I32 => DType::I32,
            Feature::I64 => DType::I64,
            Feature::Bool => DType::Bool,
            _ => self.pick(choices),
        };
        if choices.contains(&wanted) { wanted } else { self.pick(choices) }
    }

    fn map_site(&mut self, site: Site) -> Value {
        use DType::{Bf16, Bool, F32, I32, I64};
        let dtype = self.dtype(site.feature, &[F32, F32, F32, Bf16, I32, I64, Bool]);
        let rank = 1 + self.random.below(4);
        let shape = self.shaped(rank, site.feature);
        let features = self.features(site.feature, 2);
        let a = self.operand(dtype, &shape, features[0], self.depth);
        let b = match site.feature {
            Feature::ReadTwice => self.again(a, &shape),
            _ => self.operand(dtype, &shape, features[1], self.depth),
        };
        if self.once_in(5) {
            let mask = self.operand(Bool, &shape, None, self.depth);
            return self.map(ScalarFn::Where, &[mask, a, b]);
        }
        let f = match dtype {
            Bool => self.pick(&[ScalarFn::And, ScalarFn::Or, ScalarFn::Eq]),
            _ => self.pick(&[
                ScalarFn::Add,
                ScalarFn::Sub,
                ScalarFn::Mul,
                ScalarFn::Maximum,
                ScalarFn::Minimum,
                ScalarFn::Lt,
            ]),
        };
        self.map(f, &[a, b])
    }

    /// The elements of `x` in another order, in the same shape.
    fn again(&mut self, x: Value, shape: &[u64]) -> Value {
        let twins = (0..shape.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
        let twins: Vec<(usize, usize)> = twins.filter(|&(i, j)| shape[i] == shape[j]).collect();
        if let (false, false) = (twins.is_empty(), self.once_in(4)) {
            let (i, j) = self.pick(&twins);
            let mut order: Vec<usize> = (0..shape.len()).collect();
            order.swap(i, j);
            return self.transpose(x, order);
        }
        let Some(axis) = (0..shape.len()).find(|&axis| shape[axis] > 1) else { return x };
        let middle = 1 + self.random.below(shape[axis] as usize - 1) as u64;
        let part =
            |maker: &mut Maker, start, stop| maker.node(Op::Slice(op::Slice { axis, start, stop }), &[x]);
        let (first, second) = (part(self, 0, middle), part(self, middle, shape[axis]));
        self.concat(&[second, first], axis)
    }

    fn numbers(&mut self, feature: Feature) -> DType {
        use DType::{Bf16, F32, I32, I64};
        self.dtype(feature, &[F32, F32, F32, F32, Bf16, I32, I64])
    }

    fn reduce_site(&mut self, site: Site) -> Value {
        let rank = 1 + self.random.below(4);
        let shape = self.shaped(rank, site.feature);
        let bools = site.feature == Feature::Bool || self.once_in(10);
        let dtype = if bools { DType::Bool } else { self.numbers(site.feature) };
        let features = self.features(site.feature, 1);
        let mut x = self.operand(dtype, &shape, features[0], self.depth);
        if site.feature == Feature::ReadTwice {
            let y = self.again(x, &shape);
            x = self.map(if bools { ScalarFn::And } else { ScalarFn::Mul }, &[x, y]);
        } else if self.once_in(3) {
            x = self.function(x);
        }
        let mut axes: Vec<usize> = (0..rank).filter(|_| self.once_in(2)).collect();
        if axes.is_empty() {
            axes.push(self.random.below(rank));
        }
        let empty = axes.iter().any(|&axis| shape[axis] == 0);
        let op = match (bools, empty) {
            (true, _) => self.pick(&[FoldOp::All, FoldOp::Any]),
            (false, true) => self.pick(&[FoldOp::Sum, FoldOp::Prod]),
            (false, false) => self.pick(&[FoldOp::Sum, FoldOp::Sum, FoldOp::Max, FoldOp::Min, FoldOp::Prod]),
        };
        let keepdims = self.once_in(2);
        self.reduce(op, x, &axes, keepdims)
    }

    fn rows_site(&mut self, site: Site) -> Value {
        let rank = 1 + self.random.below(3);
        let mut shape = self.shaped(rank, site.feature);
        let features = self.features(site.feature, 1);
        let axis = self.random.below(rank);
        if shape[axis] == 0 {
            shape[axis] = 3;
            shape.insert(0, 0);
        }
        let axis = axis + shape.len() - rank;
        let mut x = self.operand(DType::F32, &shape, features[0], self.depth);
        if site.feature == Feature::ReadTwice {
            let y = self.again(x, &shape);
            x = self.map(ScalarFn::Add, &[x, y]);
        }
        match self.random.below(5) {
            0 => self.library(&["x"], &format!("(softmax x :axis {axis})"), &[x]),
            1 => self.library(&["x"], &format!("(log-softmax x :axis {axis})"), &[x]),
            2 => self.library(&["x"], "(layer-norm x nil)", &[x]),
            3 => self.centred(x, axis),
            _ => self.softmax(x, axis, false),
        }
    }

    /// `(x - mean x) * sum (x - mean x)^2` over an axis.
    fn centred(&mut self, x: Value, axis: usize) -> Value {
        let shape = self.shape_of(x);
        let total = self.reduce(FoldOp::Sum, x, &[axis], true);
        let mut row = shape.clone();
        row[axis] = 1;
        let count = self.filled(DType::F32, &row, shape[axis].max(1) as f64);
        let mean = self.map(ScalarFn::Div, &[total, count]);
        let mean = self.broadcast(mean, &shape);
        let off = self.map(ScalarFn::Sub, &[x, mean]);
        let squares = self.map(ScalarFn::Mul, &[off, off]);
        let squares = self.reduce(FoldOp::Sum, squares, &[axis], true);
        let squares = self.broadcast(squares, &shape);
        self.map(ScalarFn::Mul, &[off, squares])
    }

    /// A softmax, written out; where `seen` says so, a row that is -inf gives 0.
    pub(super) fn softmax(&mut self, x: Value, axis: usize, seen: bool) -> Value {
        let shape = self.shape_of(x);
        let most = self.reduce(FoldOp::Max, x, &[axis], true);
        let wide = self.broadcast(most, &shape);
        let shifted = self.map(ScalarFn::Sub, &[x, wide]);
        let powers = self.map(ScalarFn::Exp, &[shifted]);
        let total = self.reduce(FoldOp::Sum, powers, &[axis], true);
        let total = self.broadcast(total, &shape);
        let weights = self.map(ScalarFn::Div, &[powers, total]);
        if !seen {
            return weights;
        }
        let row = self.shape_of(most);
        let least = self.filled(DType::F32, &row, f64::NEG_INFINITY);
        let hidden = self.map(ScalarFn::Eq, &[most, least]);
        let hidden = self.broadcast(hidden, &shape);
        let zero = self.filled(DType::F32, &shape, 0.0);
        self.map(ScalarFn::Where, &[hidden, zero, weights])
    }

    fn product_site(&mut self, site: Site, leading: usize) -> Value {
        let dtype = self.numbers(site.feature);
        let mut shape = self.shaped(leading + 3, site.feature);
        if leading == 0 && self.once_in(12) {
            // Beyond a tile of every target.
            shape = vec![self.pick(&[33, 65]), self.pick(&[17, 40]), self.pick(&[19, 70])];
        }
        let [batch @ .., m, k, n] = &shape[..] else { unreachable!("three sizes at least") };
        let left = [batch, &[*m, *k]].concat();
        let features = self.features(site.feature, 2);
        let a = self.operand(dtype, &left, features[0], self.depth);
        if site.feature == Feature::ReadTwice {
            let b = self.turned(a);
            return self.matmul(a, b);
        }
        let b = if self.once_in(3) {
            let b = self.operand(dtype, &[batch, &[*n, *k]].concat(), features[1], self.depth);
            self.turned(b)
        } else {
            self.operand(dtype, &[batch, &[*k, *n]].concat(), features[1], self.depth)
        };
        self.matmul(a, b)
    }

    /// What a table or an operand of `concat` is made of.
    fn anything(&mut self, feature: Feature) -> DType {
        use DType::{Bf16, Bool, F32, I32, I64};
        self.dtype(feature, &[F32, F32, Bf16, I32, I64, Bool])
    }

    fn index_site(&mut self, site: Site) -> Value {
        let dtype = self.anything(site.feature);
        let rank = 1 + self.random.below(3);
        let mut shape = self.shaped(rank, site.feature);
        let ids_rank = self.random.below(3);
        let mut ids_shape = self.shape(ids_rank);
        if shape[0] == 0 {
            shape[0] = 3;
            ids_shape = vec![0];
        }
        let features = self.features(site.feature, 1);
        let table = self.operand(dtype, &shape, features[0], self.depth);
        let ids = if site.feature == Feature::ReadTwice {
            let numbers = self.cast(table, DType::I32);
            let sizes = self.shape_of(numbers);
            let end = self.filled(DType::I32, &sizes, shape[0] as f64);
            self.map(ScalarFn::Mod, &[numbers, end])
        } else {
            self.ids(&ids_shape, shape[0])
        };
        if self.graph.ty(ids).count() * self.graph.ty(table).count() > super::maker::LARGE {
            return table;
        }
        self.node(Op::Index(op::Index), &[table, ids])
    }

    fn gather_site(&mut self, site: Site) -> Value {
        let dtype = self.anything(site.feature);
        let rank = 1 + self.random.below(3);
        let mut shape = self.shaped(rank, site.feature);
        let axis = self.random.below(rank);
        shape[axis] = shape[axis].max(1);
        let features = self.features(site.feature, 1);
        let x = self.operand(dtype, &shape, features[0], self.depth);
        let ids = if site.feature == Feature::ReadTwice {
            let numbers = self.cast(x, DType::I32);
            let end = self.filled(DType::I32, &shape, shape[axis] as f64);
            self.map(ScalarFn::Mod, &[numbers, end])
        } else {
            let mut ids_shape = shape.clone();
            ids_shape[axis] = self.size();
            self.ids(&ids_shape, shape[axis])
        };
        self.node(Op::Gather(op::Gather { axis }), &[x, ids])
    }

    fn concat_site(&mut self, site: Site) -> Value {
        let dtype = self.anything(site.feature);
        let rank = 1 + self.random.below(3);
        let shape = self.shaped(rank, site.feature);
        let axis = self.random.below(rank);
        let count = 2 + self.random.below(3);
        let features = self.features(site.feature, count);
        let mut parts: Vec<Value> = Vec::new();
        for feature in features {
            let mut part = shape.clone();
            if !parts.is_empty() {
                part[axis] = self.size();
            }
            parts.push(self.operand(dtype, &part, feature, self.depth));
        }
        if site.feature == Feature::ReadTwice {
            let again = self.again(parts[0], &shape);
            parts.push(again);
        }
        self.concat(&parts, axis)
    }

    /// Uses a result as the feature says, or in any way.
    fn used(&mut self, result: Value, feature: Feature) {
        let ways = [
            Feature::ThenMap,
            Feature::ThenMoved,
            Feature::ThenResidual,
            Feature::ThenRounded,
            Feature::ThenReduced,
        ];
        let way = match feature {
            _ if ways.contains(&feature) => feature,
            Feature::AlsoOutput => {
                let name = format!("result{}", self.graph.outputs.len());
                self.graph.outputs.push(Output { name, value: result });
                Feature::ThenMap
            }
            _ if self.once_in(2) => return self.pool.push(result),
            _ => self.pick(&ways),
        };
        let used = match way {
            Feature::ThenResidual => self.residual(result),
            Feature::ThenRounded => self.rounded(result),
            Feature::ThenMoved => self.moved(result),
            Feature::ThenReduced => self.folded(result),
            _ => self.function(result),
        };
        self.pool.push(used);
    }

    fn residual(&mut self, x: Value) -> Value {
        let (dtype, shape) = (self.dtype_of(x), self.shape_of(x));
        let layout = self.pick(&[Feature::Permuted, Feature::Broadcast, Feature::Joined, Feature::Sliced]);
        let other = self.operand(dtype, &shape, Some(layout), self.depth);
        let f = if dtype == DType::Bool { ScalarFn::Or } else { ScalarFn::Add };
        self.map(f, &[x, other])
    }

    /// A function of `x` with an axis split, and its axes in another order.
    fn moved(&mut self, x: Value) -> Value {
        let mut shape = self.shape_of(x);
        if let Some((at, first, second)) = self.factors(&shape) {
            shape[at] = first;
            shape.insert(at + 1, second);
        }
        let split = self.reshape(x, &shape);
        let order = self.order(shape.len());
        let moved = if shape.len() < 2 { split } else { self.transpose(split, order) };
        self.function(moved)
    }

    fn rounded(&mut self, x: Value) -> Value {
        let wide = if self.dtype_of(x) == DType::Bf16 { self.cast(x, DType::F32) } else { x };
        self.cast(wide, DType::Bf16)
    }

    fn folded(&mut self, x: Value) -> Value {
        let rank = self.shape_of(x).len();
        let axes: Vec<usize> = if rank == 0 { Vec::new() } else { vec![self.random.below(rank)] };
        let op = if self.dtype_of(x) == DType::Bool { FoldOp::Any } else { FoldOp::Sum };
        self.reduce(op, x, &axes, false)
    }
}
