//! What a kernel means, on host tensors: each instruction over all coordinates at once.
//!
//! Slow and plain: tests compare every target's way of running a kernel with this one, and this one with the
//! reference of the graph the kernel came from.

use crate::ir::{Op, op};
use crate::ops::Trap;
use crate::ops::scalar::{self, apply::apply};
use half::bf16;
use sx_artifact::dtype::DType;
use sx_artifact::kernel::{
    Access, Affine, Attention, Body, Const, Contraction, FoldOp, Inst, Kernel, KernelKind, Loop, Operand,
    ScalarType, Store,
};
use sx_artifact::tensor::{Data, Tensor};

/// Runs `kernel` on its arguments, reads filled, writes of any content; gives the written ones, in order.
pub fn run(kernel: &Kernel, reads: &[&Tensor]) -> Result<Vec<Tensor>, (u32, Trap)> {
    let mut writes: Vec<Vec<Option<Scalar>>> =
        kernel.args[reads.len()..].iter().map(|arg| vec![None; arg.len as usize]).collect();
    let hollow = matches!(&kernel.kind, KernelKind::Loop(work) if work.along.contains(&0));
    let mut machine = Machine { reads, hollow, writes: &mut writes };
    match &kernel.kind {
        KernelKind::Loop(work) => machine.run_loop(work)?,
        KernelKind::Contraction(work) => machine.contract(work)?,
        KernelKind::Attention(work) => machine.attention(work)?,
    }
    let written = writes.into_iter().zip(&kernel.args[reads.len()..]);
    Ok(written.map(|(elements, arg)| collect(&elements, arg.dtype)).collect())
}

#[derive(Clone, Copy, Debug)]
enum Scalar {
    F32(f32),
    I32(i32),
    I64(i64),
    Bool(bool),
}

struct Machine<'a> {
    reads: &'a [&'a Tensor],
    /// True where a loop folds over nothing.
    hollow: bool,
    writes: &'a mut [Vec<Option<Scalar>>],
}

