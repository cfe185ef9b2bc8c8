//! The graph as plain data: what is computed, with types, domains and origins, and no meaning of its own.

pub mod domain;
pub mod dot;
pub mod graph;
pub mod interval;
pub mod op;
pub mod origin;
pub mod text;
pub mod ty;

pub use domain::{Domain, UserDomain};
#[cfg(debug_assertions)]
pub use graph::visits;
pub use graph::{Graph, Marks, Node, NodeId, Output, Value};
pub use interval::Interval;
pub use op::Op;
pub use origin::{Origin, OriginId, Why};
pub use ty::{Axis, Dim, Type};
