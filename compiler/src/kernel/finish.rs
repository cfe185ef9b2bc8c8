//! The last step of lowering: coordinates in their order, strides for those alone, arguments and stores.

use super::body::BodyBuilder;
use super::index::{Idx, Term, flatten};
use super::lower::{FinishedTrap, Lowered, Lowering, Product};
use sx_artifact::dtype::DType;
use sx_artifact::kernel::{
    Access, Arg, Const, Contraction, FoldOp, Kernel, KernelKind, Loop, Mode, Operand, ScalarType, Store, Val,
};
use sx_artifact::scalar::ScalarFn;

/// A map or reductions: what was walked without meeting a product.
pub fn loop_kernel(walk: &mut Lowering<'_>, at: &[Idx], result: Val) -> Lowered {
    let along = walk.along.clone().unwrap_or_default();
    let rows: Vec<u32> = (0..walk.space.len() as u32).filter(|c| !along.contains(c)).collect();
    let coords: Vec<u32> = rows.iter().chain(&along).copied().collect();
    let (body, kept) = walk.body.finish(&[result], &coords);
    let sizes = |list: &[u32]| list.iter().map(|&c| walk.space.size(c)).collect::<Vec<u64>>();
    let (dims, along_sizes) = (sizes(&rows), sizes(&along));
    let stores = vec![store(walk, at, kept[0], &coords)];
    let traps = finished_traps(walk, &coords);
    let work = KernelKind::Loop(Loop { dims, along: along_sizes, body, stores });
    lowered(walk, work, traps)
}

/// What `Lowering::contract` has found.
pub struct ContractParts<'a> {
    /// The product.
    pub product: &'a Product,
    /// The position on the summed axis.
    pub summed: Idx,
    /// The left operand's code.
    pub lhs: BodyBuilder,
    /// Its value.
    pub lhs_value: Val,
    /// The right operand's code.
    pub rhs: BodyBuilder,
    /// Its value.
    pub rhs_value: Val,
    /// The code over the accumulator.
    pub epilogue: BodyBuilder,
}

/// A matrix product with what precedes and follows it.
pub fn contract_kernel(
    walk: &mut Lowering<'_>,
    parts: ContractParts<'_>,
    at: &[Idx],
    result: Val,
) -> Lowered {
    let position = &parts.product.at;
    let rank = position.len();
    let (mut batch, mut m, mut n) = (Vec::new(), Vec::new(), Vec::new());
    for coord in position[..rank - 2].iter().flat_map(outermost_first) {
        match (parts.lhs.uses_coord(coord), parts.rhs.uses_coord(coord)) {
            (true, false) => m.push(coord),
            (false, true) => n.push(coord),
            (true, true) | (false, false) => batch.push(coord),
        }
    }
    m.extend(outermost_first(&position[rank - 2]));
    n.extend(outermost_first(&position[rank - 1]));
    let k: Vec<u32> = outermost_first(&parts.summed);
    let chain = |lists: [&Vec<u32>; 3]| lists.into_iter().flatten().copied().collect::<Vec<u32>>();
    let operand = |code: &BodyBuilder, value: Val, coords: &[u32]| {
        let (body, kept) = code.finish(&[value], coords);
        Operand { body, value: kept[0] }
    };
    let lhs = operand(&parts.lhs, parts.lhs_value, &chain([&batch, &m, &k]));
    let rhs = operand(&parts.rhs, parts.rhs_value, &chain([&batch, &k, &n]));
    let outer = chain([&batch, &m, &n]);
    let (epilogue, kept) = parts.epilogue.finish(&[result], &outer);
    let stores = vec![store(walk, at, kept[0], &outer)];
    let traps = finished_traps(walk, &outer);
    let sizes = |list: &[u32]| list.iter().map(|&c| walk.space.size(c)).collect::<Vec<u64>>();
    let contract = Contraction {
        batch: sizes(&batch),
        m: sizes(&m),
        n: sizes(&n),
        k: sizes(&k),
        lhs,
        rhs,
        epilogue,
        stores,
    };
    lowered(walk, KernelKind::Contraction(contract), traps)
}

/// The coordinates of a position, the one with the largest stride first.
pub fn outermost_first(position: &Idx) -> Vec<u32> {
    let mut terms = position.terms.clone();
    terms.sort_by_key(|&(_, factor)| std::cmp::Reverse(factor));
    let coord = |(term, _): &(Term, i64)| match term {
        Term::Coord(c) => Some(*c),
        Term::Gathered(..) => None,
    };
    terms.iter().filter_map(coord).collect()
}