impl Machine<'_> {
    fn run_loop(&mut self, work: &Loop) -> Result<(), (u32, Trap)> {
        let mut sizes: Vec<u64> = work.dims.iter().chain(&work.along).copied().collect();
        if work.along.contains(&0) {
            // Nothing is folded, but the rows are still there: a fold over no coordinates of a value that was
            // never loaded gives the identity.
            sizes.truncate(work.dims.len());
        }
        let values = self.body(&work.body, &sizes, work.dims.len(), None)?;
        self.store(&work.stores, &values, &sizes);
        Ok(())
    }

    fn contract(&mut self, work: &Contraction) -> Result<(), (u32, Trap)> {
        let join = |lists: [&Vec<u64>; 3]| lists.into_iter().flatten().copied().collect::<Vec<u64>>();
        let lhs = self.operand(&work.lhs, &join([&work.batch, &work.m, &work.k]))?;
        let rhs = self.operand(&work.rhs, &join([&work.batch, &work.k, &work.n]))?;
        let count = |sizes: &[u64]| sizes.iter().product::<u64>() as usize;
        let acc = product(&lhs, &rhs, [count(&work.batch), count(&work.m), count(&work.n), count(&work.k)]);
        let outer = join([&work.batch, &work.m, &work.n]);
        let values =
            self.body(&work.epilogue, &outer, outer.len(), Some(&acc.reshaped(&[count(&outer) as u64])))?;
        self.store(&work.stores, &values, &outer);
        Ok(())
    }

    fn attention(&mut self, work: &Attention) -> Result<(), (u32, Trap)> {
        let sizes = |last: [u64; 2]| work.batch.iter().copied().chain(last).collect::<Vec<u64>>();
        let query = self.operand(&work.query, &sizes([work.t, work.d]))?;
        let key = self.operand(&work.key, &sizes([work.s, work.d]))?;
        let value = self.operand(&work.value, &sizes([work.s, work.e]))?;
        let batch = work.batch.iter().product::<u64>() as usize;
        let (t, s, d, e) = (work.t as usize, work.s as usize, work.d as usize, work.e as usize);
        let turned = transposed(&key, batch, s, d);
        let dots = product(&query, &turned, [batch, t, s, d]);
        let score_sizes = sizes([work.t, work.s]);
        let scores = self.body(&work.score.body, &score_sizes, score_sizes.len(), Some(&dots))?;
        let weights = softmax(&scores[work.score.value.0 as usize], s, work.zero_hidden_rows);
        let acc = product(&weights, &value, [batch, t, e, s]);
        let outer = sizes([work.t, work.e]);
        let values = self.body(&work.epilogue, &outer, outer.len(), Some(&acc))?;
        self.store(&work.stores, &values, &outer);
        Ok(())
    }

    fn operand(&mut self, operand: &Operand, sizes: &[u64]) -> Result<Tensor, (u32, Trap)> {
        let mut values = self.body(&operand.body, sizes, sizes.len(), None)?;
        Ok(values.swap_remove(operand.value.0 as usize))
    }

    /// Every value over all coordinates, flat; the last `sizes.len() - rows` coordinates are folded.
    fn body(
        &self,
        body: &Body,
        sizes: &[u64],
        rows: usize,
        acc: Option<&Tensor>,
    ) -> Result<Vec<Tensor>, (u32, Trap)> {
        let count: u64 = sizes.iter().product();
        let mut values: Vec<Tensor> = Vec::with_capacity(body.insts.len());
        for inst in &body.insts {
            let value = match inst {
                Inst::Const(constant) => repeated(*constant, count),
                Inst::Index { at, reg } => integers(&offsets(at, sizes), *reg),
                Inst::Load { access, guard } => {
                    self.load(access, guard.map(|g| &values[g.0 as usize]), &values, sizes)
                }
                Inst::Acc { .. } => acc.expect("only an epilogue reads an accumulator").clone(),
                Inst::Call { f, args } => {
                    let args: Vec<&Tensor> = args.iter().map(|v| &values[v.0 as usize]).collect();
                    apply(&scalar::def(*f).eval, &args)
                }
                Inst::Convert { to, x } => {
                    let dtype = match to {
                        ScalarType::F32 => DType::F32,
                        ScalarType::I32 => DType::I32,
                        ScalarType::I64 => DType::I64,
                        ScalarType::Bool => DType::Bool,
                    };
                    let x = &values[x.0 as usize];
                    Tensor::new(x.shape(), crate::ops::cast::converted(x.data(), dtype))
                }
                Inst::RoundBf16 { x } => rounded(&values[x.0 as usize]),
                Inst::Bounded { x, size, trap } => bounded(&values[x.0 as usize], *size, *trap)?,
                Inst::Fold { op, x } if self.hollow => identity(*op, &values[x.0 as usize]),
                Inst::Fold { op, x } => fold(*op, &values[x.0 as usize], &sizes[..rows], &sizes[rows..]),
            };
            values.push(value);
        }
        Ok(values)
    }

    fn load(&self, access: &Access, guard: Option<&Tensor>, values: &[Tensor], sizes: &[u64]) -> Tensor {
        let mut at = offsets(&access.at, sizes);
        for (index, stride) in &access.gathered {
            let index = &values[index.0 as usize];
            at.iter_mut().enumerate().for_each(|(i, at)| *at += integer(index, i) * stride);
        }
        let held = |i: usize| match guard.map(Tensor::data) {
            Some(Data::Bool(guard)) => guard[i],
            _ => true,
        };
        let from = self.reads[access.arg as usize];
        fn pick<T: Copy + Default>(from: &[T], at: &[i64], held: impl Fn(usize) -> bool) -> Vec<T> {
            let read = |(i, &at): (usize, &i64)| match from.get(at as usize) {
                Some(&x) if held(i) => x,
                None if held(i) && !from.is_empty() => panic!("a load at {at} leaves its buffer"),
                _ => T::default(),
            };
            at.iter().enumerate().map(read).collect()
        }
        let count = at.len() as u64;
        let data: Data = match from.data() {
            Data::F32(v) => pick(v, &at, held).into(),
            Data::Bf16(v) => pick(v, &at, held).iter().map(|x| x.to_f32()).collect::<Vec<f32>>().into(),
            Data::I32(v) => pick(v, &at, held).into(),
            Data::I64(v) => pick(v, &at, held).into(),
            Data::Bool(v) => pick(v, &at, held).into(),
        };
        Tensor::new(&[count], data)
    }

    fn store(&mut self, stores: &[Store], values: &[Tensor], sizes: &[u64]) {
        for store in stores {
            let value = &values[store.value.0 as usize];
            let written = &mut self.writes[store.access.arg as usize - self.reads.len()];
            for (i, at) in offsets(&store.access.at, sizes).into_iter().enumerate() {
                written[at as usize] = Some(element(value, i));
            }
        }
    }
}

