//! Values meet types: each part of a type is held against the value, and a mistake names both.

use super::{Entry, TypeExpr, Wanted};
use crate::diag::{Code, Diagnostic, Span};
use crate::eval::builtin::lists::field_of;
use crate::eval::machine::{Eval, Machine, Stop};
use crate::eval::value::{AxisName, Closure, Name, Value};
use crate::ir::{Dim, Op, Type, op};
use std::rc::Rc;
use sx_artifact::dtype::DType;

impl Machine<'_> {
    /// Checks a value against a type; names in the shape are bound in `axes`, or compared where they are.
    pub(in crate::eval) fn check_type(
        &mut self,
        ty: &TypeExpr,
        value: Value,
        span: Span,
        wanted: Wanted<'_>,
        axes: &mut Vec<AxisName>,
    ) -> Eval {
        if let Some(kind) = ty.kind {
            return self.check_kind(kind, value, span, wanted);
        }
        if let Some(fields) = &ty.record {
            return self.check_record(fields, value, span, wanted, axes);
        }
        match value {
            Value::Tensor(tensor) => {
                let actual = tensor.ty.clone();
                self.check_dtype(ty, &actual, span, wanted)?;
                let shape = match &ty.shape {
                    Some(shape) => shape.clone(),
                    None => return Ok(Value::Tensor(tensor)),
                };
                let dims = self.check_shape(&shape, ty.span, &actual, span, wanted, axes)?;
                if dims == actual.dims {
                    return Ok(Value::Tensor(tensor));
                }
                // A declared axis gives a bare size its identity.
                let op = Op::Reshape(op::Reshape { dims });
                let value = self.trusted(op, &[tensor.value], span)?;
                Ok(self.tensor(value, tensor.written))
            }
            Value::Poisoned => Ok(Value::Poisoned),
            Value::Int(_) | Value::Float(_) | Value::Axis(_) => self.check_number(ty, value, span, wanted),
            Value::Bool(_) if ty.is_mask() && is_scalar(ty) => Ok(value),
            other => {
                let message = format!("{} wants a tensor, and this is {}", wanted.text(), other.kind());
                Err(self.fail(Code::DimTensor, span, message))
            }
        }
    }

    fn check_number(&mut self, ty: &TypeExpr, value: Value, span: Span, wanted: Wanted<'_>) -> Eval {
        let who = wanted.text();
        if !is_scalar(ty) {
            let shape = shape_text(ty.shape.as_deref().unwrap_or(&[]));
            let message = format!("{who} wants a tensor of shape {shape}, and this is a number");
            return Err(self.fail(Code::DimTensor, span, message));
        }
        if ty.is_mask() {
            return Err(self.fail(
                Code::DomainFit,
                span,
                format!("{who} wants a mask, and this is a number"),
            ));
        }
        if ty.dtype().is_some_and(DType::is_int) && matches!(value, Value::Float(x) if x.fract() != 0.0) {
            return Err(self.fail(
                Code::DimDtype,
                span,
                format!("{who} wants integers, and this is a fraction"),
            ));
        }
        Ok(value)
    }

    fn check_record(
        &mut self,
        fields: &[(Name, TypeExpr)],
        value: Value,
        span: Span,
        wanted: Wanted<'_>,
        axes: &mut Vec<AxisName>,
    ) -> Eval {
        let mut checked = Vec::new();
        for (name, ty) in fields {
            let Some(field) = field_of(&value, name) else {
                let message = format!("{} wants a record with the field `{name}`", wanted.text());
                return Err(self.fail(Code::TypeKind, span, message));
            };
            let full = match wanted {
                Wanted::Parameter { name: outer, .. } => format!("{outer}.{name}"),
                Wanted::Result { .. } => name.to_string(),
            };
            let function = match wanted {
                Wanted::Parameter { function, .. } | Wanted::Result { function } => function,
            };
            let wanted = Wanted::Parameter { function, name: &full, key: false };
            checked.push((name.clone(), self.check_type(ty, field, span, wanted, axes)?));
        }
        Ok(Value::Record(Rc::new(checked)))
    }

    fn check_dtype(&mut self, ty: &TypeExpr, actual: &Type, span: Span, wanted: Wanted<'_>) -> Eval<()> {
        if ty.takes(actual.dtype) {
            return Ok(());
        }
        let expected = ty.dtype().map_or(String::new(), |dtype| dtype.to_string());
        let who = wanted.text();
        let text = self.text(span);
        if ty.is_mask() || actual.dtype == DType::Bool {
            let message = match ty.is_mask() {
                true => format!("{who} wants a mask, and this is {}", actual.dtype),
                false => format!("{who} wants {expected}, and this is a mask"),
            };
            let diagnostic = Diagnostic::new(Code::DomainFit, span, message);
            return Err(self.report(diagnostic.note(format!("value: `{text}` {actual}"))));
        }
        let message = format!("{who} wants {expected}, and this is {}", actual.dtype);
        let diagnostic = Diagnostic::new(Code::DimDtype, span, message);
        Err(self.report(
            diagnostic
                .note(format!("value: `{text}` {actual}"))
                .help(format!("write `(cast {text} :{expected})`")),
        ))
    }

    /// The dimensions a value has in the body.
    fn check_shape(
        &mut self,
        shape: &[Entry],
        declared: Span,
        actual: &Type,
        span: Span,
        wanted: Wanted<'_>,
        axes: &mut Vec<AxisName>,
    ) -> Eval<Vec<Dim>> {
        let leading = shape.first() == Some(&Entry::Leading);
        let entries = if leading { &shape[1..] } else { shape };
        let rank = actual.rank();
        if rank < entries.len() || (!leading && rank != entries.len()) {
            let message = format!("{} wants {}, and this is {actual}", wanted.text(), shape_text(shape));
            return Err(self.shape_fault(message, declared, actual, span));
        }
        let skipped = rank - entries.len();
        let mut dims = actual.dims.clone();
        for (at, entry) in entries.iter().enumerate() {
            let place = skipped + at;
            let size = actual.dims[place].size;
            let problem = match entry {
                Entry::Any | Entry::Leading => None,
                Entry::Size(wanted) => {
                    (*wanted != size).then(|| format!("axis {place} is {size}, not {wanted}"))
                }
                Entry::Name(name) => match self.named_size(name) {
                    Some(axis) => become_axis(&mut dims[place], axis, name, place),
                    None => bind_axis(name, actual.dims[place].clone(), place, rank, entries, axes),
                },
            };
            if let Some(problem) = problem {
                let message = format!("{} wants {}, and {problem}", wanted.text(), shape_text(shape));
                return Err(self.shape_fault(message, declared, actual, span));
            }
        }
        Ok(dims)
    }

    fn shape_fault(&mut self, message: String, declared: Span, actual: &Type, span: Span) -> Stop {
        let text = self.text(span);
        let mut diagnostic =
            Diagnostic::new(Code::DimShape, span, message).note(format!("value: `{text}` {actual}"));
        if !self.sources.is_library(declared.file) {
            diagnostic = diagnostic.note_at(declared, "the type is written here");
        }
        self.report(diagnostic)
    }

    /// Checks what a function gives against its result types.
    pub(in crate::eval) fn check_results(
        &mut self,
        closure: &Closure,
        value: Value,
        mut axes: Vec<AxisName>,
    ) -> Eval {
        let Some(types) = &closure.lambda.results else { return Ok(value) };
        if value.is_poisoned() {
            return Ok(value);
        }
        let span = closure.lambda.body.last().map_or(closure.lambda.span, |tree| tree.span);
        let wanted = Wanted::Result { function: closure.name.as_deref() };
        let values: Vec<Value> = match (&value, types.len()) {
            (Value::Values(values), n) if n != 1 => values.to_vec(),
            (_, 1) => vec![value.clone().single()],
            (other, _) => match other.items() {
                Some(items) if !is_plist(items) => items.to_vec(),
                Some(items) => items.iter().skip(1).step_by(2).cloned().collect(),
                None => vec![value.clone()],
            },
        };
        if values.len() != types.len() {
            let message =
                format!("{} has {} types, and there are {} values", wanted.text(), types.len(), values.len());
            return Err(self.fail(Code::DimShape, span, message));
        }
        let mut checked = Vec::new();
        for (ty, value) in types.iter().zip(values) {
            checked.push(self.check_type(ty, value, span, wanted, &mut axes)?);
        }
        match (value, types.len()) {
            (Value::Values(_), n) if n != 1 => Ok(Value::Values(Rc::new(checked))),
            (_, 1) => Ok(checked.remove(0)),
            // A list keeps its form: its dimensions are those it had.
            (other, _) => Ok(other),
        }
    }
}

