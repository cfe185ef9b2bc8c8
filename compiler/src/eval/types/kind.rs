//! What a parameter of the library takes, where no type of a tensor says it: `(stride %counts)`.
//!
//! The library's functions check what they are given by these, so that a message names the user's argument and not
//! what the function would have done with it.

use super::Wanted;
use crate::diag::{Code, Diagnostic, Span};
use crate::eval::machine::{Eval, Machine};
use crate::eval::value::{Number, Value};

/// A kind of argument.
#[derive(Debug)]
pub(in crate::eval) struct Kind {
    name: &'static str,
    /// What it is, after "takes".
    text: &'static str,
    fits: fn(&Value) -> bool,
    code: Code,
}

static KINDS: [Kind; 14] = [
    Kind { name: "%tensor", text: "a tensor", fits: is_tensor, code: Code::DimTensor },
    Kind { name: "%scale", text: "a tensor or nil", fits: is_scale, code: Code::DimTensor },
    Kind { name: "%integers", text: "a tensor of integers", fits: is_integers, code: Code::DimDtype },
    Kind { name: "%mask", text: "a mask", fits: is_mask, code: Code::DomainFit },
    Kind { name: "%operand", text: "a tensor or a number", fits: is_operand, code: Code::DimTensor },
    Kind {
        name: "%summands",
        text: "a tensor or a list of numbers",
        fits: is_summands,
        code: Code::DimTensor,
    },
    Kind { name: "%number", text: "a number", fits: is_number, code: Code::TypeKind },
    Kind { name: "%count", text: "an integer from 0 up", fits: is_count, code: Code::TypeKind },
    Kind {
        name: "%counts",
        text: "an integer from 0 up, or a list with one for each spatial axis",
        fits: is_counts,
        code: Code::TypeKind,
    },
    Kind {
        name: "%flag",
        text: "`true` or `false`",
        fits: |v| matches!(v, Value::Bool(_)),
        code: Code::TypeKind,
    },
    Kind { name: "%axis", text: "an axis: a position or a name", fits: is_axis, code: Code::TypeKind },
    Kind { name: "%axes", text: "axes: a list of positions and names", fits: is_axes, code: Code::TypeKind },
    Kind {
        name: "%keyword",
        text: "a keyword",
        fits: |v| matches!(v, Value::Keyword(_)),
        code: Code::TypeKind,
    },
    Kind { name: "%text", text: "a string", fits: |v| matches!(v, Value::Str(_)), code: Code::TypeKind },
];

fn is_tensor(value: &Value) -> bool {
    matches!(value, Value::Tensor(_))
}

fn is_scale(value: &Value) -> bool {
    is_tensor(value) || matches!(value, Value::Nil)
}

fn is_integers(value: &Value) -> bool {
    matches!(value, Value::Tensor(tensor) if tensor.ty.dtype.is_int())
}

fn is_mask(value: &Value) -> bool {
    match value {
        Value::Tensor(tensor) => tensor.ty.dtype == sx_artifact::dtype::DType::Bool,
        value => matches!(value, Value::Bool(_)),
    }
}

fn is_number(value: &Value) -> bool {
    Number::of(value).is_some()
}

fn is_operand(value: &Value) -> bool {
    is_tensor(value) || is_number(value)
}

fn is_summands(value: &Value) -> bool {
    is_tensor(value) || value.items().is_some()
}

fn is_count(value: &Value) -> bool {
    matches!(Number::of(value), Some(Number::Int(0..)))
}

fn is_counts(value: &Value) -> bool {
    is_count(value) || value.items().is_some_and(|items| !items.is_empty() && items.iter().all(is_count))
}

fn is_axis(value: &Value) -> bool {
    matches!(Number::of(value), Some(Number::Int(_)))
}

fn is_axes(value: &Value) -> bool {
    is_axis(value) || value.items().is_some_and(|items| items.iter().all(is_axis))
}

/// The kind that a parameter of the library names.
pub(super) fn named(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}

impl Machine<'_> {
    /// Holds a value against the kind that a parameter takes.
    pub(super) fn check_kind(&mut self, kind: &Kind, value: Value, span: Span, wanted: Wanted<'_>) -> Eval {
        if value.is_poisoned() || (kind.fits)(&value) {
            return Ok(value);
        }
        let shown = self.operand_text(&value, span);
        let found = match &value {
            Value::Tensor(tensor) => tensor.ty.to_string(),
            value => value.kind().to_string(),
        };
        let message = format!("{} takes {}, and `{shown}` is {found}", wanted.argument(), kind.text);
        let mut diagnostic = Diagnostic::new(kind.code, span, message);
        if let (Value::Tensor(_), "%integers") = (&value, kind.name) {
            diagnostic = diagnostic.help(format!("write `(cast {shown} :i32)`"));
        }
        Err(self.report(diagnostic))
    }
}
