//! What a kernel means, computed the slow way: one element after the other, sums and functions in f64.

use half::bf16;
use sx_artifact::kernel::*;
use sx_artifact::scalar::ScalarFn;
use sx_artifact::tensor::{Data, Tensor};

/// A value in a register. Floats carry more digits than they will have, so that sums are not ours to round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum V {
    F(f64),
    I(i32),
    L(i64),
    B(bool),
}

/// Runs a kernel on its read arguments and gives its write arguments, filled with zeros beforehand.
pub(crate) fn run(kernel: &Kernel, inputs: &[Tensor]) -> Vec<Data> {
    let mut outs: Vec<Data> = vec![];
    for arg in &kernel.args[inputs.len()..] {
        let n = arg.len as usize;
        outs.push(match arg.dtype {
            sx_artifact::dtype::DType::F32 => vec![0f32; n].into(),
            sx_artifact::dtype::DType::Bf16 => vec![bf16::ZERO; n].into(),
            sx_artifact::dtype::DType::I32 => vec![0i32; n].into(),
            sx_artifact::dtype::DType::I64 => vec![0i64; n].into(),
            sx_artifact::dtype::DType::Bool => vec![false; n].into(),
        });
    }
    let mut put = |store: &Store, coords: &[u64], value: V| {
        let at = place(&store.access, coords, &[]) as usize;
        match (&mut outs[store.access.arg as usize - inputs.len()], value) {
            (Data::F32(out), V::F(x)) => out[at] = x as f32,
            (Data::Bf16(out), V::F(x)) => out[at] = bf16::from_f32(x as f32),
            (Data::I32(out), V::I(x)) => out[at] = x,
            (Data::I64(out), V::L(x)) => out[at] = x,
            (Data::Bool(out), V::B(x)) => out[at] = x,
            (out, value) => panic!("{value:?} stored to {:?}", out.dtype()),
        }
    };
    match &kernel.kind {
        KernelKind::Loop(l) => {
            for row in points(&l.dims) {
                let mut folds = vec![None; l.body.insts.len()];
                for (i, inst) in l.body.insts.iter().enumerate() {
                    if let Inst::Fold { op, x } = inst {
                        let along = points(&l.along).map(|along| {
                            let coords = [&row[..], &along].concat();
                            body(&l.body, inputs, &coords, None, &folds, x.0 as usize + 1)[x.0 as usize]
                        });
                        folds[i] = Some(fold(*op, along));
                    }
                }
                for along in points(&l.along) {
                    let coords = [&row[..], &along].concat();
                    let values = body(&l.body, inputs, &coords, None, &folds, l.body.insts.len());
                    for store in &l.stores {
                        put(store, &coords, values[store.value.0 as usize]);
                    }
                }
            }
        }
        KernelKind::Contraction(c) => {
            for b in points(&c.batch) {
                for m in points(&c.m) {
                    for n in points(&c.n) {
                        let products = points(&c.k).map(|k| {
                            let x = operand(&c.lhs, inputs, &[&b[..], &m, &k].concat(), None);
                            let y = operand(&c.rhs, inputs, &[&b[..], &k, &n].concat(), None);
                            mul(x, y)
                        });
                        let acc = fold(FoldOp::Sum, products);
                        let coords = [&b[..], &m, &n].concat();
                        let values =
                            body(&c.epilogue, inputs, &coords, Some(acc), &[], c.epilogue.insts.len());
                        for store in &c.stores {
                            put(store, &coords, values[store.value.0 as usize]);
                        }
                    }
                }
            }
        }
        KernelKind::Attention(a) => {
            let at = |b: &[u64], tail: [u64; 2]| [b, &tail].concat();
            let float = |v: V| if let V::F(x) = v { x } else { panic!("a float") };
            for b in points(&a.batch) {
                for t in 0..a.t {
                    let scores: Vec<f64> = (0..a.s)
                        .map(|s| {
                            let dot = (0..a.d).map(|d| {
                                float(operand(&a.query, inputs, &at(&b, [t, d]), None))
                                    * float(operand(&a.key, inputs, &at(&b, [s, d]), None))
                            });
                            float(operand(&a.score, inputs, &at(&b, [t, s]), Some(V::F(dot.sum()))))
                        })
                        .collect();
                    let most = scores.iter().fold(f64::NEG_INFINITY, |a, &b| a.max(b));
                    let weights: Vec<f64> = scores.iter().map(|x| (x - most).exp()).collect();
                    let total: f64 = weights.iter().sum();
                    for e in 0..a.e {
                        let sum: f64 = (0..a.s)
                            .map(|s| {
                                weights[s as usize] * float(operand(&a.value, inputs, &at(&b, [s, e]), None))
                            })
                            .sum();
                        let coords = at(&b, [t, e]);
                        let acc = Some(V::F(sum / total));
                        let values = body(&a.epilogue, inputs, &coords, acc, &[], a.epilogue.insts.len());
                        for store in &a.stores {
                            put(store, &coords, values[store.value.0 as usize]);
                        }
                    }
                }
            }
        }
    }
    outs
}