/// The affine form at every position of the coordinates, row-major.
fn offsets(affine: &Affine, sizes: &[u64]) -> Vec<i64> {
    if sizes.contains(&0) {
        return Vec::new();
    }
    let mut all = vec![affine.offset];
    for (&size, &stride) in sizes.iter().zip(&affine.strides) {
        let wider = |base: i64| (0..size as i64).map(move |position| base + position * stride);
        all = all.into_iter().flat_map(wider).collect();
    }
    all
}

fn repeated(constant: Const, count: u64) -> Tensor {
    let n = count as usize;
    let data: Data = match constant {
        Const::F32(bits) => vec![f32::from_bits(bits); n].into(),
        Const::I32(x) => vec![x; n].into(),
        Const::I64(x) => vec![x; n].into(),
        Const::Bool(x) => vec![x; n].into(),
    };
    Tensor::new(&[count], data)
}

fn integers(values: &[i64], reg: ScalarType) -> Tensor {
    let data: Data = match reg {
        ScalarType::I32 => values.iter().map(|&x| x as i32).collect::<Vec<_>>().into(),
        ScalarType::I64 | ScalarType::F32 | ScalarType::Bool => values.to_vec().into(),
    };
    Tensor::new(&[values.len() as u64], data)
}

fn integer(tensor: &Tensor, at: usize) -> i64 {
    match element(tensor, at) {
        Scalar::I32(x) => i64::from(x),
        Scalar::I64(x) => x,
        Scalar::F32(_) | Scalar::Bool(_) => unreachable!("indices are integers"),
    }
}

fn element(tensor: &Tensor, at: usize) -> Scalar {
    match tensor.data() {
        Data::F32(v) => Scalar::F32(v[at]),
        Data::Bf16(v) => Scalar::F32(v[at].to_f32()),
        Data::I32(v) => Scalar::I32(v[at]),
        Data::I64(v) => Scalar::I64(v[at]),
        Data::Bool(v) => Scalar::Bool(v[at]),
    }
}

fn collect(elements: &[Option<Scalar>], dtype: DType) -> Tensor {
    let count = elements.len() as u64;
    let floats = || {
        elements.iter().map(|x| match x {
            Some(Scalar::F32(x)) => *x,
            other => panic!("an output element is {other:?}, not an f32"),
        })
    };
    let data: Data = match dtype {
        DType::F32 => floats().collect::<Vec<f32>>().into(),
        DType::Bf16 => floats().map(bf16::from_f32).collect::<Vec<bf16>>().into(),
        DType::I32 | DType::I64 | DType::Bool => {
            let at = |i: usize| elements[i].unwrap_or_else(|| panic!("output element {i} is written"));
            let all = 0..elements.len();
            match dtype {
                DType::I32 => all
                    .map(|i| if let Scalar::I32(x) = at(i) { x } else { panic!("an i32") })
                    .collect::<Vec<_>>()
                    .into(),
                DType::I64 => all
                    .map(|i| if let Scalar::I64(x) = at(i) { x } else { panic!("an i64") })
                    .collect::<Vec<_>>()
                    .into(),
                _ => all
                    .map(|i| if let Scalar::Bool(x) = at(i) { x } else { panic!("a bool") })
                    .collect::<Vec<_>>()
                    .into(),
            }
        }
    };
    Tensor::new(&[count], data)
}

fn rounded(x: &Tensor) -> Tensor {
    let Data::F32(v) = x.data() else { unreachable!("only floats are rounded to bf16") };
    Tensor::new(x.shape(), v.iter().map(|&x| bf16::from_f32(x).to_f32()).collect::<Vec<f32>>().into())
}

fn bounded(x: &Tensor, size: u64, trap: Option<u32>) -> Result<Tensor, (u32, Trap)> {
    let outside = |i: &usize| !(0..size as i64).contains(&integer(x, *i));
    match ((0..x.len()).find(outside), trap) {
        (Some(position), Some(trap)) => {
            Err((trap, Trap { position: position as u64, value: integer(x, position), size }))
        }
        _ => Ok(x.clone()),
    }
}

