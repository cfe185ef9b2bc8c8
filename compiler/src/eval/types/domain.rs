//! Domains are read, and held against the rest of their type.

use super::{DOMAINS, DTypeExpr, DomainExpr, Entry, Over, Semantic, TypeExpr};
use crate::diag::suggest::nearest;
use crate::diag::{Code, Diagnostic, Span};
use crate::eval::machine::{Eval, Machine, Stop};
use crate::ir::Interval;
use crate::syntax::{Datum, Tree};
use sx_artifact::dtype::DType;

/// The ranges that have names of their own.
const RANGES: [(&str, Interval); 5] = [
    ("Real", Interval::REAL),
    ("NonNeg", Interval::NON_NEG),
    ("Pos", Interval::POS),
    ("Unit", Interval::UNIT),
    ("Signed", Interval::SIGNED),
];

impl Machine<'_> {
    pub(super) fn domain_expr(&mut self, tree: &Tree) -> Eval<DomainExpr> {
        let (name, args) = match &tree.datum {
            Datum::Symbol(name) => (name.as_str(), None),
            Datum::List(items) => match items.first() {
                Some(Tree { datum: Datum::Symbol(name), .. }) => (name.as_str(), Some(&items[1..])),
                _ => return Err(self.fail(Code::DomainType, tree.span, "a domain begins with its name")),
            },
            _ => unreachable!("the caller asks for symbols and lists"),
        };
        match name {
            "Logit" => self.over(Semantic::Logit, name, args, tree.span),
            "Prob" => self.over(Semantic::Prob, name, args, tree.span),
            "LogProb" => self.over(Semantic::LogProb, name, args, tree.span),
            "Index" => self.index_domain(args, tree.span),
            _ => match self.plain_domain(name) {
                Some(_) if args.is_some() => {
                    let message = format!("`{name}` stands alone: it takes neither `:over` nor a size");
                    Err(self.fail(Code::DomainType, tree.span, message))
                }
                Some(domain) => Ok(domain),
                None => Err(self.not_a_domain(name, tree.span)),
            },
        }
    }

    /// A domain that is written as its name alone.
    fn plain_domain(&self, name: &str) -> Option<DomainExpr> {
        match name {
            "Mask" => Some(DomainExpr::Mask),
            "Binary" => Some(DomainExpr::Binary),
            "Additive" => Some(DomainExpr::Additive),
            _ => match RANGES.iter().find(|(range, _)| *range == name) {
                Some((_, interval)) => Some(DomainExpr::Range(*interval)),
                None => self.knows_domain(name).then(|| DomainExpr::User(name.into())),
            },
        }
    }

    fn not_a_domain(&mut self, name: &str, span: Span) -> Stop {
        let names = self.domain_names();
        let known = DOMAINS.into_iter().chain(names.iter().map(|name| &**name));
        let mut diagnostic = Diagnostic::new(Code::DomainType, span, format!("`{name}` is not a domain"));
        if let Some(near) = nearest(name, known) {
            diagnostic = diagnostic.help(format!("write `{near}`"));
        }
        self.report(diagnostic)
    }

    fn over(&mut self, kind: Semantic, name: &str, args: Option<&[Tree]>, span: Span) -> Eval<DomainExpr> {
        let Some(args) = args else { return Ok(DomainExpr::Over(kind, Over::Last)) };
        let over = match args {
            [] => Some(Over::Last),
            [Tree { datum: Datum::Keyword(key), .. }, at] if key == "over" => match &at.datum {
                Datum::Int(at) => Some(Over::At(*at)),
                Datum::Symbol(axis) => Some(Over::Name(axis.as_str().into())),
                _ => None,
            },
            _ => None,
        };
        match over {
            Some(over) => Ok(DomainExpr::Over(kind, over)),
            None => {
                let message = format!("`{name}` is written `({name} :over AXIS)`, with a name or a position");
                Err(self.fail(Code::DomainType, span, message))
            }
        }
    }

    fn index_domain(&mut self, args: Option<&[Tree]>, span: Span) -> Eval<DomainExpr> {
        match args {
            Some([Tree { datum: Datum::Symbol(name), .. }]) => {
                Ok(DomainExpr::Index(Entry::Name(name.as_str().into())))
            }
            Some([Tree { datum: Datum::Int(size), .. }]) if *size >= 0 => {
                Ok(DomainExpr::Index(Entry::Size(*size as u64)))
            }
            _ => {
                let message = "`Index` takes the axis it points into: `(Index V)` or `(Index 10)`";
                Err(self.fail(Code::DomainType, span, message))
            }
        }
    }

    /// Refuses combinations that make no sense.
    pub(super) fn sensible(&mut self, ty: &TypeExpr) -> Eval<()> {
        let Some(domain) = &ty.domain else { return Ok(()) };
        if let Some(DTypeExpr::Is(dtype)) = ty.dtype {
            let (fits, wants) = match domain {
                DomainExpr::Mask => (dtype == DType::Bool, "`:bool`"),
                DomainExpr::Index(_) => (dtype.is_int(), "`:i32` or `:i64`"),
                DomainExpr::Over(..) | DomainExpr::Additive => (dtype.is_float(), "`:f32` or `:bf16`"),
                DomainExpr::Range(_) | DomainExpr::User(_) | DomainExpr::Binary => {
                    (dtype != DType::Bool, "a number's dtype")
                }
            };
            if !fits {
                let message = format!("`:{dtype}` and `{}` make no sense together", domain_text(domain));
                let diagnostic = Diagnostic::new(Code::DomainType, ty.span, message);
                return Err(self.report(diagnostic.note(format!("it takes {wants}"))));
            }
        }
        if let DomainExpr::Over(_, over) = domain
            && let Some(message) = no_such_axis(over, ty.shape.as_deref())
        {
            return Err(self.fail(Code::DomainType, ty.span, message));
        }
        Ok(())
    }

    /// Reads a type written as an expression's arguments: `(as x Unit)`, `(to m Binary)`. Names are in force
    /// where it is written.
    pub(in crate::eval) fn written_domain(&mut self, tree: &Tree) -> Eval<DomainExpr> {
        match &tree.datum {
            Datum::Symbol(_) | Datum::List(_) => self.domain_expr(tree),
            _ => Err(self.fail(Code::DomainType, tree.span, "a domain was expected here")),
        }
    }
}