fn points(sizes: &[u64]) -> impl Iterator<Item = Vec<u64>> + use<> {
    let sizes = sizes.to_vec();
    (0..sizes.iter().product()).map(move |mut flat: u64| {
        let mut point = vec![0; sizes.len()];
        for i in (0..sizes.len()).rev() {
            point[i] = flat % sizes[i];
            flat /= sizes[i];
        }
        point
    })
}

fn affine(at: &Affine, coords: &[u64]) -> i64 {
    at.offset + at.strides.iter().zip(coords).map(|(s, &c)| s * c as i64).sum::<i64>()
}

fn place(access: &Access, coords: &[u64], values: &[V]) -> i64 {
    let gathered = access.gathered.iter().map(|(val, stride)| stride * integer(values[val.0 as usize]));
    affine(&access.at, coords) + gathered.sum::<i64>()
}

fn integer(value: V) -> i64 {
    match value {
        V::I(x) => x as i64,
        V::L(x) => x,
        V::B(x) => x as i64,
        V::F(_) => panic!("an integer"),
    }
}

fn operand(operand: &Operand, inputs: &[Tensor], coords: &[u64], acc: Option<V>) -> V {
    body(&operand.body, inputs, coords, acc, &[], operand.body.insts.len())[operand.value.0 as usize]
}

fn body(
    body: &Body,
    inputs: &[Tensor],
    coords: &[u64],
    acc: Option<V>,
    folds: &[Option<V>],
    upto: usize,
) -> Vec<V> {
    let mut values: Vec<V> = vec![];
    for (i, inst) in body.insts[..upto].iter().enumerate() {
        let of = |val: &Val| values[val.0 as usize];
        let value = match inst {
            Inst::Const(Const::F32(bits)) => V::F(f32::from_bits(*bits) as f64),
            Inst::Const(Const::I32(x)) => V::I(*x),
            Inst::Const(Const::I64(x)) => V::L(*x),
            Inst::Const(Const::Bool(x)) => V::B(*x),
            Inst::Index { at, reg: ScalarType::I64 } => V::L(affine(at, coords)),
            Inst::Index { at, .. } => V::I(affine(at, coords) as i32),
            Inst::Acc { .. } => acc.expect("an accumulator"),
            Inst::Load { access, guard } => {
                let data = inputs[access.arg as usize].data();
                let read = guard.is_none_or(|guard| of(&guard) == V::B(true));
                let at = if read { place(access, coords, &values) as usize } else { 0 };
                match data {
                    Data::F32(x) => V::F(if read { x[at] as f64 } else { 0.0 }),
                    Data::Bf16(x) => V::F(if read { x[at].to_f64() } else { 0.0 }),
                    Data::I32(x) => V::I(if read { x[at] } else { 0 }),
                    Data::I64(x) => V::L(if read { x[at] } else { 0 }),
                    Data::Bool(x) => V::B(read && x[at]),
                }
            }
            Inst::Call { f, args } => round(call(*f, &args.iter().map(of).collect::<Vec<_>>())),
            Inst::Convert { to, x } => convert(*to, of(x)),
            Inst::RoundBf16 { x } => match of(x) {
                V::F(x) => V::F(bf16::from_f32(x as f32).to_f64()),
                other => panic!("{other:?} rounded"),
            },
            Inst::Bounded { x, size, .. } => {
                let fits = (0..*size as i64).contains(&integer(of(x)));
                match of(x) {
                    V::L(x) => V::L(if fits { x } else { 0 }),
                    other => V::I(if fits { integer(other) as i32 } else { 0 }),
                }
            }
            // A fold whose turn has not come is not looked at.
            Inst::Fold { .. } => folds.get(i).copied().flatten().unwrap_or(V::B(false)),
        };
        values.push(value);
    }
    values
}

fn round(value: V) -> V {
    if let V::F(x) = value { V::F(x as f32 as f64) } else { value }
}

fn mul(x: V, y: V) -> V {
    call(ScalarFn::Mul, &[x, y])
}

fn fold(op: FoldOp, mut values: impl Iterator<Item = V>) -> V {
    let first = values.next().expect("something to fold");
    let f = match op {
        FoldOp::Sum => ScalarFn::Add,
        FoldOp::Max => ScalarFn::Maximum,
        FoldOp::Min => ScalarFn::Minimum,
        FoldOp::Prod => ScalarFn::Mul,
        FoldOp::All => ScalarFn::And,
        FoldOp::Any => ScalarFn::Or,
    };
    values.fold(first, |a, b| call(f, &[a, b]))
}

