//! Ordinary numbers, and the functions that numbers and tensors share: arithmetic and comparisons.

use super::{Arg, Builtin, Call, builtin};
use crate::diag::Code;
use crate::eval::machine::{Eval, Machine};
use crate::eval::value::{Number, Value};
use crate::ir::Op;
use crate::ir::op::Map;
use crate::ops::scalar::{self, Eval as Meaning};
use std::cmp::Ordering;
use sx_artifact::scalar::ScalarFn;

pub(super) static TABLE: [Builtin; 19] = [
    builtin!("+" 0 None, &[], "(+ a b...)" "the sum, of numbers or elementwise" "(+ 1 2 3) ; => 6" add),
    builtin!("-" 1 None, &[], "(- a b...)" "the difference; of one argument, its negative" "(- 5 2) ; => 3" sub),
    builtin!("*" 0 None, &[], "(* a b...)" "the product, of numbers or elementwise" "(* 2 3) ; => 6" mul),
    builtin!("/" 1 None, &[], "(/ a b...)" "the quotient; of one argument, its reciprocal; truncates between integer tensors" "(/ 7 2) ; => 3.5" divide),
    builtin!("div" 2 Some(2), &[], "(div a b)" "the quotient of integers, truncated" "(div -7 2) ; => -3" div),
    builtin!("mod" 2 Some(2), &[], "(mod a b)" "the remainder, with the divisor's sign" "(mod -7 3) ; => 2" modulo),
    builtin!("pow" 2 Some(2), &[], "(pow a b)" "a to the power b, of numbers or elementwise" "(pow 2 10) ; => 1024" pow),
    builtin!("sqrt" 1 Some(1), &[], "(sqrt x)" "the square root, of a number or elementwise" "(sqrt 9) ; => 3.0" real),
    builtin!("exp" 1 Some(1), &[], "(exp x)" "e to the power x, of a number or elementwise" "(exp 0) ; => 1.0" real),
    builtin!("log" 1 Some(1), &[], "(log x)" "the natural logarithm, of a number or elementwise" "(log 1) ; => 0.0" real),
    builtin!("floor" 1 Some(1), &[], "(floor x)" "the largest whole number not above x; an integer for a number" "(floor -2.5) ; => -3" whole),
    builtin!("ceil" 1 Some(1), &[], "(ceil x)" "the smallest whole number not below x; an integer for a number" "(ceil 2.1) ; => 3" whole),
    builtin!("round" 1 Some(1), &[], "(round x)" "the nearest whole number, the even one of two; an integer for a number" "(round 2.5) ; => 2" whole),
    builtin!("=" 1 None, &[], "(= a b...)" "equality: of ordinary values by structure, of tensors elementwise" "(= [1 2] [1 2]) ; => true" equal),
    builtin!("!=" 2 Some(2), &[], "(!= a b)" "the opposite of `=`" "(!= 1 2) ; => true" unequal),
    builtin!("<" 1 None, &[], "(< a b...)" "ascending order, of numbers or elementwise" "(< 1 2 3) ; => true" |m, c| order(m, c, ScalarFn::Lt, Ordering::is_lt)),
    builtin!("<=" 1 None, &[], "(<= a b...)" "ascending or equal, of numbers or elementwise" "(<= 1 1 2) ; => true" |m, c| order(m, c, ScalarFn::Le, Ordering::is_le)),
    builtin!(">" 1 None, &[], "(> a b...)" "descending order, of numbers or elementwise" "(> 3 2) ; => true" |m, c| order(m, c, ScalarFn::Gt, Ordering::is_gt)),
    builtin!(">=" 1 None, &[], "(>= a b...)" "descending or equal, of numbers or elementwise" "(>= 2 2) ; => true" |m, c| order(m, c, ScalarFn::Ge, Ordering::is_ge)),
];

/// A function of a float.
type OfFloat = fn(f64) -> f64;

/// A step on two integers: `None` where there is no result.
type IntStep = fn(i64, i64) -> Option<i64>;

fn add(m: &mut Machine<'_>, call: &Call) -> Eval {
    fold(m, call, ScalarFn::Add, 0, i64::checked_add, |a, b| a + b)
}

fn sub(m: &mut Machine<'_>, call: &Call) -> Eval {
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
fn mul(m: &mut Machine<'_>, call: &Call) -> Eval {
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

fn divide(m: &mut Machine<'_>, call: &Call) -> Eval {
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

fn div(m: &mut Machine<'_>, call: &Call) -> Eval {
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

fn modulo(m: &mut Machine<'_>, call: &Call) -> Eval {
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

fn pow(m: &mut Machine<'_>, call: &Call) -> Eval {
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
fn real(m: &mut Machine<'_>, call: &Call) -> Eval {
    match on_number(m, call)? {
        Some((of, number)) => Ok(Value::Float(of(number.as_f64()))),
        None => super::elementwise::elementwise(m, call),
    }
}

/// A function that gives whole numbers: an integer of a number.
fn whole(m: &mut Machine<'_>, call: &Call) -> Eval {
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

fn equal(m: &mut Machine<'_>, call: &Call) -> Eval {
    if call.has_tensor() {
        return compare_tensors(m, call, ScalarFn::Eq);
    }
    m.measure_args(call)?;
    Ok(Value::Bool(call.args.windows(2).all(|pair| pair[0].value.same(&pair[1].value))))
}

fn unequal(m: &mut Machine<'_>, call: &Call) -> Eval {
    if call.has_tensor() {
        return compare_tensors(m, call, ScalarFn::Ne);
    }
    m.measure_args(call)?;
    Ok(Value::Bool(!call.args[0].value.same(&call.args[1].value)))
}

fn order(m: &mut Machine<'_>, call: &Call, f: ScalarFn, holds: fn(Ordering) -> bool) -> Eval {
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
