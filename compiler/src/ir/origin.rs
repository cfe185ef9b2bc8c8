//! Where a node came from.

use crate::diag::Span;

/// An origin, by its position in its graph's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OriginId(pub u32);

/// Where a node came from: a place, why, and from whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    /// The form that made it.
    pub span: Span,
    /// Why it exists.
    pub why: Why,
    /// The call it stands in, or the origin of the node a pass made it from.
    pub parent: Option<OriginId>,
}

/// Why a node exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Why {
    /// The program says so at the span.
    Written,
    /// It stands in a function that the parent called.
    Called,
    /// A pass made it from the parent.
    Pass(&'static str),
}
