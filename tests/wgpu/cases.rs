//! Kernels built by hand, with inputs: together they reach every part of the `wgpu` code.

use half::bf16;
use sx_artifact::dtype::DType;
use sx_artifact::kernel::*;
use sx_artifact::scalar::ScalarFn;
use sx_artifact::tensor::{Data, Tensor};
use sx_compiler::ops::Tolerance;
use sx_compiler::ops::scalar::def;

/// How close an output must be.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Close {
    /// The same bits (any NaN is a NaN).
    Exact,
    /// Within so many units in the last place; subnormals may be flushed.
    Ulps(f64),
    /// Within `relative * largest magnitude of the output`.
    Scale(f64),
}

pub(crate) struct Case {
    pub(crate) kernel: Kernel,
    pub(crate) inputs: Vec<Tensor>,
    pub(crate) close: Vec<Close>,
}

/// A body being written.
#[derive(Default)]
pub(crate) struct Code(pub(crate) Vec<Inst>);

impl Code {
    pub(crate) fn push(&mut self, inst: Inst) -> Val {
        self.0.push(inst);
        Val(self.0.len() as u32 - 1)
    }
    pub(crate) fn load(&mut self, arg: u32, offset: i64, strides: &[i64]) -> Val {
        self.push(Inst::Load { access: at(arg, offset, strides), guard: None })
    }
    pub(crate) fn guarded(&mut self, arg: u32, offset: i64, strides: &[i64], guard: Val) -> Val {
        self.push(Inst::Load { access: at(arg, offset, strides), guard: Some(guard) })
    }
    pub(crate) fn gather(&mut self, arg: u32, strides: &[i64], by: &[(Val, i64)]) -> Val {
        let access = Access { gathered: by.to_vec(), ..at(arg, 0, strides) };
        self.push(Inst::Load { access, guard: None })
    }
    pub(crate) fn call(&mut self, f: ScalarFn, args: &[Val]) -> Val {
        self.push(Inst::Call { f, args: args.to_vec() })
    }
    pub(crate) fn f32(&mut self, x: f32) -> Val {
        self.push(Inst::Const(Const::F32(x.to_bits())))
    }
    pub(crate) fn i64(&mut self, x: i64) -> Val {
        self.push(Inst::Const(Const::I64(x)))
    }
    pub(crate) fn index(&mut self, offset: i64, strides: &[i64], reg: ScalarType) -> Val {
        self.push(Inst::Index { at: Affine { offset, strides: strides.to_vec() }, reg })
    }
    pub(crate) fn fold(&mut self, op: FoldOp, x: Val) -> Val {
        self.push(Inst::Fold { op, x })
    }
    pub(crate) fn convert(&mut self, to: ScalarType, x: Val) -> Val {
        self.push(Inst::Convert { to, x })
    }
    pub(crate) fn round(&mut self, x: Val) -> Val {
        self.push(Inst::RoundBf16 { x })
    }
    pub(crate) fn bounded(&mut self, x: Val, size: u64, trap: Option<u32>) -> Val {
        self.push(Inst::Bounded { x, size, trap })
    }
    pub(crate) fn body(self) -> Body {
        Body { insts: self.0 }
    }
}

pub(crate) fn at(arg: u32, offset: i64, strides: &[i64]) -> Access {
    Access { arg, at: Affine { offset, strides: strides.to_vec() }, gathered: vec![] }
}

pub(crate) fn store(value: Val, arg: u32, strides: &[i64]) -> Store {
    Store { value, access: at(arg, 0, strides) }
}

fn read(tensor: &Tensor) -> Arg {
    Arg { dtype: tensor.dtype(), len: tensor.len() as u64, mode: Mode::Read }
}

pub(crate) fn case(name: &str, inputs: Vec<Tensor>, outs: &[(DType, u64, Close)], kind: KernelKind) -> Case {
    let mut args: Vec<Arg> = inputs.iter().map(read).collect();
    args.extend(outs.iter().map(|&(dtype, len, _)| Arg { dtype, len, mode: Mode::Write }));
    let insts: Vec<&Inst> = match &kind {
        KernelKind::Loop(l) => l.body.insts.iter().collect(),
        _ => vec![],
    };
    let traps = insts
        .iter()
        .filter_map(|i| if let Inst::Bounded { trap: Some(t), .. } = i { Some(t + 1) } else { None });
    let kernel = Kernel { name: name.to_owned(), args, traps: traps.max().unwrap_or(0), kind };
    Case { kernel, inputs, close: outs.iter().map(|out| out.2).collect() }
}

