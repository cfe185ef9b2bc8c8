//! Random kernels of every kind, over random shapes and strides.

use super::*;
use sx_artifact::kernel::{Attention, Contraction, Operand};

/// Strides of an argument that follows some of `sizes`, its axes in any order; with its number of elements.
fn layout(random: &mut Random, sizes: &[u64], all: bool) -> (Vec<i64>, usize) {
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    if random.below(2) == 0 {
        for i in (1..order.len()).rev() {
            order.swap(i, random.below(i as u64 + 1) as usize);
        }
    }
    let (mut strides, mut count) = (vec![0; sizes.len()], 1);
    for &axis in order.iter().rev() {
        if all || random.below(5) > 0 {
            strides[axis] = count as i64;
            count *= sizes[axis] as usize;
        }
    }
    (strides, count.max(1))
}

const SIZES: [u64; 12] = [0, 1, 1, 2, 3, 5, 7, 16, 17, 40, 70, 300];

fn shape(random: &mut Random, most: usize, limit: u64) -> Vec<u64> {
    loop {
        let rank = random.below(most as u64 + 1);
        let sizes: Vec<u64> = (0..rank).map(|_| *random.pick(&SIZES)).collect();
        if sizes.iter().product::<u64>() <= limit {
            return sizes;
        }
    }
}

/// Values of a body by register type.
struct Values {
    by_reg: Vec<(Val, ScalarType)>,
}

impl Values {
    fn pick(&self, random: &mut Random, build: &mut Build, reg: ScalarType) -> Val {
        let known: Vec<Val> = self.by_reg.iter().filter(|(_, r)| *r == reg).map(|(v, _)| *v).collect();
        if !known.is_empty() && random.below(8) > 0 {
            return *random.pick(&known);
        }
        let number = random.below(7) as i64 - 3;
        build.push(Inst::Const(match reg {
            ScalarType::F32 => Const::F32((number as f32 * 0.75).to_bits()),
            ScalarType::I32 => Const::I32(number as i32),
            ScalarType::I64 => Const::I64(number),
            ScalarType::Bool => Const::Bool(number > 0),
        }))
    }
}

const REGS: [ScalarType; 4] = [ScalarType::F32, ScalarType::I32, ScalarType::I64, ScalarType::Bool];

/// Adds an instruction that has a meaning.
fn grow(random: &mut Random, build: &mut Build, values: &mut Values, folds: bool) {
    use ScalarFn::*;
    let reg = *random.pick(&REGS);
    let pick = |random: &mut Random, build: &mut Build, reg| values.pick(random, build, reg);
    let (value, reg) = match random.below(if folds { 10 } else { 8 }) {
        0 => {
            let c = pick(random, build, ScalarType::Bool);
            let (a, b) = (pick(random, build, reg), pick(random, build, reg));
            (build.call(Where, &[c, a, b]), reg)
        }
        1 => {
            let from = *random.pick(&REGS);
            let x = pick(random, build, from);
            (build.push(Inst::Convert { to: reg, x }), reg)
        }
        2 => {
            let x = pick(random, build, ScalarType::F32);
            (build.push(Inst::RoundBf16 { x }), ScalarType::F32)
        }
        3 => {
            let (a, b) = (pick(random, build, reg), pick(random, build, reg));
            (build.call(*random.pick(&[Eq, Ne, Lt, Le, Gt, Ge]), &[a, b]), ScalarType::Bool)
        }
        8 | 9 => {
            let op = match reg {
                ScalarType::F32 => *random.pick(&[FoldOp::Max, FoldOp::Min, FoldOp::Sum]),
                ScalarType::Bool => *random.pick(&[FoldOp::All, FoldOp::Any]),
                _ => *random.pick(&[FoldOp::Max, FoldOp::Min, FoldOp::Sum, FoldOp::Prod]),
            };
            let x = pick(random, build, reg);
            (build.fold(op, x), reg)
        }
        _ => {
            let f = match reg {
                ScalarType::F32 => {
                    *random.pick(&[Add, Sub, Mul, Maximum, Minimum, Neg, Abs, Floor, Ceil, Round, Tanh])
                }
                ScalarType::Bool => *random.pick(&[And, Or, Not]),
                _ => *random.pick(&[Add, Sub, Mul, Div, Mod, Maximum, Minimum, Neg, Abs]),
            };
            let args: Vec<Val> = (0..f.arity()).map(|_| pick(random, build, reg)).collect();
            (build.call(f, &args), reg)
        }
    };
    values.by_reg.push((value, reg));
}

