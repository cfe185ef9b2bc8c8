//! Code as data: quotes, quasiquotes and macros.

use super::builtin::Arg;
use super::machine::{Eval, Machine};
use super::scope::Env;
use super::value::{Closure, Items, List, Symbol, Value};
use crate::diag::{Code, Diagnostic, Span};
use crate::syntax::{Datum, Tree};
use std::rc::Rc;

/// A tree as a value. Where `placed`, symbols and lists remember where they stand.
pub(super) fn quoted(tree: &Tree, placed: bool) -> Value {
    let span = placed.then_some(tree.span);
    let each = |items: &[Tree]| items.iter().map(|item| quoted(item, placed)).collect::<Vec<_>>();
    match &tree.datum {
        Datum::List(items) if items.is_empty() => Value::Nil,
        Datum::List(items) => Value::List(List { items: Items::new(each(items)), span }),
        Datum::Vector(items) => Value::vector(each(items)),
        Datum::Str(s) => Value::str(s.as_str()),
        Datum::Keyword(k) => Value::Keyword(k.as_str().into()),
        Datum::Symbol(name) => Value::Symbol(Symbol { name: name.as_str().into(), span }),
        Datum::Int(n) => Value::Int(*n),
        Datum::Float(x) => Value::Float(*x),
        Datum::Bool(b) => Value::Bool(*b),
        Datum::Nil => Value::Nil,
    }
}

/// How many parts a tree has.
pub(super) fn size(tree: &Tree) -> usize {
    match &tree.datum {
        Datum::List(items) | Datum::Vector(items) => 1 + items.iter().map(size).sum::<usize>(),
        _ => 1,
    }
}

/// A value as a tree; what has no place of its own stands at `span`. `None` for what is not code.
fn unquoted(value: &Value, span: Span) -> Option<Tree> {
    let each =
        |items: &[Value], span| items.iter().map(|item| unquoted(item, span)).collect::<Option<Vec<_>>>();
    let (datum, span) = match value {
        Value::Nil => (Datum::Nil, span),
        Value::Bool(b) => (Datum::Bool(*b), span),
        Value::Int(n) => (Datum::Int(*n), span),
        Value::Float(x) => (Datum::Float(*x), span),
        Value::Axis(axis) => (Datum::Int(axis.dim.size as i64), span),
        Value::Str(s) => (Datum::Str(s.to_string()), span),
        Value::Keyword(k) => (Datum::Keyword(k.to_string()), span),
        Value::Symbol(symbol) => (Datum::Symbol(symbol.name.to_string()), symbol.span.unwrap_or(span)),
        Value::List(list) => {
            let span = list.span.unwrap_or(span);
            (Datum::List(each(&list.items, span)?.into()), span)
        }
        Value::Vector(items) => (Datum::Vector(each(items, span)?.into()), span),
        _ => return None,
    };
    Some(Tree { datum, span })
}

impl Machine<'_> {
    /// The code that a macro's call stands for.
    pub(super) fn expand(&mut self, closure: &Rc<Closure>, args: &[Tree], site: Span) -> Eval<Tree> {
        let function = Rc::new(super::value::Function::Closure(Closure {
            name: closure.name.clone(),
            lambda: closure.lambda.clone(),
            env: closure.env.clone(),
            module: closure.module,
        }));
        self.copied(args.iter().map(size).sum(), site)?;
        let args = args.iter().map(|arg| Arg { value: quoted(arg, true), span: arg.span }).collect();
        let value = self.call(&function, args, site)?.single();
        if value.is_poisoned() {
            return Err(super::machine::Stop::Reported);
        }
        // The code is kept while it runs, and what it holds may be macro calls again.
        let parts = self.parts(&value, site)?;
        self.spend(parts, site)?;
        match unquoted(&value, site) {
            Some(tree) => Ok(tree),
            None => {
                let name = closure.name.as_deref().unwrap_or("the macro");
                let message = format!("the macro `{name}` gives something that is not code");
                let diagnostic = Diagnostic::new(Code::EvalMacro, site, message);
                Err(self.report(
                    diagnostic.note("code is made of lists, vectors, symbols, keywords, numbers and strings"),
                ))
            }
        }
    }

    /// `` `template ``: `level` counts the quasiquotes around it.
    pub(super) fn quasi(&mut self, tree: &Tree, level: usize, env: &Env) -> Eval {
        match &tree.datum {
            Datum::List(items) => {
                if let Some((mark, inner)) = marked(tree) {
                    match mark {
                        "unquote" if level == 1 => return Ok(self.eval(inner, env)?.single()),
                        "unquote-splicing" if level == 1 => {
                            let message = "`,@` splices into a list or a vector, and there is none around it";
                            return Err(self.fail(Code::FormShape, tree.span, message));
                        }
                        "unquote" | "unquote-splicing" | "quasiquote" => {
                            let level = if mark == "quasiquote" { level + 1 } else { level - 1 };
                            let head = Value::Symbol(Symbol { name: mark.into(), span: None });
                            let inner = self.quasi(inner, level, env)?;
                            return Ok(Value::list(vec![head, inner]));
                        }
                        _ => {}
                    }
                }
                Ok(Value::list(self.quasi_each(items, level, env)?))
            }
            Datum::Vector(items) => Ok(Value::vector(self.quasi_each(items, level, env)?)),
            _ => Ok(quoted(tree, false)),
        }
    }

    fn quasi_each(&mut self, items: &[Tree], level: usize, env: &Env) -> Eval<Vec<Value>> {
        let mut values = Vec::new();
        for item in items {
            match marked(item) {
                Some(("unquote-splicing", inner)) if level == 1 => {
                    let value = self.eval(inner, env)?.single();
                    match value.items() {
                        Some(items) => {
                            self.copied(items.len(), inner.span)?;
                            values.extend(items.iter().cloned());
                        }
                        None => {
                            let message =
                                format!("`,@` splices a list or a vector, and this is {}", value.kind());
                            return Err(self.fail(Code::TypeKind, inner.span, message));
                        }
                    }
                }
                _ => values.push(self.quasi(item, level, env)?),
            }
        }
        Ok(values)
    }
}

/// `(mark inner)`
fn marked(tree: &Tree) -> Option<(&str, &Tree)> {
    match &tree.datum {
        Datum::List(items) => match &items[..] {
            [Tree { datum: Datum::Symbol(mark), .. }, inner] => Some((mark, inner)),
            _ => None,
        },
        _ => None,
    }
}