/// What folding nothing gives, for as many rows as `x` has elements.
fn identity(op: FoldOp, x: &Tensor) -> Tensor {
    let hollow = crate::ops::cast::converted(&Data::Bool(Vec::new()), x.dtype());
    folded(op, &Tensor::new(&[x.len() as u64, 0], hollow))
}

/// Each row folded, and repeated over the folded coordinates.
fn fold(op: FoldOp, x: &Tensor, rows: &[u64], along: &[u64]) -> Tensor {
    let (rows, along) = (rows.iter().product::<u64>(), along.iter().product::<u64>());
    let per_row = folded(op, &x.clone().reshaped(&[rows, along]));
    let at = (0..rows as usize).flat_map(|row| std::iter::repeat_n(row, along as usize));
    crate::ops::walk::picked(&per_row, &[rows * along], at)
}

/// The last axis folded, by the meaning of the graph's operation.
fn folded(op: FoldOp, x: &Tensor) -> Tensor {
    let reduce = Op::Reduce(op::Reduce { op, axes: vec![1], keepdims: false });
    let mut results = crate::ops::rules(&reduce).reference(&[x]).expect("a reduction does not trap");
    results.swap_remove(0)
}

/// `[batch m k] · [batch k n]`, floats accumulated in f64 and rounded once, integers wrapping.
fn product(lhs: &Tensor, rhs: &Tensor, [batch, m, n, k]: [usize; 4]) -> Tensor {
    fn each<T: Copy, A>(
        lhs: &[T],
        rhs: &[T],
        [batch, m, n, k]: [usize; 4],
        zero: fn() -> A,
        add: fn(A, T, T) -> A,
    ) -> Vec<A> {
        let mut out = Vec::with_capacity(batch * m * n);
        for b in 0..batch {
            for i in 0..m {
                for j in 0..n {
                    let term = |acc, l: usize| add(acc, lhs[(b * m + i) * k + l], rhs[(b * k + l) * n + j]);
                    out.push((0..k).fold(zero(), term));
                }
            }
        }
        out
    }
    let sizes = [batch, m, n, k];
    let data: Data = match (lhs.data(), rhs.data()) {
        (Data::F32(a), Data::F32(b)) => {
            let sums = each(a, b, sizes, || 0.0f64, |acc, x: f32, y: f32| acc + f64::from(x) * f64::from(y));
            sums.into_iter().map(|x| x as f32).collect::<Vec<f32>>().into()
        }
        (Data::I32(a), Data::I32(b)) => {
            each(a, b, sizes, || 0i32, |acc, x, y| acc.wrapping_add(x.wrapping_mul(y))).into()
        }
        (Data::I64(a), Data::I64(b)) => {
            each(a, b, sizes, || 0i64, |acc, x, y| acc.wrapping_add(x.wrapping_mul(y))).into()
        }
        _ => unreachable!("a product is of two numbers of one type"),
    };
    Tensor::new(&[data.len() as u64], data)
}

fn transposed(x: &Tensor, batch: usize, rows: usize, columns: usize) -> Tensor {
    let Data::F32(v) = x.data() else { unreachable!("attention is of floats") };
    let mut out = Vec::with_capacity(v.len());
    for b in 0..batch {
        for c in 0..columns {
            out.extend((0..rows).map(|r| v[(b * rows + r) * columns + c]));
        }
    }
    Tensor::new(x.shape(), out.into())
}

/// The softmax of each row. Where every score is -inf it is NaN, or 0 if `zero_hidden_rows`.
fn softmax(scores: &Tensor, width: usize, zero_hidden_rows: bool) -> Tensor {
    let Data::F32(v) = scores.data() else { unreachable!("scores are floats") };
    let mut out = Vec::with_capacity(v.len());
    for row in v.chunks(width.max(1)) {
        let nan = row.iter().any(|x| x.is_nan());
        let max =
            if nan { f64::NAN } else { row.iter().fold(f64::NEG_INFINITY, |m, &x| m.max(f64::from(x))) };
        if zero_hidden_rows && max == f64::NEG_INFINITY {
            out.extend(row.iter().map(|_| 0f32));
            continue;
        }
        let powers: Vec<f64> = row.iter().map(|&x| (f64::from(x) - max).exp()).collect();
        let total: f64 = powers.iter().sum();
        out.extend(powers.iter().map(|p| (p / total) as f32));
    }
    Tensor::new(scores.shape(), out.into())
}
