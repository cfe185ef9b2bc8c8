//! Memory asked for before it is needed: while a row is computed, the next one's elements come.
//!
//! The first phase of a reduction waits for memory and the later ones do not touch it, since a row stays in the nearest
//! cache. A row is often a page, too, where the processor's own prediction ends. So the first phase's operands of the
//! next row, and what later phases touch of this row, are asked for between the two.

use super::block_program::{Nest, Op, Reach};

/// Bytes of a row that are worth it: more would push out what the row itself needs.
const MOST: usize = 8 << 10;
/// A cache line.
const LINE: usize = 64;

/// Puts the operations that ask for memory into a nest whose rows are one block each.
pub(super) fn add_prefetches(nest: &mut Nest) {
    let walk = &nest.walk;
    let whole = walk.blocks.iter().all(|&axis| walk.step[axis] >= nest.space.sizes[axis]);
    let Some(&row) = walk.rows.last() else { return };
    if walk.columns || !whole || nest.block_ops.len() < 2 {
        return;
    }
    let next = asked(nest, &nest.block_ops[..1], row, true);
    let known: Vec<usize> = next.iter().map(|&(reach, _)| nest.reaches[reach].arg).collect();
    let mut now = asked(nest, &nest.block_ops[1..], row, false);
    now.retain(|&(reach, _)| !known.contains(&nest.reaches[reach].arg));
    let lines = |(reach, far): (usize, i64)| Op::Prefetch {
        reach,
        far,
        lines: row_bytes(nest, reach).div_ceil(LINE),
    };
    let ops: Vec<Op> = next.into_iter().chain(now).map(lines).collect();
    nest.block_ops[1].splice(0..0, ops);
}

/// The accesses of operations that follow the rows and lie in one piece, with how many elements on they are asked for.
fn asked(nest: &Nest, phases: &[Vec<Op>], row: usize, next: bool) -> Vec<(usize, i64)> {
    let mut found: Vec<(usize, i64)> = Vec::new();
    for op in phases.iter().flatten() {
        let (Op::Point { reach, many: true, .. }
        | Op::Load { reach, many: true, .. }
        | Op::Store { reach, many: true, .. }) = *op
        else {
            continue;
        };
        let access = &nest.reaches[reach];
        let stride = access.axes.iter().find(|(axis, _)| *axis == row).map_or(0, |(_, stride)| *stride);
        let seen = found.iter().any(|&(other, _)| nest.reaches[other].arg == access.arg);
        if !seen && stride != 0 && is_dense(nest, access) && row_bytes(nest, reach) <= MOST {
            found.push((reach, if next { stride } else { 0 }));
        }
    }
    found
}

/// Whether a block's elements are neighbours.
fn is_dense(nest: &Nest, reach: &Reach) -> bool {
    let walk = &nest.walk;
    let mut size = 1;
    walk.tile.iter().rev().zip(reach.tile.iter().rev()).all(|(&axis, &stride)| {
        let dense = stride == size;
        size *= walk.step[axis] as i64;
        dense
    })
}

fn row_bytes(nest: &Nest, reach: usize) -> usize {
    nest.walk.lanes() * nest.reaches[reach].size
}

/// Asks for the lines from `start` on; where there is no memory nothing happens.
#[inline(always)]
pub(super) fn prefetch(start: *const u8, lines: usize) {
    #[cfg(target_arch = "x86_64")]
    for line in 0..lines {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every address may be asked for.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(line * LINE).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (start, lines);
}
