//! What a graph is given from outside: inputs, parameters, context values, constants.
//!
//! The first three have no rule for their types: whoever makes the node states them (`Builder::push`).

use super::{About, Fault, Rules, Tolerance, Trap, shape};
use crate::ir::op::{Constant, Context, Input, Param};
use crate::ir::{Dim, Domain, Interval, Type};
use sx_artifact::dtype::DType;
use sx_artifact::tensor::{Data, Tensor};

/// A source's value comes from the caller, who is asked before its rules are.
fn unfed(what: &str) -> ! {
    panic!("{what} has no value of its own: whoever runs the graph feeds it")
}

impl Rules for Input {
    fn about(&self) -> About<'_> {
        About {
            name: "input",
            signature: "",
            summary: "a value that is fed by its name; in a region, its argument",
            takes: "every dtype",
            domain: "as declared",
            example: "",
            tolerance: Tolerance::Exact,
        }
    }

    fn infer(&self, _args: &[Type]) -> Result<Vec<Type>, Fault> {
        Err(Fault::Source)
    }

    fn reference(&self, _args: &[&Tensor]) -> Result<Vec<Tensor>, Trap> {
        unfed("an input")
    }
}

impl Rules for Param {
    fn about(&self) -> About<'_> {
        About {
            name: "param",
            signature: "(param \"name\" shape)",
            summary: "a learned value, by its name",
            takes: "every dtype",
            domain: "as declared",
            example: "",
            tolerance: Tolerance::Exact,
        }
    }

    fn infer(&self, _args: &[Type]) -> Result<Vec<Type>, Fault> {
        Err(Fault::Source)
    }

    fn reference(&self, _args: &[&Tensor]) -> Result<Vec<Tensor>, Trap> {
        unfed("a parameter")
    }
}

impl Rules for Context {
    fn about(&self) -> About<'_> {
        About {
            name: "context",
            signature: "(getf ctx :step)",
            summary: "an integer scalar that the runtime feeds: the step, or the microbatch",
            takes: "nothing",
            domain: "NonNeg",
            example: "",
            tolerance: Tolerance::Exact,
        }
    }

    fn infer(&self, args: &[Type]) -> Result<Vec<Type>, Fault> {
        let [] = shape::operands(args, "no")?;
        Ok(vec![Type { dtype: DType::I64, dims: Vec::new(), domain: Domain::Range(Interval::NON_NEG) }])
    }

    fn reference(&self, _args: &[&Tensor]) -> Result<Vec<Tensor>, Trap> {
        unfed("a context value")
    }
}

impl Rules for Constant {
    fn about(&self) -> About<'_> {
        About {
            name: "constant",
            signature: "(full shape value)",
            summary: "a value known at compile time; its domain is the range of its elements",
            takes: "every dtype",
            domain: "from the smallest element to the largest; Mask of truth values",
            example: "(zeros [2]) ; => [0.0 0.0]",
            tolerance: Tolerance::Exact,
        }
    }

    fn infer(&self, args: &[Type]) -> Result<Vec<Type>, Fault> {
        let [] = shape::operands(args, "no")?;
        let dims = self.value.shape().iter().map(|&size| Dim::of(size)).collect();
        Ok(vec![Type { dtype: self.value.dtype(), dims, domain: held(self.value.data()) }])
    }

    fn reference(&self, _args: &[&Tensor]) -> Result<Vec<Tensor>, Trap> {
        Ok(vec![(*self.value).clone()])
    }
}

/// The domain of known elements: the range from the smallest to the largest.
fn held(data: &Data) -> Domain {
    let range = match data {
        Data::F32(v) => spanned(v.iter().map(|&x| f64::from(x))),
        Data::Bf16(v) => spanned(v.iter().map(|x| x.to_f64())),
        Data::I32(v) => spanned(v.iter().map(|&x| f64::from(x))),
        Data::I64(v) => spanned(v.iter().map(|&x| x as f64)),
        Data::Bool(_) => return Domain::Mask,
    };
    Domain::Range(range.outward(data.dtype()))
}

fn spanned(values: impl Iterator<Item = f64>) -> Interval {
    let (mut lo, mut hi) = (f64::INFINITY, f64::NEG_INFINITY);
    for value in values.filter(|value| !value.is_nan()) {
        (lo, hi) = (lo.min(value), hi.max(value));
    }
    // Nothing but NaN, nothing at all, or an infinity alone says nothing.
    if lo <= hi && lo < f64::INFINITY && f64::NEG_INFINITY < hi {
        Interval::closed(lo, hi)
    } else {
        Interval::REAL
    }
}
