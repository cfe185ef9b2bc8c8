//! Graph to graph: each pass keeps every promise of the graph it is given.

pub mod attention;
pub mod const_fold;
pub mod cse;
pub mod dce;
pub mod expand_composites;
pub mod precision;
pub mod rewrite;
pub mod simplify;
pub mod split_concat;
