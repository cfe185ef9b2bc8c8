//! Lists, vectors, records and functions.
//!
//! `table` has every one; what they do stands here.

pub(super) mod table;

use super::{Arg, Call};
use crate::diag::{Code, Diagnostic};
use crate::eval::machine::{Eval, Machine};
use crate::eval::value::Value;

pub(super) fn values(call: &Call) -> Vec<Value> {
    call.args.iter().map(|arg| arg.value.clone()).collect()
}

/// A sequence of the same kind as `arg`.
pub(super) fn like(arg: &Arg, items: Vec<Value>) -> Value {
    if matches!(arg.value, Value::Vector(_)) { Value::vector(items) } else { Value::list(items) }
}

pub(super) fn cons(m: &mut Machine<'_>, call: &Call) -> Eval {
    let rest = m.items("cons", &call.args[1])?;
    m.copied(rest.len(), call.span)?;
    let items = std::iter::once(&call.args[0].value).chain(rest).cloned().collect();
    Ok(Value::list(items))
}

pub(super) fn nth(m: &mut Machine<'_>, call: &Call) -> Eval {
    let at = m.int("nth", &call.args[0])?;
    let items = m.items("nth", &call.args[1])?;
    let place = if at < 0 { at + items.len() as i64 } else { at };
    match usize::try_from(place).ok().and_then(|place| items.get(place)) {
        Some(item) => Ok(item.clone()),
        None => {
            let message = format!("nth: there is no element {at} in a sequence of {}", items.len());
            Err(m.fail(Code::TypeRange, call.span, message))
        }
    }
}

pub(super) fn length(m: &mut Machine<'_>, call: &Call) -> Eval {
    let arg = &call.args[0];
    match &arg.value {
        Value::Str(text) => {
            m.measure(&arg.value, call.span)?;
            Ok(Value::Int(text.chars().count() as i64))
        }
        Value::Tensor(_) => {
            let diagnostic = Diagnostic::new(
                Code::TypeKind,
                call.span,
                "length: a list, a vector or a string was expected, and this is a tensor",
            );
            let text = m.operand_text(&arg.value, arg.span);
            Err(m.report(diagnostic.help(format!("`(dim {text} 0)` is the size of an axis"))))
        }
        _ => Ok(Value::Int(m.items("length", arg)?.len() as i64)),
    }
}

pub(super) fn append(m: &mut Machine<'_>, call: &Call) -> Eval {
    let Some(first) = call.args.first() else { return Ok(Value::Nil) };
    let mut items = Vec::new();
    for arg in &call.args {
        let more = m.items("append", arg)?;
        m.copied(more.len(), call.span)?;
        items.extend_from_slice(more);
    }
    Ok(like(first, items))
}

pub(super) fn sublist(m: &mut Machine<'_>, call: &Call) -> Eval {
    let items = m.items("sublist", &call.args[0])?;
    let start = m.int("sublist", &call.args[1])?;
    let stop = call.args.get(2).map_or(Ok(items.len() as i64), |arg| m.int("sublist", arg))?;
    if start < 0 || start > stop || stop > items.len() as i64 {
        let message = format!("sublist: {start} to {stop} is not a range of a sequence of {}", items.len());
        return Err(m.fail(Code::TypeRange, call.span, message));
    }
    let items = &items[start as usize..stop as usize];
    m.copied(items.len(), call.span)?;
    Ok(like(&call.args[0], items.to_vec()))
}

pub(super) fn map(m: &mut Machine<'_>, call: &Call) -> Eval {
    let function = m.function("map", &call.args[0])?;
    let mut rows = Vec::new();
    for arg in &call.args[1..] {
        rows.push(m.items("map", arg)?);
    }
    let count = rows.iter().map(|row| row.len()).min().unwrap_or(0);
    let mut results = Vec::with_capacity(count);
    for i in 0..count {
        let args = rows.iter().map(|row| row[i].clone()).collect();
        let value = m.apply(&function, args, call.span);
        results.push(m.recover(value)?.single());
    }
    if results.iter().any(Value::is_poisoned) {
        return Ok(Value::Poisoned);
    }
    Ok(like(&call.args[1], results))
}

pub(super) fn filter(m: &mut Machine<'_>, call: &Call) -> Eval {
    let function = m.function("filter", &call.args[0])?;
    let mut kept = Vec::new();
    for item in m.items("filter", &call.args[1])? {
        match m.apply(&function, vec![item.clone()], call.span)?.single() {
            Value::Poisoned => return Ok(Value::Poisoned),
            Value::Tensor(_) => {
                let message = "filter: the function gives a tensor, whose values are not known while the graph is traced";
                return Err(m.fail(Code::FlowIf, call.span, message));
            }
            value if value.truth() => kept.push(item.clone()),
            _ => {}
        }
    }
    Ok(like(&call.args[1], kept))
}

