//! A range of positions of one axis.

use super::{About, Fault, Rules, Tolerance, Trap, shape, walk};
use crate::ir::op::Slice;
use crate::ir::{Dim, Type};
use sx_artifact::tensor::Tensor;

impl Rules for Slice {
    fn about(&self) -> About<'_> {
        About {
            name: "slice",
            signature: "(slice x axis start stop)",
            summary: "the positions from `start` up to `stop` of one axis",
            takes: "every dtype",
            domain: "kept; a range where its axis is cut",
            example: "(slice (iota [5]) 0 1 3) ; => [1 2]",
            tolerance: Tolerance::Exact,
        }
    }

    fn infer(&self, args: &[Type]) -> Result<Vec<Type>, Fault> {
        let [x] = shape::operands(args, "1")?;
        let Slice { axis, start, stop } = *self;
        let size = x.dims.get(axis).ok_or(Fault::Axis { axis: axis as i64, rank: x.rank() })?.size;
        if start >= stop || stop > size {
            return Err(Fault::Bounds { start, stop, size, axis });
        }
        let whole = stop - start == size;
        let mut dims = x.dims.clone();
        if !whole {
            dims[axis] = Dim::of(stop - start);
        }
        let domain = x.domain.moved(|over| (over != axis || whole).then_some(over));
        Ok(vec![Type { dtype: x.dtype, dims, domain }])
    }

    fn reference(&self, args: &[&Tensor]) -> Result<Vec<Tensor>, Trap> {
        let (x, strides) = (args[0], walk::strides(args[0].shape()));
        let mut sizes = x.shape().to_vec();
        sizes[self.axis] = self.stop - self.start;
        let first = self.start as usize * strides[self.axis];
        let offsets = walk::offsets(&sizes, &strides);
        Ok(vec![walk::picked(x, &sizes, offsets.into_iter().map(|at| at + first))])
    }
}
