//! Elementwise functions of tensors alone, and what chooses and combines masks.

use super::{Builtin, Call};
use crate::diag::{Code, Diagnostic};
use crate::eval::machine::{Eval, Machine};
use crate::eval::value::{Number, Value};
use crate::ir::Op;
use crate::ir::op::{Cast, Map};
use crate::ops::scalar::{self, Scalar};
use sx_artifact::scalar::ScalarFn;

pub(super) static TABLE: [Builtin; 6] = [
    Builtin {
        name: "not",
        signature: "(not x)",
        summary: "of any ordinary value too",
        example: "(not nil) ; => true",
        least: 1,
        most: Some(1),
        keys: &[],
        run: not,
    },
    Builtin {
        name: "maximum",
        signature: "(maximum a b)",
        summary: "",
        example: "",
        least: 2,
        most: Some(2),
        keys: &[],
        run: maximum,
    },
    Builtin {
        name: "minimum",
        signature: "(minimum a b)",
        summary: "",
        example: "",
        least: 2,
        most: Some(2),
        keys: &[],
        run: minimum,
    },
    Builtin {
        name: "where",
        signature: "(where mask a b)",
        summary: "",
        example: "",
        least: 3,
        most: Some(3),
        keys: &[],
        run: choose,
    },
    Builtin {
        name: "cast",
        signature: "(cast x :bf16)",
        summary: "",
        example: "",
        least: 2,
        most: Some(2),
        keys: &[],
        run: cast,
    },
    Builtin {
        name: "%number-or",
        signature: "(%number-or x f g)",
        summary: "calls f with a number and g with a tensor",
        example: "",
        least: 3,
        most: Some(3),
        keys: &[],
        run: number_or,
    },
];

/// A scalar function of tensors as its record has it: for every one that no table treats in its own way.
pub(super) fn by_record(f: ScalarFn) -> Builtin {
    let Scalar { signature, .. } = *scalar::def(f);
    let (least, most) = (f.arity(), Some(f.arity()));
    Builtin { name: f.name(), signature, summary: "", example: "", least, most, keys: &[], run: elementwise }
}

pub(super) fn elementwise(m: &mut Machine<'_>, call: &Call) -> Eval {
    let f = ScalarFn::named(call.callee).expect("it is called by the function's name");
    match f.arity() {
        1 => m.operation(call.callee, call.span, Op::Map(Map { f }), &call.args),
        _ => several(m, call, f, None),
    }
}

fn maximum(m: &mut Machine<'_>, call: &Call) -> Eval {
    several(m, call, ScalarFn::Maximum, Some("`max` gives the largest of numbers"))
}

fn minimum(m: &mut Machine<'_>, call: &Call) -> Eval {
    several(m, call, ScalarFn::Minimum, Some("`min` gives the smallest of numbers"))
}

/// Arguments of which one at least is a tensor; the help is for those who give numbers.
fn several(m: &mut Machine<'_>, call: &Call, f: ScalarFn, help: Option<&str>) -> Eval {
    if !call.has_tensor() && call.args.iter().all(|arg| Number::of(&arg.value).is_some()) {
        let all = if call.args.len() == 2 { "both" } else { "all" };
        let message = format!("{}: a tensor was expected, and {all} arguments are numbers", call.callee);
        let diagnostic = Diagnostic::new(Code::DimTensor, call.span, message);
        return Err(m.report(match help {
            Some(help) => diagnostic.help(help),
            None => diagnostic,
        }));
    }
    m.map_call(call.callee, call.span, Map { f }, &call.args)
}

fn not(m: &mut Machine<'_>, call: &Call) -> Eval {
    match &call.args[0].value {
        Value::Tensor(_) => elementwise(m, call),
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
