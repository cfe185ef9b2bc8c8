//! Why a rule said no, and the one place that words it.
//!
//! The author of an operation picks a fault; [`Fault::diagnostic`] adds the place and the operands.

use crate::diag::{Code, Diagnostic, Span};
use crate::ir::Type;

/// Why a rule said no. It knows the operation, not the source.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// The summed dimensions of a matrix product differ.
    InnerDims {
        /// The left operand.
        left: Type,
        /// The right operand.
        right: Type,
    },
}

/// An operand as the user wrote it.
#[derive(Clone, Debug)]
pub struct Operand {
    /// The source text, shortened where it is long.
    pub text: String,
    /// Its type, where it is a tensor.
    pub ty: Option<Type>,
}

impl Fault {
    /// The diagnostic for this fault of `operation` at `call`, with its operands.
    pub fn diagnostic(self, operation: &str, call: Span, operands: &[Operand]) -> Diagnostic {
        let (code, message) = match self {
            Fault::InnerDims { left, right } => {
                (Code::DimShape, format!("inner dims differ: {:?} x {:?}", left.shape(), right.shape()))
            }
        };
        let listed: Vec<String> = operands
            .iter()
            .map(|o| match &o.ty {
                Some(ty) => format!("`{}` {ty}", o.text),
                None => format!("`{}`", o.text),
            })
            .collect();
        Diagnostic::new(code, call, format!("{operation}: {message}"))
            .note(format!("operands: {}", listed.join(", ")))
    }
}