pub(crate) fn tensor(data: impl Into<Data>) -> Tensor {
    let data = data.into();
    Tensor::new(&[data.len() as u64], data)
}

/// Numbers in [-1, 1), the same on every run.
pub(crate) fn noise(n: usize, seed: u32) -> Vec<f32> {
    let mut state = seed.wrapping_mul(2654435761).wrapping_add(12345);
    (0..n)
        .map(|_| {
            state = state.wrapping_mul(1664525).wrapping_add(1013904223);
            (state >> 8) as f32 / (1 << 23) as f32 - 1.0
        })
        .collect()
}

pub(crate) const FLOATS: &[f32] = &[
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    3.0,
    -7.25,
    0.1,
    1e-6,
    1e-20,
    1e10,
    -1e10,
    16777216.0,
    3.4e38,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
    88.0,
    -87.0,
    2147483648.0,
    -9.3e18,
    3e9,
];
const WORDS: &[i32] =
    &[0, 1, -1, 2, -2, 3, -3, 7, -7, 100, -12345, 46341, 16777217, i32::MAX, i32::MIN, i32::MIN + 1];
const LONGS: &[i64] = &[
    0,
    1,
    -1,
    2,
    -3,
    7,
    -10,
    1 << 31,
    -(1 << 31),
    (1 << 32) + 5,
    -(1 << 33),
    123456789012345,
    -98765432109876,
    3037000500,
    i64::MAX,
    i64::MIN,
    i64::MIN + 1,
    (1 << 24) + 1,
    (1 << 53) + 1,
];

fn pairs<T: Copy>(values: &[T]) -> (Vec<T>, Vec<T>) {
    values.iter().flat_map(|&a| values.iter().map(move |&b| (a, b))).unzip()
}

fn map(dims: &[u64], code: Code, stores: Vec<Store>) -> KernelKind {
    KernelKind::Loop(Loop { dims: dims.to_vec(), along: vec![], body: code.body(), stores })
}

fn rows(dims: &[u64], along: &[u64], code: Code, stores: Vec<Store>) -> KernelKind {
    KernelKind::Loop(Loop { dims: dims.to_vec(), along: along.to_vec(), body: code.body(), stores })
}

/// One kernel a kind of argument: each of `fs` over the same values.
pub(crate) fn table(name: &str, inputs: Vec<Tensor>, fs: &[ScalarFn], dtype: DType, close: Close) -> Case {
    let n = inputs[0].len() as u64;
    let mut code = Code::default();
    let args: Vec<Val> = (0..inputs.len()).map(|i| code.load(i as u32, 0, &[1])).collect();
    let mut outs = vec![];
    let mut stores = vec![];
    for &f in fs {
        let value = code.call(f, &args[..f.arity().min(args.len())]);
        stores.push(store(value, (inputs.len() + outs.len()) as u32, &[1]));
        let out = if f.is_comparison() { DType::Bool } else { dtype };
        outs.push((out, n, if out == DType::Bool { Close::Exact } else { close }));
    }
    case(name, inputs, &outs, map(&[n], code, stores))
}