/// True where a number fits the shape.
fn is_scalar(ty: &TypeExpr) -> bool {
    match ty.shape.as_deref() {
        None | Some([]) => true,
        Some(shape) => shape == [Entry::Leading],
    }
}

pub(in crate::eval) fn is_plist(items: &[Value]) -> bool {
    !items.is_empty()
        && items.len().is_multiple_of(2)
        && items.iter().step_by(2).all(|key| matches!(key, Value::Keyword(_)))
}

/// Gives a dimension the identity of a declared axis, or says why it is another one. A size without identity leaves
/// the dimension its own.
fn become_axis(dim: &mut Dim, axis: Dim, name: &str, place: usize) -> Option<String> {
    if axis.size != dim.size {
        return Some(format!("`{name}` is {}, and axis {place} is {}", axis.size, dim.size));
    }
    match &dim.axis {
        _ if axis.axis.is_none() => None,
        Some(other) if Some(other) != axis.axis.as_ref() => {
            Some(format!("axis {place} is `{}`, not `{name}`", other.name))
        }
        _ => {
            *dim = axis;
            None
        }
    }
}

/// Binds a name to a dimension, or says why it is another one than before.
fn bind_axis(
    name: &Name,
    dim: Dim,
    place: usize,
    rank: usize,
    entries: &[Entry],
    axes: &mut Vec<AxisName>,
) -> Option<String> {
    match axes.iter().find(|axis| axis.name == *name) {
        Some(bound) if bound.dim.size == dim.size => None,
        Some(bound) => {
            Some(format!("`{name}` is {} already, and axis {place} is {}", bound.dim.size, dim.size))
        }
        None => {
            let entry = Entry::Name(name.clone());
            let twice = entries.iter().filter(|e| **e == entry).count() > 1;
            axes.push(AxisName { name: name.clone(), dim, place: Some((place, rank)), twice });
            None
        }
    }
}

/// A shape as written: `[b 3 _]`.
fn shape_text(shape: &[Entry]) -> String {
    let entries: Vec<String> = shape
        .iter()
        .map(|entry| match entry {
            Entry::Size(size) => size.to_string(),
            Entry::Name(name) => name.to_string(),
            Entry::Any => "_".to_string(),
            Entry::Leading => "...".to_string(),
        })
        .collect();
    format!("[{}]", entries.join(" "))
}