/// The store of the root, at its row-major position.
pub fn store(walk: &Lowering<'_>, at: &[Idx], value: Val, coords: &[u32]) -> Store {
    let flat = flatten(at, &walk.graph.ty(walk.root).shape());
    let affine = flat.affine(walk.space.len()).select(coords);
    Store { value, access: Access { arg: walk.reads.len() as u32, at: affine, gathered: Vec::new() } }
}

/// The traps over a body's coordinates.
pub fn finished_traps(walk: &Lowering<'_>, coords: &[u32]) -> Vec<FinishedTrap> {
    let dims: Vec<u64> = coords.iter().map(|&c| walk.space.size(c)).collect();
    let finished = |trap: &super::lower::TrapInfo| FinishedTrap {
        node: trap.node,
        operand: trap.operand,
        position: trap.position.affine(walk.space.len()).select(coords),
        dims: dims.clone(),
        size: trap.size,
    };
    walk.traps.iter().map(finished).collect()
}

/// The kernel of `kind`, with its arguments: what was loaded, then the root.
pub fn lowered(walk: &Lowering<'_>, kind: KernelKind, traps: Vec<FinishedTrap>) -> Lowered {
    let arg = |mode: Mode, value| {
        let ty = walk.graph.ty(value);
        Arg { dtype: ty.dtype, len: ty.count(), mode }
    };
    let mut args: Vec<Arg> = walk.reads.iter().map(|&read| arg(Mode::Read, read)).collect();
    args.push(arg(Mode::Write, walk.root));
    let mut kernel = Kernel { name: String::new(), args, traps: traps.len() as u32, kind };
    super::collapse::kernel(&mut kernel);
    let nodes = walk.nodes.iter().copied().collect();
    Lowered { kernel, reads: walk.reads.clone(), writes: vec![walk.root], traps, nodes }
}

/// A whole number of a register type.
pub fn number(body: &mut BodyBuilder, value: f64, reg: ScalarType) -> Val {
    let constant = match reg {
        ScalarType::F32 => Const::F32((value as f32).to_bits()),
        ScalarType::I32 => Const::I32(value as i64 as i32),
        ScalarType::I64 => Const::I64(value as i64),
        ScalarType::Bool => Const::Bool(value != 0.0),
    };
    body.constant(constant)
}

/// What folding nothing gives.
pub fn identity(body: &mut BodyBuilder, op: FoldOp, reg: ScalarType) -> Val {
    let largest = match reg {
        ScalarType::F32 => Const::F32(f32::INFINITY.to_bits()),
        ScalarType::I32 => Const::I32(i32::MAX),
        ScalarType::I64 => Const::I64(i64::MAX),
        ScalarType::Bool => Const::Bool(true),
    };
    let smallest = match reg {
        ScalarType::F32 => Const::F32(f32::NEG_INFINITY.to_bits()),
        ScalarType::I32 => Const::I32(i32::MIN),
        ScalarType::I64 => Const::I64(i64::MIN),
        ScalarType::Bool => Const::Bool(false),
    };
    match op {
        FoldOp::Sum => number(body, 0.0, reg),
        FoldOp::Prod => number(body, 1.0, reg),
        FoldOp::Max => body.constant(smallest),
        FoldOp::Min => body.constant(largest),
        FoldOp::All => body.constant(Const::Bool(true)),
        FoldOp::Any => body.constant(Const::Bool(false)),
    }
}

/// `x` to a whole power, by squaring.
pub fn power(body: &mut BodyBuilder, x: Val, mut exponent: u64) -> Val {
    let reg = body.reg(x);
    let mut result = number(body, 1.0, reg);
    let mut square = x;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = body.call(ScalarFn::Mul, vec![result, square]);
        }
        square = body.call(ScalarFn::Mul, vec![square, square]);
        exponent >>= 1;
    }
    result
}

/// A cast from one dtype to another, on registers.
pub fn cast(body: &mut BodyBuilder, x: Val, from: DType, to: DType) -> Val {
    match (from, to) {
        (_, DType::Bf16) => {
            let wide = body.convert(x, ScalarType::F32);
            if from == DType::Bf16 { wide } else { body.rounded(wide, DType::Bf16) }
        }
        (_, to) => body.convert(x, ScalarType::of(to)),
    }
}