pub(crate) fn scalars() -> Vec<Case> {
    use ScalarFn::*;
    let (a, b) = pairs(FLOATS);
    let float = || vec![tensor(a.clone()), tensor(b.clone())];
    let (i, j) = pairs(WORDS);
    let (k, l) = pairs(LONGS);
    let int = [Add, Sub, Mul, Div, Mod, Maximum, Minimum];
    let compare = [Eq, Ne, Lt, Le, Gt, Ge];
    let wide = || vec![tensor(k.clone()), tensor(l.clone())];
    let bools =
        vec![tensor(vec![true, true, false, false, true]), tensor(vec![true, false, true, false, false])];
    let near = FLOATS.iter().copied().filter(|x| x.abs() < 1e5 || !x.is_finite()).collect::<Vec<f32>>();
    let promised = |arity: usize| -> Vec<ScalarFn> {
        let ulps = |f: &ScalarFn| f.arity() == arity && matches!(def(*f).tolerance, Tolerance::Ulps(_));
        ScalarFn::ALL.iter().copied().filter(ulps).collect()
    };
    let mut cases = vec![
        table(
            "float-exact",
            float(),
            &[Add, Sub, Mul, Mod, Maximum, Minimum, Neg, Abs, Floor, Ceil, Round],
            DType::F32,
            Close::Exact,
        ),
        table("float-compare", float(), &compare, DType::Bool, Close::Exact),
        table("float-near", float(), &[Div, Sqrt], DType::F32, Close::Ulps(1.0)),
        table("maths", vec![tensor(near)], &promised(1), DType::F32, Close::Ulps(4.0)),
        table("maths-two", float(), &promised(2), DType::F32, Close::Ulps(8.0)),
        table(
            "word",
            vec![tensor(i.clone()), tensor(j.clone())],
            &[&int[..], &[Neg, Abs], &compare].concat(),
            DType::I32,
            Close::Exact,
        ),
        table("long", wide(), &[&int[..], &[Neg, Abs]].concat(), DType::I64, Close::Exact),
        table("long-compare", wide(), &compare, DType::Bool, Close::Exact),
        table("truth", bools, &[And, Or, Not, Eq, Ne], DType::Bool, Close::Exact),
    ];
    cases.push(conversions());
    cases.push(choices());
    cases
}

fn conversions() -> Case {
    let n = 57;
    let floats: Vec<f32> = FLOATS
        .iter()
        .chain([0.9999999, -0.9999999, 2147483500.0, 9.3e18, 1.0e19, -3e30].iter())
        .copied()
        .collect();
    let inputs = vec![
        tensor((0..n).map(|i| floats[i % floats.len()]).collect::<Vec<_>>()),
        tensor((0..n).map(|i| WORDS[i % WORDS.len()]).collect::<Vec<_>>()),
        tensor((0..n).map(|i| LONGS[i % LONGS.len()].wrapping_add((i / 19) as i64)).collect::<Vec<_>>()),
        tensor((0..n).map(|i| i % 3 == 0).collect::<Vec<bool>>()),
    ];
    let to = [
        (ScalarType::F32, DType::F32),
        (ScalarType::I32, DType::I32),
        (ScalarType::I64, DType::I64),
        (ScalarType::Bool, DType::Bool),
    ];
    let mut code = Code::default();
    let mut outs = vec![];
    let mut stores = vec![];
    for arg in 0..4 {
        let x = code.load(arg, 0, &[1]);
        for (reg, dtype) in to {
            let value = code.convert(reg, x);
            stores.push(store(value, 4 + outs.len() as u32, &[1]));
            outs.push((dtype, n as u64, Close::Exact));
        }
    }
    case("conversions", inputs, &outs, map(&[n as u64], code, stores))
}

/// `where` of each type, constants of each kind, and arithmetic that a shader compiler would like to undo.
fn choices() -> Case {
    let n = 24;
    let inputs = vec![tensor(noise(n, 3)), tensor((0..n as i64).map(|i| i << 30).collect::<Vec<_>>())];
    let mut code = Code::default();
    let x = code.load(0, 0, &[1]);
    let long = code.load(1, 0, &[1]);
    let zero = code.f32(-0.0);
    let positive = code.call(ScalarFn::Gt, &[x, zero]);
    let nan = code.f32(f32::NAN);
    let least = code.f32(f32::NEG_INFINITY);
    let float = code.call(ScalarFn::Where, &[positive, nan, least]);
    let big = code.i64(i64::MIN);
    let chosen = code.call(ScalarFn::Where, &[positive, long, big]);
    let truth = code.call(ScalarFn::Where, &[positive, positive, positive]);
    let magic = code.f32(12582912.0);
    let sum = code.call(ScalarFn::Add, &[x, magic]);
    let lost = code.call(ScalarFn::Sub, &[sum, magic]);
    let sum2 = code.call(ScalarFn::Mul, &[x, x]);
    let product = code.call(ScalarFn::Add, &[sum2, x]);
    let index = code.index(5, &[3], ScalarType::I64);
    let narrow = code.call(ScalarFn::Mul, &[index, index]);
    let widened = code.call(ScalarFn::Add, &[narrow, long]);
    let values = [float, lost, product, chosen, narrow, widened, truth];
    let dtypes = [DType::F32, DType::F32, DType::F32, DType::I64, DType::I64, DType::I64, DType::Bool];
    let outs: Vec<_> = dtypes.iter().map(|&dtype| (dtype, n as u64, Close::Exact)).collect();
    let stores = values.iter().enumerate().map(|(i, &value)| store(value, 2 + i as u32, &[1])).collect();
    case("choices", inputs, &outs, map(&[n as u64], code, stores))
}

