//! What a kernel means, one scalar at a time: the plainest reading of the kernel's definition.

use half::bf16;
use std::collections::HashMap;
use sx_artifact::kernel::{
    Access, Affine, Attention, Body, Const, Contraction, FoldOp, Inst, Kernel, KernelKind, Loop, Operand,
    ScalarType, Store, Val,
};
use sx_artifact::scalar::ScalarFn;
use sx_artifact::tensor::Data;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    F(f32),
    I(i32),
    L(i64),
    B(bool),
}
use Value::{B, F, I, L};

impl Value {
    fn float(self) -> f32 {
        match self {
            F(x) => x,
            other => panic!("{other:?} is no float"),
        }
    }
    fn integer(self) -> i64 {
        match self {
            I(x) => x as i64,
            L(x) => x,
            other => panic!("{other:?} is no integer"),
        }
    }
    fn truth(self) -> bool {
        self == B(true)
    }
}

/// A refused index: position, trap, value.
pub(super) type Refused = (u64, u32, i64);

/// One run of a body at all its coordinates.
pub(super) struct Naive<'a> {
    body: &'a Body,
    sizes: Vec<u64>,
    /// How many of the coordinates, at the end, are reduced.
    along: usize,
    data: &'a [Data],
    folds: HashMap<(u32, Vec<u64>), Value>,
    pub(super) refused: Vec<Refused>,
}

impl<'a> Naive<'a> {
    pub(super) fn new(body: &'a Body, sizes: Vec<u64>, along: usize, data: &'a [Data]) -> Naive<'a> {
        Naive { body, sizes, along, data, folds: HashMap::new(), refused: Vec::new() }
    }

    fn element(data: &Data, at: i64) -> Value {
        let at = usize::try_from(at).expect("a position");
        match data {
            Data::F32(v) => F(v[at]),
            Data::Bf16(v) => F(v[at].to_f32()),
            Data::I32(v) => I(v[at]),
            Data::I64(v) => L(v[at]),
            Data::Bool(v) => B(v[at]),
        }
    }

    fn zero(data: &Data) -> Value {
        match data {
            Data::F32(_) | Data::Bf16(_) => F(0.0),
            Data::I32(_) => I(0),
            Data::I64(_) => L(0),
            Data::Bool(_) => B(false),
        }
    }

    /// Which coordinates a value follows.
    fn follows(&self, v: Val, coordinate: usize) -> bool {
        let any = |vs: &[Val]| vs.iter().any(|&v| self.follows(v, coordinate));
        match &self.body.insts[v.0 as usize] {
            Inst::Const(_) | Inst::Acc { .. } => false,
            Inst::Index { at, .. } => at.strides[coordinate] != 0,
            Inst::Load { access, guard } => {
                access.at.strides[coordinate] != 0
                    || access.gathered.iter().any(|(v, _)| any(&[*v]))
                    || guard.is_some_and(|g| any(&[g]))
            }
            Inst::Call { args, .. } => any(args),
            Inst::Convert { x, .. } | Inst::RoundBf16 { x } | Inst::Bounded { x, .. } => any(&[*x]),
            Inst::Fold { x, .. } => coordinate < self.sizes.len() - self.along && any(&[*x]),
        }
    }

    pub(super) fn value(&mut self, v: Val, at: &[u64], acc: Option<Value>) -> Value {
        let inst = self.body.insts[v.0 as usize].clone();
        match inst {
            Inst::Const(Const::F32(bits)) => F(f32::from_bits(bits)),
            Inst::Const(Const::I32(x)) => I(x),
            Inst::Const(Const::I64(x)) => L(x),
            Inst::Const(Const::Bool(x)) => B(x),
            Inst::Index { at: affine, reg: ScalarType::I64 } => L(position(&affine, at)),
            Inst::Index { at: affine, .. } => I(position(&affine, at) as i32),
            Inst::Load { access, guard } => {
                let data = &self.data[access.arg as usize];
                if guard.is_some_and(|g| !self.value(g, at, acc).truth()) {
                    return Self::zero(data);
                }
                let mut place = position(&access.at, at);
                for (v, stride) in &access.gathered {
                    place += self.value(*v, at, acc).integer() * stride;
                }
                Self::element(data, place)
            }
            Inst::Acc { .. } => acc.expect("an accumulator"),
            Inst::Call { f, args } => {
                let args: Vec<Value> = args.iter().map(|&a| self.value(a, at, acc)).collect();
                call(f, &args)
            }
            Inst::Convert { to, x } => convert(self.value(x, at, acc), to),
            Inst::RoundBf16 { x } => F(bf16::from_f32(self.value(x, at, acc).float()).to_f32()),
            Inst::Bounded { x, size, trap, .. } => {
                let index = self.value(x, at, acc);
                let inside = index.integer() >= 0 && (index.integer() as u64) < size;
                if let (Some(trap), false) = (trap, inside) {
                    let mut flat = 0;
                    for (c, (&at, &size)) in at.iter().zip(&self.sizes).enumerate() {
                        flat = flat * size + if self.follows(x, c) { at } else { 0 };
                    }
                    self.refused.push((flat, trap, index.integer()));
                }
                match (inside, index) {
                    (true, index) => index,
                    (false, I(x)) if trap.is_none() => I(x.clamp(0, size as i32 - 1)),
                    (false, L(x)) if trap.is_none() => L(x.clamp(0, size as i64 - 1)),
                    (false, I(_)) => I(0),
                    (false, _) => L(0),
                }
            }
            Inst::Fold { op, x } => self.fold(v, op, x, at, acc),
        }
    }

    fn fold(&mut self, v: Val, op: FoldOp, x: Val, at: &[u64], acc: Option<Value>) -> Value {
        let rows = self.sizes.len() - self.along;
        let key = (v.0, at[..rows].to_vec());
        if let Some(&known) = self.folds.get(&key) {
            return known;
        }
        let mut all = Vec::new();
        for inner in points(&self.sizes[rows..]) {
            all.push(self.value(x, &[&at[..rows], &inner].concat(), acc));
        }
        let empty = zero_of(self.body, x, self.data);
        let result = join(op, &all, empty);
        self.folds.insert(key, result);
        result
    }
}