/// Why a shape has no such axis, or none that is the only one.
fn no_such_axis(over: &Over, shape: Option<&[Entry]>) -> Option<String> {
    match (over, shape) {
        (Over::Name(name), Some(shape)) => {
            let entry = Entry::Name(name.clone());
            match shape.iter().filter(|e| **e == entry).count() {
                0 => Some(format!("`{name}` is not an axis of this type")),
                1 => None,
                _ => Some(format!("`{name}` stands twice in this shape, so it names no single axis")),
            }
        }
        (Over::Name(name), None) => Some(format!("`{name}` is not an axis of this type, which has no shape")),
        (Over::At(at), Some(shape)) if !shape.contains(&Entry::Leading) => {
            let rank = shape.len() as i64;
            (*at < -rank || *at >= rank).then(|| format!("this type has no axis {at}"))
        }
        (Over::Last, Some([])) => Some("this type has no axis".to_string()),
        _ => None,
    }
}

/// A domain as written.
fn domain_text(domain: &DomainExpr) -> String {
    match domain {
        DomainExpr::Range(range) => RANGES
            .iter()
            .find(|(_, interval)| interval == range)
            .map_or_else(|| range.to_string(), |(name, _)| name.to_string()),
        DomainExpr::User(name) => name.to_string(),
        DomainExpr::Over(Semantic::Logit, _) => "Logit".to_string(),
        DomainExpr::Over(Semantic::Prob, _) => "Prob".to_string(),
        DomainExpr::Over(Semantic::LogProb, _) => "LogProb".to_string(),
        DomainExpr::Mask => "Mask".to_string(),
        DomainExpr::Binary => "Binary".to_string(),
        DomainExpr::Additive => "Additive".to_string(),
        DomainExpr::Index(Entry::Size(size)) => format!("(Index {size})"),
        DomainExpr::Index(Entry::Name(name)) => format!("(Index {name})"),
        DomainExpr::Index(_) => "Index".to_string(),
    }
}
