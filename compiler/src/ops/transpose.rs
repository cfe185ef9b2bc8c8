//! Permutations of axes.

use super::{About, Fault, Rules, Tolerance, Trap, shape, walk};
use crate::ir::Type;
use crate::ir::op::Transpose;
use sx_artifact::tensor::Tensor;

impl Rules for Transpose {
    fn about(&self) -> About<'_> {
        About {
            name: "transpose",
            signature: "(transpose x order)",
            summary: "the axes in another order: axis `i` of the result is axis `order[i]` of the operand",
            takes: "every dtype",
            domain: "kept, over where its axis went",
            example: "(transpose (iota [2 2] :axis 1) [1 0]) ; => [[0 0] [1 1]]",
            tolerance: Tolerance::Exact,
        }
    }

    fn infer(&self, args: &[Type]) -> Result<Vec<Type>, Fault> {
        let [x] = shape::operands(args, "1")?;
        let mut sorted = self.order.clone();
        sorted.sort_unstable();
        if !sorted.iter().copied().eq(0..x.rank()) {
            return Err(Fault::Order { order: self.order.clone(), rank: x.rank() });
        }
        let dims = self.order.iter().map(|&axis| x.dims[axis].clone()).collect();
        let domain = x.domain.moved(|axis| self.order.iter().position(|&from| from == axis));
        Ok(vec![Type { dtype: x.dtype, dims, domain }])
    }

    fn reference(&self, args: &[&Tensor]) -> Result<Vec<Tensor>, Trap> {
        let x = args[0];
        let strides = walk::strides(x.shape());
        let sizes: Vec<u64> = self.order.iter().map(|&axis| x.shape()[axis]).collect();
        let steps: Vec<usize> = self.order.iter().map(|&axis| strides[axis]).collect();
        Ok(vec![walk::picked(x, &sizes, walk::offsets(&sizes, &steps))])
    }
}
