//! Strings, and the functions that end a run.

use super::{Arg, Builtin, Call};
use crate::diag::{Code, Diagnostic};
use crate::eval::machine::{Eval, Machine};
use crate::eval::value::{Symbol, Value};

pub(super) static TABLE: [Builtin; 8] = [
    Builtin {
        name: "format",
        signature: "(format \"text ~a\" x...)",
        summary: "a string with the arguments in the places of `~a` (as read by people) and `~s` (as written in programs)",
        example: "(format \"layer.~a\" 3) ; => \"layer.3\"",
        least: 1,
        most: None,
        keys: &[],
        run: format_text,
    },
    Builtin {
        name: "string",
        signature: "(string x...)",
        summary: "the arguments as text, one after the other",
        example: "(string \"a\" 1) ; => \"a1\"",
        least: 0,
        most: None,
        keys: &[],
        run: string,
    },
    Builtin {
        name: "join",
        signature: "(join separator strings)",
        summary: "strings with a separator between them",
        example: "(join \", \" '(\"a\" \"b\")) ; => \"a, b\"",
        least: 2,
        most: Some(2),
        keys: &[],
        run: join,
    },
    Builtin {
        name: "split",
        signature: "(split separator text)",
        summary: "the parts of a string between separators",
        example: "(split \",\" \"a,b\") ; => (\"a\" \"b\")",
        least: 2,
        most: Some(2),
        keys: &[],
        run: split,
    },
    Builtin {
        name: "symbol",
        signature: "(symbol name)",
        summary: "the symbol with a name, for macros",
        example: "(symbol \"x\") ; => x",
        least: 1,
        most: Some(1),
        keys: &[],
        run: |m, c| {
            let name = m.string("symbol", &c.args[0])?;
            Ok(Value::Symbol(Symbol { name, span: None }))
        },
    },
    Builtin {
        name: "keyword",
        signature: "(keyword name)",
        summary: "the keyword with a name",
        example: "(keyword \"x\") ; => :x",
        least: 1,
        most: Some(1),
        keys: &[],
        run: |m, c| Ok(Value::Keyword(m.string("keyword", &c.args[0])?)),
    },
    Builtin {
        name: "error",
        signature: "(error \"text ~a\" x...)",
        summary: "ends the evaluation with a message, made as by `format`",
        example: "(error \"no such layer: ~a\" 7)",
        least: 1,
        most: None,
        keys: &[],
        run: error,
    },
    Builtin {
        name: "assert",
        signature: "(assert test &optional \"text ~a\" x...)",
        summary: "ends the evaluation with a message unless the test is true",
        example: "(assert (= 1 1) \"one is one\") ; => nil",
        least: 1,
        most: None,
        keys: &[],
        run: assert,
    },
];

fn string(m: &mut Machine<'_>, call: &Call) -> Eval {
    m.measure_args(call)?;
    Ok(Value::str(call.args.iter().map(|arg| plain(&arg.value)).collect::<String>()))
}

/// As people read it: strings without quotes.
fn plain(value: &Value) -> String {
    match value {
        Value::Str(text) => text.to_string(),
        other => other.to_string(),
    }
}

fn format_text(m: &mut Machine<'_>, call: &Call) -> Eval {
    m.measure_args(call)?;
    // A destination of nil, as in Common Lisp, is taken and means the same.
    let args = if matches!(call.args[0].value, Value::Nil) { &call.args[1..] } else { &call.args[..] };
    match formatted(m, call, args)? {
        Some(text) => Ok(Value::str(text)),
        None => Err(m.wrong_kind("format", "a string", &call.args[0])),
    }
}

/// The text that a format string and its arguments make.
fn formatted(m: &mut Machine<'_>, call: &Call, args: &[Arg]) -> Eval<Option<String>> {
    let Some((Arg { value: Value::Str(template), span }, values)) = args.split_first() else {
        return Ok(None);
    };
    let mut values = values.iter();
    let mut text = String::new();
    let mut chars = template.chars();
    while let Some(c) = chars.next() {
        if c != '~' {
            text.push(c);
            continue;
        }
        let directive = chars.next();
        match directive.map(|d| d.to_ascii_lowercase()) {
            Some('~') => text.push('~'),
            Some('%') => text.push('\n'),
            Some(kind @ ('a' | 's' | 'd')) => match values.next() {
                Some(arg) if kind == 's' => text.push_str(&arg.value.to_string()),
                Some(arg) => text.push_str(&plain(&arg.value)),
                None => {
                    let message =
                        format!("{}: there are fewer arguments than places in the text", call.callee);
                    return Err(m.fail(Code::CallCount, call.span, message));
                }
            },
            _ => {
                let shown = directive.map_or("~".to_string(), |d| format!("~{d}"));
                let diagnostic = Diagnostic::new(
                    Code::TypeRange,
                    *span,
                    format!("{}: `{shown}` is not a place for an argument", call.callee),
                );
                return Err(m.report(
                    diagnostic.note("places are `~a`, `~s` and `~d`; `~%` is a new line and `~~` a tilde"),
                ));
            }
        }
    }
    if values.next().is_some() {
        let message = format!("{}: there are more arguments than places in the text", call.callee);
        return Err(m.fail(Code::CallCount, call.span, message));
    }
    Ok(Some(text))
}

fn join(m: &mut Machine<'_>, call: &Call) -> Eval {
    m.measure_args(call)?;
    let separator = m.string("join", &call.args[0])?;
    let parts: Vec<String> = m.items("join", &call.args[1])?.iter().map(plain).collect();
    Ok(Value::str(parts.join(&separator)))
}

fn split(m: &mut Machine<'_>, call: &Call) -> Eval {
    let (separator, text) = (m.string("split", &call.args[0])?, m.string("split", &call.args[1])?);
    if separator.is_empty() {
        return Err(m.fail(Code::TypeRange, call.args[0].span, "split: the separator is empty"));
    }
    m.measure_args(call)?;
    // A part has its own text beside being an element.
    m.copied(text.matches(&*separator).count().saturating_mul(2), call.span)?;
    Ok(Value::list(text.split(&*separator).map(Value::str).collect()))
}

fn error(m: &mut Machine<'_>, call: &Call) -> Eval {
    m.measure_args(call)?;
    let message = match formatted(m, call, &call.args)? {
        Some(text) => text,
        None => call.args.iter().map(|arg| plain(&arg.value)).collect::<Vec<_>>().join(" "),
    };
    let diagnostic = Diagnostic::new(Code::EvalError, call.span, message);
    if m.sources.is_library(call.span.file) {
        return Err(m.refuse_call(diagnostic));
    }
    Err(m.report(diagnostic))
}

fn assert(m: &mut Machine<'_>, call: &Call) -> Eval {
    m.measure_args(call)?;
    let test = &call.args[0];
    if matches!(test.value, Value::Tensor(_)) {
        let text = m.operand_text(&test.value, test.span);
        let message =
            format!("assert: `{text}` is a tensor, whose values are not known while the graph is traced");
        return Err(m.fail(Code::FlowIf, test.span, message));
    }
    if test.value.truth() {
        return Ok(Value::Nil);
    }
    let message = match formatted(m, call, &call.args[1..])? {
        Some(text) => text,
        None => format!("`{}` does not hold", m.text(test.span)),
    };
    Err(m.fail(Code::EvalAssert, call.span, message))
}
