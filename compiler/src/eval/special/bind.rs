//! Forms that name values, and functions.

use super::list_items;
use crate::diag::{Code, Diagnostic};
use crate::eval::machine::{Eval, Machine};
use crate::eval::module::Binding;
use crate::eval::quote::size;
use crate::eval::scope::Env;
use crate::eval::value::{Closure, Function, Name, Value};
use crate::syntax::{Datum, Tree};
use std::rc::Rc;

pub(super) fn let_parallel(m: &mut Machine<'_>, form: &Tree, args: &[Tree], env: &Env) -> Eval {
    let bindings = m.let_bindings(form, args, env, "(let ((name value)...) body...)")?;
    let siblings = m.siblings.len();
    let mut names = Vec::new();
    for binding in bindings {
        let bound = m.let_binding(binding, env);
        if let Ok((name, _)) = &bound {
            m.siblings.push((m.calls.len(), name.clone()));
        }
        match bound {
            Ok(bound) => names.push(bound),
            Err(stop) => {
                m.siblings.truncate(siblings);
                return Err(stop);
            }
        }
    }
    m.siblings.truncate(siblings);
    m.eval_body(&args[1..], &env.with(names))
}

pub(super) fn let_sequential(m: &mut Machine<'_>, form: &Tree, args: &[Tree], env: &Env) -> Eval {
    let bindings = m.let_bindings(form, args, env, "(let* ((name value)...) body...)")?;
    let mut env = env.clone();
    for binding in bindings {
        let bound = m.let_binding(binding, &env)?;
        env = env.with(vec![bound]);
    }
    m.eval_body(&args[1..], &env)
}

pub(super) fn lambda(m: &mut Machine<'_>, form: &Tree, args: &[Tree], env: &Env) -> Eval {
    // A function keeps its code.
    m.spend(args.iter().map(size).sum::<usize>() as u64, form.span)?;
    let lambda = m.lambda(form.span, args)?;
    let closure = Closure { name: None, lambda: Rc::new(lambda), env: env.clone(), module: m.module };
    Ok(Value::Function(Rc::new(Function::Closure(closure))))
}

pub(super) fn set(m: &mut Machine<'_>, form: &Tree, args: &[Tree], env: &Env) -> Eval {
    let [Tree { datum: Datum::Symbol(name), span }, value] = args else {
        return Err(m.misshaped(form, "(set! name value)"));
    };
    let result = m.eval(value, env);
    let value = m.recover(result)?.single();
    match env.slot(name) {
        Some(slot) => {
            *slot.borrow_mut() = value.clone();
            Ok(value)
        }
        None if m.binding(name).is_some() => {
            let message = format!("`{name}` is a definition and keeps its value");
            let diagnostic = Diagnostic::new(Code::NameForm, *span, message);
            Err(m.report(diagnostic.help("`set!` changes variables of `let`, of loops and of parameters")))
        }
        None => m.variable(name, *span, env),
    }
}

pub(super) fn multiple_value_bind(m: &mut Machine<'_>, form: &Tree, args: &[Tree], env: &Env) -> Eval {
    const SHAPE: &str = "(multiple-value-bind (name...) values body...)";
    let [names, values, body @ ..] = args else { return Err(m.misshaped(form, SHAPE)) };
    let Some(names) = list_items(names) else { return Err(m.misshaped(form, SHAPE)) };
    let result = m.eval(values, env);
    let value = m.recover(result)?;
    let given: Vec<Value> = match &value {
        Value::Values(values) => values.to_vec(),
        Value::Poisoned => vec![Value::Poisoned; names.len()],
        other => vec![other.clone()],
    };
    if given.len() < names.len() {
        let message = format!("there are {} names here, and {} values", names.len(), given.len());
        return Err(m.fail(Code::CallCount, values.span, message));
    }
    let mut bound = Vec::new();
    for (name, value) in names.iter().zip(given) {
        let Datum::Symbol(name) = &name.datum else { return Err(m.misshaped(form, SHAPE)) };
        bound.push((name.as_str().into(), value));
    }
    m.eval_body(body, &env.with(bound))
}

impl Machine<'_> {
    /// The bindings of a `let`. Names and values without brackets of their own, as other languages write them, are
    /// shown as they are written here.
    fn let_bindings<'t>(
        &mut self,
        form: &Tree,
        args: &'t [Tree],
        env: &Env,
        shape: &str,
    ) -> Eval<&'t [Tree]> {
        let flat = match args.first().map(|first| &first.datum) {
            Some(Datum::Vector(items)) => items,
            Some(Datum::List(items)) if self.is_flat(items, env) => items,
            Some(Datum::List(items)) => return Ok(items),
            Some(Datum::Nil) => return Ok(&[]),
            _ => return Err(self.misshaped(form, shape)),
        };
        let pairs = flat.chunks(2).map(|pair| {
            let texts: Vec<String> = pair.iter().map(|tree| self.text(tree.span)).collect();
            format!("({})", texts.join(" "))
        });
        let written = format!("write `({})`", pairs.collect::<Vec<_>>().join(" "));
        let message = format!("this form is written `{shape}`");
        Err(self.report(Diagnostic::new(Code::FormShape, args[0].span, message).help(written)))
    }

    /// Whether this is `name value name value`, where `name (name value)` would be two bindings.
    fn is_flat(&self, items: &[Tree], env: &Env) -> bool {
        let [Tree { datum: Datum::Symbol(_), .. }, value, ..] = items else { return false };
        match list_items(value) {
            Some([Tree { datum: Datum::Symbol(head), .. }, ..]) => {
                let called = |value: &Value| matches!(value, Value::Function(_));
                let local = env.slot(head);
                self.specials.contains_key(head.as_str())
                    || local.as_ref().is_some_and(|slot| called(&slot.borrow()))
                    || local.is_none()
                        && match self.binding(head) {
                            Some(Binding::Value(value)) => called(&value),
                            Some(Binding::Macro(_)) => true,
                            None => false,
                        }
            }
            Some(_) => false,
            None => !matches!(value.datum, Datum::Symbol(_)),
        }
    }

    /// `(name value)`, or `name` or `(name)` for nil. A mistake in the value does not hide what follows.
    fn let_binding(&mut self, tree: &Tree, env: &Env) -> Eval<(Name, Value)> {
        let (name, value) = match (&tree.datum, list_items(tree)) {
            (Datum::Symbol(name), _) => (name, None),
            (_, Some([Tree { datum: Datum::Symbol(name), .. }])) => (name, None),
            (_, Some([Tree { datum: Datum::Symbol(name), .. }, value])) => (name, Some(value)),
            _ => {
                let message = "a binding is written `(name value)`";
                return Err(self.fail(Code::FormShape, tree.span, message));
            }
        };
        let value = match value {
            Some(value) => {
                let result = self.eval(value, env);
                self.recover(result)?.single()
            }
            None => Value::Nil,
        };
        Ok((name.as_str().into(), value))
    }
}
