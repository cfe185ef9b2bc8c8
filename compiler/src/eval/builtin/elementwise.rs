//! Elementwise functions of tensors alone, and what chooses and combines masks.

use super::{Builtin, Call, builtin};
use crate::diag::{Code, Diagnostic};
use crate::eval::machine::{Eval, Machine};
use crate::eval::value::{Number, Value};
use crate::ir::Op;
use crate::ir::op::{Cast, Map};
use sx_artifact::scalar::ScalarFn;

macro_rules! unary {
    ($name:literal, $f:ident, $summary:literal, $example:literal) => {
        builtin!($name 1 Some(1), &[], $name $summary $example |m, c| unary(m, c, ScalarFn::$f))
    };
}

pub(super) static TABLE: [Builtin; 18] = [
    unary!("neg", Neg, "the negative", "(neg x)"),
    unary!("abs", Abs, "the absolute value", "(abs x)"),
    unary!("rsqrt", Rsqrt, "one over the square root", "(rsqrt x)"),
    unary!("expm1", Expm1, "exp(x) - 1, exact near 0", "(expm1 x)"),
    unary!("log1p", Log1p, "log(1 + x), exact near 0", "(log1p x)"),
    unary!("sin", Sin, "the sine of an angle in radians", "(sin x)"),
    unary!("cos", Cos, "the cosine of an angle in radians", "(cos x)"),
    unary!("tanh", Tanh, "the hyperbolic tangent", "(tanh x)"),
    unary!("asin", Asin, "the arcsine in radians; NaN outside [-1, 1]", "(asin x)"),
    unary!("acos", Acos, "the arccosine in radians; NaN outside [-1, 1]", "(acos x)"),
    unary!("erf", Erf, "the error function", "(erf x)"),
    builtin!("not" 1 Some(1), &[], "(not x)" "the opposite truth value; elementwise of a mask" "(not nil) ; => true" not),
    builtin!("atan2" 2 Some(2), &[], "(atan2 y x)" "the angle of the point (x, y), in [-pi, pi]" "(atan2 y x)" |m, c| binary(m, c, ScalarFn::Atan2)),
    builtin!("maximum" 2 Some(2), &[], "(maximum a b)" "the larger, elementwise; NaN if either is" "(maximum x 0)" |m, c| binary(m, c, ScalarFn::Maximum)),
    builtin!("minimum" 2 Some(2), &[], "(minimum a b)" "the smaller, elementwise; NaN if either is" "(minimum x 1)" |m, c| binary(m, c, ScalarFn::Minimum)),
    builtin!("where" 3 Some(3), &[], "(where mask a b)" "a where the mask is true, b elsewhere" "(where (> x 0) x 0)" choose),
    builtin!("cast" 2 Some(2), &[], "(cast x :bf16)" "the values in another dtype" "(cast x :bf16)" cast),
    builtin!("%number-or" 3 Some(3), &[], "(%number-or x f g)" "calls f with a number and g with a tensor" "" number_or),
];

fn unary(m: &mut Machine<'_>, call: &Call, f: ScalarFn) -> Eval {
    m.operation(call.callee, call.span, Op::Map(Map { f }), &call.args)
}

/// A pair of which one at least is a tensor.
fn binary(m: &mut Machine<'_>, call: &Call, f: ScalarFn) -> Eval {
    if !call.has_tensor() && call.args.iter().all(|arg| Number::of(&arg.value).is_some()) {
        let message = format!("{}: a tensor was expected, and both arguments are numbers", call.callee);
        let diagnostic = Diagnostic::new(Code::DimTensor, call.span, message);
        return Err(match f {
            ScalarFn::Maximum => m.report(diagnostic.help("`max` gives the largest of numbers")),
            ScalarFn::Minimum => m.report(diagnostic.help("`min` gives the smallest of numbers")),
            _ => m.report(diagnostic),
        });
    }
    m.map_call(call.callee, call.span, Map { f }, &call.args)
}

fn not(m: &mut Machine<'_>, call: &Call) -> Eval {
    match &call.args[0].value {
        Value::Tensor(_) => unary(m, call, ScalarFn::Not),
        other => Ok(Value::Bool(!other.truth())),
    }
}

fn choose(m: &mut Machine<'_>, call: &Call) -> Eval {
    if let Value::Bool(_) = call.args[0].value
        && !call.has_tensor()
    {
        let message = "where: a mask was expected, and this is a plain truth value";
        let diagnostic = Diagnostic::new(Code::DimTensor, call.args[0].span, message);
        return Err(m.report(diagnostic.help("`if` chooses by a truth value")));
    }
    m.map_call("where", call.span, Map { f: ScalarFn::Where }, &call.args)
}

/// A cast to the same dtype is the tensor itself.
fn cast(m: &mut Machine<'_>, call: &Call) -> Eval {
    let tensor = m.tensor_arg("cast", &call.args[0])?;
    let dtype = m.dtype("cast", &call.args[1])?;
    if tensor.ty.dtype == dtype {
        return Ok(Value::Tensor(tensor));
    }
    m.operation("cast", call.span, Op::Cast(Cast { dtype }), &call.args[..1])
}

fn number_or(m: &mut Machine<'_>, call: &Call) -> Eval {
    let number = Number::of(&call.args[0].value).is_some();
    let function = m.function(call.callee, &call.args[if number { 1 } else { 2 }])?;
    m.call(&function, vec![call.args[0].clone()], call.span)
}