/// A value of the type of `v`, for folds of nothing.
fn zero_of(body: &Body, v: Val, data: &[Data]) -> Value {
    match &body.insts[v.0 as usize] {
        Inst::Const(Const::F32(_)) | Inst::RoundBf16 { .. } => F(0.0),
        Inst::Const(Const::I32(_)) => I(0),
        Inst::Const(Const::I64(_)) => L(0),
        Inst::Const(Const::Bool(_)) => B(false),
        Inst::Index { reg, .. } | Inst::Acc { reg } | Inst::Convert { to: reg, .. } => convert(I(0), *reg),
        Inst::Load { access, .. } => Naive::zero(&data[access.arg as usize]),
        Inst::Call { f, .. } if f.is_comparison() => B(false),
        Inst::Call { args, .. } => zero_of(body, args[args.len() - 1], data),
        Inst::Bounded { x, .. } | Inst::Fold { x, .. } => zero_of(body, *x, data),
    }
}

/// A fold; sums of floats in f64.
fn join(op: FoldOp, all: &[Value], empty: Value) -> Value {
    let floats = || all.iter().map(|v| v.float() as f64);
    match (op, empty) {
        (FoldOp::Sum, F(_)) => F(floats().sum::<f64>() as f32),
        (FoldOp::Prod, F(_)) => F(floats().product::<f64>() as f32),
        (FoldOp::Max, F(_)) => {
            F(all.iter().fold(f32::NEG_INFINITY, |m, v| call(ScalarFn::Maximum, &[F(m), *v]).float()))
        }
        (FoldOp::Min, F(_)) => {
            F(all.iter().fold(f32::INFINITY, |m, v| call(ScalarFn::Minimum, &[F(m), *v]).float()))
        }
        (FoldOp::All, _) => B(all.iter().all(|v| v.truth())),
        (FoldOp::Any, _) => B(all.iter().any(|v| v.truth())),
        (op, empty) => {
            let start = match op {
                FoldOp::Sum => 0,
                FoldOp::Prod => 1,
                FoldOp::Max => {
                    if matches!(empty, I(_)) {
                        i32::MIN as i64
                    } else {
                        i64::MIN
                    }
                }
                _ => {
                    if matches!(empty, I(_)) {
                        i32::MAX as i64
                    } else {
                        i64::MAX
                    }
                }
            };
            let whole = all.iter().map(|v| v.integer()).fold(start, |a, b| match op {
                FoldOp::Sum => a.wrapping_add(b),
                FoldOp::Prod => a.wrapping_mul(b),
                FoldOp::Max => a.max(b),
                _ => a.min(b),
            });
            if matches!(empty, I(_)) { I(whole as i32) } else { L(whole) }
        }
    }
}

