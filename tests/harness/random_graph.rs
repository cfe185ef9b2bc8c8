//! Random well-typed graphs: the same seed gives the same graph and inputs.

use std::sync::Arc;
use sx_artifact::dtype::DType;
use sx_artifact::kernel::FoldOp;
use sx_artifact::scalar::ScalarFn;
use sx_artifact::tensor::{Data, Tensor};
use sx_compiler::diag::{FileId, Span};
use sx_compiler::ir::{Dim, Graph, Marks, Op, Origin, Output, Type, Value, Why, op};
use sx_compiler::ops::Builder;

/// A small generator (xorshift64*): good enough to choose, and the same everywhere.
pub struct Random(u64);

impl Random {
    /// A generator of its own for each seed.
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % n
    }

    /// One of `choices`.
    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// A multiple of 1/8 in [-4, 4).
    pub fn number(&mut self) -> f32 {
        (self.below(64) as f32 - 32.0) / 8.0
    }
}

/// A graph with the inputs to run it on.
pub struct Case {
    /// The graph.
    pub graph: Graph,
    /// One for each input, in order.
    pub inputs: Vec<Arc<Tensor>>,
}

/// The graph of a seed.
pub fn case(seed: u64) -> Case {
    let mut maker = Maker {
        random: Random::new(seed),
        graph: Graph::new(format!("random{seed}")),
        inputs: Vec::new(),
        values: Vec::new(),
        sizes: if seed % 16 == 15 { &[0, 1, 2, 3] } else { &[1, 2, 3, 4, 6, 8] },
    };
    let span = Span { file: FileId(0), start: 0, end: 0 };
    maker.graph.add_origin(Origin { span, why: Why::Written, parent: None });
    for _ in 0..2 + maker.random.below(3) {
        let shape = maker.shape();
        maker.input(DType::F32, &shape);
    }
    let shape = maker.shape();
    maker.input(DType::I32, &shape);
    for _ in 0..3 + maker.random.below(14) {
        maker.step();
    }
    for at in 0..1 + maker.random.below(3) {
        // The last value, and some before it.
        let value = if at == 0 { maker.values[maker.values.len() - 1] } else { maker.any() };
        maker.graph.outputs.push(Output { name: format!("out{at}"), value });
    }
    Case { graph: maker.graph, inputs: maker.inputs }
}

struct Maker {
    random: Random,
    graph: Graph,
    inputs: Vec<Arc<Tensor>>,
    values: Vec<Value>,
    /// The sizes that the axes of inputs may have.
    sizes: &'static [u64],
}

impl Maker {
    fn shape(&mut self) -> Vec<u64> {
        let rank = self.random.below(4);
        (0..rank).map(|_| self.random.pick(self.sizes)).collect()
    }

    fn input(&mut self, dtype: DType, shape: &[u64]) {
        let name = format!("x{}", self.inputs.len());
        let count = shape.iter().product::<u64>() as usize;
        let data: Data = match dtype {
            DType::I32 => (0..count).map(|_| self.random.below(9) as i32 - 4).collect::<Vec<_>>().into(),
            _ => (0..count).map(|_| self.random.number()).collect::<Vec<f32>>().into(),
        };
        let ty = Type::plain(dtype, shape);
        let value = self.builder().push(Op::Input(op::Input { name }), &[], vec![ty])[0];
        self.graph.inputs.push(value.node);
        self.inputs.push(Arc::new(Tensor::new(shape, data)));
        self.values.push(value);
    }

