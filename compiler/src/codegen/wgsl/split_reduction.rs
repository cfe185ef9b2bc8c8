//! Few long rows: a fold over one is divided into chunks, so that many invocations work on it.

use super::values::Values;
use sx_artifact::kernel::{Access, Affine, Arg, Body, Const, FoldOp, Inst, Loop, ScalarType, Store, Val};
use sx_artifact::scalar::ScalarFn;

/// Elements from which on a row is long, where rows are few.
const LONG: u64 = 1 << 15;
const FEW: u64 = 32;

/// About how many elements a chunk has.
const CHUNK: u64 = 1 << 12;

/// True if a loop has too few rows to keep a device busy, and long ones.
pub(super) fn is_long(l: &Loop) -> bool {
    l.along.iter().product::<u64>() >= LONG && l.dims.iter().product::<u64>() <= FEW
}

/// A fold in two steps. The argument of the store of `first`, and of the load of `second`, is left open.
pub(super) struct Chunked {
    pub(super) first: Loop,
    pub(super) second: Loop,
    pub(super) reg: ScalarType,
}

/// How many chunks an axis of `size` is divided into when a row has `total` elements.
fn chunks(size: u64, total: u64) -> u64 {
    let want = total.div_ceil(CHUNK).clamp(1, size);
    let near = |count: &u64| size.is_multiple_of(*count);
    (want..=(want * 2).min(size))
        .find(near)
        .or_else(|| (want.div_ceil(2)..want).rev().find(near))
        .unwrap_or(want)
}

/// Divides a loop that stores nothing but one fold, once a row.
pub(super) fn chunk(l: &Loop, args: &[Arg]) -> Chunked {
    let rows = l.dims.len();
    let axis = (0..l.along.len()).max_by_key(|&i| l.along[i]).expect("a fold has an axis");
    let size = l.along[axis];
    let count = chunks(size, l.along.iter().product());
    let each = size.div_ceil(count);
    let sizes: Vec<u64> = l.dims.iter().chain(&l.along).copied().collect();
    let values = Values::new(&l.body, args, &sizes, rows);
    let Inst::Fold { op, x } = l.body.insts[l.stores[0].value.0 as usize] else {
        unreachable!("the only store is a fold")
    };
    let reg = values.reg(x);
    let spread = |at: &Affine| {
        let mut strides = at.strides.clone();
        strides.insert(rows, at.strides[rows + axis] * each as i64);
        Affine { offset: at.offset, strides }
    };

    let mut body = Body::default();
    let mut push = |inst: Inst| {
        body.insts.push(inst);
        Val(body.insts.len() as u32 - 1)
    };
    let inside = (count * each != size).then(|| {
        let mut strides = vec![0; sizes.len() + 1];
        strides[rows] = each as i64;
        strides[rows + 1 + axis] = 1;
        let at = push(Inst::Index { at: Affine { offset: 0, strides }, reg: ScalarType::I64 });
        let end = push(Inst::Const(Const::I64(size as i64)));
        push(Inst::Call { f: ScalarFn::Lt, args: vec![at, end] })
    });
    let mut names: Vec<Val> = vec![];
    for original in &l.body.insts[..=x.0 as usize] {
        let mut inst = original.clone().renamed(|val| names[val.0 as usize]);
        if let Some(at) = inst.affine_mut() {
            *at = spread(at);
        }
        if let Some(inside) = inside {
            match &mut inst {
                Inst::Load { guard, .. } => {
                    *guard = Some(match *guard {
                        Some(guard) => push(Inst::Call { f: ScalarFn::And, args: vec![guard, inside] }),
                        None => inside,
                    });
                }
                Inst::Bounded { x: index, .. } => {
                    let wide =
                        matches!(original, Inst::Bounded { x, .. } if values.reg(*x) == ScalarType::I64);
                    let zero = push(Inst::Const(if wide { Const::I64(0) } else { Const::I32(0) }));
                    *index = push(Inst::Call { f: ScalarFn::Where, args: vec![inside, *index, zero] });
                }
                _ => {}
            }
        }
        names.push(push(inst));
    }
    let mut value = names[x.0 as usize];
    if let Some(inside) = inside {
        let identity = push(Inst::Const(identity(op, reg)));
        value = push(Inst::Call { f: ScalarFn::Where, args: vec![inside, value, identity] });
    }
    let fold = push(Inst::Fold { op, x: value });

    let dims: Vec<u64> = l.dims.iter().copied().chain([count]).collect();
    let mut along = l.along.clone();
    along[axis] = each;
    let row_major = |sizes: &[u64], rest: usize| {
        let mut strides = vec![0; sizes.len() + rest];
        let mut stride = 1;
        for i in (0..sizes.len()).rev() {
            strides[i] = stride;
            stride *= sizes[i] as i64;
        }
        Access { arg: 0, at: Affine { offset: 0, strides }, gathered: vec![] }
    };
    let stores = vec![Store { value: fold, access: row_major(&dims, along.len()) }];
    let load = Inst::Load { access: row_major(&dims, 0), guard: None };
    let mut store = l.stores[0].clone();
    store.value = Val(1);
    store.access.at.strides.truncate(rows);
    store.access.at.strides.push(0);
    let second = Loop {
        dims: l.dims.clone(),
        along: vec![count],
        body: Body { insts: vec![load, Inst::Fold { op, x: Val(0) }] },
        stores: vec![store],
    };
    Chunked { first: Loop { dims, along, body, stores }, second, reg }
}

/// What does not change a fold.
fn identity(op: FoldOp, reg: ScalarType) -> Const {
    let (float, integer, truth) = match op {
        FoldOp::Sum => (0.0, 0, false),
        FoldOp::Prod => (1.0, 1, true),
        FoldOp::Max => (f32::NEG_INFINITY, i64::MIN, false),
        FoldOp::Min => (f32::INFINITY, i64::MAX, true),
        FoldOp::All => (1.0, 1, true),
        FoldOp::Any => (0.0, 0, false),
    };
    match reg {
        ScalarType::F32 => Const::F32(f32::to_bits(float)),
        ScalarType::I32 => Const::I32(integer.clamp(i32::MIN as i64, i32::MAX as i64) as i32),
        ScalarType::I64 => Const::I64(integer),
        ScalarType::Bool => Const::Bool(truth),
    }
}