fn convert(x: Value, to: ScalarType) -> Value {
    match (x, to) {
        (x, ScalarType::Bool) => B(match x {
            F(x) => x != 0.0,
            B(x) => x,
            other => other.integer() != 0,
        }),
        (F(x), ScalarType::F32) => F(x),
        (F(x), ScalarType::I32) => I(x as i32),
        (F(x), ScalarType::I64) => L(x as i64),
        (B(x), to) => convert(I(x as i32), to),
        (I(x), ScalarType::F32) => F(x as f32),
        (L(x), ScalarType::F32) => F(x as f32),
        (x, ScalarType::I32) => I(x.integer() as i32),
        (x, ScalarType::I64) => L(x.integer()),
    }
}

/// A scalar function by its definition; integers in 128 bits, wrapped at the end.
fn call(f: ScalarFn, args: &[Value]) -> Value {
    use ScalarFn::*;
    match args {
        [B(c), a, b] if f == Where => {
            if *c {
                *a
            } else {
                *b
            }
        }
        [B(x)] if f == Not => B(!x),
        [B(x), B(y)] => B(match f {
            And | Minimum => *x && *y,
            Or | Maximum => *x || *y,
            Eq => x == y,
            Ne => x != y,
            Lt => !x & y,
            Le => x <= y,
            Gt => x & !y,
            Ge => x >= y,
            other => panic!("{other:?} of truth values"),
        }),
        [F(x), F(y)] if f.is_comparison() => B(match f {
            Eq => x == y,
            Ne => x != y,
            Lt => x < y,
            Le => x <= y,
            Gt => x > y,
            _ => x >= y,
        }),
        [F(x), F(y)] => F(float2(f, *x, *y)),
        [F(x)] => F(float1(f, *x)),
        [x, y] if f.is_comparison() => B(match f {
            Eq => x.integer() == y.integer(),
            Ne => x.integer() != y.integer(),
            Lt => x.integer() < y.integer(),
            Le => x.integer() <= y.integer(),
            Gt => x.integer() > y.integer(),
            _ => x.integer() >= y.integer(),
        }),
        ints => {
            let wide: Vec<i128> = ints.iter().map(|v| v.integer() as i128).collect();
            let result = integer(f, &wide);
            if matches!(ints[0], I(_)) { I(result as i32) } else { L(result as i64) }
        }
    }
}

fn integer(f: ScalarFn, x: &[i128]) -> i128 {
    use ScalarFn::*;
    match (f, x) {
        (Add, [x, y]) => x + y,
        (Sub, [x, y]) => x - y,
        (Mul, [x, y]) => x.wrapping_mul(*y),
        (Div, [x, y]) => x.checked_div(*y).unwrap_or(0),
        (Mod, [_, 0]) => 0,
        (Mod, [x, y]) => (x % y + y) % y,
        (Maximum, [x, y]) => *x.max(y),
        (Minimum, [x, y]) => *x.min(y),
        (Neg, [x]) => -x,
        (Abs, [x]) => x.abs(),
        (Floor | Ceil | Round, [x]) => *x,
        other => panic!("{other:?}"),
    }
}

fn float2(f: ScalarFn, x: f32, y: f32) -> f32 {
    use ScalarFn::*;
    match f {
        Add => x + y,
        Sub => x - y,
        Mul => x * y,
        Div => x / y,
        Mod => {
            let (x, y) = (x as f64, y as f64);
            let rest = x % y;
            if rest != 0.0 && (rest < 0.0) != (y < 0.0) {
                (rest + y) as f32
            } else if rest == 0.0 {
                0f32.copysign(y as f32)
            } else {
                rest as f32
            }
        }
        Maximum if x.is_nan() || y.is_nan() => f32::NAN,
        Minimum if x.is_nan() || y.is_nan() => f32::NAN,
        Maximum => {
            if x == y && x.is_sign_negative() {
                y
            } else {
                x.max(y)
            }
        }
        Minimum => {
            if x == y && x.is_sign_negative() {
                x
            } else {
                x.min(y)
            }
        }
        Pow => (x as f64).powf(y as f64) as f32,
        Atan2 => (x as f64).atan2(y as f64) as f32,
        other => panic!("{other:?}"),
    }
}

