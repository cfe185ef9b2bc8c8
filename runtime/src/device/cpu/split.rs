//! A map cut where its conditions change: a concatenation becomes a copy of each part.
//!
//! A condition that compares a position along one axis with a number is the same on either side of that number. Cut
//! there, each piece has constant conditions, so its guards go away and `where` is one of its operands.

use sx_artifact::kernel::affine::Comparison;
use sx_artifact::kernel::{Affine, Const, Inst, Loop, ScalarType, Store, Val};
use sx_artifact::scalar::ScalarFn;

/// More pieces than this are not worth their launches.
const MOST: usize = 16;

/// The pieces of `work`, together the same map; itself where nothing is gained.
pub(super) fn split(work: &Loop, regs: &[ScalarType]) -> Vec<Loop> {
    let traps = work.body.insts.iter().any(Inst::traps);
    if !work.along.is_empty() || traps {
        // A trap's position counts the coordinates of the whole.
        return vec![work.clone()];
    }
    let mut pieces = vec![work.clone()];
    for axis in 0..work.dims.len() {
        let comparisons = work.body.insts.iter().filter_map(|inst| Comparison::of(&work.body, inst));
        let mut cuts: Vec<u64> = comparisons.filter_map(|comparison| comparison.changes_at(axis)).collect();
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

/// The part of a map from `start` to `end` along an axis.
fn narrowed(work: &Loop, axis: usize, start: u64, end: u64) -> Loop {
    let mut piece = work.clone();
    piece.dims[axis] = end - start;
    let shift = |at: &mut Affine| {
        // Exact: a valid program's offsets and strides reach less than 2^62.
        at.offset += at.strides[axis] * start as i64;
    };
    piece.body.insts.iter_mut().filter_map(Inst::affine_mut).for_each(shift);
    piece.stores.iter_mut().for_each(|store| shift(&mut store.access.at));
    piece
}

/// The map with its constant conditions decided.
fn decided(work: &Loop, regs: &[ScalarType]) -> Loop {
    let mut piece = work.clone();
    // What each value has become: itself, or an operand that `where` chose.
    let mut becomes: Vec<Val> = (0..regs.len() as u32).map(Val).collect();
    let mut known: Vec<Option<bool>> = vec![None; regs.len()];
    for v in 0..regs.len() {
        piece.body.insts[v].uses_mut().for_each(|value| *value = becomes[value.0 as usize]);
        let comparison = Comparison::of(&piece.body, &piece.body.insts[v]);
        known[v] = comparison.and_then(|comparison| comparison.outcome(&piece.dims));
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
                Some(false) => piece.body.insts[v] = Inst::Const(Const::zero(regs[v])),
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
