//! Types as written: parameters and results, and what a value must be to fit one.

use super::machine::{Eval, Machine, Stop};
use super::value::{AxisName, Closure, Name, Number, Value};
use crate::diag::{Code, Diagnostic, Span};
use crate::ir::{Dim, Domain, Interval, Type};
use crate::syntax::{Datum, Tree};
use sx_artifact::dtype::DType;

/// A type as written: each part is optional.
#[derive(Clone, Debug)]
pub(super) struct TypeExpr {
    pub(super) shape: Option<Vec<Entry>>,
    pub(super) dtype: Option<DTypeExpr>,
    pub(super) domain: Option<DomainExpr>,
    /// `(record (x TYPE…) …)`: then the parts above are absent.
    pub(super) record: Option<Vec<(Name, TypeExpr)>>,
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
    Parameter { function: Option<&'n str>, name: &'n str },
    Result { function: Option<&'n str> },
}

impl Wanted<'_> {
    fn text(self) -> String {
        let whose = |function: Option<&str>| match function {
            Some(name) => format!("{name}: "),
            None => String::new(),
        };
        match self {
            Wanted::Parameter { function, name } => format!("{}parameter `{name}`", whose(function)),
            Wanted::Result { function } => format!("{}its result", whose(function)),
        }
    }
}

impl TypeExpr {
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

// How types are read.
impl Machine<'_> {
    /// Reads the parts of one type.
    pub(super) fn type_expr(&mut self, parts: &[Tree], span: Span) -> Eval<TypeExpr> {
        if let [Tree { datum: Datum::List(items), .. }] = parts
            && matches!(items.first(), Some(Tree { datum: Datum::Symbol(head), .. }) if head == "record")
        {
            return self.record_type(&items[1..], span);
        }
        let mut types = self.type_list(parts, span)?;
        if types.len() == 1 {
            return Ok(types.remove(0));
        }
        let message = "a type is a shape, a dtype and a domain, each optional, in this order";
        Err(self.fail(Code::DomainType, span, message))
    }

    /// Reads the types of several results: a part that cannot follow begins the next type.
    pub(super) fn result_types(&mut self, parts: &[Tree], span: Span) -> Eval<Vec<TypeExpr>> {
        self.type_list(parts, span)
    }

