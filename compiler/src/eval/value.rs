//! What an expression can be.

use super::bury::{Buried, bury};
use super::lambda::Lambda;
use super::scope::Env;
use crate::diag::Span;
use crate::ir;
use crate::syntax::print;
use crate::syntax::{Datum, Tree};
use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

/// A name: cheap to copy.
pub(super) type Name = Rc<str>;

/// What an expression can be.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// `nil`, the empty list.
    Nil,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(Name),
    Keyword(Name),
    Symbol(Symbol),
    /// Never empty: the empty list is `Nil`.
    List(List),
    Vector(Rc<Items>),
    Function(Rc<Function>),
    Tensor(Tensor),
    /// Named fields, in order.
    Record(Rc<Vec<(Name, Value)>>),
    /// A named size: `defaxis`, or a name in the shape of a parameter.
    Axis(AxisName),
    /// What `&context` binds.
    Context,
    /// Several results: only the first counts where one is wanted.
    Values(Rc<Vec<Value>>),
    /// The value of an expression whose mistake has been reported: it silences what follows from it.
    Poisoned,
}

/// The elements of a list or vector. However deeply they nest, dropping them takes no stack.
#[derive(Debug)]
pub(super) struct Items(Vec<Value>);

impl Items {
    pub(super) fn new(values: Vec<Value>) -> Rc<Items> {
        Rc::new(Items(values))
    }
}

impl std::ops::Deref for Items {
    type Target = [Value];

    fn deref(&self) -> &[Value] {
        &self.0
    }
}

impl Drop for Items {
    fn drop(&mut self) {
        bury(std::mem::take(&mut self.0).into_iter().map(Buried::Value));
    }
}

/// A symbol as data; the span survives into a macro's expansion.
#[derive(Clone, Debug)]
pub(super) struct Symbol {
    pub(super) name: Name,
    pub(super) span: Option<Span>,
}

/// A list that is not empty; the span survives into a macro's expansion.
#[derive(Clone, Debug)]
pub(super) struct List {
    pub(super) items: Rc<Items>,
    pub(super) span: Option<Span>,
}

/// A value of the graph that was being traced when it was made.
#[derive(Clone, Debug)]
pub(super) struct Tensor {
    /// Which trace it belongs to.
    pub(super) trace: u32,
    /// The value in that trace's graph.
    pub(super) value: ir::Value,
    /// Its type, for questions asked outside of the trace.
    pub(super) ty: Rc<ir::Type>,
    /// The expression in the user's files that it last was the value of.
    pub(super) written: Option<Span>,
}

/// A size with a name. Where it is bound to a dimension without identity, the place in the shape that bound it
/// helps to find it again.
#[derive(Clone, Debug)]
pub(super) struct AxisName {
    pub(super) name: Name,
    pub(super) dim: ir::Dim,
    /// The axis it was bound at and the rank of the shape; none for `defaxis`.
    pub(super) place: Option<(usize, usize)>,
    /// It stands twice in one shape, so it names no single axis.
    pub(super) twice: bool,
}

/// What can be called.
pub(super) enum Function {
    Builtin(&'static super::builtin::Builtin),
    Closure(Closure),
    /// A `defgraph`, called like a function.
    Graph(Closure),
}

/// A function written in sx.
pub(super) struct Closure {
    pub(super) name: Option<Name>,
    pub(super) lambda: Rc<Lambda>,
    pub(super) env: Env,
    /// The module it was written in, whose names it sees.
    pub(super) module: usize,
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.describe())
    }
}

impl Function {
    /// As messages name it: `` `softmax` ``, or `a function` where it has no name.
    pub(super) fn describe(&self) -> String {
        match self.name() {
            Some(name) => format!("`{name}`"),
            None => "a function".to_string(),
        }
    }

    pub(super) fn name(&self) -> Option<&str> {
        match self {
            Function::Builtin(b) => Some(b.name),
            Function::Closure(c) | Function::Graph(c) => c.name.as_deref(),
        }
    }
}

impl Value {
    pub(super) fn list(items: Vec<Value>) -> Value {
        if items.is_empty() { Value::Nil } else { Value::List(List { items: Items::new(items), span: None }) }
    }

    pub(super) fn vector(items: Vec<Value>) -> Value {
        Value::Vector(Items::new(items))
    }

    pub(super) fn str(text: impl Into<Rc<str>>) -> Value {
        Value::Str(text.into())
    }

    /// Only `false` and `nil` are false.
    pub(super) fn truth(&self) -> bool {
        !matches!(self, Value::Nil | Value::Bool(false))
    }

    pub(super) fn is_poisoned(&self) -> bool {
        matches!(self, Value::Poisoned)
    }

    /// The value where one is wanted: the first of several.
    pub(super) fn single(self) -> Value {
        match self {
            Value::Values(values) => values.first().cloned().unwrap_or(Value::Nil),
            other => other,
        }
    }

    /// The elements of a list or a vector.
    pub(super) fn items(&self) -> Option<&[Value]> {
        match self {
            Value::Nil => Some(&[]),
            Value::List(list) => Some(&list.items),
            Value::Vector(items) => Some(items),
            _ => None,
        }
    }

