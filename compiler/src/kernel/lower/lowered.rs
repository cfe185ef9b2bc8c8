//! What a walk gives: a kernel with what its arguments hold, or what has to change first.

use crate::ir::{NodeId, Value};
use crate::kernel::index::Idx;
use sx_artifact::kernel::{Affine, Kernel};

/// What has to change before a root can be lowered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Retry {
    /// This value must be stored by a kernel of its own.
    Store(Value),
    /// An axis must have another coordinate, of this size, inside a piece.
    Split {
        /// The axis.
        axis: AxisKey,
        /// Which of its pieces.
        piece: usize,
        /// The size of the new inner piece.
        inner: u64,
    },
}

/// An axis that coordinates are made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AxisKey {
    /// An axis of the root.
    Root(usize),
    /// A reduced axis.
    Along(usize),
    /// The summed axis of a matrix product; the width of queries and keys.
    Summed,
    /// The keys of an attention.
    Keys,
}

/// Where a launch may trap.
#[derive(Clone, Debug)]
pub struct TrapInfo {
    /// The node that indexes.
    pub node: NodeId,
    /// The index operand.
    pub operand: Value,
    /// The flat position in it.
    pub position: Idx,
    /// The size of the indexed axis.
    pub size: u64,
}

/// A kernel with what its arguments are.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The kernel; its name is a description that need not be unique.
    pub kernel: Kernel,
    /// What each read argument holds.
    pub reads: Vec<Value>,
    /// What each written argument holds.
    pub writes: Vec<Value>,
    /// The traps, in the kernel's order, with positions over the coordinates of the body they stand in.
    pub traps: Vec<FinishedTrap>,
    /// The nodes it computes.
    pub nodes: Vec<NodeId>,
}

/// A trap of a finished kernel.
#[derive(Clone, Debug)]
pub struct FinishedTrap {
    /// The node that indexes.
    pub node: NodeId,
    /// The index operand.
    pub operand: Value,
    /// The flat position in it, over the body's coordinates.
    pub position: Affine,
    /// The sizes of those coordinates.
    pub dims: Vec<u64>,
    /// The size of the indexed axis.
    pub size: u64,
}
