//! The types of a graph's inputs: every size is known.

use super::{DomainExpr, Entry, Over, Semantic, TypeExpr};
use crate::diag::{Code, Diagnostic, Span};
use crate::eval::machine::{Eval, Machine, Stop};
use crate::ir::{Dim, Domain, Type};

impl Machine<'_> {
    /// The type of a graph's input: every size must be known.
    pub(in crate::eval) fn input_type(&mut self, ty: &TypeExpr, name: &str, span: Span) -> Eval<Type> {
        let Some(shape) = &ty.shape else {
            let message = format!("the input `{name}` has no shape, and a graph's sizes are all known");
            let diagnostic = Diagnostic::new(Code::GraphOpen, span, message);
            return Err(self.report(diagnostic.help(format!("write `({name} [] …)` for a scalar"))));
        };
        let mut dims = Vec::new();
        for entry in shape {
            dims.push(self.known_size(entry, name, span)?);
        }
        let Some(dtype) = ty.dtype() else {
            let message = format!("the input `{name}` must have one dtype");
            return Err(self.fail(Code::GraphInput, span, message));
        };
        let domain = match &ty.domain {
            Some(domain) => self.domain(domain, shape, span)?,
            None => Domain::widest(dtype),
        };
        Ok(Type { dtype, dims, domain })
    }

    fn known_size(&mut self, entry: &Entry, input: &str, span: Span) -> Eval<Dim> {
        match entry {
            Entry::Size(size) => Ok(Dim::of(*size)),
            Entry::Name(name) => match self.graph_size(name) {
                Some(dim) => Ok(dim),
                None => Err(self.open_size(name, &format!("the input `{input}`"), span)),
            },
            Entry::Any | Entry::Leading => {
                let mark = if *entry == Entry::Any { "_" } else { "..." };
                let message = format!("the input `{input}` has an open shape: `{mark}` fits any size");
                let diagnostic = Diagnostic::new(Code::GraphOpen, span, message);
                Err(self.report(diagnostic.help("write a size, or a name that `--dim NAME=N` gives")))
            }
        }
    }

    fn open_size(&mut self, name: &str, of: &str, span: Span) -> Stop {
        let message = format!("the size `{name}` of {of} is open");
        let help = format!(
            "give it with `--dim {name}=N`, or define it: `(def {name} N)`, or `(defaxis {name} N)` for an axis of its own"
        );
        self.report(Diagnostic::new(Code::GraphOpen, span, message).help(help))
    }

    /// A domain as written, for a type of this shape.
    pub(in crate::eval) fn domain(
        &mut self,
        domain: &DomainExpr,
        shape: &[Entry],
        span: Span,
    ) -> Eval<Domain> {
        Ok(match domain {
            DomainExpr::Range(range) => Domain::Range(*range),
            DomainExpr::User(name) => match self.user_domain(name) {
                Some(range) => Domain::Range(range),
                None => {
                    return Err(self.fail(Code::DomainType, span, format!("`{name}` is not a domain yet")));
                }
            },
            DomainExpr::Over(kind, over) => match (kind, axis_of(over, shape)) {
                (Semantic::Logit, Some(over)) => Domain::Logit { over },
                (Semantic::Prob, Some(over)) => Domain::Prob { over },
                (Semantic::LogProb, Some(over)) => Domain::LogProb { over },
                (_, None) => return Err(self.fail(Code::DomainType, span, "this type has no such axis")),
            },
            DomainExpr::Mask => Domain::Mask,
            DomainExpr::Binary => Domain::Binary,
            DomainExpr::Additive => Domain::Additive,
            DomainExpr::Index(Entry::Size(size)) => Domain::Index(Dim::of(*size)),
            DomainExpr::Index(Entry::Name(name)) => match self.graph_size(name) {
                Some(dim) => Domain::Index(dim),
                None => return Err(self.open_size(name, &format!("`(Index {name})`"), span)),
            },
            DomainExpr::Index(_) => return Err(self.fail(Code::DomainType, span, "`Index` takes one size")),
        })
    }
}

/// Which axis of a shape a domain is over.
fn axis_of(over: &Over, shape: &[Entry]) -> Option<usize> {
    let rank = shape.len();
    match over {
        Over::Last => rank.checked_sub(1),
        Over::At(at) => {
            let at = if *at < 0 { rank as i64 + at } else { *at };
            usize::try_from(at).ok().filter(|at| *at < rank)
        }
        Over::Name(name) => shape.iter().position(|entry| *entry == Entry::Name(name.clone())),
    }
}
