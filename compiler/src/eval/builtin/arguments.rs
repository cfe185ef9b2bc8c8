//! What builtins ask of their arguments: integers, shapes, axes, dtypes.

use super::{Arg, Call};
use crate::diag::{Code, Diagnostic, Span};
use crate::eval::machine::{Eval, Machine, Stop};
use crate::eval::value::{AxisName, Function, Number, Tensor, Value};
use crate::ir::{Dim, Type};
use crate::ops::shape;
use std::rc::Rc;
use sx_artifact::dtype::DType;

impl Machine<'_> {
    /// Reports an argument of the wrong kind.
    pub(in crate::eval) fn wrong_kind(&mut self, callee: &str, wanted: &str, arg: &Arg) -> Stop {
        let message = format!("{callee}: {wanted} was expected, and this is {}", arg.value.kind());
        self.fail(Code::TypeKind, arg.span, message)
    }

    pub(in crate::eval) fn int(&mut self, callee: &str, arg: &Arg) -> Eval<i64> {
        match Number::of(&arg.value) {
            Some(Number::Int(n)) => Ok(n),
            Some(Number::Float(x)) if x.fract() == 0.0 && x.abs() < 9e15 => Ok(x as i64),
            _ => Err(self.wrong_kind(callee, "an integer", arg)),
        }
    }

    pub(in crate::eval) fn number(&mut self, callee: &str, arg: &Arg) -> Eval<Number> {
        match Number::of(&arg.value) {
            Some(number) => Ok(number),
            None => Err(self.wrong_kind(callee, "a number", arg)),
        }
    }

    pub(in crate::eval) fn string(&mut self, callee: &str, arg: &Arg) -> Eval<Rc<str>> {
        match &arg.value {
            Value::Str(text) => Ok(text.clone()),
            _ => Err(self.wrong_kind(callee, "a string", arg)),
        }
    }

    pub(in crate::eval) fn items<'v>(&mut self, callee: &str, arg: &'v Arg) -> Eval<&'v [Value]> {
        match arg.value.items() {
            Some(items) => Ok(items),
            None => Err(self.wrong_kind(callee, "a list or a vector", arg)),
        }
    }

    pub(in crate::eval) fn function(&mut self, callee: &str, arg: &Arg) -> Eval<Rc<Function>> {
        match &arg.value {
            Value::Function(function) => Ok(function.clone()),
            _ => Err(self.wrong_kind(callee, "a function", arg)),
        }
    }

    /// A tensor of the graph being traced.
    pub(in crate::eval) fn tensor_arg(&mut self, callee: &str, arg: &Arg) -> Eval<Tensor> {
        self.operand(callee, arg)?;
        match &arg.value {
            Value::Tensor(tensor) => Ok(tensor.clone()),
            other => Err(self.wants_tensor(callee, other, arg.span)),
        }
    }

    /// `true` or `false`.
    pub(in crate::eval) fn flag(&mut self, call: &Call, name: &str) -> Eval<bool> {
        match call.key(name) {
            None => Ok(false),
            Some(Arg { value: Value::Bool(flag), .. }) => Ok(*flag),
            Some(arg) => Err(self.wrong_kind(call.callee, "`true` or `false`", arg)),
        }
    }

    /// A shape: sizes with the identities they bring.
    pub(in crate::eval) fn dims(&mut self, callee: &str, arg: &Arg) -> Eval<Vec<Dim>> {
        let Some(items) = arg.value.items() else {
            return Err(self.wrong_kind(callee, "a shape, a vector of sizes,", arg));
        };
        let items = items.to_vec();
        let mut dims = Vec::with_capacity(items.len());
        for item in items {
            match (&item, Number::of(&item)) {
                (Value::Axis(axis), _) => dims.push(axis.dim.clone()),
                (_, Some(Number::Int(size))) if size >= 0 => dims.push(Dim::of(size as u64)),
                (_, Some(_)) => {
                    let message = format!("{callee}: {item} is not a size: sizes are integers from 0 up");
                    return Err(self.fail(Code::DimShape, arg.span, message));
                }
                _ => {
                    let message = format!("{callee}: sizes are integers, and this shape has {}", item.kind());
                    return Err(self.fail(Code::TypeKind, arg.span, message));
                }
            }
        }
        Ok(dims)
    }

    pub(in crate::eval) fn dtype(&mut self, callee: &str, arg: &Arg) -> Eval<DType> {
        match &arg.value {
            Value::Keyword(name) => match DType::from_name(name) {
                Some(dtype) => Ok(dtype),
                None => {
                    let name = name.clone();
                    Err(self.not_a_dtype(&name, arg.span))
                }
            },
            other => {
                let message =
                    format!("{callee}: a dtype such as `:f32` was expected, and this is {}", other.kind());
                Err(self.fail(Code::DimDtype, arg.span, message))
            }
        }
    }

    /// The `:dtype` keyword.
    pub(in crate::eval) fn dtype_key(&mut self, call: &Call, default: DType) -> Eval<DType> {
        match call.key("dtype") {
            Some(arg) => self.dtype(call.callee, arg),
            None => Ok(default),
        }
    }

    /// An axis of a type: a position, negative ones from the end, or a name.
    pub(in crate::eval) fn axis_in(
        &mut self,
        value: &Value,
        ty: &Type,
        callee: &str,
        span: Span,
    ) -> Eval<usize> {
        match value {
            Value::Axis(axis) => self.named_axis_in(axis, ty, callee, span),
            value => match Number::of(value) {
                Some(Number::Int(at)) => match shape::axis(at, ty.rank()) {
                    Ok(axis) => Ok(axis),
                    Err(fault) => {
                        let diagnostic = fault.diagnostic(callee, span, &[]);
                        Err(self.report(diagnostic.note(format!("the tensor is {ty}"))))
                    }
                },
                _ => {
                    let message =
                        format!("{callee}: an axis is an integer or a name, and this is {}", value.kind());
                    Err(self.fail(Code::TypeKind, span, message))
                }
            },
        }
    }

    /// An axis with an identity is where that identity is. One without is known by its size, and among equal
    /// sizes by the place where its name was bound.
    fn named_axis_in(&mut self, axis: &AxisName, ty: &Type, callee: &str, span: Span) -> Eval<usize> {
        let name = axis.name.clone();
        let matching: Vec<usize> = (0..ty.rank())
            .filter(|&at| match (&axis.dim.axis, &ty.dims[at].axis) {
                (Some(wanted), Some(there)) => wanted == there,
                (None, None) => axis.dim.size == ty.dims[at].size,
                _ => false,
            })
            .collect();
        let by_size =
            || (0..ty.rank()).filter(|&at| ty.dims[at] == Dim::of(axis.dim.size)).collect::<Vec<_>>();
        let matching = if matching.is_empty() && axis.dim.axis.is_some() { by_size() } else { matching };
        let placed = axis.place.filter(|(_, rank)| *rank == ty.rank()).map(|(at, _)| at);
        let problem = match (matching.as_slice(), placed) {
            _ if axis.twice => format!("`{name}` stands twice in a shape, so it names no single axis"),
            ([only], _) => return Ok(*only),
            ([], _) => format!("`{name}` is not an axis of {ty}"),
            (_, Some(at)) if matching.contains(&at) => return Ok(at),
            _ => format!("`{name}` could be any of {} axes of {ty}", matching.len()),
        };
        let diagnostic = Diagnostic::new(Code::DimShape, span, format!("{callee}: {problem}"));
        Err(self.report(diagnostic.help("give the axis by its position")))
    }

    /// The `:axis` keyword.
    pub(in crate::eval) fn axis_key(&mut self, call: &Call, ty: &Type, default: i64) -> Eval<usize> {
        match call.key("axis") {
            Some(arg) => self.axis_in(&arg.value, ty, call.callee, arg.span),
            None => self.axis_in(&Value::Int(default), ty, call.callee, call.span),
        }
    }

    /// The `:axes` keyword: ascending; every axis where it is left out.
    pub(in crate::eval) fn axes_key(&mut self, call: &Call, ty: &Type) -> Eval<Vec<usize>> {
        let Some(arg) = call.key("axes") else { return Ok((0..ty.rank()).collect()) };
        let items: Vec<Value> = match (&arg.value, arg.value.items()) {
            (_, Some(items)) => items.to_vec(),
            (Value::Int(_) | Value::Axis(_), _) => vec![arg.value.clone()],
            _ => return Err(self.wrong_kind(call.callee, "a list or a vector of axes", arg)),
        };
        let mut written = Vec::new();
        for item in &items {
            match item {
                Value::Int(at) => written.push(*at),
                item => written.push(self.axis_in(item, ty, call.callee, arg.span)? as i64),
            }
        }
        match shape::axes(&written, ty.rank()) {
            Ok(axes) => Ok(axes),
            Err(fault) => {
                let diagnostic = fault.diagnostic(call.callee, call.span, &[]);
                let operand = self.operand_text(&call.args[0].value, call.args[0].span);
                Err(self.report(diagnostic.note(format!("operands: `{operand}` {ty}"))))
            }
        }
    }
}

/// A size as an ordinary value: one with an identity keeps it.
pub(in crate::eval) fn size_value(dim: &Dim) -> Value {
    match &dim.axis {
        Some(axis) => Value::Axis(AxisName {
            name: axis.name.to_string().into(),
            dim: dim.clone(),
            place: None,
            twice: false,
        }),
        None => Value::Int(dim.size as i64),
    }
}