    fn type_list(&mut self, parts: &[Tree], span: Span) -> Eval<Vec<TypeExpr>> {
        let empty = || TypeExpr { shape: None, dtype: None, domain: None, record: None, span };
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
        Ok(TypeExpr { shape: None, dtype: None, domain: None, record: Some(read), span })
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

    pub(super) fn not_a_dtype(&mut self, name: &str, span: Span) -> Stop {
        let known = DType::ALL.map(|dtype| format!("`:{dtype}`")).join(", ");
        let message = format!("`:{name}` is not a dtype");
        self.report(Diagnostic::new(Code::DimDtype, span, message).note(format!("dtypes are {known}")))
    }

    fn domain_expr(&mut self, tree: &Tree) -> Eval<DomainExpr> {
        let (name, args) = match &tree.datum {
            Datum::Symbol(name) => (name.as_str(), None),
            Datum::List(items) => match items.first() {
                Some(Tree { datum: Datum::Symbol(name), .. }) => (name.as_str(), Some(&items[1..])),
                _ => return Err(self.fail(Code::DomainType, tree.span, "a domain begins with its name")),
            },
            _ => unreachable!("the caller asks for symbols and lists"),
        };
        let plain = match name {
            "Real" => Some(DomainExpr::Range(Interval::REAL)),
            "NonNeg" => Some(DomainExpr::Range(Interval::NON_NEG)),
            "Pos" => Some(DomainExpr::Range(Interval::POS)),
            "Unit" => Some(DomainExpr::Range(Interval::UNIT)),
            "Signed" => Some(DomainExpr::Range(Interval::SIGNED)),
            "Mask" => Some(DomainExpr::Mask),
            "Binary" => Some(DomainExpr::Binary),
            "Additive" => Some(DomainExpr::Additive),
            _ => None,
        };
        if let Some(domain) = plain {
            if args.is_some() {
                let message = format!("`{name}` stands alone: it takes neither `:over` nor a size");
                return Err(self.fail(Code::DomainType, tree.span, message));
            }
            return Ok(domain);
        }
        match name {
            "Logit" => self.over(Semantic::Logit, name, args, tree.span),
            "Prob" => self.over(Semantic::Prob, name, args, tree.span),
            "LogProb" => self.over(Semantic::LogProb, name, args, tree.span),
            "Index" => self.index_domain(args, tree.span),
            _ if self.knows_domain(name) => {
                if args.is_some() {
                    let message = format!("`{name}` stands alone: it takes neither `:over` nor a size");
                    return Err(self.fail(Code::DomainType, tree.span, message));
                }
                Ok(DomainExpr::User(name.into()))
            }
            _ => {
                let message = format!("`{name}` is not a domain");
                let names = self.domain_names();
                let known = DOMAINS.into_iter().chain(names.iter().map(|name| &**name));
                let mut diagnostic = Diagnostic::new(Code::DomainType, tree.span, message);
                if let Some(near) = crate::diag::suggest::nearest(name, known) {
                    diagnostic = diagnostic.help(format!("write `{near}`"));
                }
                Err(self.report(diagnostic))
            }
        }
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
    fn sensible(&mut self, ty: &TypeExpr) -> Eval<()> {
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
        if let DomainExpr::Over(_, over) = domain {
            let shape = ty.shape.as_deref();
            let problem = match (over, shape) {
                (Over::Name(name), Some(shape)) => {
                    let entry = Entry::Name(name.clone());
                    match shape.iter().filter(|e| **e == entry).count() {
                        0 => Some(format!("`{name}` is not an axis of this type")),
                        1 => None,
                        _ => Some(format!("`{name}` stands twice in this shape, so it names no single axis")),
                    }
                }
                (Over::Name(name), None) => {
                    Some(format!("`{name}` is not an axis of this type, which has no shape"))
                }
                (Over::At(at), Some(shape)) if !shape.contains(&Entry::Leading) => {
                    let rank = shape.len() as i64;
                    (*at < -rank || *at >= rank).then(|| format!("this type has no axis {at}"))
                }
                (Over::Last, Some([])) => Some("this type has no axis".to_string()),
                _ => None,
            };
            if let Some(message) = problem {
                return Err(self.fail(Code::DomainType, ty.span, message));
            }
        }
        Ok(())
    }
}

fn domain_text(domain: &DomainExpr) -> String {
    match domain {
        DomainExpr::Range(range) => [
            ("Real", Interval::REAL),
            ("NonNeg", Interval::NON_NEG),
            ("Pos", Interval::POS),
            ("Unit", Interval::UNIT),
            ("Signed", Interval::SIGNED),
        ]
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

// How values meet types.
impl Machine<'_> {
    /// Checks a value against a type; names in the shape are bound in `axes`, or compared where they are.
    pub(super) fn check_type(
        &mut self,
        ty: &TypeExpr,
        value: Value,
        span: Span,
        wanted: Wanted<'_>,
        axes: &mut Vec<AxisName>,
    ) -> Eval {
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
                let op = crate::ir::Op::Reshape(crate::ir::op::Reshape { dims });
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
            let Some(field) = super::builtin::lists::field_of(&value, name) else {
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
            let wanted = Wanted::Parameter { function, name: &full };
            checked.push((name.clone(), self.check_type(ty, field, span, wanted, axes)?));
        }
        Ok(Value::Record(std::rc::Rc::new(checked)))
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
            let dim = actual.dims[place].clone();
            let problem = match entry {
                Entry::Any | Entry::Leading => None,
                Entry::Size(size) => {
                    (*size != dim.size).then(|| format!("axis {place} is {}, not {size}", dim.size))
                }
                Entry::Name(name) => match self.named_axis(name) {
                    Some(axis) if axis.size != dim.size => {
                        Some(format!("`{name}` is {}, and axis {place} is {}", axis.size, dim.size))
                    }
                    Some(axis) => match &dim.axis {
                        Some(other) if Some(other) != axis.axis.as_ref() => {
                            Some(format!("axis {place} is `{}`, not `{name}`", other.name))
                        }
                        _ => {
                            dims[place] = axis;
                            None
                        }
                    },
                    None => bind_axis(name, dim, place, rank, entries, axes),
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
    pub(super) fn check_results(&mut self, closure: &Closure, value: Value, mut axes: Vec<AxisName>) -> Eval {
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
            (Value::Values(_), n) if n != 1 => Ok(Value::Values(std::rc::Rc::new(checked))),
            (_, 1) => Ok(checked.remove(0)),
            // A list keeps its form: its dimensions are those it had.
            (other, _) => Ok(other),
        }
    }

    /// The type of a graph's input: every size must be known.
    pub(super) fn input_type(&mut self, ty: &TypeExpr, name: &str, span: Span) -> Eval<Type> {
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
                None => {
                    let message = format!("the size `{name}` of the input `{input}` is open");
                    let diagnostic = Diagnostic::new(Code::GraphOpen, span, message);
                    let help = format!("give it with `--dim {name}=N`, or write `(defaxis {name} N)`");
                    Err(self.report(diagnostic.help(help)))
                }
            },
            Entry::Any | Entry::Leading => {
                let mark = if *entry == Entry::Any { "_" } else { "..." };
                let message = format!("the input `{input}` has an open shape: `{mark}` fits any size");
                let diagnostic = Diagnostic::new(Code::GraphOpen, span, message);
                Err(self.report(diagnostic.help("write a size, or a name that `--dim NAME=N` gives")))
            }
        }
    }

    /// A domain as written, for a type of this shape.
    pub(super) fn domain(&mut self, domain: &DomainExpr, shape: &[Entry], span: Span) -> Eval<Domain> {
        Ok(match domain {
            DomainExpr::Range(range) => Domain::Range(*range),
            DomainExpr::User(name) => match self.user_domain(name) {
                Some(range) => Domain::Range(range),
                None => {
                    return Err(self.fail(Code::DomainType, span, format!("`{name}` is not a domain yet")));
                }
            },
            DomainExpr::Over(kind, over) => {
                let rank = shape.len() as i64;
                let over = match over {
                    Over::Last => rank - 1,
                    Over::At(at) if *at < 0 => rank + at,
                    Over::At(at) => *at,
                    Over::Name(name) => {
                        let entry = Entry::Name(name.clone());
                        shape.iter().position(|e| *e == entry).map_or(-1, |at| at as i64)
                    }
                };
                if over < 0 || over >= rank {
                    return Err(self.fail(Code::DomainType, span, "this type has no such axis"));
                }
                let over = over as usize;
                match kind {
                    Semantic::Logit => Domain::Logit { over },
                    Semantic::Prob => Domain::Prob { over },
                    Semantic::LogProb => Domain::LogProb { over },
                }
            }
            DomainExpr::Mask => Domain::Mask,
            DomainExpr::Binary => Domain::Binary,
            DomainExpr::Additive => Domain::Additive,
            DomainExpr::Index(Entry::Size(size)) => Domain::Index(Dim::of(*size)),
            DomainExpr::Index(Entry::Name(name)) => match self.graph_size(name) {
                Some(dim) => Domain::Index(dim),
                None => {
                    let message = format!("the size `{name}` of `(Index {name})` is open");
                    let diagnostic = Diagnostic::new(Code::GraphOpen, span, message);
                    let help = format!("give it with `--dim {name}=N`, or write `(defaxis {name} N)`");
                    return Err(self.report(diagnostic.help(help)));
                }
            },
            DomainExpr::Index(_) => return Err(self.fail(Code::DomainType, span, "`Index` takes one size")),
        })
    }

    /// Reads a type written as an expression's arguments: `(as x Unit)`, `(to m Binary)`. Names are in force
    /// where it is written.
    pub(super) fn written_domain(&mut self, tree: &Tree) -> Eval<DomainExpr> {
        match &tree.datum {
            Datum::Symbol(_) | Datum::List(_) => self.domain_expr(tree),
            _ => Err(self.fail(Code::DomainType, tree.span, "a domain was expected here")),
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

pub(super) fn is_plist(items: &[Value]) -> bool {
    !items.is_empty()
        && items.len().is_multiple_of(2)
        && items.iter().step_by(2).all(|key| matches!(key, Value::Keyword(_)))
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

/// A value that is a number, for ends of domains and sizes.
pub(super) fn number(value: &Value) -> Option<f64> {
    Number::of(value).map(Number::as_f64)
}
