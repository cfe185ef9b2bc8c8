//! Types as written: what a parameter, a result or an input may ask of a value.
//!
//! `read` and `domain` read them, `check` holds values against them, and `input` makes of one the type of a graph's
//! input, whose sizes are all known.

mod check;
mod domain;
mod input;
mod kind;
mod read;

pub(super) use self::check::is_plist;

use super::value::Name;
use crate::diag::Span;
use crate::ir::Interval;
use sx_artifact::dtype::DType;

/// A type as written: each part is optional.
#[derive(Clone, Debug)]
pub(super) struct TypeExpr {
    pub(super) shape: Option<Vec<Entry>>,
    pub(super) dtype: Option<DTypeExpr>,
    pub(super) domain: Option<DomainExpr>,
    /// `(record (x TYPE…) …)`: then the parts above are absent.
    pub(super) record: Option<Vec<(Name, TypeExpr)>>,
    /// What a parameter of the library takes: then the parts above are absent.
    kind: Option<&'static kind::Kind>,
    pub(super) span: Span,
}

/// An entry of a shape.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Entry {
    Size(u64),
    Name(Name),
    /// `_`
    Any,
    /// `...`
    Leading,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum DTypeExpr {
    Is(DType),
    Any,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum DomainExpr {
    Range(Interval),
    /// A `defdomain`, whose ends may not be known yet.
    User(Name),
    Over(Semantic, Over),
    Mask,
    Binary,
    Additive,
    Index(Entry),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Semantic {
    Logit,
    Prob,
    LogProb,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Over {
    Last,
    At(i64),
    Name(Name),
}

/// Names that `defdomain` cannot take.
pub(super) const DOMAINS: [&str; 12] = [
    "Real", "NonNeg", "Pos", "Unit", "Signed", "Logit", "Prob", "LogProb", "Mask", "Binary", "Additive",
    "Index",
];

/// Who wants a value of a type, for messages.
#[derive(Clone, Copy)]
pub(super) enum Wanted<'n> {
    Parameter { function: Option<&'n str>, name: &'n str, key: bool },
    Result { function: Option<&'n str> },
}

impl Wanted<'_> {
    /// As calls name it.
    fn argument(self) -> String {
        match self {
            Wanted::Parameter { function, name, key } => {
                let function = function.map_or(String::new(), |name| format!("{name}: "));
                format!("{function}`{}{name}`", if key { ":" } else { "" })
            }
            Wanted::Result { .. } => self.text(),
        }
    }

    fn text(self) -> String {
        let whose = |function: Option<&str>| match function {
            Some(name) => format!("{name}: "),
            None => String::new(),
        };
        match self {
            Wanted::Parameter { function, name, .. } => format!("{}parameter `{name}`", whose(function)),
            Wanted::Result { function } => format!("{}its result", whose(function)),
        }
    }
}

impl TypeExpr {
    /// A type that says nothing.
    fn empty(span: Span) -> TypeExpr {
        TypeExpr { shape: None, dtype: None, domain: None, record: None, kind: None, span }
    }

    /// The dtype that is wanted; `None` takes any.
    pub(super) fn dtype(&self) -> Option<DType> {
        match (self.dtype, &self.domain) {
            (Some(DTypeExpr::Is(dtype)), _) => Some(dtype),
            (Some(DTypeExpr::Any), _) => None,
            (None, Some(DomainExpr::Mask)) => Some(DType::Bool),
            (None, Some(DomainExpr::Index(_))) => Some(DType::I64),
            (None, _) => Some(DType::F32),
        }
    }

    fn is_mask(&self) -> bool {
        self.dtype() == Some(DType::Bool)
    }

    /// A parameter written `(Index V)` takes `i32` values too.
    fn takes(&self, dtype: DType) -> bool {
        match self.dtype() {
            None => true,
            Some(wanted) if wanted == dtype => true,
            Some(_) => {
                self.dtype.is_none()
                    && matches!(self.domain, Some(DomainExpr::Index(_)))
                    && dtype == DType::I32
            }
        }
    }
}