fn convert(to: ScalarType, x: V) -> V {
    match (to, x) {
        (ScalarType::F32, V::F(x)) => V::F(x),
        (ScalarType::F32, V::L(x)) => V::F(x as f32 as f64),
        (ScalarType::F32, x) => V::F(integer(x) as f32 as f64),
        (ScalarType::I32, V::F(x)) => V::I(x as i32),
        (ScalarType::I64, V::F(x)) => V::L(x as i64),
        (ScalarType::Bool, V::F(x)) => V::B(x != 0.0),
        (ScalarType::I32, x) => V::I(integer(x) as i32),
        (ScalarType::I64, x) => V::L(integer(x)),
        (ScalarType::Bool, x) => V::B(integer(x) != 0),
    }
}

/// A scalar function before its result is rounded.
fn call(f: ScalarFn, x: &[V]) -> V {
    match (x[x.len() - 1], f) {
        (_, ScalarFn::Where) => {
            if x[0] == V::B(true) {
                x[1]
            } else {
                x[2]
            }
        }
        (V::F(_), _) => {
            let x: Vec<f64> =
                x.iter().map(|v| if let V::F(x) = v { *x } else { panic!("a float") }).collect();
            float(f, &x)
        }
        (V::I(_), _) => {
            let x: Vec<i64> = x.iter().map(|v| integer(*v)).collect();
            narrow(int(f, &x, i32::MIN as i64))
        }
        (V::L(_), _) => int(f, &x.iter().map(|v| integer(*v)).collect::<Vec<_>>(), i64::MIN),
        (V::B(_), _) => {
            let b = |i: usize| x[i] == V::B(true);
            V::B(match f {
                ScalarFn::And => b(0) && b(1),
                ScalarFn::Or => b(0) || b(1),
                ScalarFn::Not => !b(0),
                ScalarFn::Eq => b(0) == b(1),
                ScalarFn::Ne => b(0) != b(1),
                f => panic!("{f:?} of bool"),
            })
        }
    }
}

fn narrow(value: V) -> V {
    if let V::L(x) = value { V::I(x as i32) } else { value }
}

fn int(f: ScalarFn, x: &[i64], least: i64) -> V {
    use ScalarFn::*;
    let b = x.get(1).copied().unwrap_or(1);
    let wraps = x[0] == least && b == -1;
    V::L(match f {
        Add => x[0].wrapping_add(b),
        Sub => x[0].wrapping_sub(b),
        Mul => x[0].wrapping_mul(b),
        Div if b == 0 => 0,
        Div if wraps => least,
        Div => x[0] / b,
        Mod if b == 0 || wraps => 0,
        Mod => {
            let r = x[0] % b;
            if r != 0 && (r < 0) != (b < 0) { r + b } else { r }
        }
        Maximum => x[0].max(b),
        Minimum => x[0].min(b),
        Neg => x[0].wrapping_neg(),
        Abs => x[0].wrapping_abs(),
        Eq => return V::B(x[0] == b),
        Ne => return V::B(x[0] != b),
        Lt => return V::B(x[0] < b),
        Le => return V::B(x[0] <= b),
        Gt => return V::B(x[0] > b),
        Ge => return V::B(x[0] >= b),
        f => panic!("{f:?} of integers"),
    })
}

fn float(f: ScalarFn, x: &[f64]) -> V {
    use ScalarFn::*;
    let a = x[0];
    let b = x.get(1).copied().unwrap_or(0.0);
    V::F(match f {
        Add => a + b,
        Sub => a - b,
        Mul => a * b,
        Div => a / b,
        Mod => {
            let r = a % b;
            if r == 0.0 {
                0f64.copysign(b)
            } else if (r < 0.0) != (b < 0.0) {
                r + b
            } else {
                r
            }
        }
        Maximum | Minimum if a.is_nan() || b.is_nan() => f64::NAN,
        // Of the zeros, 0.0 is the larger.
        Maximum if a == b => {
            if a.is_sign_positive() {
                a
            } else {
                b
            }
        }
        Minimum if a == b => {
            if a.is_sign_positive() {
                b
            } else {
                a
            }
        }
        Maximum => a.max(b),
        Minimum => a.min(b),
        Eq => return V::B(a == b),
        Ne => return V::B(a != b),
        Lt => return V::B(a < b),
        Le => return V::B(a <= b),
        Gt => return V::B(a > b),
        Ge => return V::B(a >= b),
        Neg => -a,
        Abs => a.abs(),
        f => sx_tests::maths::meaning(f, a, b),
    })
}