pub(crate) fn movement() -> Vec<Case> {
    let mut cases = vec![];
    // A transposed, flipped and strided read, stored in order and transposed, as f32, bf16 and bool.
    let (r, c) = (5u64, 7u64);
    let mut code = Code::default();
    let x = code.load(0, 6, &[14, -1]);
    let b = code.load(1, 0, &[1, 5]);
    let product = code.call(ScalarFn::Mul, &[x, b]);
    let rounded = code.round(product);
    let zero = code.f32(0.0);
    let positive = code.call(ScalarFn::Gt, &[product, zero]);
    let stores = vec![
        store(product, 2, &[7, 1]),
        store(rounded, 3, &[7, 1]),
        store(rounded, 4, &[1, 5]),
        store(positive, 5, &[7, 1]),
        store(positive, 6, &[1, 5]),
    ];
    let brain: Vec<bf16> = noise(35, 2).into_iter().map(bf16::from_f32).collect();
    let outs: Vec<_> = [DType::F32, DType::Bf16, DType::Bf16, DType::Bool, DType::Bool]
        .iter()
        .map(|&dtype| (dtype, r * c, Close::Exact))
        .collect();
    cases.push(case("strides", vec![tensor(noise(70, 1)), tensor(brain)], &outs, map(&[r, c], code, stores)));

    // Ten parts put behind one another: more buffers than one dispatch may have.
    let parts: Vec<Tensor> = (0..10).map(|i| tensor(noise(3 + i, i as u32))).collect();
    let total: u64 = parts.iter().map(|part| part.len() as u64).sum();
    let mut code = Code::default();
    let index = code.index(0, &[1], ScalarType::I32);
    let mut end = 0;
    let mut value = code.f32(0.0);
    for (i, part) in parts.iter().enumerate() {
        let start = code.push(Inst::Const(Const::I32(end)));
        let from = code.call(ScalarFn::Ge, &[index, start]);
        let stop = code.push(Inst::Const(Const::I32(end + part.len() as i32)));
        let to = code.call(ScalarFn::Lt, &[index, stop]);
        let here = code.call(ScalarFn::And, &[from, to]);
        let x = code.guarded(i as u32, -end as i64, &[1], here);
        value = code.call(ScalarFn::Where, &[here, x, value]);
        end += part.len() as i32;
    }
    let stores = vec![store(value, 10, &[1])];
    cases.push(case("parts", parts, &[(DType::F32, total, Close::Exact)], map(&[total], code, stores)));

    // Rows by computed index, in both integer types.
    let table: Vec<f32> = noise(11 * 6, 9);
    let words = vec![3i32, 0, 10, 10, 7];
    let longs = vec![1i64, 2, 9, 0, 10];
    let mut code = Code::default();
    let i = code.load(1, 0, &[1, 0]);
    let j = code.load(2, 0, &[1, 0]);
    let i = code.bounded(i, 11, Some(0));
    let j = code.bounded(j, 11, Some(1));
    let x = code.gather(0, &[0, 1], &[(i, 6)]);
    let y = code.gather(0, &[0, 1], &[(j, 6)]);
    let sum = code.call(ScalarFn::Add, &[x, y]);
    let stores = vec![store(sum, 3, &[6, 1])];
    let inputs = vec![tensor(table), tensor(words), tensor(longs)];
    cases.push(case("gather", inputs, &[(DType::F32, 30, Close::Exact)], map(&[5, 6], code, stores)));
    cases
}

