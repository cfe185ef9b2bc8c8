//! Types are read: shapes, dtypes and records, and several types in a row.

use super::{DTypeExpr, Entry, TypeExpr};
use crate::diag::{Code, Diagnostic, Span};
use crate::eval::machine::{Eval, Machine, Stop};
use crate::eval::value::Name;
use crate::syntax::{Datum, Tree};
use sx_artifact::dtype::DType;

impl Machine<'_> {
    /// Reads the parts of one type.
    pub(in crate::eval) fn type_expr(&mut self, parts: &[Tree], span: Span) -> Eval<TypeExpr> {
        if let [Tree { datum: Datum::List(items), .. }] = parts
            && matches!(items.first(), Some(Tree { datum: Datum::Symbol(head), .. }) if head == "record")
        {
            return self.record_type(&items[1..], span);
        }
        if let [Tree { datum: Datum::Symbol(name), .. }] = parts
            && let Some(kind) = super::kind::named(name)
            && self.sources.is_library(span.file)
        {
            return Ok(TypeExpr { kind: Some(kind), ..TypeExpr::empty(span) });
        }
        let mut types = self.type_list(parts, span)?;
        if types.len() == 1 {
            return Ok(types.remove(0));
        }
        let message = "a type is a shape, a dtype and a domain, each optional, in this order";
        Err(self.fail(Code::DomainType, span, message))
    }

    /// Reads the types of several results: a part that cannot follow begins the next type.
    pub(in crate::eval) fn result_types(&mut self, parts: &[Tree], span: Span) -> Eval<Vec<TypeExpr>> {
        self.type_list(parts, span)
    }

    fn type_list(&mut self, parts: &[Tree], span: Span) -> Eval<Vec<TypeExpr>> {
        let empty = || TypeExpr::empty(span);
        let mut types = Vec::new();
        let mut ty = empty();
        let mut fresh = true;
        for part in parts {
            let begins_next = match &part.datum {
                Datum::Vector(_) => ty.shape.is_some() || ty.dtype.is_some() || ty.domain.is_some(),
                Datum::Keyword(_) => ty.dtype.is_some() || ty.domain.is_some(),
                _ => ty.domain.is_some(),
            };
            if begins_next && !fresh {
                types.push(std::mem::replace(&mut ty, empty()));
            }
            match &part.datum {
                Datum::Vector(entries) => ty.shape = Some(self.shape_entries(entries)?),
                Datum::Keyword(name) => ty.dtype = Some(self.dtype_expr(name, part.span)?),
                Datum::Symbol(_) | Datum::List(_) => ty.domain = Some(self.domain_expr(part)?),
                _ => {
                    let message = "a type is made of a shape, a dtype and a domain, and this is none of them";
                    return Err(self.fail(Code::DomainType, part.span, message));
                }
            }
            fresh = false;
        }
        if fresh {
            let message = "a type was expected here: a shape, a dtype or a domain";
            return Err(self.fail(Code::DomainType, span, message));
        }
        types.push(ty);
        for ty in &types {
            self.sensible(ty)?;
        }
        Ok(types)
    }

    fn record_type(&mut self, fields: &[Tree], span: Span) -> Eval<TypeExpr> {
        let mut read: Vec<(Name, TypeExpr)> = Vec::new();
        for field in fields {
            let Datum::List(items) = &field.datum else {
                return Err(self.fail(Code::DomainType, field.span, "a field of a record is `(name TYPE…)`"));
            };
            let Some(Tree { datum: Datum::Symbol(name), .. }) = items.first() else {
                return Err(self.fail(
                    Code::DomainType,
                    field.span,
                    "a field of a record begins with its name",
                ));
            };
            if read.iter().any(|(other, _)| **other == **name) {
                let message = format!("the record has two fields called `{name}`");
                return Err(self.fail(Code::DomainType, field.span, message));
            }
            read.push((name.as_str().into(), self.type_expr(&items[1..], field.span)?));
        }
        Ok(TypeExpr { record: Some(read), ..TypeExpr::empty(span) })
    }

    fn shape_entries(&mut self, trees: &[Tree]) -> Eval<Vec<Entry>> {
        let mut entries = Vec::new();
        for tree in trees {
            let entry = match &tree.datum {
                Datum::Int(n) if *n >= 0 => Entry::Size(*n as u64),
                Datum::Symbol(name) => match name.as_str() {
                    "_" => Entry::Any,
                    "..." if entries.is_empty() => Entry::Leading,
                    "..." => {
                        let message = "`...` stands for leading axes, so it comes first";
                        return Err(self.fail(Code::DomainType, tree.span, message));
                    }
                    name => Entry::Name(name.into()),
                },
                _ => {
                    let message = "a shape's entries are sizes, axis names, `_` and `...`";
                    return Err(self.fail(Code::DomainType, tree.span, message));
                }
            };
            entries.push(entry);
        }
        Ok(entries)
    }

    fn dtype_expr(&mut self, name: &str, span: Span) -> Eval<DTypeExpr> {
        if name == "any" {
            return Ok(DTypeExpr::Any);
        }
        match DType::from_name(name) {
            Some(dtype) => Ok(DTypeExpr::Is(dtype)),
            None => Err(self.not_a_dtype(name, span)),
        }
    }

    pub(in crate::eval) fn not_a_dtype(&mut self, name: &str, span: Span) -> Stop {
        let known = DType::ALL.map(|dtype| format!("`:{dtype}`")).join(", ");
        let message = format!("`:{name}` is not a dtype");
        self.report(Diagnostic::new(Code::DimDtype, span, message).note(format!("dtypes are {known}")))
    }
}
