//! A graph under construction: typed nodes, inputs, and the values that are there to be used again.

use crate::inputs;
use crate::program;
use crate::random::Random;
use std::collections::HashMap;
use std::sync::Arc;
use sx_artifact::dtype::DType;
use sx_artifact::kernel::FoldOp;
use sx_artifact::scalar::ScalarFn;
use sx_artifact::tensor::{Data, Tensor};
use sx_compiler::diag::{FileId, Span};
use sx_compiler::ir::{Dim, Domain, Graph, Interval, Marks, Op, Origin, OriginId, Type, Value, Why, op};
use sx_compiler::ops::Builder;

/// The most elements of a value.
pub(super) const LARGE: u64 = 1 << 14;

/// A graph under construction.
pub(super) struct Maker {
    /// Where choices come from.
    pub(super) random: Random,
    /// The graph so far.
    pub(super) graph: Graph,
    /// What was computed or given, oldest first.
    pub(super) pool: Vec<Value>,
    /// The sizes that axes have.
    pub(super) sizes: &'static [u64],
    /// The most elements of an operand.
    pub(super) limit: u64,
    /// How deep layouts are nested.
    pub(super) depth: u32,
    /// Whether inputs are given NaN and infinities from now on.
    pub(super) special_inputs: bool,
}

impl Maker {
    /// An empty graph.
    pub(super) fn new(seed: u64, sizes: &'static [u64]) -> Maker {
        let mut graph = Graph::new(format!("random{seed}"));
        let span = Span { file: FileId(0), start: 0, end: 0 };
        graph.add_origin(Origin { span, why: Why::Written, parent: None });
        let mut random = Random::new(seed);
        let depth = 1 + random.below(3) as u32;
        Maker { random, graph, pool: Vec::new(), sizes, limit: 512, depth, special_inputs: false }
    }

    /// True once in `n` times.
    pub(super) fn once_in(&mut self, n: usize) -> bool {
        self.random.below(n) == 0
    }