/// A softmax over `along` of rows `dims`, with a mean once a row, and the largest place once a row as bool.
fn softmax(name: &str, dims: u64, along: u64) -> Case {
    let n = (dims * along) as usize;
    let mut code = Code::default();
    let s = [along as i64, 1];
    let x = code.load(0, 0, &s);
    let most = code.fold(FoldOp::Max, x);
    let less = code.call(ScalarFn::Sub, &[x, most]);
    let e = code.call(ScalarFn::Exp, &[less]);
    let sum = code.fold(FoldOp::Sum, e);
    let y = code.call(ScalarFn::Div, &[e, sum]);
    let half = code.f32(0.5);
    let high = code.call(ScalarFn::Gt, &[most, half]);
    let large = code.call(ScalarFn::Gt, &[x, half]);
    let rounded = code.round(x);
    let stores = vec![
        store(y, 1, &s),
        store(most, 2, &[1, 0]),
        store(high, 3, &[1, 0]),
        store(large, 4, &s),
        store(rounded, 5, &s),
    ];
    let outs = [
        (DType::F32, dims * along, Close::Ulps(10.0)),
        (DType::F32, dims, Close::Exact),
        (DType::Bool, dims, Close::Exact),
        (DType::Bool, dims * along, Close::Exact),
        (DType::Bf16, dims * along, Close::Exact),
    ];
    case(name, vec![tensor(noise(n, 5))], &outs, rows(&[dims], &[along], code, stores))
}

pub(crate) fn reductions() -> Vec<Case> {
    let mut cases =
        vec![softmax("softmax", 6, 129), softmax("softmax-even", 5, 64), softmax("softmax-long", 2, 65_537)];

    // Every fold, over two axes that are not neighbours: [4, 3, 33] over the first and last.
    let (a, r, b) = (4u64, 3u64, 33u64);
    let n = (a * r * b) as usize;
    let strides = [b as i64, (r * b) as i64, 1];
    let longs: Vec<i64> = noise(n, 4).iter().map(|x| (x * 9e18) as i64).collect();
    let inputs = vec![
        tensor(noise(n, 11).iter().map(|x| 1.0 + x * 0.01).collect::<Vec<f32>>()),
        tensor(longs),
        tensor(noise(n, 13).iter().map(|x| *x > -0.95).collect::<Vec<bool>>()),
        tensor(noise(n, 14).iter().map(|x| (x * 2e9) as i32).collect::<Vec<i32>>()),
    ];
    let mut code = Code::default();
    let values: Vec<Val> = (0..4).map(|i| code.load(i, 0, &strides)).collect();
    let folds = [
        (0, FoldOp::Sum, DType::F32, Close::Ulps(4.0)),
        (0, FoldOp::Prod, DType::F32, Close::Ulps(64.0)),
        (0, FoldOp::Min, DType::F32, Close::Exact),
        (1, FoldOp::Sum, DType::I64, Close::Exact),
        (1, FoldOp::Max, DType::I64, Close::Exact),
        (2, FoldOp::All, DType::Bool, Close::Exact),
        (2, FoldOp::Any, DType::Bool, Close::Exact),
        (3, FoldOp::Sum, DType::I32, Close::Exact),
        (3, FoldOp::Max, DType::I32, Close::Exact),
        (3, FoldOp::Prod, DType::I32, Close::Exact),
    ];
    let mut outs = vec![];
    let mut stores = vec![];
    for (i, (of, op, dtype, close)) in folds.into_iter().enumerate() {
        let value = code.fold(op, values[of]);
        stores.push(store(value, 4 + i as u32, &[1, 0, 0]));
        outs.push((dtype, r, close));
    }
    cases.push(case("folds", inputs, &outs, rows(&[r], &[a, b], code, stores)));

    // One sum of many equal numbers, whose errors do not cancel; a prime number of them.
    let n = 1_000_003u64;
    let mut code = Code::default();
    let x = code.load(0, 0, &[1]);
    let sum = code.fold(FoldOp::Sum, x);
    let wide = code.index(0, &[1], ScalarType::I64);
    let count = code.fold(FoldOp::Sum, wide);
    let stores = vec![store(sum, 1, &[0]), store(count, 2, &[0])];
    let outs = [(DType::F32, 1, Close::Ulps(16.0)), (DType::I64, 1, Close::Exact)];
    cases.push(case("sum", vec![tensor(vec![0.1f32; n as usize])], &outs, rows(&[], &[n], code, stores)));

    // A row short enough for one invocation, long enough for pairs.
    let mut code = Code::default();
    let x = code.load(0, 0, &[4099, 1]);
    let sum = code.fold(FoldOp::Sum, x);
    let stores = vec![store(sum, 1, &[1, 0])];
    let inputs = vec![tensor(vec![0.1f32; 33 * 4099])];
    cases.push(case(
        "pairs",
        inputs,
        &[(DType::F32, 33, Close::Ulps(6.0))],
        rows(&[33], &[4099], code, stores),
    ));
    cases
}

