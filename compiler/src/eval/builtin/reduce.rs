//! Folds over axes, which of ordinary numbers are folds over lists.

use super::{Builtin, Call};
use crate::diag::{Code, Diagnostic};
use crate::eval::machine::{Eval, Machine};
use crate::eval::value::{Number, Value};
use crate::ir::Op;
use crate::ir::op::Reduce;
use sx_artifact::kernel::FoldOp;

const KEYS: &[&str] = &["axes", "keepdims"];

pub(super) static TABLE: [Builtin; 6] = [
    Builtin {
        name: "sum",
        signature: "(sum x :axes nil :keepdims false)",
        summary: "every axis where none is named; of a list, its elements",
        example: "(sum '(1 2 3)) ; => 6",
        least: 1,
        most: Some(1),
        keys: KEYS,
        run: sum,
    },
    Builtin {
        name: "prod",
        signature: "(prod x :axes nil :keepdims false)",
        summary: "every axis where none is named; of a list, its elements",
        example: "(prod '(2 3)) ; => 6",
        least: 1,
        most: Some(1),
        keys: KEYS,
        run: prod,
    },
    Builtin {
        name: "max",
        signature: "(max x :axes nil :keepdims false)",
        summary: "every axis where none is named; of ordinary numbers, the largest",
        example: "(max 1 3 2) ; => 3",
        least: 1,
        most: None,
        keys: KEYS,
        run: |m, c| extreme(m, c, FoldOp::Max, true),
    },
    Builtin {
        name: "min",
        signature: "(min x :axes nil :keepdims false)",
        summary: "every axis where none is named; of ordinary numbers, the smallest",
        example: "(min 1 3 2) ; => 1",
        least: 1,
        most: None,
        keys: KEYS,
        run: |m, c| extreme(m, c, FoldOp::Min, false),
    },
    Builtin {
        name: "any",
        signature: "(any mask :axes nil :keepdims false)",
        summary: "every axis where none is named",
        example: "",
        least: 1,
        most: Some(1),
        keys: KEYS,
        run: |m, c| fold(m, c, FoldOp::Any),
    },
    Builtin {
        name: "all",
        signature: "(all mask :axes nil :keepdims false)",
        summary: "every axis where none is named",
        example: "",
        least: 1,
        most: Some(1),
        keys: KEYS,
        run: |m, c| fold(m, c, FoldOp::All),
    },
];

fn fold(m: &mut Machine<'_>, call: &Call, op: FoldOp) -> Eval {
    let tensor = m.tensor_arg(call.callee, &call.args[0])?;
    let axes = m.axes_key(call, &tensor.ty)?;
    let keepdims = m.flag(call, "keepdims")?;
    m.operation(call.callee, call.span, Op::Reduce(Reduce { op, axes, keepdims }), &call.args)
}

fn sum(m: &mut Machine<'_>, call: &Call) -> Eval {
    listed(m, call, FoldOp::Sum, "+")
}

fn prod(m: &mut Machine<'_>, call: &Call) -> Eval {
    listed(m, call, FoldOp::Prod, "*")
}

/// Of a tensor a fold over axes; of a list what `function` makes of its elements.
fn listed(m: &mut Machine<'_>, call: &Call, op: FoldOp, function: &'static str) -> Eval {
    let arg = &call.args[0];
    match arg.value.items() {
        Some(items) => {
            no_keys(m, call)?;
            m.copied(items.len(), call.span)?;
            let args =
                items.iter().map(|value| super::Arg { value: value.clone(), span: arg.span }).collect();
            let builtin = m.builtins[function];
            m.call_builtin(builtin, args, call.span)
        }
        None => fold(m, call, op),
    }
}

fn no_keys(m: &mut Machine<'_>, call: &Call) -> Eval<()> {
    match call.keys.first() {
        Some((name, arg)) => {
            let message = format!("{}: `:{name}` is for tensors, and there is none here", call.callee);
            Err(m.fail(Code::CallKeyword, arg.span, message))
        }
        None => Ok(()),
    }
}

fn extreme(m: &mut Machine<'_>, call: &Call, op: FoldOp, largest: bool) -> Eval {
    let pair = if largest { "maximum" } else { "minimum" };
    if call.has_tensor() {
        if call.args.len() == 1 {
            return fold(m, call, op);
        }
        let message = format!(
            "{}: folds one tensor over axes, and there are {} arguments",
            call.callee,
            call.args.len()
        );
        let diagnostic = Diagnostic::new(Code::CallCount, call.span, message);
        return Err(m.report(diagnostic.help(format!("`({pair} a b)` is the elementwise one"))));
    }
    no_keys(m, call)?;
    let numbers: Vec<Value> = match (call.args.as_slice(), call.args[0].value.items()) {
        ([_], Some(items)) => {
            m.copied(items.len(), call.span)?;
            items.to_vec()
        }
        (args, _) => args.iter().map(|arg| arg.value.clone()).collect(),
    };
    let mut best: Option<Number> = None;
    for value in &numbers {
        let Some(number) = Number::of(value) else {
            let message =
                format!("{}: a tensor or numbers were expected, and this is {}", call.callee, value.kind());
            return Err(m.fail(Code::TypeKind, call.span, message));
        };
        let wins = match best {
            None => true,
            // NaN spreads.
            Some(so_far) if so_far.as_f64().is_nan() => false,
            Some(_) if number.as_f64().is_nan() => true,
            Some(so_far) => {
                number.compare(so_far).is_some_and(|o| if largest { o.is_gt() } else { o.is_lt() })
            }
        };
        if wins {
            best = Some(number);
        }
    }
    match best {
        Some(number) => Ok(number.value()),
        None => Err(m.fail(
            Code::TypeRange,
            call.span,
            format!("{}: there is nothing to choose from", call.callee),
        )),
    }
}
