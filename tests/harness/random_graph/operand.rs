//! Operands: a value of a given dtype and shape, made in any layout.

use super::feature::Feature;
use super::maker::{LARGE, Maker};
use std::sync::Arc;
use sx_artifact::dtype::DType;
use sx_artifact::kernel::FoldOp;
use sx_artifact::scalar::ScalarFn;
use sx_artifact::tensor::{Data, Tensor};
use sx_compiler::ir::{Op, Value, op};

impl Maker {
    /// A value of `dtype` and `shape` with a feature, or with any; `depth` bounds how many layouts are nested.
    pub(super) fn operand(
        &mut self,
        dtype: DType,
        shape: &[u64],
        wanted: Option<Feature>,
        depth: u32,
    ) -> Value {
        if depth == 0 {
            return self.base(dtype, shape);
        }
        let chosen = wanted.unwrap_or_else(|| self.pick(&Feature::LAYOUTS));
        let made = match chosen {
            Feature::Permuted => self.permuted(dtype, shape, depth),
            Feature::Split => self.split(dtype, shape, depth),
            Feature::Joined => self.joined(dtype, shape, depth),
            Feature::Broadcast => self.repeated_whole(dtype, shape, depth),
            Feature::Sliced => self.sliced(dtype, shape, depth),
            Feature::Repeated => self.repeated(dtype, shape, depth),
            Feature::Concatenated => self.concatenated(dtype, shape, depth),
            Feature::Gathered => self.gathered(dtype, shape, depth),
            Feature::View => self.view(dtype, shape, depth),
            Feature::Constant => Some(self.constant(dtype, shape)),
            Feature::Positions if !shape.is_empty() => Some(self.positions(dtype, shape)),
            Feature::Special => Some(self.special(dtype, shape)),
            Feature::Shared => {
                let x = self.operand(dtype, shape, None, depth - 1);
                self.pool.push(x);
                Some(x)
            }
            Feature::F32 => Some(self.converted(DType::F32, dtype, shape, depth)),
            Feature::Bf16 => Some(self.converted(DType::Bf16, dtype, shape, depth)),
            Feature::I32 => Some(self.converted(DType::I32, dtype, shape, depth)),
            Feature::I64 => Some(self.converted(DType::I64, dtype, shape, depth)),
            Feature::Bool => Some(self.converted(DType::Bool, dtype, shape, depth)),
            _ => None,
        };
        made.unwrap_or_else(|| self.base(dtype, shape))
    }

    /// What others compute already, a new input, or something simple.
    fn base(&mut self, dtype: DType, shape: &[u64]) -> Value {
        let count: u64 = shape.iter().product();
        let fits = |v: &Value| {
            let ty = self.graph.ty(*v);
            ty.dtype == dtype && ty.count() == count
        };
        let found: Vec<Value> = self.pool.iter().copied().filter(fits).collect();
        match self.random.below(6) {
            0..=2 if !found.is_empty() => {
                let x = self.pick(&found);
                self.reshape(x, shape)
            }
            3 => self.computed(dtype, shape, 0),
            _ => {
                let x = self.input(dtype, shape);
                self.pool.push(x);
                x
            }
        }
    }

    /// An input whose name says that it has NaN and infinities.
    fn special(&mut self, dtype: DType, shape: &[u64]) -> Value {
        self.special_inputs = true;
        let float = if dtype == DType::Bf16 { DType::Bf16 } else { DType::F32 };
        let x = self.input(float, shape);
        self.special_inputs = false;
        self.cast(x, dtype)
    }

    /// What a kernel computes.
    pub(super) fn computed(&mut self, dtype: DType, shape: &[u64], depth: u32) -> Value {
        match self.random.below(4) {
            0 if shape.len() < 4 && dtype != DType::Bool => {
                let n = self.pick(&[1, 2, 3, 5]);
                let at = self.random.below(shape.len() + 1);
                let mut wide = shape.to_vec();
                wide.insert(at, n);
                let x = self.operand(dtype, &wide, None, depth);
                self.reduce(FoldOp::Sum, x, &[at], false)
            }
            1 if shape.len() >= 2 && dtype != DType::Bool => {
                let k = self.pick(&[1, 2, 3, 4, 7]);
                let rank = shape.len();
                let (mut left, mut right) = (shape.to_vec(), shape.to_vec());
                left[rank - 1] = k;
                right[rank - 2] = k;
                let (a, b) =
                    (self.operand(dtype, &left, None, depth), self.operand(dtype, &right, None, depth));
                self.matmul(a, b)
            }
            _ => {
                let x = self.operand(dtype, shape, None, depth);
                self.function(x)
            }
        }
    }

