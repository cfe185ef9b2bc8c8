//! The same elements in another shape.

use super::{About, Fault, Rules, Tolerance, Trap, shape};
use crate::ir::op::Reshape;
use crate::ir::{Dim, Type};
use sx_artifact::tensor::Tensor;

impl Rules for Reshape {
    fn about(&self) -> About<'_> {
        About {
            name: "reshape",
            signature: "(reshape x shape)",
            summary: "the same elements in row-major order in another shape",
            takes: "every dtype",
            domain: "kept; a range where its axis is split or joined",
            example: "(reshape (iota [4]) [2 2]) ; => [[0 1] [2 3]]",
            tolerance: Tolerance::Exact,
        }
    }

    fn infer(&self, args: &[Type]) -> Result<Vec<Type>, Fault> {
        let [x] = shape::operands(args, "1")?;
        shape::countable(&self.dims)?;
        let to = shape::sizes(&self.dims);
        if to.iter().product::<u64>() != x.count() {
            return Err(Fault::Elements { from: x.shape(), to });
        }
        let kept = kept(&x.shape(), &to);
        let dim = |(dim, from): (&Dim, &Option<usize>)| match from {
            Some(from) => shape::identified(dim, &x.dims[*from]),
            None => dim.clone(),
        };
        let dims = self.dims.iter().zip(&kept).map(dim).collect();
        let domain = x.domain.moved(|axis| kept.iter().position(|from| *from == Some(axis)));
        Ok(vec![Type { dtype: x.dtype, dims, domain }])
    }

    fn reference(&self, args: &[&Tensor]) -> Result<Vec<Tensor>, Trap> {
        Ok(vec![args[0].clone().reshaped(&shape::sizes(&self.dims))])
    }
}

/// For each axis of `to`, the axis of `from` that it is: one of the same size with as many elements outside it.
fn kept(from: &[u64], to: &[u64]) -> Vec<Option<usize>> {
    let outside = |sizes: &[u64], axis: usize| sizes[..axis].iter().product::<u64>();
    let mut next = 0;
    let mut result = Vec::with_capacity(to.len());
    for axis in 0..to.len() {
        let same = |&old: &usize| from[old] == to[axis] && outside(from, old) == outside(to, axis);
        let old = (next..from.len()).find(same);
        next = old.map_or(next, |old| old + 1);
        result.push(old);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::kept;

    #[test]
    fn axes_that_stay() {
        assert_eq!(kept(&[2, 12, 64], &[2, 3, 4, 64]), [Some(0), None, None, Some(2)]);
        assert_eq!(kept(&[8, 4], &[8, 1, 4]), [Some(0), None, Some(1)]);
        assert_eq!(kept(&[6], &[2, 3]), [None, None]);
        assert_eq!(kept(&[2, 3], &[3, 2]), [None, None]);
    }
}