fn index(strides: &[i64], offset: i64, reg: ScalarType) -> Inst {
    Inst::Index { at: Affine { offset, strides: strides.to_vec() }, reg }
}

/// A body over `sizes` with loads of new arguments; sometimes a guarded and a gathered one.
fn body(random: &mut Random, sizes: &[u64], data: &mut Vec<Data>, build: &mut Build) -> Values {
    let mut values = Values { by_reg: Vec::new() };
    for _ in 0..1 + random.below(4) {
        let dtype = *random.pick(&DType::ALL);
        let (strides, count) = layout(random, sizes, false);
        data.push(random.data(dtype, count));
        let v = build.load(data.len() as u32 - 1, &strides);
        values.by_reg.push((v, ScalarType::of(dtype)));
    }
    let reg = *random.pick(&[ScalarType::I32, ScalarType::I64]);
    let follows: Vec<i64> = sizes.iter().map(|_| random.below(4) as i64 - 1).collect();
    let v = build.push(index(&follows, -2, reg));
    values.by_reg.push((v, reg));
    if random.below(3) == 0 && !sizes.is_empty() {
        // The part of an axis below a limit, from an argument that has only that part.
        let axis = random.below(sizes.len() as u64) as usize;
        let limit = random.below(sizes[axis] + 1);
        let mut part = sizes.to_vec();
        part[axis] = limit;
        let (strides, count) = layout(random, &part, true);
        data.push(random.data(DType::F32, count));
        let mut along = vec![0; sizes.len()];
        along[axis] = 1;
        let (i, n) = (
            build.push(index(&along, 0, ScalarType::I32)),
            build.push(Inst::Const(Const::I32(limit as i32))),
        );
        let guard = build.call(ScalarFn::Lt, &[i, n]);
        let access = access(data.len() as u32 - 1, 0, &strides);
        let v = build.push(Inst::Load { access, guard: Some(guard) });
        values.by_reg.push((v, ScalarType::F32));
    }
    values
}

/// A load at a computed index that is checked; it may trap.
fn gather(
    random: &mut Random,
    sizes: &[u64],
    data: &mut Vec<Data>,
    build: &mut Build,
    values: &mut Values,
    trap: u32,
) {
    let reg = *random.pick(&[ScalarType::I32, ScalarType::I64]);
    let x = values.pick(random, build, reg);
    let size = 3 + random.below(7);
    // Most often brought into range first.
    let n = build.push(Inst::Const(if reg == ScalarType::I32 {
        Const::I32(size as i32)
    } else {
        Const::I64(size as i64)
    }));
    let wrapped = if random.below(4) > 0 { build.call(ScalarFn::Mod, &[x, n]) } else { x };
    let v = build.push(Inst::Bounded { x: wrapped, size, trap: (random.below(5) > 0).then_some(trap) });
    let (strides, count) = layout(random, sizes, false);
    let dtype = *random.pick(&DType::ALL);
    data.push(random.data(dtype, count * size as usize));
    let mut place = access(data.len() as u32 - 1, 0, &strides);
    place.gathered.push((v, count as i64));
    let loaded = build.push(Inst::Load { access: place, guard: None });
    values.by_reg.push((loaded, ScalarType::of(dtype)));
}