    /// A function of one value, or of it and a number, that keeps its dtype and its size moderate.
    pub(super) fn function(&mut self, x: Value) -> Value {
        let (dtype, shape) = (self.dtype_of(x), self.shape_of(x));
        let (f, number) = match dtype {
            DType::Bool => (ScalarFn::Not, None),
            DType::I32 | DType::I64 => match self.random.below(6) {
                0 => (ScalarFn::Neg, None),
                1 => (ScalarFn::Abs, None),
                2 => (ScalarFn::Div, Some(2.0)),
                3 => (ScalarFn::Mod, Some(5.0)),
                4 => (ScalarFn::Maximum, Some(-1.0)),
                _ => (ScalarFn::Add, Some(3.0)),
            },
            DType::F32 | DType::Bf16 => match self.random.below(9) {
                0 => (ScalarFn::Neg, None),
                1 => (ScalarFn::Abs, None),
                2 => (ScalarFn::Tanh, None),
                3 => (ScalarFn::Sin, None),
                4 => (ScalarFn::Mul, Some(0.25)),
                5 => (ScalarFn::Maximum, Some(0.0)),
                6 => (ScalarFn::Sub, Some(0.25)),
                7 => (ScalarFn::Floor, None),
                _ => (ScalarFn::Erf, None),
            },
        };
        let mut args = vec![x];
        args.extend(number.map(|number| self.filled(dtype, &shape, number)));
        self.map(f, &args)
    }

    fn permuted(&mut self, dtype: DType, shape: &[u64], depth: u32) -> Option<Value> {
        let order = self.order(shape.len());
        if shape.len() < 2 {
            return None;
        }
        let mut inner = vec![0; shape.len()];
        order.iter().zip(shape).for_each(|(&from, &size)| inner[from] = size);
        let x = self.operand(dtype, &inner, None, depth - 1);
        Some(self.transpose(x, order))
    }

    fn split(&mut self, dtype: DType, shape: &[u64], depth: u32) -> Option<Value> {
        if shape.len() < 2 {
            return None;
        }
        let at = self.random.below(shape.len() - 1);
        let mut inner = shape.to_vec();
        let second = inner.remove(at + 1);
        inner[at] *= second;
        let x = self.operand(dtype, &inner, None, depth - 1);
        Some(self.reshape(x, shape))
    }

    /// An axis as two that multiply to it: its position, and the sizes. An axis that has factors comes first.
    pub(super) fn factors(&mut self, shape: &[u64]) -> Option<(usize, u64, u64)> {
        let divides = |n: u64| (2..n).filter(|d| n.is_multiple_of(*d)).collect::<Vec<u64>>();
        let good: Vec<usize> = (0..shape.len()).filter(|&at| !divides(shape[at]).is_empty()).collect();
        let at = match (good.is_empty(), shape.is_empty()) {
            (false, _) => self.pick(&good),
            (true, false) => self.random.below(shape.len()),
            (true, true) => return None,
        };
        let divisors = divides(shape[at]);
        let first = if divisors.is_empty() { 1 } else { self.pick(&divisors) };
        Some(if self.once_in(2) { (at, first, shape[at] / first) } else { (at, shape[at] / first, first) })
    }

    fn joined(&mut self, dtype: DType, shape: &[u64], depth: u32) -> Option<Value> {
        let (at, first, second) = self.factors(shape)?;
        let mut inner = shape.to_vec();
        inner[at] = first;
        inner.insert(at + 1, second);
        // Two axes that lie one after the other are one axis: it matters where they do not.
        let layout = if self.once_in(2) { Some(Feature::Permuted) } else { None };
        let x = self.operand(dtype, &inner, layout, depth.max(2) - 1);
        Some(self.reshape(x, shape))
    }

    fn repeated_whole(&mut self, dtype: DType, shape: &[u64], depth: u32) -> Option<Value> {
        if shape.is_empty() {
            return None;
        }
        let mut inner = shape.to_vec();
        let always = self.random.below(shape.len());
        for (at, size) in inner.iter_mut().enumerate() {
            if at == always || self.once_in(3) {
                *size = 1;
            }
        }
        let leading = inner.iter().take_while(|size| **size == 1).count();
        let dropped = self.random.below(leading + 1);
        let x = self.operand(dtype, &inner[dropped..], None, depth - 1);
        Some(self.broadcast(x, shape))
    }

    fn sliced(&mut self, dtype: DType, shape: &[u64], depth: u32) -> Option<Value> {
        if shape.is_empty() {
            return None;
        }
        let axis = self.random.below(shape.len());
        if shape[axis] == 0 {
            return None;
        }
        let mut inner = shape.to_vec();
        let start = self.random.below(4) as u64;
        inner[axis] += start + self.random.below(3) as u64;
        if inner.iter().product::<u64>() > LARGE {
            return None;
        }
        let x = self.operand(dtype, &inner, None, depth - 1);
        Some(self.node(Op::Slice(op::Slice { axis, start, stop: start + shape[axis] }), &[x]))
    }

