//! Library functions that stand in a graph as one node with a region.

use super::{About, Fault, Rules, Tolerance, Trap, region};
use crate::ir::Type;
use crate::ir::op::Composite;
use sx_artifact::tensor::Tensor;

impl Rules for Composite {
    fn about(&self) -> About<'_> {
        About {
            name: &self.name,
            signature: "",
            summary: "a library function, with what it computes as a region",
            takes: "what its region takes",
            domain: "what the library states, or that of its region",
            example: "",
            tolerance: Tolerance::Region,
        }
    }

    fn infer(&self, args: &[Type]) -> Result<Vec<Type>, Fault> {
        region::check(&self.region, args)?;
        let mut results: Vec<Type> =
            self.region.outputs.iter().map(|output| self.region.ty(output.value).clone()).collect();
        if let (Some(first), Some(stated)) = (results.first_mut(), &self.domain) {
            first.domain = stated.clone();
        }
        Ok(results)
    }

    fn reference(&self, args: &[&Tensor]) -> Result<Vec<Tensor>, Trap> {
        region::apply(&self.region, args)
    }
}