    /// What kind of value it is, with its article, for messages.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Value::Nil => "nil",
            Value::Bool(_) => "a boolean",
            Value::Int(_) => "an integer",
            Value::Float(_) => "a float",
            Value::Str(_) => "a string",
            Value::Keyword(_) => "a keyword",
            Value::Symbol(_) => "a symbol",
            Value::List(_) => "a list",
            Value::Vector(_) => "a vector",
            Value::Function(_) => "a function",
            Value::Tensor(_) => "a tensor",
            Value::Record(_) => "a record",
            Value::Axis(_) => "an axis",
            Value::Context => "the context",
            Value::Values(_) => "several values",
            Value::Poisoned => "nothing",
        }
    }

    /// Structural equality. Integers and floats are equal where their numbers are; an axis is its size.
    pub(super) fn same(&self, other: &Value) -> bool {
        use Value::*;
        match (self, other) {
            (Nil, Nil) | (Context, Context) => true,
            (Bool(a), Bool(b)) => a == b,
            (Str(a), Str(b)) | (Keyword(a), Keyword(b)) => a == b,
            (Symbol(a), Symbol(b)) => a.name == b.name,
            (Function(a), Function(b)) => Rc::ptr_eq(a, b),
            (List(a), List(b)) => all_same(&a.items, &b.items),
            (Vector(a), Vector(b)) => all_same(a, b),
            (Record(a), Record(b)) => {
                a.len() == b.len() && a.iter().zip(b.iter()).all(|(x, y)| x.0 == y.0 && x.1.same(&y.1))
            }
            (Tensor(a), Tensor(b)) => a.trace == b.trace && a.value == b.value,
            _ => match (Number::of(self), Number::of(other)) {
                (Some(a), Some(b)) => a.compare(b) == Some(std::cmp::Ordering::Equal),
                _ => false,
            },
        }
    }
}

fn all_same(a: &[Value], b: &[Value]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.same(y))
}

/// An ordinary number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Int(i64),
    Float(f64),
}

impl Number {
    pub(super) fn of(value: &Value) -> Option<Number> {
        match value {
            Value::Int(n) => Some(Number::Int(*n)),
            Value::Float(x) => Some(Number::Float(*x)),
            Value::Axis(axis) => Some(Number::Int(axis.dim.size as i64)),
            _ => None,
        }
    }

    pub(super) fn as_f64(self) -> f64 {
        match self {
            Number::Int(n) => n as f64,
            Number::Float(x) => x,
        }
    }

    pub(super) fn value(self) -> Value {
        match self {
            Number::Int(n) => Value::Int(n),
            Number::Float(x) => Value::Float(x),
        }
    }

    /// `None` where one is NaN.
    pub(super) fn compare(self, other: Number) -> Option<std::cmp::Ordering> {
        match (self, other) {
            (Number::Int(a), Number::Int(b)) => Some(a.cmp(&b)),
            _ => self.as_f64().partial_cmp(&other.as_f64()),
        }
    }
}

/// A float as programs write it: with a point or an exponent, `inf`, `nan`.
pub(super) fn float_text(x: f64) -> String {
    if x.is_nan() { "nan".to_string() } else { format!("{x:?}") }
}

/// As programs write it; what has no written form stands in `#<…>`.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Nil => f.write_str("nil"),
            Value::Bool(b) => write!(f, "{b}"),
            Value::Int(n) => write!(f, "{n}"),
            Value::Float(x) => f.write_str(&float_text(*x)),
            Value::Str(s) => f.write_str(&print(&tree(Datum::Str(s.to_string())))),
            Value::Keyword(k) => write!(f, ":{k}"),
            Value::Symbol(s) => f.write_str(&s.name),
            Value::List(list) => sequence(f, "(", &list.items, ")"),
            Value::Vector(items) => sequence(f, "[", items, "]"),
            Value::Function(function) => match function.name() {
                Some(name) => write!(f, "#<function {name}>"),
                None => f.write_str("#<function>"),
            },
            Value::Tensor(t) => write!(f, "#<tensor {}>", t.ty),
            Value::Record(fields) => {
                f.write_str("(record")?;
                for (name, value) in fields.iter() {
                    write!(f, " ({name} {value})")?;
                }
                f.write_str(")")
            }
            Value::Axis(axis) => write!(f, "{}", axis.dim.size),
            Value::Context => f.write_str("#<context>"),
            Value::Values(values) => sequence(f, "(values ", values, ")"),
            Value::Poisoned => f.write_str("#<error>"),
        }
    }
}

fn sequence(f: &mut fmt::Formatter<'_>, open: &str, items: &[Value], close: &str) -> fmt::Result {
    f.write_str(open)?;
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            f.write_str(" ")?;
        }
        write!(f, "{item}")?;
    }
    f.write_str(close)
}

fn tree(datum: Datum) -> Tree {
    Tree { datum, span: Span { file: crate::diag::FileId(0), start: 0, end: 0 } }
}

/// A place that holds a variable.
pub(super) type Slot = Rc<RefCell<Value>>;