    /// One of `choices`.
    pub(super) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        *self.random.one_of(choices)
    }

    /// The size of an axis.
    pub(super) fn size(&mut self) -> u64 {
        self.pick(self.sizes)
    }

    /// A shape of `rank` axes with few enough elements.
    pub(super) fn shape(&mut self, rank: usize) -> Vec<u64> {
        let mut shape: Vec<u64> = (0..rank).map(|_| self.size()).collect();
        while shape.iter().product::<u64>() > self.limit {
            let at = self.random.below(rank);
            shape[at] = self.pick(&[1, 2, 3]).min(shape[at]);
        }
        shape
    }

    /// The sizes of a value.
    pub(super) fn shape_of(&self, x: Value) -> Vec<u64> {
        self.graph.ty(x).shape()
    }

    /// The dtype of a value.
    pub(super) fn dtype_of(&self, x: Value) -> DType {
        self.graph.ty(x).dtype
    }

    fn builder(&mut self) -> Builder<'_> {
        Builder::at(&mut self.graph, OriginId(0), Marks::default())
    }

    /// A node that fits by construction.
    pub(super) fn node(&mut self, op: Op, args: &[Value]) -> Value {
        self.builder().trusted(op, args)
    }

    /// An input.
    pub(super) fn input(&mut self, dtype: DType, shape: &[u64]) -> Value {
        let mark = if self.special_inputs { inputs::SPECIAL } else { "" };
        let name = format!("x{}{mark}", self.graph.inputs.len());
        self.named_input(name, Type::plain(dtype, shape))
    }

    fn named_input(&mut self, name: String, ty: Type) -> Value {
        let value = self.builder().push(Op::Input(op::Input { name }), &[], vec![ty])[0];
        self.graph.inputs.push(value.node);
        value
    }

    /// Integers from 0 below `end`, which is not 0: given with and without a range, or computed.
    pub(super) fn ids(&mut self, shape: &[u64], end: u64) -> Value {
        let dtype = self.pick(&[DType::I32, DType::I32, DType::I64]);
        let at = self.graph.inputs.len();
        match self.random.below(6) {
            5 if !shape.is_empty() => self.places(shape, end),
            0 => {
                let domain = Domain::Index(Dim::of(end));
                self.named_input(format!("x{at}"), Type { domain, ..Type::plain(dtype, shape) })
            }
            1 => {
                let domain = Domain::Range(Interval::closed(0.0, (end - 1) as f64));
                self.named_input(format!("x{at}"), Type { domain, ..Type::plain(dtype, shape) })
            }
            2 if !shape.is_empty() => {
                let positions = self.positions(dtype, shape);
                let end = self.filled(dtype, shape, end as f64);
                self.map(ScalarFn::Mod, &[positions, end])
            }
            3 => {
                let x = self.operand(dtype, shape, None, 1);
                let end = self.filled(dtype, shape, end as f64);
                self.map(ScalarFn::Mod, &[x, end])
            }
            // Nothing is known of these but what `inputs` reads from the name.
            _ => self.named_input(format!("x{at}{}{end}", inputs::BELOW), Type::plain(dtype, shape)),
        }
    }

    /// Positions, as far as they stay below `end`, added to a number of which nothing is known.
    fn places(&mut self, shape: &[u64], end: u64) -> Value {
        let positions = self.positions(DType::I32, shape);
        let longest = shape.iter().max().copied().unwrap_or(1).max(1);
        let divisor = self.filled(DType::I32, shape, longest.div_ceil(end).max(1) as f64);
        let kept = self.map(ScalarFn::Div, &[positions, divisor]);
        let at = self.graph.inputs.len();
        let zero = self.named_input(format!("x{at}{}1", inputs::BELOW), Type::plain(DType::I32, shape));
        self.map(ScalarFn::Add, &[kept, zero])
    }

    /// A constant, repeated.
    pub(super) fn filled(&mut self, dtype: DType, shape: &[u64], x: f64) -> Value {
        let data: Data = match dtype {
            DType::F32 => vec![x as f32].into(),
            DType::Bf16 => vec![half::bf16::from_f64(x)].into(),
            DType::I32 => vec![x as i32].into(),
            DType::I64 => vec![x as i64].into(),
            DType::Bool => vec![x != 0.0].into(),
        };
        let value = Arc::new(Tensor::new(&[], data));
        let one = self.node(Op::Constant(op::Constant { value }), &[]);
        self.broadcast(one, shape)
    }

    /// Positions along an axis, of any dtype; `shape` has an axis.
    pub(super) fn positions(&mut self, dtype: DType, shape: &[u64]) -> Value {
        let dims = shape.iter().map(|&n| Dim::of(n)).collect();
        let axis = self.random.below(shape.len());
        let wanted = if dtype == DType::I64 { DType::I64 } else { DType::I32 };
        let iota = self.node(Op::Iota(op::Iota { dims, axis, dtype: wanted }), &[]);
        match dtype {
            DType::I32 | DType::I64 => iota,
            DType::Bool => {
                let than = self.filled(DType::I32, shape, self.sizes[self.sizes.len() / 2] as f64);
                let f = self.pick(&[ScalarFn::Lt, ScalarFn::Ge]);
                self.map(f, &[iota, than])
            }
            DType::F32 | DType::Bf16 => self.cast(iota, dtype),
        }
    }

    /// `f`, elementwise.
    pub(super) fn map(&mut self, f: ScalarFn, args: &[Value]) -> Value {
        self.node(Op::Map(op::Map { f }), args)
    }

    /// `x` as `dtype`; itself if it is that.
    pub(super) fn cast(&mut self, x: Value, dtype: DType) -> Value {
        if self.dtype_of(x) == dtype { x } else { self.node(Op::Cast(op::Cast { dtype }), &[x]) }
    }

    /// `x` repeated to `shape`; itself if it has that.
    pub(super) fn broadcast(&mut self, x: Value, shape: &[u64]) -> Value {
        if self.shape_of(x) == shape {
            return x;
        }
        self.node(Op::Broadcast(op::Broadcast { dims: dims(shape) }), &[x])
    }

    /// `x` in another shape; itself if it has that.
    pub(super) fn reshape(&mut self, x: Value, shape: &[u64]) -> Value {
        if self.shape_of(x) == shape {
            return x;
        }
        self.node(Op::Reshape(op::Reshape { dims: dims(shape) }), &[x])
    }

    /// `x` with its axes in another order.
    pub(super) fn transpose(&mut self, x: Value, order: Vec<usize>) -> Value {
        self.node(Op::Transpose(op::Transpose { order }), &[x])
    }

    /// `x` with its last two axes exchanged.
    pub(super) fn turned(&mut self, x: Value) -> Value {
        let rank = self.graph.ty(x).rank();
        let mut order: Vec<usize> = (0..rank).collect();
        order.swap(rank - 2, rank - 1);
        self.transpose(x, order)
    }

    /// The axes in a random order.
    pub(super) fn order(&mut self, rank: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..rank).collect();
        for i in (1..rank).rev() {
            let j = self.random.below(i + 1);
            order.swap(i, j);
        }
        if rank > 1 && order.iter().copied().eq(0..rank) {
            order.swap(rank - 2, rank - 1);
        }
        order
    }

    /// A fold over axes.
    pub(super) fn reduce(&mut self, op: FoldOp, x: Value, axes: &[usize], keepdims: bool) -> Value {
        self.node(Op::Reduce(op::Reduce { op, axes: axes.to_vec(), keepdims }), &[x])
    }

    /// A product of matrices with equal leading axes.
    pub(super) fn matmul(&mut self, a: Value, b: Value) -> Value {
        self.node(Op::Matmul(op::Matmul { out_f32: false }), &[a, b])
    }

    /// Operands one after the other.
    pub(super) fn concat(&mut self, parts: &[Value], axis: usize) -> Value {
        self.node(Op::Concat(op::Concat { axis }), parts)
    }

    /// Copies what the expression `body` gives of `args`, which it calls by the names in `names`.
    pub(super) fn library(&mut self, names: &[&str], body: &str, args: &[Value]) -> Value {
        let given = |(name, &arg): (&&str, &Value)| {
            let ty = self.graph.ty(arg);
            let sizes: Vec<String> = ty.dims.iter().map(|dim| dim.size.to_string()).collect();
            format!("({name} [{}] :{})", sizes.join(" "), ty.dtype)
        };
        let given: Vec<String> = names.iter().zip(args).map(given).collect();
        let call = program::graph(&given.join(" "), body);
        let mut map: HashMap<Value, Value> =
            call.inputs.iter().map(|&id| Value::from(id)).zip(args.iter().copied()).collect();
        for id in call.ids().filter(|id| !call.inputs.contains(id)) {
            let node = call.node(id);
            let args: Vec<Value> = node.args.iter().map(|arg| map[arg]).collect();
            let results = self.builder().node(node.op.clone(), &args);
            let results = results.unwrap_or_else(|fault| panic!("{body}: {fault:?}"));
            map.extend(results.into_iter().map(|v| (Value { node: id, ..v }, v)));
        }
        map[&call.outputs[0].value]
    }
}

fn dims(shape: &[u64]) -> Vec<Dim> {
    shape.iter().map(|&n| Dim::of(n)).collect()
}
