//! Repetition along axes.

use super::{About, Fault, Rules, Tolerance, Trap, shape, walk};
use crate::ir::op::Broadcast;
use crate::ir::{Dim, Type};
use sx_artifact::tensor::Tensor;

impl Rules for Broadcast {
    fn about(&self) -> About<'_> {
        About {
            name: "broadcast",
            signature: "(broadcast-to x shape)",
            summary: "repeats a tensor along axes of size 1 and new leading axes, as NumPy does",
            takes: "every dtype",
            domain: "kept; a range where its axis is repeated",
            example: "(broadcast-to (iota [2]) [2 2]) ; => [[0 1] [0 1]]",
            tolerance: Tolerance::Exact,
        }
    }

    fn infer(&self, args: &[Type]) -> Result<Vec<Type>, Fault> {
        let [x] = shape::operands(args, "1")?;
        shape::countable(&self.dims)?;
        let refused = || Fault::BroadcastTo { from: x.shape(), to: shape::sizes(&self.dims) };
        let new = self.dims.len().checked_sub(x.rank()).ok_or_else(refused)?;
        if !x.dims.iter().zip(&self.dims[new..]).all(|(from, to)| from.size == to.size || from.size == 1) {
            return Err(refused());
        }
        let kept = self.dims[new..].iter().zip(&x.dims).map(|(to, from)| shape::identified(to, from));
        let dims = self.dims[..new].iter().cloned().chain(kept).collect();
        // Repeated probabilities no longer add up to 1.
        let domain =
            x.domain.moved(|axis| (x.dims[axis].size == self.dims[new + axis].size).then_some(new + axis));
        Ok(vec![Type { dtype: x.dtype, dims, domain }])
    }

    fn reference(&self, args: &[&Tensor]) -> Result<Vec<Tensor>, Trap> {
        let (x, to) = (args[0], shape::sizes(&self.dims));
        let new = to.len() - x.shape().len();
        let own = walk::strides(x.shape());
        let strides: Vec<usize> = (0..to.len())
            .map(|axis| match axis.checked_sub(new) {
                Some(axis) if x.shape()[axis] != 1 => own[axis],
                _ => 0,
            })
            .collect();
        Ok(vec![walk::picked(x, &to, walk::offsets(&to, &strides))])
    }
}

/// The shape that `types` broadcast to, right aligned: dims are equal or 1. A dimension has the identity of the
/// first operand that has one there.
pub fn broadcast_shape(types: &[Type]) -> Result<Vec<Dim>, Fault> {
    let lists: Vec<&[Dim]> = types.iter().map(|ty| ty.dims.as_slice()).collect();
    dims(&lists)
}

/// As [`broadcast_shape`], of dimensions.
pub fn dims(lists: &[&[Dim]]) -> Result<Vec<Dim>, Fault> {
    let mut result: Vec<Dim> = Vec::new();
    for list in lists {
        let refused = Fault::Broadcast { left: shape::sizes(&result), right: shape::sizes(list) };
        while result.len() < list.len() {
            result.insert(0, Dim::of(1));
        }
        let new = result.len() - list.len();
        for (have, dim) in result[new..].iter_mut().zip(*list) {
            if have.size == dim.size {
                *have = shape::identified(have, dim);
            } else if have.size == 1 {
                *have = dim.clone();
            } else if dim.size != 1 {
                return Err(refused);
            }
        }
    }
    shape::countable(&result)?;
    Ok(result)
}

/// As [`broadcast_shape`], of sizes.
pub fn sizes(lists: &[Vec<u64>]) -> Result<Vec<u64>, Fault> {
    let lists: Vec<Vec<Dim>> =
        lists.iter().map(|list| list.iter().map(|&size| Dim::of(size)).collect()).collect();
    let borrowed: Vec<&[Dim]> = lists.iter().map(Vec::as_slice).collect();
    Ok(shape::sizes(&dims(&borrowed)?))
}
