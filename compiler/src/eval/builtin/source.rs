//! Tensors from nothing: constants and positions.

use super::{Builtin, Call};
use crate::diag::Code;
use crate::eval::machine::{Eval, Machine};
use crate::eval::trace::number_as;
use crate::eval::value::{Number, Value};
use crate::ir::op::Iota;
use crate::ir::{Dim, Op, Type};
use sx_artifact::dtype::DType;
use sx_artifact::tensor::Data;

pub(super) static TABLE: [Builtin; 6] = [
    Builtin {
        name: "zeros",
        signature: "(zeros [sizes] :dtype :f32)",
        summary: "a tensor of zeros",
        example: "(zeros [2]) ; => [0.0 0.0]",
        least: 1,
        most: Some(1),
        keys: &["dtype"],
        run: |m, c| repeated(m, c, 0),
    },
    Builtin {
        name: "ones",
        signature: "(ones [sizes] :dtype :f32)",
        summary: "a tensor of ones",
        example: "(ones [2]) ; => [1.0 1.0]",
        least: 1,
        most: Some(1),
        keys: &["dtype"],
        run: |m, c| repeated(m, c, 1),
    },
    Builtin {
        name: "full",
        signature: "(full [sizes] value :dtype :f32)",
        summary: "a tensor of one repeated value",
        example: "(full [2] 0.5) ; => [0.5 0.5]",
        least: 2,
        most: Some(2),
        keys: &["dtype"],
        run: full,
    },
    Builtin {
        name: "zeros-like",
        signature: "(zeros-like x)",
        summary: "zeros with the shape and dtype of a tensor",
        example: "(zeros-like (iota [2])) ; => [0 0]",
        least: 1,
        most: Some(1),
        keys: &[],
        run: |m, c| alike(m, c, 0),
    },
    Builtin {
        name: "ones-like",
        signature: "(ones-like x)",
        summary: "ones with the shape and dtype of a tensor",
        example: "(ones-like (iota [2])) ; => [1 1]",
        least: 1,
        most: Some(1),
        keys: &[],
        run: |m, c| alike(m, c, 1),
    },
    Builtin {
        name: "iota",
        signature: "(iota [sizes] :axis 0 :dtype :i32)",
        summary: "",
        example: "",
        least: 1,
        most: Some(1),
        keys: &["axis", "dtype"],
        run: iota,
    },
];

fn repeated(m: &mut Machine<'_>, call: &Call, value: i64) -> Eval {
    m.traced(call.callee, call.span)?;
    let dims = m.dims(call.callee, &call.args[0])?;
    let dtype = m.dtype_key(call, DType::F32)?;
    m.full_of(call, Number::Int(value), dtype, dims)
}

fn full(m: &mut Machine<'_>, call: &Call) -> Eval {
    m.traced("full", call.span)?;
    let dims = m.dims("full", &call.args[0])?;
    let dtype = m.dtype_key(call, DType::F32)?;
    let value = &call.args[1];
    match &value.value {
        Value::Bool(b) if dtype == DType::Bool => m.filled(Data::Bool(vec![*b]), dims, call.span),
        Value::Tensor(_) => {
            let text = m.operand_text(&value.value, value.span);
            let diagnostic = crate::diag::Diagnostic::new(
                Code::TypeKind,
                value.span,
                format!("full: a number was expected, and `{text}` is a tensor"),
            );
            Err(m.report(diagnostic.help("`broadcast-to` repeats a tensor")))
        }
        _ => {
            let number = m.number("full", value)?;
            m.full_of(call, number, dtype, dims)
        }
    }
}

fn alike(m: &mut Machine<'_>, call: &Call, value: i64) -> Eval {
    let tensor = m.tensor_arg(call.callee, &call.args[0])?;
    m.full_of(call, Number::Int(value), tensor.ty.dtype, tensor.ty.dims.clone())
}

fn iota(m: &mut Machine<'_>, call: &Call) -> Eval {
    m.traced("iota", call.span)?;
    let dims = m.dims("iota", &call.args[0])?;
    let dtype = m.dtype_key(call, DType::I32)?;
    let ty = Type { dtype, dims: dims.clone(), domain: crate::ir::Domain::widest(dtype) };
    let axis = m.axis_key(call, &ty, 0)?;
    m.operation("iota", call.span, Op::Iota(Iota { dims, axis, dtype }), &[])
}

impl Machine<'_> {
    /// A constant of any shape with one repeated number.
    pub(super) fn full_of(&mut self, call: &Call, number: Number, dtype: DType, dims: Vec<Dim>) -> Eval {
        match number_as(number, dtype) {
            Some(data) => self.filled(data, dims, call.span),
            None => {
                let message = format!("{}: {} does not fit {dtype}", call.callee, number.value());
                Err(self.fail(Code::DimDtype, call.span, message))
            }
        }
    }
}