    fn builder(&mut self) -> Builder<'_> {
        Builder::at(&mut self.graph, sx_compiler::ir::OriginId(0), Marks::default())
    }

    fn any(&mut self) -> Value {
        // Recent values more often, so that chains grow.
        let n = self.values.len();
        let at = if self.random.below(2) == 0 {
            n - 1 - self.random.below(n.min(3))
        } else {
            self.random.below(n)
        };
        self.values[at]
    }

    fn any_of(&mut self, dtype: DType) -> Option<Value> {
        let all: Vec<Value> =
            self.values.iter().copied().filter(|v| self.graph.ty(*v).dtype == dtype).collect();
        if all.is_empty() { None } else { Some(self.random.pick(&all)) }
    }

    fn push(&mut self, op: Op, args: &[Value]) -> Option<Value> {
        let value = self.builder().node(op, args).ok()?[0];
        if self.graph.ty(value).count() > 4096 {
            return None;
        }
        self.values.push(value);
        Some(value)
    }

    fn step(&mut self) {
        let x = self.any();
        let ty = self.graph.ty(x).clone();
        match self.random.below(13) {
            0 => self.unary(x, ty.dtype),
            1..=3 => self.binary(x),
            4 => self.reshape(x, &ty),
            5 => {
                let mut order: Vec<usize> = (0..ty.rank()).collect();
                for i in (1..order.len()).rev() {
                    let j = self.random.below(i + 1);
                    order.swap(i, j);
                }
                self.push(Op::Transpose(op::Transpose { order }), &[x]);
            }
            6 => self.slice(x, &ty),
            7 => self.concat(x, &ty),
            8 | 9 => self.reduce(x, &ty),
            10 => self.matmul(x, &ty),
            11 => self.index(x, &ty),
            _ => self.softmax_like(x, &ty),
        }
    }

    fn unary(&mut self, x: Value, dtype: DType) {
        let f = match dtype {
            DType::F32 => self.random.pick(&[
                ScalarFn::Neg,
                ScalarFn::Abs,
                ScalarFn::Tanh,
                ScalarFn::Sin,
                ScalarFn::Floor,
            ]),
            _ => self.random.pick(&[ScalarFn::Neg, ScalarFn::Abs]),
        };
        self.push(Op::Map(op::Map { f }), &[x]);
    }

    /// `x` with another value of its dtype, broadcast to one shape where that fits.
    fn binary(&mut self, x: Value) {
        let Some(y) = self.any_of(self.graph.ty(x).dtype) else { return };
        let (a, b) = (self.graph.ty(x).shape(), self.graph.ty(y).shape());
        let rank = a.len().max(b.len());
        let size = |shape: &[u64], axis: usize| {
            let skipped = rank - shape.len();
            if axis < skipped { 1 } else { shape[axis - skipped] }
        };
        let mut shape = Vec::new();
        for axis in 0..rank {
            match (size(&a, axis), size(&b, axis)) {
                (m, n) if m == n || n == 1 => shape.push(m),
                (1, n) => shape.push(n),
                _ => return,
            }
        }
        let dims: Vec<Dim> = shape.iter().map(|&n| Dim::of(n)).collect();
        let wide = |maker: &mut Maker, v: Value| {
            if maker.graph.ty(v).shape() == shape {
                return Some(v);
            }
            maker.push(Op::Broadcast(op::Broadcast { dims: dims.clone() }), &[v])
        };
        let (Some(x), Some(y)) = (wide(self, x), wide(self, y)) else { return };
        let f = self.random.pick(&[
            ScalarFn::Add,
            ScalarFn::Sub,
            ScalarFn::Mul,
            ScalarFn::Maximum,
            ScalarFn::Minimum,
        ]);
        self.push(Op::Map(op::Map { f }), &[x, y]);
    }

    fn reshape(&mut self, x: Value, ty: &Type) {
        let mut rest = ty.count();
        let mut sizes = Vec::new();
        while rest > 1 && sizes.len() < 4 {
            let divisors: Vec<u64> = (1..=rest).filter(|d| rest.is_multiple_of(*d)).collect();
            let size = self.random.pick(&divisors);
            sizes.push(size);
            rest /= size;
        }
        if rest > 1 {
            sizes.push(rest);
        }
        let dims = sizes.into_iter().map(Dim::of).collect();
        self.push(Op::Reshape(op::Reshape { dims }), &[x]);
    }

    fn slice(&mut self, x: Value, ty: &Type) {
        let axes: Vec<usize> = (0..ty.rank()).filter(|&axis| ty.dims[axis].size > 1).collect();
        if axes.is_empty() {
            return;
        }
        let axis = self.random.pick(&axes);
        let size = ty.dims[axis].size;
        let start = self.random.below(size as usize) as u64;
        let stop = start + 1 + self.random.below((size - start) as usize) as u64;
        self.push(Op::Slice(op::Slice { axis, start, stop }), &[x]);
    }

    fn concat(&mut self, x: Value, ty: &Type) {
        if ty.rank() == 0 {
            return;
        }
        let axis = self.random.below(ty.rank());
        let fits = |v: &&Value| {
            let other = self.graph.ty(**v);
            other.dtype == ty.dtype
                && other.rank() == ty.rank()
                && (0..ty.rank()).all(|i| i == axis || other.dims[i].size == ty.dims[i].size)
        };
        let others: Vec<Value> = self.values.iter().filter(fits).copied().collect();
        let y = self.random.pick(&others);
        self.push(Op::Concat(op::Concat { axis }), &[x, y]);
    }

    fn reduce(&mut self, x: Value, ty: &Type) {
        let axes: Vec<usize> = (0..ty.rank()).filter(|_| self.random.below(2) == 0).collect();
        let op = self.random.pick(&[FoldOp::Sum, FoldOp::Sum, FoldOp::Max, FoldOp::Min]);
        let keepdims = self.random.below(2) == 0;
        self.push(Op::Reduce(op::Reduce { op, axes, keepdims }), &[x]);
    }

    /// A product with any value whose rows fit, or with the value's own transpose.
    fn matmul(&mut self, x: Value, ty: &Type) {
        if ty.rank() < 2 {
            return;
        }
        let fits = |v: &&Value| {
            let other = self.graph.ty(**v);
            other.rank() == ty.rank()
                && other.dims[..ty.rank() - 2] == ty.dims[..ty.rank() - 2]
                && other.dims[ty.rank() - 2].size == ty.dims[ty.rank() - 1].size
        };
        let others: Vec<Value> = self.values.iter().filter(fits).copied().collect();
        let y = if others.is_empty() {
            let mut order: Vec<usize> = (0..ty.rank()).collect();
            order.swap(ty.rank() - 2, ty.rank() - 1);
            match self.push(Op::Transpose(op::Transpose { order }), &[x]) {
                Some(y) => y,
                None => return,
            }
        } else {
            self.random.pick(&others)
        };
        self.push(Op::Matmul(op::Matmul { out_f32: false }), &[x, y]);
    }

    /// Rows of `x` by positions that are all in range.
    fn index(&mut self, x: Value, ty: &Type) {
        if ty.rank() == 0 || ty.dims[0].size == 0 {
            return;
        }
        let n = 1 + self.random.below(4) as u64;
        let name = format!("x{}", self.inputs.len());
        let size = ty.dims[0].size as usize;
        let ids: Vec<i32> = (0..n).map(|_| self.random.below(size) as i32).collect();
        let ids_ty = Type::plain(DType::I32, &[n]);
        let ids_value = self.builder().push(Op::Input(op::Input { name }), &[], vec![ids_ty])[0];
        self.graph.inputs.push(ids_value.node);
        self.inputs.push(Arc::new(Tensor::new(&[n], ids.into())));
        self.push(Op::Index(op::Index), &[x, ids_value]);
    }

    /// `(x - max x) * sum x` over one axis: several reductions that one kernel can share.
    fn softmax_like(&mut self, x: Value, ty: &Type) {
        if ty.rank() == 0 {
            return;
        }
        let axis = self.random.below(ty.rank());
        let reduce = |op| Op::Reduce(op::Reduce { op, axes: vec![axis], keepdims: true });
        let Some(max) = self.push(reduce(FoldOp::Max), &[x]) else { return };
        let wide = Op::Broadcast(op::Broadcast { dims: ty.dims.clone() });
        let Some(max) = self.push(wide.clone(), &[max]) else { return };
        let Some(shifted) = self.push(Op::Map(op::Map { f: ScalarFn::Sub }), &[x, max]) else { return };
        let Some(total) = self.push(reduce(FoldOp::Sum), &[shifted]) else { return };
        let Some(total) = self.push(wide, &[total]) else { return };
        self.push(Op::Map(op::Map { f: ScalarFn::Mul }), &[shifted, total]);
    }
}
