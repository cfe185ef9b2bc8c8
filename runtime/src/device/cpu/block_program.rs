//! A body made ready to run: operations over blocks of lanes, phase by phase.
//!
//! A [`Nest`] is walked row by row ([`Walk`]). At the start of a row and after each phase come operations on
//! values that are the same for the whole row; in a phase come operations on each block of it, then the
//! phase's folds are finished. What does not follow the lanes is computed once a block or row, not once a lane.

use super::fold::Fold;
use super::lanes::LaneFn;
use super::memory::{GatherFn, LoadFn, StoreFn};
use super::space::{MAX_TILE, Space, Walk};
use sx_artifact::kernel::ScalarType;

/// Bytes of a lane.
pub(super) fn lane_size(reg: ScalarType) -> usize {
    match reg {
        ScalarType::F32 | ScalarType::I32 => 4,
        ScalarType::I64 => 8,
        ScalarType::Bool => 1,
    }
}

/// Where lanes are: a position in the machine's table of pointers.
pub(super) type Place = u16;

/// What a place points at.
#[derive(Clone, Copy, Debug)]
pub(super) enum Spot {
    /// One lane of its own, by number.
    Single(usize),
    /// A block of lanes of its own, by its offset in the machine's registers.
    Register(usize),
    /// Wherever an operation has last set it.
    Pointed,
}

/// An argument of a nest, as far as it is known before a call.
pub(super) use sx_artifact::kernel::Arg as ArgSpec;

/// A computed index of an access.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gathered {
    pub(super) place: Place,
    pub(super) reg: ScalarType,
    pub(super) stride: i64,
}

/// Which elements of an argument a block reaches.
#[derive(Clone, Debug)]
pub(super) struct Reach {
    pub(super) arg: usize,
    /// Bytes of an element.
    pub(super) size: usize,
    pub(super) offset: i64,
    /// The axes it follows, with their strides.
    pub(super) axes: Vec<(usize, i64)>,
    /// Its strides along the axes of a block, innermost last; 0 where it does not follow the lanes.
    pub(super) tile: [i64; MAX_TILE],
    /// Computed indices that are the same for all lanes.
    pub(super) single: Vec<Gathered>,
    /// Computed indices that follow the lanes.
    pub(super) lanes: Vec<Gathered>,
}

/// An integer made of coordinates: what a trap reports, what an index holds.
#[derive(Clone, Debug)]
pub(super) struct Linear {
    pub(super) offset: i64,
    pub(super) axes: Vec<(usize, i64)>,
    pub(super) tile: [i64; MAX_TILE],
}

/// One operation. `many`: on all lanes of the block, otherwise on one.
pub(super) enum Op {
    /// A function of lanes.
    Lanes { f: LaneFn, to: Place, from: [Place; 3], many: bool },
    /// Points a place at the elements of an access.
    Point { to: Place, reach: usize, many: bool },
    /// Points a place at the block's part of a row's store of values.
    Keep { to: Place, offset: usize, size: usize },
    /// Asks for lines of memory from `far` elements after an access on.
    Prefetch { reach: usize, far: i64, lines: usize },
    /// Loads along strides.
    Load { f: LoadFn, to: Place, reach: usize, many: bool },
    /// Loads under a guard, or from computed indices.
    Gather { f: GatherFn, to: Place, reach: usize, guard: Option<Place>, many: bool },
    /// Coordinates as integers.
    Index { to: Place, linear: usize, reg: ScalarType, many: bool },
    /// Checks indices; without a trap, clamps them.
    Bounded { to: Place, x: Place, reg: ScalarType, size: u64, trap: Option<u32>, linear: usize, many: bool },
    /// Stores along strides.
    Store { f: StoreFn, from: Place, reach: usize, many: bool },
    /// Joins lanes to a fold.
    Fold { fold: usize, x: Place, many: bool },
}

/// A fold of a phase.
pub(super) struct FoldSlot {
    pub(super) fold: Fold,
    pub(super) phase: usize,
    /// Where its result goes.
    pub(super) to: Place,
    /// Bytes of a value.
    pub(super) size: usize,
    /// Whether there is a result for each lane.
    pub(super) many: bool,
}

/// A body with its loops, ready to run on any buffers.
pub(super) struct Nest {
    pub(super) space: Space,
    pub(super) walk: Walk,
    pub(super) spots: Vec<Spot>,
    /// Bits of constants, with their single lanes.
    pub(super) constants: Vec<(usize, u64)>,
    /// How many single lanes, bytes of registers, bytes a block of a row keeps (for each value its own region).
    pub(super) singles: usize,
    pub(super) registers: usize,
    pub(super) kept: usize,
    pub(super) reaches: Vec<Reach>,
    pub(super) linears: Vec<Linear>,
    /// Before each phase, and after the last.
    pub(super) row_ops: Vec<Vec<Op>>,
    /// In each phase.
    pub(super) block_ops: Vec<Vec<Op>>,
    pub(super) folds: Vec<FoldSlot>,
    /// Roughly how many simple operations a lane costs.
    pub(super) cost: u64,
}
