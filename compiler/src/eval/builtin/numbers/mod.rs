//! Ordinary numbers, and the functions that numbers and tensors share: arithmetic and comparisons.
//!
//! `table` has every one; what they do stands here.

pub(super) mod table;

use super::{Arg, Call};
use crate::diag::Code;
use crate::eval::machine::{Eval, Machine};
use crate::eval::value::{Number, Value};
use crate::ir::Op;
use crate::ir::op::Map;
use crate::ops::scalar::{self, Eval as Meaning};
use std::cmp::Ordering;
use sx_artifact::scalar::ScalarFn;

/// A function of a float.
type OfFloat = fn(f64) -> f64;

/// A step on two integers: `None` where there is no result.
type IntStep = fn(i64, i64) -> Option<i64>;

pub(super) fn add(m: &mut Machine<'_>, call: &Call) -> Eval {
    fold(m, call, ScalarFn::Add, 0, i64::checked_add, |a, b| a + b)
}

pub(super) fn sub(m: &mut Machine<'_>, call: &Call) -> Eval {
    if let [arg] = call.args.as_slice() {
        return match arg.value {
            Value::Tensor(_) => m.operation("-", call.span, Op::Map(Map { f: ScalarFn::Neg }), &call.args),
            _ => match m.number("-", arg)? {
                Number::Int(n) => n.checked_neg().map(Value::Int).ok_or_else(|| overflow(m, call)),
                Number::Float(x) => Ok(Value::Float(-x)),
            },
        };
    }
    fold(m, call, ScalarFn::Sub, 0, i64::checked_sub, |a, b| a - b)
}

/// The numbers at the front fold first, in f64 and rounded once.
pub(super) fn mul(m: &mut Machine<'_>, call: &Call) -> Eval {
    if !call.has_tensor() {
        return fold(m, call, ScalarFn::Mul, 1, i64::checked_mul, |a, b| a * b);
    }
    let front = call.args.iter().take_while(|arg| Number::of(&arg.value).is_some()).count();
    let mut args = call.args.clone();
    if front > 1 {
        let mut product = Number::Int(1);
        for arg in &call.args[..front] {
            let number = m.number("*", arg)?;
            product = step(m, call, product, number, i64::checked_mul, |a, b| a * b)?;
        }
        let span = call.args[0].span.to(call.args[front - 1].span);
        args.splice(..front, [Arg { value: product.value(), span }]);
    }
    let folded = Call { callee: call.callee, span: call.span, args, keys: Vec::new() };
    fold(m, &folded, ScalarFn::Mul, 1, i64::checked_mul, |a, b| a * b)
}

pub(super) fn divide(m: &mut Machine<'_>, call: &Call) -> Eval {
    if let [arg] = call.args.as_slice() {
        let one = Arg { value: Value::Int(1), span: call.span };
        let args = vec![one, arg.clone()];
        return divide(m, &Call { callee: call.callee, span: call.span, args, keys: Vec::new() });
    }
    if call.has_tensor() {
        return fold_tensors(m, call, ScalarFn::Div);
    }
    let mut quotient = m.number("/", &call.args[0])?;
    for arg in &call.args[1..] {
        quotient = match (quotient, m.number("/", arg)?) {
            (Number::Int(_), Number::Int(0)) => {
                return Err(m.fail(Code::EvalNumber, call.span, "/: division by zero"));
            }
            (Number::Int(a), Number::Int(b)) if a.checked_rem(b) == Some(0) => Number::Int(a / b),
            (a, b) => Number::Float(a.as_f64() / b.as_f64()),
        };
    }
    Ok(quotient.value())
}

pub(super) fn div(m: &mut Machine<'_>, call: &Call) -> Eval {
    if call.has_tensor() {
        for arg in &call.args {
            if let Value::Tensor(tensor) = &arg.value
                && tensor.ty.dtype.is_float()
            {
                let text = m.operand_text(&arg.value, arg.span);
                let message = format!("div: integers were expected, and `{text}` is {}", tensor.ty.dtype);
                let diagnostic = crate::diag::Diagnostic::new(Code::DimDtype, call.span, message);
                return Err(m.report(diagnostic.help("`/` divides floats, and `floor` rounds them down")));
            }
        }
        return m.map_call("div", call.span, Map { f: ScalarFn::Div }, &call.args);
    }
    integer_step(m, call, i64::checked_div, |a, b| (a / b).trunc())
}

pub(super) fn modulo(m: &mut Machine<'_>, call: &Call) -> Eval {
    if call.has_tensor() {
        return m.map_call("mod", call.span, Map { f: ScalarFn::Mod }, &call.args);
    }
    let of_ints = |a: i64, b: i64| {
        let rest = if b == -1 { 0 } else { a.checked_rem(b)? };
        Some(if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest })
    };
    integer_step(m, call, of_ints, |a, b| {
        let rest = a % b;
        if rest != 0.0 && (rest < 0.0) != (b < 0.0) { rest + b } else { rest }
    })
}

fn integer_step(m: &mut Machine<'_>, call: &Call, of_ints: IntStep, of_floats: fn(f64, f64) -> f64) -> Eval {
    let (a, b) = (m.number(call.callee, &call.args[0])?, m.number(call.callee, &call.args[1])?);
    if let (Number::Int(_), Number::Int(0)) = (a, b) {
        return Err(m.fail(Code::EvalNumber, call.span, format!("{}: division by zero", call.callee)));
    }
    Ok(step(m, call, a, b, of_ints, of_floats)?.value())
}