fn float1(f: ScalarFn, x: f32) -> f32 {
    use ScalarFn::*;
    let wide = x as f64;
    let result = match f {
        Neg => -wide,
        Abs => wide.abs(),
        Sqrt => return x.sqrt(),
        Rsqrt => 1.0 / wide.sqrt(),
        Exp => wide.exp(),
        Log => wide.ln(),
        Expm1 => wide.exp_m1(),
        Log1p => wide.ln_1p(),
        Sin => wide.sin(),
        Cos => wide.cos(),
        Tanh => wide.tanh(),
        Asin => wide.asin(),
        Acos => wide.acos(),
        Floor => wide.floor(),
        Ceil => wide.ceil(),
        Round => wide.round_ties_even(),
        other => panic!("{other:?}"),
    };
    result as f32
}

fn position(at: &Affine, coordinates: &[u64]) -> i64 {
    at.offset + at.strides.iter().zip(coordinates).map(|(s, &c)| s * c as i64).sum::<i64>()
}

/// All coordinates, row-major.
pub(super) fn points(sizes: &[u64]) -> Vec<Vec<u64>> {
    sizes.iter().fold(vec![Vec::new()], |outer, &size| {
        outer.iter().flat_map(|o| (0..size).map(move |c| [o.as_slice(), &[c]].concat())).collect()
    })
}

fn write(data: &mut Data, access: &Access, at: &[u64], value: Value) {
    let place = usize::try_from(position(&access.at, at)).expect("a position");
    match (data, value) {
        (Data::F32(v), F(x)) => v[place] = x,
        (Data::Bf16(v), F(x)) => v[place] = bf16::from_f32(x),
        (Data::I32(v), I(x)) => v[place] = x,
        (Data::I64(v), L(x)) => v[place] = x,
        (Data::Bool(v), B(x)) => v[place] = x,
        (data, value) => panic!("{value:?} is stored as {}", data.dtype()),
    }
}

/// Runs a kernel on `data` (all arguments; those it writes are replaced). The refused indices, if any.
pub(super) fn run(kernel: &Kernel, data: &mut [Data]) -> Vec<Refused> {
    match &kernel.kind {
        KernelKind::Loop(work) => run_loop(work, data),
        KernelKind::Contraction(work) => run_contract(work, data),
        KernelKind::Attention(work) => run_attention(work, data),
    }
}

fn run_loop(work: &Loop, data: &mut [Data]) -> Vec<Refused> {
    let sizes = [work.dims.clone(), work.along.clone()].concat();
    let before = data.to_vec();
    let mut naive = Naive::new(&work.body, sizes.clone(), work.along.len(), &before);
    for row in points(&work.dims) {
        for store in &work.stores {
            let per_row =
                store.access.at.strides[work.dims.len()..].iter().all(|&s| s == 0) && !work.along.is_empty();
            let inner = if per_row { vec![vec![0; work.along.len()]] } else { points(&work.along) };
            for inner in inner {
                let at = [row.as_slice(), &inner].concat();
                let value = naive.value(store.value, &at, None);
                write(&mut data[store.access.arg as usize], &store.access, &at, value);
            }
        }
    }
    for v in 0..work.body.insts.len() as u32 {
        if let Inst::Bounded { x, trap: Some(_), .. } = work.body.insts[v as usize] {
            // What is the same for a row is checked once a row, even where there is nothing along it.
            let along = (work.dims.len()..sizes.len()).any(|c| naive.follows(x, c));
            for row in points(&work.dims) {
                for inner in if along { points(&work.along) } else { vec![vec![0; work.along.len()]] } {
                    naive.value(Val(v), &[row.as_slice(), &inner].concat(), None);
                }
            }
        }
    }
    naive.refused
}

/// An operand at all its coordinates.
fn operand(
    operand: &Operand,
    sizes: Vec<u64>,
    data: &[Data],
    refused: &mut Vec<Refused>,
) -> HashMap<Vec<u64>, Value> {
    let mut naive = Naive::new(&operand.body, sizes.clone(), 0, data);
    let all = points(&sizes).into_iter().map(|at| (at.clone(), naive.value(operand.value, &at, None)));
    let all = all.collect();
    refused.append(&mut naive.refused);
    all
}

