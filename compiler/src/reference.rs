//! The meaning of a graph: slow, plain, right.
//!
//! Floats are computed in f64 and rounded to the dtype after each operation; f32 results of `+ - * /` and `sqrt`
//! are thereby the correctly rounded ones, because f64 has more than twice the digits. Sums and products of
//! matrices are accumulated in f64 and rounded once. Integers are computed in their own width and wrap.
//! What each operation means stands with the operation (`ops`); every other way of computing is tested against
//! this one.

use crate::ir::{Graph, NodeId, Op};
use crate::ops::{Trap, region};
use std::sync::Arc;
use sx_artifact::tensor::Tensor;

/// The outputs of `graph`, in order. `feeds` gives the values of inputs, parameters and context values, by the
/// operation that stands for each; it may also replace any other node, where it has a value for one.
/// An index outside its axis is a trap, told with the node that met it (a composite for its region).
pub fn run(
    graph: &Graph,
    feeds: &dyn Fn(&Op) -> Option<Arc<Tensor>>,
) -> Result<Vec<Arc<Tensor>>, (NodeId, Trap)> {
    region::evaluate(graph, &|_, node| feeds(&node.op))
}