/// Stores of some values of all types, over `sizes`.
fn stores(
    random: &mut Random,
    sizes: &[u64],
    data: &mut Vec<Data>,
    values: &Values,
    build: &mut Build,
) -> Vec<Store> {
    let mut found = Vec::new();
    for reg in REGS {
        let v = values.pick(random, build, reg);
        let dtype = match reg {
            ScalarType::F32 if random.below(3) == 0 => DType::Bf16,
            ScalarType::F32 => DType::F32,
            ScalarType::I32 => DType::I32,
            ScalarType::I64 => DType::I64,
            ScalarType::Bool => DType::Bool,
        };
        let v = if dtype == DType::Bf16 { build.push(Inst::RoundBf16 { x: v }) } else { v };
        let (strides, count) = layout(random, sizes, true);
        data.push(random.data(dtype, count));
        found.push(store(v, data.len() as u32 - 1, &strides));
    }
    found
}

#[test]
fn random_maps_compute_what_they_mean() {
    let mut random = Random(7);
    for _ in 0..250 {
        let dims = shape(&mut random, 4, 3000);
        let (mut data, mut build) = (Vec::new(), Build::default());
        let mut values = body(&mut random, &dims, &mut data, &mut build);
        for step in 0..random.below(12) {
            grow(&mut random, &mut build, &mut values, false);
            if step == 3 {
                gather(&mut random, &dims, &mut data, &mut build, &mut values, 0);
            }
        }
        let reads = data.len();
        let stores = stores(&mut random, &dims, &mut data, &values, &mut build);
        let work = KernelKind::Loop(Loop { dims, along: Vec::new(), body: build.body, stores });
        check(&kernel(work, &data, reads, 1), &data, 1e-5);
    }
}

#[test]
fn random_reductions_compute_what_they_mean() {
    let mut random = Random(11);
    for _ in 0..250 {
        let (dims, along) = (shape(&mut random, 2, 60), shape(&mut random, 2, 700));
        let along = if along.is_empty() { vec![1] } else { along };
        let sizes = [dims.clone(), along.clone()].concat();
        let (mut data, mut build) = (Vec::new(), Build::default());
        let mut values = body(&mut random, &sizes, &mut data, &mut build);
        let mut folded = Values { by_reg: Vec::new() };
        for step in 0..3 + random.below(9) {
            grow(&mut random, &mut build, &mut values, true);
            if step == 3 && random.below(2) == 0 {
                gather(&mut random, &sizes, &mut data, &mut build, &mut values, 0);
            }
        }
        for reg in REGS {
            let op = if reg == ScalarType::Bool { FoldOp::Any } else { FoldOp::Max };
            let x = values.pick(&mut random, &mut build, reg);
            folded.by_reg.push((build.fold(op, x), reg));
        }
        let reads = data.len();
        let mut all = Vec::new();
        if random.below(4) > 0 && !sizes.contains(&0) {
            all.extend(stores(&mut random, &sizes, &mut data, &values, &mut build));
        }
        for mut store in stores(&mut random, &dims, &mut data, &folded, &mut build) {
            store.access.at.strides.resize(sizes.len(), 0);
            all.push(store);
        }
        let work = KernelKind::Loop(Loop { dims, along, body: build.body, stores: all });
        check(&kernel(work, &data, reads, 1), &data, 2e-4);
    }
}

/// An operand over `sizes`: plain, or through code.
fn operand(random: &mut Random, sizes: &[u64], dtype: DType, data: &mut Vec<Data>) -> Operand {
    let mut build = Build::default();
    let (strides, count) = layout(random, sizes, false);
    data.push(random.data(dtype, count));
    let mut value = build.load(data.len() as u32 - 1, &strides);
    if random.below(3) == 0 {
        value = build.call(ScalarFn::Neg, &[value]);
    }
    Operand { body: build.body, value }
}