    fn repeated(&mut self, dtype: DType, shape: &[u64], depth: u32) -> Option<Value> {
        let (at, kept, times) = self.factors(shape)?;
        let mut inner = shape.to_vec();
        inner[at] = kept;
        let x = self.operand(dtype, &inner, None, depth - 1);
        let (one, all) =
            if self.once_in(2) { ([kept, 1], [kept, times]) } else { ([1, kept], [times, kept]) };
        let with = |pair: [u64; 2]| [&shape[..at], &pair, &shape[at + 1..]].concat();
        let x = self.reshape(x, &with(one));
        let x = self.broadcast(x, &with(all));
        Some(self.reshape(x, shape))
    }

    fn concatenated(&mut self, dtype: DType, shape: &[u64], depth: u32) -> Option<Value> {
        if shape.is_empty() {
            return None;
        }
        let axis = self.random.below(shape.len());
        let mut left = shape[axis];
        let mut parts = Vec::new();
        for _ in 0..1 + self.random.below(2) {
            let mut part = shape.to_vec();
            part[axis] = self.random.below(left as usize + 1) as u64;
            left -= part[axis];
            parts.push(self.operand(dtype, &part, None, depth - 1));
        }
        let mut rest = shape.to_vec();
        rest[axis] = left;
        parts.push(self.operand(dtype, &rest, None, depth - 1));
        Some(self.concat(&parts, axis))
    }

    fn gathered(&mut self, dtype: DType, shape: &[u64], depth: u32) -> Option<Value> {
        if shape.is_empty() {
            return None;
        }
        let n = self.pick(&[1, 2, 3, 5, 8]);
        if self.once_in(2) {
            let axis = self.random.below(shape.len());
            let mut inner = shape.to_vec();
            inner[axis] = n;
            let x = self.operand(dtype, &inner, None, depth - 1);
            let ids = self.ids(shape, n);
            return Some(self.node(Op::Gather(op::Gather { axis }), &[x, ids]));
        }
        let led = 1 + self.random.below(shape.len().min(2));
        let x = self.operand(dtype, &[&[n], &shape[led..]].concat(), None, depth - 1);
        let ids = self.ids(&shape[..led], n);
        Some(self.node(Op::Index(op::Index), &[x, ids]))
    }

    fn view(&mut self, dtype: DType, shape: &[u64], depth: u32) -> Option<Value> {
        let order = self.order(shape.len());
        let mut inner = vec![0; shape.len()];
        order.iter().zip(shape).for_each(|(&from, &size)| inner[from] = size);
        let x = self.computed(dtype, &inner, depth - 1);
        self.pool.push(x);
        match shape.len() {
            0 => return Some(x),
            1 => {}
            _ => return Some(self.transpose(x, order)),
        }
        let wide = self.concat(&[x, x], 0);
        let stop = *shape.first().filter(|size| **size > 0)?;
        Some(self.node(Op::Slice(op::Slice { axis: 0, start: stop / 2, stop: stop / 2 + stop }), &[wide]))
    }

    fn constant(&mut self, dtype: DType, shape: &[u64]) -> Value {
        let count = shape.iter().product::<u64>() as usize;
        if count > 64 || self.once_in(3) {
            let number = self.pick(&[-1.5, 0.0, 0.5, 2.0]);
            return self.filled(dtype, shape, number);
        }
        let numbers: Vec<f64> = (0..count).map(|_| self.random.below(17) as f64 / 4.0 - 2.0).collect();
        let data: Data = match dtype {
            DType::F32 => numbers.iter().map(|&x| x as f32).collect::<Vec<_>>().into(),
            DType::Bf16 => numbers.iter().map(|&x| half::bf16::from_f64(x)).collect::<Vec<_>>().into(),
            DType::I32 => numbers.iter().map(|&x| x as i32).collect::<Vec<_>>().into(),
            DType::I64 => numbers.iter().map(|&x| x as i64).collect::<Vec<_>>().into(),
            DType::Bool => numbers.iter().map(|&x| x > 0.0).collect::<Vec<_>>().into(),
        };
        self.node(Op::Constant(op::Constant { value: Arc::new(Tensor::new(shape, data)) }), &[])
    }

    /// Made in one dtype and converted to another.
    fn converted(&mut self, from: DType, to: DType, shape: &[u64], depth: u32) -> Value {
        let x = self.operand(from, shape, None, depth - 1);
        self.cast(x, to)
    }
}