pub(super) fn reduce(m: &mut Machine<'_>, call: &Call) -> Eval {
    let function = m.function("reduce", &call.args[0])?;
    let mut items = m.items("reduce", &call.args[1])?.iter().cloned();
    let start = call.args.get(2).map(|arg| arg.value.clone()).or_else(|| items.next());
    let Some(mut total) = start else {
        let message = "reduce: there is nothing to fold, and no start";
        return Err(m.fail(Code::TypeRange, call.span, message));
    };
    for item in items {
        total = m.apply(&function, vec![total, item], call.span)?.single();
    }
    Ok(total)
}

pub(super) fn range(m: &mut Machine<'_>, call: &Call) -> Eval {
    let mut numbers = Vec::new();
    for arg in &call.args {
        numbers.push(m.int("range", arg)?);
    }
    let (start, stop, step) = match numbers.as_slice() {
        [stop] => (0, *stop, 1),
        [start, stop] => (*start, *stop, 1),
        [start, stop, step] => (*start, *stop, *step),
        _ => unreachable!("the arity is checked"),
    };
    if step == 0 {
        return Err(m.fail(Code::TypeRange, call.span, "range: a step of 0 never arrives"));
    }
    let mut items = Vec::new();
    let mut at = start;
    while (step > 0 && at < stop) || (step < 0 && at > stop) {
        m.spend(1, call.span)?;
        items.push(Value::Int(at));
        match at.checked_add(step) {
            Some(next) => at = next,
            None => break,
        }
    }
    Ok(Value::list(items))
}

pub(super) fn zip(m: &mut Machine<'_>, call: &Call) -> Eval {
    let mut rows = Vec::new();
    for arg in &call.args {
        rows.push(m.items("zip", arg)?);
    }
    let count = rows.iter().map(|row| row.len()).min().unwrap_or(0);
    m.copied(count.saturating_mul(rows.len()), call.span)?;
    let zipped = (0..count).map(|i| Value::list(rows.iter().map(|row| row[i].clone()).collect()));
    Ok(Value::list(zipped.collect()))
}

pub(super) fn apply(m: &mut Machine<'_>, call: &Call) -> Eval {
    let function = m.function("apply", &call.args[0])?;
    let (last, between) = call.args[1..].split_last().expect("the arity is checked");
    let items = m.items("apply", last)?;
    // They are copied into the call, and by it.
    m.copied(items.len().saturating_mul(2), call.span)?;
    let spread = items.iter().map(|value| Arg { value: value.clone(), span: last.span });
    let args = between.iter().cloned().chain(spread).collect();
    m.call(&function, args, call.span)
}

pub(super) fn funcall(m: &mut Machine<'_>, call: &Call) -> Eval {
    let function = m.function("funcall", &call.args[0])?;
    m.call(&function, call.args[1..].to_vec(), call.span)
}

pub(super) fn getf(m: &mut Machine<'_>, call: &Call) -> Eval {
    let (subject, key) = (&call.args[0], &call.args[1]);
    let Value::Keyword(name) = &key.value else { return Err(m.wrong_kind("getf", "a keyword", key)) };
    if matches!(subject.value, Value::Context) {
        return m.context(name, key.span, call.span);
    }
    if !matches!(subject.value, Value::Record(_)) {
        let items = m.items("getf", subject)?;
        m.copied(items.len(), call.span)?;
    }
    let default = call.args.get(2).map_or(Value::Nil, |arg| arg.value.clone());
    Ok(field_of(&subject.value, name).unwrap_or(default))
}

pub(super) fn field(m: &mut Machine<'_>, call: &Call) -> Eval {
    let (subject, key) = (&call.args[0], &call.args[1]);
    let Value::Keyword(name) = &key.value else { return Err(m.wrong_kind("field", "a keyword", key)) };
    m.copied(subject.value.items().map_or(0, <[Value]>::len), call.span)?;
    if let Some(value) = field_of(&subject.value, name) {
        return Ok(value);
    }
    let names: Vec<String> = match &subject.value {
        Value::Record(fields) => fields.iter().map(|(name, _)| name.to_string()).collect(),
        other => match other.items() {
            Some(items) => items
                .iter()
                .step_by(2)
                .map(|key| key.to_string().trim_start_matches(':').to_string())
                .collect(),
            None => return Err(m.wrong_kind("field", "a record or a property list", subject)),
        },
    };
    let diagnostic = Diagnostic::new(Code::TypeRange, key.span, format!("field: there is no field `{name}`"));
    Err(match crate::diag::suggest::nearest(name, names.iter().map(String::as_str)) {
        Some(near) => m.report(diagnostic.help(format!("write `:{near}`"))),
        None => m.report(diagnostic.note(format!("the fields are {}", names.join(", ")))),
    })
}

/// A field of a record, or the value of a keyword in a property list.
pub(in crate::eval) fn field_of(value: &Value, name: &str) -> Option<Value> {
    if let Value::Record(fields) = value {
        return fields.iter().find(|(field, _)| **field == *name).map(|(_, value)| value.clone());
    }
    let pairs = value.items()?.chunks_exact(2);
    let mut found = pairs.filter(|pair| matches!(&pair[0], Value::Keyword(key) if **key == *name));
    found.next().map(|pair| pair[1].clone())
}
