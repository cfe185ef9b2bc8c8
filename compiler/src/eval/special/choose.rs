//! Forms that take one way of several, by an ordinary truth value.

use super::{is_symbol, list_items};
use crate::diag::{Code, Diagnostic, Span};
use crate::eval::builtin::Arg;
use crate::eval::machine::{Eval, Machine, Stop};
use crate::eval::quote::{quoted, size};
use crate::eval::scope::Env;
use crate::eval::value::Value;
use crate::ir::Op;
use crate::ir::op::Map;
use crate::syntax::Tree;
use sx_artifact::dtype::DType;
use sx_artifact::scalar::ScalarFn;

pub(super) fn if_form(m: &mut Machine<'_>, form: &Tree, args: &[Tree], env: &Env) -> Eval {
    let (test, then, otherwise) = match args {
        [test, then] => (test, then, None),
        [test, then, otherwise] => (test, then, Some(otherwise)),
        _ => return Err(m.misshaped(form, "(if test then else)")),
    };
    match m.test("if", test, env)? {
        None => Ok(Value::Poisoned),
        Some(true) => m.eval(then, env),
        Some(false) => otherwise.map_or(Ok(Value::Nil), |tree| m.eval(tree, env)),
    }
}

pub(super) fn cond(m: &mut Machine<'_>, form: &Tree, args: &[Tree], env: &Env) -> Eval {
    for clause in args {
        let Some([test, body @ ..]) = list_items(clause) else {
            return Err(m.misshaped(form, "(cond (test body...)... (else body...))"));
        };
        if is_symbol(test, "else") {
            return m.eval_body(body, env);
        }
        let value = m.eval(test, env)?.single();
        match m.truth("cond", &value, test.span)? {
            None => return Ok(Value::Poisoned),
            Some(true) if body.is_empty() => return Ok(value),
            Some(true) => return m.eval_body(body, env),
            Some(false) => {}
        }
    }
    Ok(Value::Nil)
}

pub(super) fn when(m: &mut Machine<'_>, form: &Tree, args: &[Tree], env: &Env) -> Eval {
    let Some((test, body)) = args.split_first() else { return Err(m.misshaped(form, "(when test body...)")) };
    match m.test("when", test, env)? {
        None => Ok(Value::Poisoned),
        Some(true) => m.eval_body(body, env),
        Some(false) => Ok(Value::Nil),
    }
}

pub(super) fn unless(m: &mut Machine<'_>, form: &Tree, args: &[Tree], env: &Env) -> Eval {
    let Some((test, body)) = args.split_first() else {
        return Err(m.misshaped(form, "(unless test body...)"));
    };
    match m.test("unless", test, env)? {
        None => Ok(Value::Poisoned),
        Some(false) => m.eval_body(body, env),
        Some(true) => Ok(Value::Nil),
    }
}

pub(super) fn and(m: &mut Machine<'_>, form: &Tree, args: &[Tree], env: &Env) -> Eval {
    logic(m, form, args, env, true)
}

pub(super) fn or(m: &mut Machine<'_>, form: &Tree, args: &[Tree], env: &Env) -> Eval {
    logic(m, form, args, env, false)
}

/// `and` and `or`: short-circuit on plain values, elementwise from the first tensor on.
fn logic(m: &mut Machine<'_>, form: &Tree, args: &[Tree], env: &Env, all: bool) -> Eval {
    let (name, f) = if all { ("and", ScalarFn::And) } else { ("or", ScalarFn::Or) };
    let mut last = Value::Bool(all);
    let mut mask: Option<Arg> = None;
    for tree in args {
        let value = m.eval(tree, env)?.single();
        if value.is_poisoned() {
            return Ok(Value::Poisoned);
        }
        match &mut mask {
            None if matches!(value, Value::Tensor(_)) => {
                mask = Some(Arg { value, span: tree.span });
            }
            None => {
                last = value;
                if last.truth() != all {
                    return Ok(last);
                }
            }
            Some(so_far) => {
                let value = match value {
                    Value::Tensor(_) => value,
                    other => Value::Bool(other.truth()),
                };
                let next = Arg { value, span: tree.span };
                let both = m.map_call(name, form.span, Map { f }, &[so_far.clone(), next])?;
                mask = Some(Arg { value: both, span: form.span });
            }
        }
    }
    let Some(mask) = mask else { return Ok(last) };
    // One tensor alone has met no operation that would have asked for a mask.
    if let Value::Tensor(tensor) = &mask.value
        && tensor.ty.dtype != DType::Bool
    {
        let op = Op::Map(Map { f: ScalarFn::Not });
        return m.operation(name, mask.span, op, std::slice::from_ref(&mask));
    }
    Ok(mask.value)
}

pub(super) fn case(m: &mut Machine<'_>, form: &Tree, args: &[Tree], env: &Env) -> Eval {
    let Some((subject, clauses)) = args.split_first() else {
        return Err(m.misshaped(form, "(case x (key body...)... (else body...))"));
    };
    let value = m.eval(subject, env)?.single();
    if value.is_poisoned() {
        return Ok(Value::Poisoned);
    }
    if matches!(value, Value::Tensor(_)) {
        return Err(m.staged("case", subject.span));
    }
    for clause in clauses {
        let Some([key, body @ ..]) = list_items(clause) else {
            return Err(m.misshaped(form, "(case x (key body...)... (else body...))"));
        };
        m.copied(size(key), key.span)?;
        let keys = quoted(key, false);
        let hit = is_symbol(key, "else")
            || is_symbol(key, "otherwise")
            || match &keys {
                Value::List(list) => list.items.iter().any(|key| key.same(&value)),
                key => key.same(&value),
            };
        if hit {
            return m.eval_body(body, env);
        }
    }
    Ok(Value::Nil)
}

impl Machine<'_> {
    /// Evaluates a test; `None` where it was mistaken.
    pub(super) fn test(&mut self, form: &str, tree: &Tree, env: &Env) -> Eval<Option<bool>> {
        let result = self.eval(tree, env);
        let value = self.recover(result)?.single();
        self.truth(form, &value, tree.span)
    }

    fn truth(&mut self, form: &str, value: &Value, span: Span) -> Eval<Option<bool>> {
        match value {
            Value::Poisoned => Ok(None),
            Value::Tensor(_) => Err(self.staged(form, span)),
            value => Ok(Some(value.truth())),
        }
    }

    /// A choice that would have to wait for a tensor's values.
    fn staged(&mut self, form: &str, span: Span) -> Stop {
        let text = self.text(span);
        let message =
            format!("{form}: `{text}` is a tensor, whose values are not known while the graph is traced");
        let diagnostic = Diagnostic::new(Code::FlowIf, span, message);
        self.report(diagnostic.help("`(where mask a b)` chooses elementwise"))
    }
}
