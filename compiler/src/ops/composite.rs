//! Library functions that stand in a graph as one node with a region.

use super::{About, Fault, Rules, Tolerance, Trap, region};
use crate::ir::op::Composite;
use crate::ir::{Domain, Graph, Interval, Op, Type};
use std::sync::Arc;
use sx_artifact::kernel::FoldOp;
use sx_artifact::tensor::Tensor;

impl Rules for Composite {
    fn about(&self) -> About<'_> {
        About {
            name: &self.name,
            signature: "",
            summary: "a library function, with what it computes as a region",
            takes: "what its region takes",
            domain: "by its name, or that of its region",
            example: "",
            tolerance: Tolerance::Region,
        }
    }

    fn infer(&self, args: &[Type]) -> Result<Vec<Type>, Fault> {
        let region = &self.region;
        if region.inputs.len() != args.len() {
            return Err(Fault::Operands { want: "as many as its region has", got: args.len() });
        }
        for (arg, (&input, got)) in region.inputs.iter().zip(args).enumerate() {
            let want = region.ty(input.into());
            if want.dtype != got.dtype || want.shape() != got.shape() {
                return Err(Fault::Region { arg, want: want.clone().into(), got: got.clone().into() });
            }
        }
        let result = |ty: &Type| Type { domain: domain(&self.name, region, args, ty), ..ty.clone() };
        Ok(region.outputs.iter().map(|output| result(region.ty(output.value))).collect())
    }

    fn reference(&self, args: &[&Tensor]) -> Result<Vec<Tensor>, Trap> {
        let args: Vec<Arc<Tensor>> = args.iter().map(|&arg| Arc::new(arg.clone())).collect();
        let position = |id| self.region.inputs.iter().position(|&input| input == id);
        let outputs = region::evaluate(&self.region, &|id, _| position(id).map(|at| args[at].clone()));
        let outputs = outputs.map_err(|(_, trap)| trap)?;
        Ok(outputs.into_iter().map(Arc::unwrap_or_clone).collect())
    }
}

/// The domain of a composite's result, where more is known by name than its region tells.
fn domain(name: &str, region: &Graph, args: &[Type], result: &Type) -> Domain {
    let range = args.first().map_or(Interval::REAL, |x| x.domain.range());
    match name {
        "softmax" => over(region).map_or(result.domain.clone(), |over| Domain::Prob { over }),
        "log-softmax" => over(region).map_or(result.domain.clone(), |over| Domain::LogProb { over }),
        "cross-entropy" | "std" | "var" | "norm" => Domain::Range(Interval::NON_NEG),
        "sigmoid" => Domain::Range(bounded(range, Interval::UNIT, |x| 1.0 / (1.0 + (-x).exp()), result)),
        "softplus" => Domain::Range(bounded(range, Interval::NON_NEG, softplus, result)),
        "log-sigmoid" => Domain::Range(bounded(range, Interval::NON_POS, |x| -softplus(-x), result)),
        "layer-norm" | "rms-norm" | "attention" => Domain::REAL,
        _ => result.domain.clone(),
    }
}

/// The range of a function that never falls, by its ends and within its limits.
fn bounded(x: Interval, limits: Interval, f: fn(f64) -> f64, result: &Type) -> Interval {
    x.rising(f).closure().outward(result.dtype).clip(limits)
}

fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

/// The axis that a region normalises over: the one its sum folds.
fn over(region: &Graph) -> Option<usize> {
    region.nodes().iter().find_map(|node| match &node.op {
        Op::Reduce(reduce) if reduce.op == FoldOp::Sum && reduce.axes.len() == 1 => Some(reduce.axes[0]),
        _ => None,
    })
}
