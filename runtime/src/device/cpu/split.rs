//! A map cut where its conditions change: a concatenation becomes a copy of each part.
//!
//! A condition that compares a position along one axis with a number is the same on either side of that number. Cut
//! there, each piece has constant conditions, so its guards go away and `where` is one of its operands.

use sx_artifact::kernel::{Access, Affine, Body, Const, Inst, Loop, ScalarType, Store, Val};
use sx_artifact::scalar::ScalarFn;

/// More pieces than this are not worth their launches.
const MOST: usize = 16;

/// The pieces of `work`, together the same map; itself where nothing is gained.
pub(super) fn split(work: &Loop, regs: &[ScalarType]) -> Vec<Loop> {
    let traps = work.body.insts.iter().any(|inst| matches!(inst, Inst::Bounded { trap: Some(_), .. }));
    if !work.along.is_empty() || traps {
        // A trap's position counts the coordinates of the whole.
        return vec![work.clone()];
    }
    let mut pieces = vec![work.clone()];
    for axis in 0..work.dims.len() {
        let mut cuts: Vec<u64> =
            work.body.insts.iter().filter_map(|inst| cut(&work.body, inst, axis)).collect();
        cuts.retain(|&cut| cut > 0 && cut < work.dims[axis]);
        cuts.sort_unstable();
        cuts.dedup();
        if pieces.len() * (cuts.len() + 1) > MOST {
            continue;
        }
        let starts = std::iter::once(0).chain(cuts.iter().copied());
        let ends = cuts.iter().copied().chain([work.dims[axis]]);
        let ranges: Vec<(u64, u64)> = starts.zip(ends).collect();
        pieces = pieces
            .iter()
            .flat_map(|piece| ranges.iter().map(|&(start, end)| narrowed(piece, axis, start, end)))
            .collect();
    }
    if pieces.len() == 1 {
        return pieces;
    }
    pieces.iter().map(|piece| decided(piece, regs)).collect()
}

/// The affine integer and the number that a comparison compares, and whether the integer is on the left.
fn compared<'a>(body: &'a Body, inst: &Inst) -> Option<(ScalarFn, &'a Affine, i64)> {
    use ScalarFn::{Ge, Gt, Le, Lt};
    let Inst::Call { f, args } = inst else { return None };
    let number = |v: Val| match body.insts[v.0 as usize] {
        Inst::Const(Const::I32(value)) => Some(i64::from(value)),
        Inst::Const(Const::I64(value)) => Some(value),
        _ => None,
    };
    let position = |v: Val| match &body.insts[v.0 as usize] {
        Inst::Index { at, .. } => Some(at),
        _ => None,
    };
    let &[a, b] = args.as_slice() else { return None };
    let turned = match f {
        Lt => Gt,
        Le => Ge,
        Gt => Lt,
        Ge => Le,
        _ => return None,
    };
    match (position(a), number(b), number(a), position(b)) {
        (Some(at), Some(number), ..) => Some((*f, at, number)),
        (.., Some(number), Some(at)) => Some((turned, at, number)),
        _ => None,
    }
}

/// Where along `axis` a comparison changes, if it follows no other axis, and that one upwards by one.
fn cut(body: &Body, inst: &Inst, axis: usize) -> Option<u64> {
    let (f, at, number) = compared(body, inst)?;
    let alone = at.strides.iter().enumerate().all(|(i, &stride)| stride == i64::from(i == axis));
    let first = match f {
        // `offset + c < number` holds below the cut, `offset + c <= number` one further.
        ScalarFn::Lt | ScalarFn::Ge => number.checked_sub(at.offset)?,
        _ => number.checked_sub(at.offset)?.checked_add(1)?,
    };
    alone.then(|| u64::try_from(first).ok())?
}

