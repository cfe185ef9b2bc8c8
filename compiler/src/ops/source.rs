//! What a graph is given from outside: inputs, parameters, context values, constants.
//!
//! The first three have no rule for their types: whoever makes the node states them (`Builder::push`).

use super::{Fault, Rules, Tolerance, Trap, shape};
use crate::ir::op::{Constant, Context, Input, Param};
use crate::ir::{Dim, Domain, Interval, Type};
use sx_artifact::dtype::DType;
use sx_artifact::tensor::{Data, Tensor};

/// A source's value comes from the caller, who is asked before its rules are.
fn unfed(what: &str) -> ! {
    panic!("{what} has no value of its own: whoever runs the graph feeds it")
}

impl Rules for Input {
    fn name(&self) -> &str {
        "input"
    }

    fn signature(&self) -> &'static str {
        ""
    }

    fn summary(&self) -> &'static str {
        "a value that is fed by its name; in a region, its argument"
    }

    fn takes(&self) -> &'static str {
        "every dtype"
    }

    fn domain(&self) -> &'static str {
        "as declared"
    }

    fn example(&self) -> &'static str {
        ""
    }

    fn infer(&self, _args: &[Type]) -> Result<Vec<Type>, Fault> {
        Err(Fault::Source)
    }

    fn reference(&self, _args: &[&Tensor]) -> Result<Vec<Tensor>, Trap> {
        unfed("an input")
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance::Exact
    }
}

impl Rules for Param {
    fn name(&self) -> &str {
        "param"
    }

    fn signature(&self) -> &'static str {
        "(param \"name\" shape)"
    }

    fn summary(&self) -> &'static str {
        "a learned value, by its name"
    }

    fn takes(&self) -> &'static str {
        "every dtype"
    }

    fn domain(&self) -> &'static str {
        "as declared"
    }

    fn example(&self) -> &'static str {
        ""
    }

    fn infer(&self, _args: &[Type]) -> Result<Vec<Type>, Fault> {
        Err(Fault::Source)
    }

    fn reference(&self, _args: &[&Tensor]) -> Result<Vec<Tensor>, Trap> {
        unfed("a parameter")
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance::Exact
    }
}

impl Rules for Context {
    fn name(&self) -> &str {
        "context"
    }

    fn signature(&self) -> &'static str {
        "(getf ctx :step)"
    }

    fn summary(&self) -> &'static str {
        "an integer scalar that the runtime feeds: the step, or the microbatch"
    }

    fn takes(&self) -> &'static str {
        "nothing"
    }

    fn domain(&self) -> &'static str {
        "NonNeg"
    }

    fn example(&self) -> &'static str {
        ""
    }

    fn infer(&self, args: &[Type]) -> Result<Vec<Type>, Fault> {
        let [] = shape::operands(args, "no")?;
        Ok(vec![Type { dtype: DType::I64, dims: Vec::new(), domain: Domain::Range(Interval::NON_NEG) }])
    }

    fn reference(&self, _args: &[&Tensor]) -> Result<Vec<Tensor>, Trap> {
        unfed("a context value")
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance::Exact
    }
}

impl Rules for Constant {
    fn name(&self) -> &str {
        "constant"
    }

    fn signature(&self) -> &'static str {
        "(full shape value)"
    }

    fn summary(&self) -> &'static str {
        "a value known at compile time; its domain is the range of its elements"
    }

    fn takes(&self) -> &'static str {
        "every dtype"
    }

    fn domain(&self) -> &'static str {
        "from the smallest element to the largest; Mask of truth values"
    }

    fn example(&self) -> &'static str {
        "(zeros [2]) ; => [0.0 0.0]"
    }

    fn infer(&self, args: &[Type]) -> Result<Vec<Type>, Fault> {
        let [] = shape::operands(args, "no")?;
        let dims = self.value.shape().iter().map(|&size| Dim::of(size)).collect();
        Ok(vec![Type { dtype: self.value.dtype(), dims, domain: held(self.value.data()) }])
    }

    fn reference(&self, _args: &[&Tensor]) -> Result<Vec<Tensor>, Trap> {
        Ok(vec![(*self.value).clone()])
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance::Exact
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
