//! Matrix products, and what the library asks of its arguments.

use super::{Builtin, Call};
use crate::diag::{Code, Diagnostic};
use crate::eval::machine::{Eval, Machine};
use crate::eval::value::{Number, Value};
use crate::ir::op::{As, Constant, Matmul};
use crate::ir::{Domain, Op};
use crate::ops::Fault;
use crate::ops::fault::InsteadOfMask;
use crate::ops::scalar::Kind;
use std::sync::Arc;
use sx_artifact::dtype::DType;
use sx_artifact::tensor::{Data, Tensor};

pub(super) static TABLE: [Builtin; 7] = [
    Builtin {
        name: "matmul",
        signature: "(matmul a b :out nil)",
        summary: "`:out :f32` of two bf16 keeps the sum as f32",
        example: "",
        least: 2,
        most: Some(2),
        keys: &["out"],
        run: matmul,
    },
    Builtin {
        name: "%axis",
        signature: "(%axis x axis)",
        summary: "the position of an axis, from 0",
        example: "",
        least: 2,
        most: Some(2),
        keys: &[],
        run: axis,
    },
    Builtin {
        name: "%axes",
        signature: "(%axes x axes)",
        summary: "the positions of axes, from 0; all of them for nil",
        example: "",
        least: 2,
        most: Some(2),
        keys: &[],
        run: axes,
    },
    Builtin {
        name: "%index-of",
        signature: "(%index-of i x axis)",
        summary: "positions on an axis of x",
        example: "",
        least: 3,
        most: Some(3),
        keys: &[],
        run: index_of,
    },
    Builtin {
        name: "%float",
        signature: "(%float name x)",
        summary: "x, a float tensor",
        example: "",
        least: 2,
        most: Some(2),
        keys: &[],
        run: float,
    },
    Builtin {
        name: "%mismatch",
        signature: "(%mismatch text x...)",
        summary: "says that shapes do not fit",
        example: "",
        least: 1,
        most: None,
        keys: &[],
        run: mismatch,
    },
    Builtin {
        name: "%constant",
        signature: "(%constant numbers)",
        summary: "an f32 vector of numbers",
        example: "",
        least: 1,
        most: Some(1),
        keys: &[],
        run: constant,
    },
];

fn matmul(m: &mut Machine<'_>, call: &Call) -> Eval {
    let out_f32 = match call.key("out") {
        None => false,
        Some(arg) => match &arg.value {
            Value::Keyword(name) if &**name == "f32" => true,
            other => {
                let message = format!("matmul: `:out` is `:f32` or left out, not {}", other.kind());
                return Err(m.fail(Code::DimDtype, arg.span, message));
            }
        },
    };
    m.matmul("matmul", call.span, Matmul { out_f32 }, &call.args)
}

fn axis(m: &mut Machine<'_>, call: &Call) -> Eval {
    let tensor = m.tensor_arg(&m.caller(), &call.args[0])?;
    let at = m.axis_in(&call.args[1].value, &tensor.ty, &m.caller(), call.args[1].span)?;
    Ok(Value::Int(at as i64))
}

fn axes(m: &mut Machine<'_>, call: &Call) -> Eval {
    let tensor = m.tensor_arg(&m.caller(), &call.args[0])?;
    let keys = vec![("axes".into(), call.args[1].clone())];
    let asked = Call { callee: call.callee, span: call.span, args: call.args[..1].to_vec(), keys };
    let axes = m.axes_key(&asked, &tensor.ty)?;
    Ok(Value::list(axes.into_iter().map(|axis| Value::Int(axis as i64)).collect()))
}

fn index_of(m: &mut Machine<'_>, call: &Call) -> Eval {
    let tensor = m.tensor_arg(&m.caller(), &call.args[1])?;
    let at = m.axis_in(&call.args[2].value, &tensor.ty, &m.caller(), call.args[2].span)?;
    let domain = Domain::Index(tensor.ty.dims[at].clone());
    m.operation(call.callee, call.span, Op::As(As { domain }), &call.args[..1])
}

fn float(m: &mut Machine<'_>, call: &Call) -> Eval {
    let name = m.string(call.callee, &call.args[0])?;
    let arg = &call.args[1];
    let tensor = m.tensor_arg(&name, arg)?;
    if tensor.ty.dtype.is_float() {
        return Ok(Value::Tensor(tensor));
    }
    if tensor.ty.dtype == DType::Bool {
        let fault = Fault::MaskArithmetic { masks: vec![0], operands: 1, instead: InsteadOfMask::Binary };
        return Err(m.fault(&name, call.span, fault, std::slice::from_ref(arg)));
    }
    let fault = Fault::Dtype { arg: 0, got: tensor.ty.dtype, want: Kind::Float };
    Err(m.fault(&name, call.span, fault, std::slice::from_ref(arg)))
}

fn mismatch(m: &mut Machine<'_>, call: &Call) -> Eval {
    let text = m.string(call.callee, &call.args[0])?;
    let mut operands = Vec::new();
    for arg in &call.args[1..] {
        let shown = m.operand_text(&arg.value, arg.span);
        match &arg.value {
            Value::Tensor(tensor) => operands.push(format!("`{shown}` {}", tensor.ty)),
            other => return Err(m.wants_tensor(&m.caller(), &other.clone(), arg.span)),
        }
    }
    let diagnostic = Diagnostic::new(Code::DimShape, call.span, text.to_string());
    Err(m.refuse_call(diagnostic.note(format!("operands: {}", operands.join(", ")))))
}

fn constant(m: &mut Machine<'_>, call: &Call) -> Eval {
    let mut elements = Vec::new();
    let items = m.items(call.callee, &call.args[0])?;
    m.copied(items.len(), call.span)?;
    for value in items {
        elements.push(Number::of(value).map_or(f32::NAN, |number| number.as_f64() as f32));
    }
    let value = Arc::new(Tensor::new(&[elements.len() as u64], Data::F32(elements)));
    m.operation(call.callee, call.span, Op::Constant(Constant { value }), &[])
}

impl Machine<'_> {
    /// The function that the user called, for messages of the library.
    fn caller(&self) -> String {
        let frame = self.calls.iter().rev().find(|frame| frame.by_user);
        frame.and_then(|frame| frame.callee.as_deref()).unwrap_or("the library").to_string()
    }
}