/// An epilogue over `sizes`: plain, or through code, with its stores.
fn finish(random: &mut Random, sizes: &[u64], reg: ScalarType, data: &mut Vec<Data>) -> (Body, Vec<Store>) {
    let mut build = Build::default();
    let mut value = build.push(Inst::Acc { reg });
    if random.below(2) == 0 {
        let (strides, count) = layout(random, sizes, false);
        let dtype = if reg == ScalarType::F32 {
            DType::F32
        } else if reg == ScalarType::I32 {
            DType::I32
        } else {
            DType::I64
        };
        data.push(random.data(dtype, count));
        let bias = build.load(data.len() as u32 - 1, &strides);
        value = build.call(ScalarFn::Add, &[value, bias]);
    }
    let (strides, count) = layout(random, sizes, true);
    let dtype = match reg {
        ScalarType::F32 => DType::F32,
        ScalarType::I32 => DType::I32,
        _ => DType::I64,
    };
    data.push(random.data(dtype, count));
    (build.body, vec![store(value, data.len() as u32 - 1, &strides)])
}

#[test]
fn random_products_compute_what_they_mean() {
    let mut random = Random(13);
    for _ in 0..120 {
        let (batch, m) = (shape(&mut random, 2, 6), shape(&mut random, 2, 80));
        let (n, k) = (shape(&mut random, 2, 40), shape(&mut random, 2, 40));
        let dtype = *random.pick(&[DType::F32, DType::F32, DType::F32, DType::Bf16, DType::I32, DType::I64]);
        let mut data = Vec::new();
        let lhs = operand(&mut random, &[&batch[..], &m, &k].concat(), dtype, &mut data);
        let rhs = operand(&mut random, &[&batch[..], &k, &n].concat(), dtype, &mut data);
        let sizes = [&batch[..], &m, &n].concat();
        let (epilogue, stores) = finish(&mut random, &sizes, ScalarType::of(dtype), &mut data);
        let reads = data.len() - 1;
        let work = KernelKind::Contraction(Contraction { batch, m, n, k, lhs, rhs, epilogue, stores });
        check(&kernel(work, &data, reads, 0), &data, 1e-4);
    }
}

#[test]
fn random_attentions_compute_what_they_mean() {
    let mut random = Random(17);
    for round in 0..40 {
        let batch = shape(&mut random, 2, 4);
        let t = *random.pick(&[1, 3, 17, 70]);
        let s = *random.pick(&[1, 5, 17, 70, 600]);
        let (d, e) = (*random.pick(&[1, 4, 9]), *random.pick(&[1, 3, 8]));
        let causal = random.below(2) == 0 && round > 3;
        let mut data = Vec::new();
        let operand = |random: &mut Random, a: u64, b: u64, data: &mut Vec<Data>| {
            operand(random, &[&batch[..], &[a, b]].concat(), DType::F32, data)
        };
        let query = operand(&mut random, t, d, &mut data);
        let key = operand(&mut random, s, d, &mut data);
        let value = operand(&mut random, s, e, &mut data);
        let mut build = Build::default();
        let rank = batch.len();
        let dot = build.push(Inst::Acc { reg: ScalarType::F32 });
        let scale = build.f32(0.3);
        let mut score = build.call(ScalarFn::Mul, &[dot, scale]);
        if causal {
            // s <= t + (S - T)
            let along = |t: i64, s: i64| [vec![0; rank], vec![t, s]].concat();
            let place = build.push(index(&along(1, -1), s as i64 - t as i64, ScalarType::I32));
            let (zero, hidden) = (build.push(Inst::Const(Const::I32(0))), build.f32(f32::NEG_INFINITY));
            let seen = build.call(ScalarFn::Ge, &[place, zero]);
            score = build.call(ScalarFn::Where, &[seen, score, hidden]);
        }
        let score = Operand { body: build.body, value: score };
        let sizes = [&batch[..], &[t, e]].concat();
        let (epilogue, stores) = finish(&mut random, &sizes, ScalarType::F32, &mut data);
        let reads = data.len() - 1;
        let work = KernelKind::Attention(Attention {
            batch,
            t,
            s,
            d,
            e,
            query,
            key,
            value,
            score,
            causal,
            zero_hidden_rows: false,
            epilogue,
            stores,
        });
        check(&kernel(work, &data, reads, 0), &data, 1e-4);
    }
}