/// An epilogue at all its coordinates.
fn epilogue(
    body: &Body,
    stores: &[Store],
    sizes: Vec<u64>,
    data: &mut [Data],
    acc: impl Fn(&[u64]) -> Value,
    refused: &mut Vec<Refused>,
) {
    let before = data.to_vec();
    let mut naive = Naive::new(body, sizes.clone(), 0, &before);
    for at in points(&sizes) {
        for store in stores {
            let value = naive.value(store.value, &at, Some(acc(&at)));
            write(&mut data[store.access.arg as usize], &store.access, &at, value);
        }
    }
    refused.append(&mut naive.refused);
}

fn run_contract(work: &Contraction, data: &mut [Data]) -> Vec<Refused> {
    let mut refused = Vec::new();
    let lhs =
        operand(&work.lhs, [work.batch.clone(), work.m.clone(), work.k.clone()].concat(), data, &mut refused);
    let rhs =
        operand(&work.rhs, [work.batch.clone(), work.k.clone(), work.n.clone()].concat(), data, &mut refused);
    let sizes = [work.batch.clone(), work.m.clone(), work.n.clone()].concat();
    let (b, m) = (work.batch.len(), work.m.len());
    let before = data.to_vec();
    let sum = |at: &[u64]| {
        let terms = points(&work.k).into_iter().map(|k| {
            let x = lhs[&[&at[..b + m], &k].concat()];
            (x, rhs[&[&at[..b], &k, &at[b + m..]].concat()])
        });
        match zero_of(&work.lhs.body, work.lhs.value, &before) {
            F(_) => F(terms.map(|(x, y)| x.float() as f64 * y.float() as f64).sum::<f64>() as f32),
            I(_) => {
                I(terms.fold(0i64, |s, (x, y)| s.wrapping_add(x.integer().wrapping_mul(y.integer()))) as i32)
            }
            _ => L(terms.fold(0i64, |s, (x, y)| s.wrapping_add(x.integer().wrapping_mul(y.integer())))),
        }
    };
    epilogue(&work.epilogue, &work.stores, sizes, data, sum, &mut refused);
    refused
}

fn run_attention(work: &Attention, data: &mut [Data]) -> Vec<Refused> {
    let mut refused = Vec::new();
    let sizes = |a: u64, b: u64| [work.batch.clone(), vec![a, b]].concat();
    let query = operand(&work.query, sizes(work.t, work.d), data, &mut refused);
    let key = operand(&work.key, sizes(work.s, work.d), data, &mut refused);
    let value = operand(&work.value, sizes(work.s, work.e), data, &mut refused);
    let before = data.to_vec();
    let mut score = Naive::new(&work.score.body, sizes(work.t, work.s), 0, &before);
    let b = work.batch.len();
    let mut weights: HashMap<Vec<u64>, Vec<f64>> = HashMap::new();
    for at in points(&[work.batch.clone(), vec![work.t]].concat()) {
        let mut scores = Vec::new();
        for s in 0..work.s {
            let dot: f64 = (0..work.d)
                .map(|d| {
                    let q = query[&[&at[..], &[d]].concat()].float() as f64;
                    q * key[&[&at[..b], &[s, d]].concat()].float() as f64
                })
                .sum();
            let at = [&at[..], &[s]].concat();
            scores.push(score.value(work.score.value, &at, Some(F(dot as f32))).float() as f64);
        }
        let max = scores.iter().fold(f64::NEG_INFINITY, |m, &x| if x.is_nan() || x > m { x } else { m });
        let exps: Vec<f64> = scores.iter().map(|x| (x - max).exp()).collect();
        let sum: f64 = exps.iter().sum();
        weights.insert(at, exps.iter().map(|x| x / sum).collect());
    }
    refused.append(&mut score.refused);
    let weighted = |at: &[u64]| {
        let weights = &weights[&at[..b + 1]];
        let terms = weights.iter().enumerate();
        F(terms
            .map(|(s, w)| w * value[&[&at[..b], &[s as u64, at[b + 1]]].concat()].float() as f64)
            .sum::<f64>() as f32)
    };
    epilogue(&work.epilogue, &work.stores, sizes(work.t, work.e), data, weighted, &mut refused);
    refused
}