/// The part of a map from `start` to `end` along an axis.
fn narrowed(work: &Loop, axis: usize, start: u64, end: u64) -> Loop {
    let mut piece = work.clone();
    piece.dims[axis] = end - start;
    let shift = |at: &mut Affine| {
        at.offset = at.offset.wrapping_add(at.strides[axis].wrapping_mul(start as i64));
    };
    for inst in &mut piece.body.insts {
        match inst {
            Inst::Index { at, .. } | Inst::Load { access: Access { at, .. }, .. } => shift(at),
            _ => {}
        }
    }
    piece.stores.iter_mut().for_each(|store| shift(&mut store.access.at));
    piece
}

/// What a comparison is everywhere in `dims`, where it is the same everywhere.
fn outcome(body: &Body, inst: &Inst, dims: &[u64]) -> Option<bool> {
    let (f, at, number) = compared(body, inst)?;
    let (mut low, mut high) = (at.offset, at.offset);
    for (&stride, &size) in at.strides.iter().zip(dims) {
        let reach = stride.checked_mul(i64::try_from(size.checked_sub(1)?).ok()?)?;
        low = low.checked_add(reach.min(0))?;
        high = high.checked_add(reach.max(0))?;
    }
    let holds = |value: i64| match f {
        ScalarFn::Lt => value < number,
        ScalarFn::Le => value <= number,
        ScalarFn::Gt => value > number,
        _ => value >= number,
    };
    (holds(low) == holds(high)).then(|| holds(low))
}

/// The map with its constant conditions decided.
fn decided(work: &Loop, regs: &[ScalarType]) -> Loop {
    let mut piece = work.clone();
    // What each value has become: itself, or an operand that `where` chose.
    let mut becomes: Vec<Val> = (0..regs.len() as u32).map(Val).collect();
    let mut known: Vec<Option<bool>> = vec![None; regs.len()];
    for v in 0..regs.len() {
        renamed(&mut piece.body.insts[v], &becomes);
        known[v] = outcome(&piece.body, &piece.body.insts[v], &piece.dims);
        if let Some(value) = known[v] {
            piece.body.insts[v] = Inst::Const(Const::Bool(value));
            continue;
        }
        match &mut piece.body.insts[v] {
            Inst::Call { f: ScalarFn::And, args } => {
                let sides = [known[args[0].0 as usize], known[args[1].0 as usize]];
                known[v] = match sides {
                    [Some(a), Some(b)] => Some(a && b),
                    [Some(false), _] | [_, Some(false)] => Some(false),
                    _ => None,
                };
                // Of one that holds, the other decides.
                becomes[v] = match sides {
                    [Some(true), None] => args[1],
                    [None, Some(true)] => args[0],
                    _ => Val(v as u32),
                };
            }
            Inst::Call { f: ScalarFn::Where, args } => {
                if let Some(chosen) = known[args[0].0 as usize] {
                    becomes[v] = args[if chosen { 1 } else { 2 }];
                }
            }
            Inst::Load { guard: guard @ Some(_), .. } => match guard.and_then(|g| known[g.0 as usize]) {
                Some(true) => *guard = None,
                Some(false) => piece.body.insts[v] = Inst::Const(zero(regs[v])),
                None => {}
            },
            _ => {}
        }
    }
    for Store { value, .. } in &mut piece.stores {
        *value = becomes[value.0 as usize];
    }
    piece
}

/// Replaces the values that an instruction uses.
fn renamed(inst: &mut Inst, becomes: &[Val]) {
    let rename = |v: &mut Val| *v = becomes[v.0 as usize];
    match inst {
        Inst::Const(_) | Inst::Index { .. } | Inst::Acc { .. } => {}
        Inst::Load { access, guard } => {
            access.gathered.iter_mut().for_each(|(v, _)| rename(v));
            guard.iter_mut().for_each(rename);
        }
        Inst::Call { args, .. } => args.iter_mut().for_each(rename),
        Inst::Convert { x, .. } | Inst::RoundBf16 { x } | Inst::Bounded { x, .. } | Inst::Fold { x, .. } => {
            rename(x)
        }
    }
}

fn zero(reg: ScalarType) -> Const {
    match reg {
        ScalarType::F32 => Const::F32(0),
        ScalarType::I32 => Const::I32(0),
        ScalarType::I64 => Const::I64(0),
        ScalarType::Bool => Const::Bool(false),
    }
}
