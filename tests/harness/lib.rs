//! What the whole-system tests share.

pub mod random_graph;
