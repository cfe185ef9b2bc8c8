//! Tensors from nothing: constants and positions.

use super::{Builtin, Call, builtin};
use crate::diag::Code;
use crate::eval::machine::{Eval, Machine};
use crate::eval::trace::number_as;
use crate::eval::value::{Number, Value};
use crate::ir::op::Iota;
use crate::ir::{Dim, Op, Type};
use sx_artifact::dtype::DType;
use sx_artifact::tensor::Data;

pub(super) static TABLE: [Builtin; 6] = [
    builtin!("zeros" 1 Some(1), &["dtype"], "(zeros [sizes] :dtype :f32)" "a tensor of zeros" "(zeros [2 2])" |m, c| repeated(m, c, 0)),
    builtin!("ones" 1 Some(1), &["dtype"], "(ones [sizes] :dtype :f32)" "a tensor of ones" "(ones [2 2])" |m, c| repeated(m, c, 1)),
    builtin!("full" 2 Some(2), &["dtype"], "(full [sizes] value :dtype :f32)" "a tensor of one repeated value" "(full [2] 0.5)" full),
    builtin!("zeros-like" 1 Some(1), &[], "(zeros-like x)" "zeros with the shape and dtype of a tensor" "(zeros-like x)" |m, c| alike(m, c, 0)),
    builtin!("ones-like" 1 Some(1), &[], "(ones-like x)" "ones with the shape and dtype of a tensor" "(ones-like x)" |m, c| alike(m, c, 1)),
    builtin!("iota" 1 Some(1), &["axis", "dtype"], "(iota [sizes] :axis 0 :dtype :i32)" "positions along an axis" "(iota [3])" iota),
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