pub(super) fn pow(m: &mut Machine<'_>, call: &Call) -> Eval {
    if call.has_tensor() {
        return m.map_call("pow", call.span, Map { f: ScalarFn::Pow }, &call.args);
    }
    let (a, b) = (m.number("pow", &call.args[0])?, m.number("pow", &call.args[1])?);
    match (a, b) {
        (Number::Int(a), Number::Int(b)) if b >= 0 => {
            let exact = u32::try_from(b).ok().and_then(|b| a.checked_pow(b));
            exact.map(Value::Int).ok_or_else(|| overflow(m, call))
        }
        (a, b) => Ok(Value::Float(a.as_f64().powf(b.as_f64()))),
    }
}

/// A function of floats, of a number as its record has it.
pub(super) fn real(m: &mut Machine<'_>, call: &Call) -> Eval {
    match on_number(m, call)? {
        Some((of, number)) => Ok(Value::Float(of(number.as_f64()))),
        None => super::elementwise::elementwise(m, call),
    }
}

/// A function that gives whole numbers: an integer of a number.
pub(super) fn whole(m: &mut Machine<'_>, call: &Call) -> Eval {
    match on_number(m, call)? {
        Some((_, Number::Int(n))) => Ok(Value::Int(n)),
        Some((of, Number::Float(x))) if of(x).abs() < 9.2e18 => Ok(Value::Int(of(x) as i64)),
        Some(_) => Err(overflow(m, call)),
        None => super::elementwise::elementwise(m, call),
    }
}

/// What the function that is called does with floats, and the number it is given; `None` for a tensor.
fn on_number(m: &mut Machine<'_>, call: &Call) -> Eval<Option<(OfFloat, Number)>> {
    let f = ScalarFn::named(call.callee).expect("it is called by the function's name");
    let of = match scalar::def(f).eval {
        Meaning::Float1(of) if !call.has_tensor() => of,
        _ => return Ok(None),
    };
    Ok(Some((of, m.number(call.callee, &call.args[0])?)))
}

pub(super) fn equal(m: &mut Machine<'_>, call: &Call) -> Eval {
    if call.has_tensor() {
        return compare_tensors(m, call, ScalarFn::Eq);
    }
    m.measure_args(call)?;
    Ok(Value::Bool(call.args.windows(2).all(|pair| pair[0].value.same(&pair[1].value))))
}

pub(super) fn unequal(m: &mut Machine<'_>, call: &Call) -> Eval {
    if call.has_tensor() {
        return compare_tensors(m, call, ScalarFn::Ne);
    }
    m.measure_args(call)?;
    Ok(Value::Bool(!call.args[0].value.same(&call.args[1].value)))
}

pub(super) fn order(m: &mut Machine<'_>, call: &Call, f: ScalarFn, holds: fn(Ordering) -> bool) -> Eval {
    if call.has_tensor() {
        return compare_tensors(m, call, f);
    }
    let mut numbers = Vec::new();
    for arg in &call.args {
        numbers.push(m.number(call.callee, arg)?);
    }
    Ok(Value::Bool(numbers.windows(2).all(|pair| pair[0].compare(pair[1]).is_some_and(holds))))
}

fn compare_tensors(m: &mut Machine<'_>, call: &Call, f: ScalarFn) -> Eval {
    if call.args.len() != 2 {
        let message = format!(
            "`{}` compares two tensors, and {} arguments are given here",
            call.callee,
            call.args.len()
        );
        let diagnostic = crate::diag::Diagnostic::new(Code::CallCount, call.span, message);
        return Err(m.report(diagnostic.help("join two comparisons with `and`")));
    }
    m.map_call(call.callee, call.span, Map { f }, &call.args)
}

fn fold(
    m: &mut Machine<'_>,
    call: &Call,
    f: ScalarFn,
    start: i64,
    of_ints: IntStep,
    of_floats: fn(f64, f64) -> f64,
) -> Eval {
    if call.has_tensor() {
        return fold_tensors(m, call, f);
    }
    let mut args = call.args.iter();
    let mut total = match args.next() {
        Some(arg) => m.number(call.callee, arg)?,
        None => Number::Int(start),
    };
    for arg in args {
        let number = m.number(call.callee, arg)?;
        total = step(m, call, total, number, of_ints, of_floats)?;
    }
    Ok(total.value())
}

fn step(
    m: &mut Machine<'_>,
    call: &Call,
    a: Number,
    b: Number,
    of_ints: IntStep,
    of_floats: fn(f64, f64) -> f64,
) -> Eval<Number> {
    match (a, b) {
        (Number::Int(a), Number::Int(b)) => of_ints(a, b).map(Number::Int).ok_or_else(|| overflow(m, call)),
        (a, b) => Ok(Number::Float(of_floats(a.as_f64(), b.as_f64()))),
    }
}

fn overflow(m: &mut Machine<'_>, call: &Call) -> crate::eval::machine::Stop {
    let message = format!("{}: the result does not fit an integer of 64 bits", call.callee);
    let diagnostic = crate::diag::Diagnostic::new(Code::EvalNumber, call.span, message);
    m.report(diagnostic.help("write one of the numbers as a float, such as `2.0`"))
}

/// From left to right; a number takes the dtype of the first tensor.
fn fold_tensors(m: &mut Machine<'_>, call: &Call, f: ScalarFn) -> Eval {
    let mut args = call.args.iter();
    let mut total = args.next().expect("one of the arguments is a tensor").clone();
    if !matches!(total.value, Value::Tensor(_)) && call.args.len() > 2 {
        total = Arg { value: m.number_beside(call.callee, &total, &call.args)?, span: total.span };
    }
    for arg in args {
        let value = m.map_call(call.callee, call.span, Map { f }, &[total, arg.clone()])?;
        total = Arg { value, span: call.span };
    }
    Ok(total.value)
}
