//! Loops.

use super::list_items;
use crate::diag::Code;
use crate::eval::machine::{Eval, Machine};
use crate::eval::scope::Env;
use crate::eval::value::{Name, Number, Value};
use crate::syntax::{Datum, Tree};

pub(super) fn do_loop(m: &mut Machine<'_>, form: &Tree, args: &[Tree], env: &Env) -> Eval {
    const SHAPE: &str = "(do ((name start step)...) (end result...) body...)";
    let [variables, end, body @ ..] = args else { return Err(m.misshaped(form, SHAPE)) };
    let (Some(variables), Some([end, result @ ..])) = (list_items(variables), list_items(end)) else {
        return Err(m.misshaped(form, SHAPE));
    };
    let mut names: Vec<(Name, Value)> = Vec::new();
    let mut steps = Vec::new();
    for variable in variables {
        let (name, start, step) = match list_items(variable) {
            Some([Tree { datum: Datum::Symbol(name), .. }, start]) => (name, start, None),
            Some([Tree { datum: Datum::Symbol(name), .. }, start, step]) => (name, start, Some(step)),
            _ => return Err(m.misshaped(form, SHAPE)),
        };
        names.push((name.as_str().into(), m.eval(start, env)?.single()));
        steps.push(step);
    }
    loop {
        m.spend(1, form.span)?;
        let inner = env.with(names.clone());
        match m.test("do", end, &inner)? {
            None => return Ok(Value::Poisoned),
            Some(true) => return m.eval_body(result, &inner),
            Some(false) => {}
        }
        m.eval_body(body, &inner)?;
        let mut next = Vec::with_capacity(names.len());
        for ((name, _), step) in names.iter().zip(&steps) {
            let value = match step {
                Some(step) => m.eval(step, &inner)?.single(),
                None => inner.slot(name).map_or(Value::Nil, |slot| slot.borrow().clone()),
            };
            next.push((name.clone(), value));
        }
        names = next;
    }
}

pub(super) fn dotimes(m: &mut Machine<'_>, form: &Tree, args: &[Tree], env: &Env) -> Eval {
    const SHAPE: &str = "(dotimes (name count) body...)";
    let Some((head, body)) = args.split_first() else { return Err(m.misshaped(form, SHAPE)) };
    let Some([Tree { datum: Datum::Symbol(name), .. }, count]) = list_items(head) else {
        return Err(m.misshaped(form, SHAPE));
    };
    let value = m.eval(count, env)?.single();
    let times = match Number::of(&value) {
        Some(Number::Int(times)) => times,
        _ if value.is_poisoned() => return Ok(Value::Poisoned),
        _ => {
            let message = format!("dotimes: the count is an integer, and this is {}", value.kind());
            return Err(m.fail(Code::TypeKind, count.span, message));
        }
    };
    let name: Name = name.as_str().into();
    for i in 0..times {
        m.spend(1, form.span)?;
        m.eval_body(body, &env.with(vec![(name.clone(), Value::Int(i))]))?;
    }
    Ok(Value::Nil)
}

pub(super) fn dolist(m: &mut Machine<'_>, form: &Tree, args: &[Tree], env: &Env) -> Eval {
    const SHAPE: &str = "(dolist (name list) body...)";
    let Some((head, body)) = args.split_first() else { return Err(m.misshaped(form, SHAPE)) };
    let Some([Tree { datum: Datum::Symbol(name), .. }, list]) = list_items(head) else {
        return Err(m.misshaped(form, SHAPE));
    };
    let value = m.eval(list, env)?.single();
    if value.is_poisoned() {
        return Ok(Value::Poisoned);
    }
    let Some(items) = value.items() else {
        let message = format!("dolist: a list or a vector was expected, and this is {}", value.kind());
        return Err(m.fail(Code::TypeKind, list.span, message));
    };
    let name: Name = name.as_str().into();
    for item in items {
        m.spend(1, form.span)?;
        m.eval_body(body, &env.with(vec![(name.clone(), item.clone())]))?;
    }
    Ok(Value::Nil)
}