struct Shape {
    batch: u64,
    m: u64,
    n: u64,
    k: u64,
    /// The right operand is stored with k innermost.
    transposed: bool,
    dtype: DType,
    epilogue: bool,
}

fn product(name: &str, s: Shape) -> Case {
    let Shape { batch, m, n, k, transposed, dtype, epilogue } = s;
    let (im, inn, ik) = (m as i64, n as i64, k as i64);
    let fill = |count: u64, seed: u32| -> Tensor {
        let x = noise(count as usize, seed);
        match dtype {
            DType::F32 => tensor(x),
            DType::Bf16 => tensor(x.into_iter().map(bf16::from_f32).collect::<Vec<_>>()),
            DType::I32 => tensor(x.iter().map(|x| (x * 1e9) as i32).collect::<Vec<_>>()),
            _ => tensor(x.iter().map(|x| (x * 4e18) as i64).collect::<Vec<_>>()),
        }
    };
    let mut inputs = vec![fill(batch * m * k, 1), fill(batch * k * n, 2)];
    let mut left = Code::default();
    let mut lhs = left.load(0, 0, &[im * ik, ik, 1]);
    let mut right = Code::default();
    let rhs = right.load(1, 0, if transposed { [inn * ik, 1, ik] } else { [inn * ik, inn, 1] }.as_slice());
    let reg = ScalarType::of(dtype);
    let mut end = Code::default();
    let acc = end.push(Inst::Acc { reg });
    let out = [im * inn, inn, 1];
    let count = batch * m * n;
    let (outs, stores) = if epilogue {
        // A map before (doubling), a bias and a comparison behind; stored as bf16, as bool, and transposed.
        let two = left.f32(2.0);
        lhs = left.call(ScalarFn::Mul, &[lhs, two]);
        inputs.push(tensor(noise(n as usize, 3)));
        let bias = end.load(2, 0, &[0, 0, 1]);
        let sum = end.call(ScalarFn::Add, &[acc, bias]);
        let zero = end.f32(0.0);
        let positive = end.call(ScalarFn::Gt, &[sum, zero]);
        let rounded = end.round(sum);
        let stores =
            vec![store(rounded, 3, &out), store(positive, 4, &out), store(sum, 5, &[im * inn, 1, im])];
        let loose = Close::Scale(2e-2);
        (
            vec![
                (DType::Bf16, count, loose),
                (DType::Bool, count, Close::Scale(1.0)),
                (DType::F32, count, Close::Scale(1e-5)),
            ],
            stores,
        )
    } else {
        let close = if dtype.is_int() { Close::Exact } else { Close::Scale(1e-5) };
        let out_dtype = if dtype == DType::Bf16 { DType::F32 } else { dtype };
        (vec![(out_dtype, count, close)], vec![store(acc, 2, &out)])
    };
    let work = KernelKind::Contraction(Contraction {
        batch: vec![batch],
        m: vec![m],
        n: vec![n],
        k: vec![k],
        lhs: Operand { body: left.body(), value: lhs },
        rhs: Operand { body: right.body(), value: rhs },
        epilogue: end.body(),
        stores,
    });
    case(name, inputs, &outs, work)
}

