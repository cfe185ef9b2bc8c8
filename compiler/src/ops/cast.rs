//! Changes of dtype, and of domain alone.

use super::walk::to_bf16;
use super::{About, Fault, Rules, Tolerance, Trap, sense, shape};
use crate::ir::op::{As, Cast};
use crate::ir::{Domain, Interval, Type};
use half::bf16;
use sx_artifact::dtype::DType;
use sx_artifact::tensor::{Data, Tensor};

impl Rules for Cast {
    fn about(&self) -> About<'_> {
        About {
            name: "cast",
            signature: "(cast x dtype)",
            summary: "the values in another dtype: floats become integers by truncation and saturate, NaN is 0; integers wrap; \
         truth values are 1 and 0; numbers are true unless 0",
            takes: "every dtype",
            domain: "kept where the new dtype can have it, else its range; Binary of a Mask",
            example: "(cast (full [2] 2.75) :i32) ; => [2 2]",
            tolerance: Tolerance::Exact,
        }
    }

    fn infer(&self, args: &[Type]) -> Result<Vec<Type>, Fault> {
        let [x] = shape::operands(args, "1")?;
        let domain = if x.dtype == self.dtype { x.domain.clone() } else { image(x, self.dtype) };
        Ok(vec![Type { dtype: self.dtype, dims: x.dims.clone(), domain }])
    }

    fn reference(&self, args: &[&Tensor]) -> Result<Vec<Tensor>, Trap> {
        Ok(vec![Tensor::new(args[0].shape(), converted(args[0].data(), self.dtype))])
    }
}

/// The domain of `x` after a cast to another dtype.
fn image(x: &Type, to: DType) -> Domain {
    if to == DType::Bool {
        return Domain::Mask;
    }
    match &x.domain {
        Domain::Mask | Domain::Binary => Domain::Binary,
        Domain::Index(dim) if to.is_int() && (to == DType::I64 || dim.size <= 1 << 31) => {
            Domain::Index(dim.clone())
        }
        kept if to.is_float() && sense::check(kept, &Type { dtype: to, ..x.clone() }).is_ok() => match kept {
            Domain::Range(range) => Domain::Range(range.outward(to)),
            other => other.clone(),
        },
        other => Domain::Range(number_image(other.range(), x.dtype, to)),
    }
}

fn number_image(range: Interval, from: DType, to: DType) -> Interval {
    if to.is_float() {
        return range.outward(to);
    }
    if from.is_int() {
        return if super::scalar::may_wrap(range, to) && to == DType::I32 { Interval::REAL } else { range };
    }
    // A float saturates, so that a range wholly beyond the integers becomes their end. NaN is not tracked.
    let whole = range.rising(f64::trunc).closure();
    let beyond = |end: f64| end.is_finite() && super::scalar::may_wrap(Interval::point(end), to);
    if beyond(whole.lo) || beyond(whole.hi) { Interval::REAL } else { whole.outward(to) }
}

/// The elements of `data` in `dtype`, by the language's cast rules. Integers reach bf16 by way of f32.
pub fn converted(data: &Data, dtype: DType) -> Data {
    macro_rules! each {
        ($v:ident, |$x:ident| $e:expr) => {
            $v.iter().map(|&$x| $e).collect::<Vec<_>>().into()
        };
    }
    match (data, dtype) {
        (same, _) if same.dtype() == dtype => same.clone(),
        (Data::F32(v), DType::Bf16) => each!(v, |x| to_bf16(f64::from(x))),
        (Data::F32(v), DType::I32) => each!(v, |x| x as i32),
        (Data::F32(v), DType::I64) => each!(v, |x| x as i64),
        (Data::F32(v), DType::Bool) => each!(v, |x| x != 0.0),
        (Data::Bf16(v), DType::F32) => each!(v, |x| x.to_f32()),
        (Data::Bf16(v), DType::I32) => each!(v, |x| x.to_f32() as i32),
        (Data::Bf16(v), DType::I64) => each!(v, |x| x.to_f32() as i64),
        (Data::Bf16(v), DType::Bool) => each!(v, |x| x.to_f32() != 0.0),
        (Data::I32(v), DType::F32) => each!(v, |x| x as f32),
        (Data::I32(v), DType::Bf16) => each!(v, |x| bf16::from_f32(x as f32)),
        (Data::I32(v), DType::I64) => each!(v, |x| i64::from(x)),
        (Data::I32(v), DType::Bool) => each!(v, |x| x != 0),
        (Data::I64(v), DType::F32) => each!(v, |x| x as f32),
        (Data::I64(v), DType::Bf16) => each!(v, |x| bf16::from_f32(x as f32)),
        (Data::I64(v), DType::I32) => each!(v, |x| x as i32),
        (Data::I64(v), DType::Bool) => each!(v, |x| x != 0),
        (Data::Bool(v), DType::F32) => each!(v, |x| f32::from(u8::from(x))),
        (Data::Bool(v), DType::Bf16) => each!(v, |x| bf16::from_f32(f32::from(u8::from(x)))),
        (Data::Bool(v), DType::I32) => each!(v, |x| i32::from(x)),
        (Data::Bool(v), DType::I64) => each!(v, |x| i64::from(x)),
        (same, _) => same.clone(),
    }
}

impl Rules for As {
    fn about(&self) -> About<'_> {
        About {
            name: "as",
            signature: "(as x domain)",
            summary: "the value itself, asserted to be of a domain",
            takes: "every dtype that can have the domain",
            domain: "the one that is asserted",
            example: "(as (zeros [2]) Unit) ; => [0.0 0.0]",
            tolerance: Tolerance::Exact,
        }
    }

    fn infer(&self, args: &[Type]) -> Result<Vec<Type>, Fault> {
        let [x] = shape::operands(args, "1")?;
        sense::check(&self.domain, x)?;
        Ok(vec![Type { domain: self.domain.clone(), ..x.clone() }])
    }

    fn reference(&self, args: &[&Tensor]) -> Result<Vec<Tensor>, Trap> {
        Ok(vec![args[0].clone()])
    }
}
