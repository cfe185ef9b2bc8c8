//! Positions along an axis.

use super::scalar::Kind;
use super::{About, Fault, Rules, Tolerance, Trap, shape};
use crate::ir::op::Iota;
use crate::ir::{Domain, Interval, Type};
use sx_artifact::dtype::DType;
use sx_artifact::tensor::{Data, Tensor};

impl Rules for Iota {
    fn about(&self) -> About<'_> {
        About {
            name: "iota",
            signature: "(iota shape :axis 0 :dtype :i32)",
            summary: "the position of each element along an axis, counted from 0",
            takes: "nothing; gives i32 or i64",
            domain: "from 0 to the last position",
            example: "(iota [2 2] :axis 1) ; => [[0 1] [0 1]]",
            tolerance: Tolerance::Exact,
        }
    }

    fn infer(&self, args: &[Type]) -> Result<Vec<Type>, Fault> {
        let [] = shape::operands(args, "no")?;
        if !self.dtype.is_int() {
            return Err(Fault::ResultDtype { got: self.dtype, want: Kind::Integer });
        }
        shape::countable(&self.dims)?;
        let axis = self.dims.get(self.axis);
        let size = axis.ok_or(Fault::Axis { axis: self.axis as i64, rank: self.dims.len() })?.size;
        let last = size.saturating_sub(1);
        if self.dtype == DType::I32 && i32::try_from(last).is_err() {
            return Err(Fault::LastPosition { last, dtype: self.dtype });
        }
        let range = Interval::closed(0.0, last as f64).outward(self.dtype);
        Ok(vec![Type { dtype: self.dtype, dims: self.dims.clone(), domain: Domain::Range(range) }])
    }

    fn reference(&self, _args: &[&Tensor]) -> Result<Vec<Tensor>, Trap> {
        let sizes = shape::sizes(&self.dims);
        let inner: u64 = sizes[self.axis + 1..].iter().product();
        let count: u64 = sizes.iter().product();
        let positions = (0..count).map(|at| at / inner % sizes[self.axis]);
        let data: Data = match self.dtype {
            DType::I64 => positions.map(|at| at as i64).collect::<Vec<_>>().into(),
            _ => positions.map(|at| at as i32).collect::<Vec<_>>().into(),
        };
        Ok(vec![Tensor::new(&sizes, data)])
    }
}