pub(crate) fn products() -> Vec<Case> {
    let shape =
        |batch, m, n, k, transposed, dtype, epilogue| Shape { batch, m, n, k, transposed, dtype, epilogue };
    let mut cases = vec![
        product("product", shape(2, 67, 70, 37, false, DType::F32, false)),
        product("product-transposed", shape(1, 31, 65, 64, true, DType::F32, true)),
        product("product-bf16", shape(3, 9, 24, 33, false, DType::Bf16, true)),
        product("product-row", shape(1, 1, 37, 50, false, DType::F32, false)),
        product("product-narrow", shape(1, 13, 3, 5, false, DType::F32, false)),
        product("product-word", shape(2, 5, 6, 7, false, DType::I32, false)),
        product("product-long", shape(1, 5, 3, 9, true, DType::I64, false)),
    ];
    // Several axes in each place: [a, m1, k1, m2, k2] by [k1, n1, a, k2, n2], stored [m1, n1, m2, n2, a].
    let (a, m1, m2, n1, n2, k1, k2) = (2i64, 3, 5, 4, 2, 3, 2);
    let mut left = Code::default();
    let lhs = left.load(0, 0, &[m1 * k1 * m2 * k2, k1 * m2 * k2, k2, m2 * k2, 1]);
    let mut right = Code::default();
    let rhs = right.load(1, 0, &[k2 * n2, n1 * a * k2 * n2, n2, a * k2 * n2, 1]);
    let mut end = Code::default();
    let acc = end.push(Inst::Acc { reg: ScalarType::F32 });
    let strides = [1, n1 * m2 * n2 * a, n2 * a, m2 * n2 * a, a];
    let inputs = vec![
        tensor(noise((a * m1 * m2 * k1 * k2) as usize, 1)),
        tensor(noise((a * n1 * n2 * k1 * k2) as usize, 2)),
    ];
    let u = |x: &[i64]| x.iter().map(|&x| x as u64).collect::<Vec<u64>>();
    let work = KernelKind::Contraction(Contraction {
        batch: u(&[a]),
        m: u(&[m1, m2]),
        n: u(&[n1, n2]),
        k: u(&[k1, k2]),
        lhs: Operand { body: left.body(), value: lhs },
        rhs: Operand { body: right.body(), value: rhs },
        epilogue: end.body(),
        stores: vec![store(acc, 2, &strides)],
    });
    let count = (a * m1 * m2 * n1 * n2) as u64;
    cases.push(case("product-axes", inputs, &[(DType::F32, count, Close::Scale(1e-5))], work));
    cases
}

struct Heads {
    batch: u64,
    t: u64,
    s: u64,
    d: u64,
    e: u64,
    causal: bool,
}

fn attention(name: &str, h: Heads) -> Case {
    let Heads { batch, t, s, d, e, causal } = h;
    let operand = |arg: u32, rows: u64, width: u64| {
        let mut code = Code::default();
        let value = code.load(arg, 0, &[(rows * width) as i64, width as i64, 1]);
        Operand { body: code.body(), value }
    };
    let mut code = Code::default();
    let dot = code.push(Inst::Acc { reg: ScalarType::F32 });
    let scale = code.f32(3.0 / (d as f32).sqrt());
    let mut score = code.call(ScalarFn::Mul, &[dot, scale]);
    let bias = code.load(3, 0, &[0, s as i64, 1]);
    score = code.call(ScalarFn::Add, &[score, bias]);
    let hidden = code.f32(f32::NEG_INFINITY);
    if causal {
        let ahead = code.index(s as i64 - t as i64, &[0, 1, -1], ScalarType::I32);
        let zero = code.push(Inst::Const(Const::I32(0)));
        let seen = code.call(ScalarFn::Ge, &[ahead, zero]);
        score = code.call(ScalarFn::Where, &[seen, score, hidden]);
    }
    let mut end = Code::default();
    let acc = end.push(Inst::Acc { reg: ScalarType::F32 });
    let rounded = end.round(acc);
    let mut bias = noise((t * s) as usize, 8);
    // The second query sees nothing: its row is NaN.
    if t > 1 {
        bias[s as usize..2 * s as usize].fill(f32::NEG_INFINITY);
    }
    let inputs = vec![
        tensor(noise((batch * t * d) as usize, 1)),
        tensor(noise((batch * s * d) as usize, 2)),
        tensor(noise((batch * s * e) as usize, 3)),
        tensor(bias),
    ];
    let out = [(t * e) as i64, e as i64, 1];
    let outs =
        [(DType::F32, batch * t * e, Close::Scale(1e-5)), (DType::Bf16, batch * t * e, Close::Scale(2e-2))];
    let work = KernelKind::Attention(Attention {
        batch: vec![batch],
        t,
        s,
        d,
        e,
        query: operand(0, t, d),
        key: operand(1, s, d),
        value: operand(2, s, e),
        score: Operand { body: code.body(), value: score },
        causal,
        zero_hidden_rows: false,
        epilogue: end.body(),
        stores: vec![store(acc, 4, &out), store(rounded, 5, &out)],
    });
    case(name, inputs, &outs, work)
}

pub(crate) fn attentions() -> Vec<Case> {
    vec![
        attention("attention", Heads { batch: 2, t: 11, s: 70, d: 16, e: 24, causal: false }),
        attention("attention-causal", Heads { batch: 2, t: 21, s: 37, d: 7, e: 67, causal: true }),
        attention("attention-early", Heads { batch: 1, t: 9, s: 5, d: 4, e: 3, causal: true }),
    ]
}
