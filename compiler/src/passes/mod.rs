//! Graph to graph: each pass keeps every promise of the graph it is given.

pub mod divide;
pub mod fold;
pub mod open;
pub mod precision;
pub mod rewrite;
pub mod share;
pub mod simplify;
pub mod sweep;
