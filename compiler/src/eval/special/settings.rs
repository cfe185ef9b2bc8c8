//! Forms that set how the operations and parameters in their body are made.

use super::list_items;
use crate::diag::{Code, Diagnostic, Span};
use crate::eval::machine::{Eval, Machine};
use crate::eval::scope::Env;
use crate::eval::value::Value;
use crate::ir::Marks;
use crate::syntax::{Datum, Tree};
use sx_artifact::dtype::DType;

pub(super) fn with_numerics(m: &mut Machine<'_>, form: &Tree, args: &[Tree], env: &Env) -> Eval {
    let Some((settings, body)) = args.split_first() else {
        return Err(m.misshaped(form, "(with-numerics (:precision :bf16) body...)"));
    };
    let outer = m.marks;
    m.marks = m.numerics(settings, outer)?;
    let value = m.eval_body(body, env);
    m.marks = outer;
    value
}

pub(super) fn scope(m: &mut Machine<'_>, form: &Tree, args: &[Tree], env: &Env) -> Eval {
    let Some((prefix, body)) = args.split_first() else {
        return Err(m.misshaped(form, "(scope \"encoder\" body...)"));
    };
    let name = match m.eval(prefix, env)?.single() {
        Value::Str(name) if !name.is_empty() => name.to_string(),
        Value::Poisoned => return Ok(Value::Poisoned),
        other => {
            let message =
                format!("scope: a prefix is a string that is not empty, and this is {}", other.kind());
            return Err(m.fail(Code::ParamForm, prefix.span, message));
        }
    };
    m.scopes.push(name);
    let value = m.eval_body(body, env);
    m.scopes.pop();
    value
}

impl Machine<'_> {
    /// Reads `(:precision :bf16 :matmul :tf32)`.
    fn numerics(&mut self, tree: &Tree, mut marks: Marks) -> Eval<Marks> {
        let Some(settings) = list_items(tree) else {
            let message = "the settings are a list: `(:precision :bf16)`";
            return Err(self.fail(Code::FormShape, tree.span, message));
        };
        for pair in settings.chunks(2) {
            match pair {
                [Tree { datum: Datum::Keyword(key), .. }, Tree { datum: Datum::Keyword(value), span }] => {
                    match (key.as_str(), value.as_str()) {
                        ("precision", value) => marks.precision = Some(self.precision(value, *span)?),
                        ("matmul", "tf32") => marks.tf32 = true,
                        ("matmul", "f32") => marks.tf32 = false,
                        ("matmul", _) => {
                            let message = format!("`:matmul` is `:tf32` or `:f32`, not `:{value}`");
                            return Err(self.fail(Code::CallKeyword, *span, message));
                        }
                        _ => {
                            let message = format!("with-numerics has no setting `:{key}`");
                            let diagnostic = Diagnostic::new(Code::CallKeyword, pair[0].span, message);
                            return Err(
                                self.report(diagnostic.note("its settings are `:precision` and `:matmul`"))
                            );
                        }
                    }
                }
                _ => {
                    let message = "the settings are keywords with values: `(:precision :bf16)`";
                    return Err(self.fail(Code::FormShape, tree.span, message));
                }
            }
        }
        Ok(marks)
    }

    pub(in crate::eval) fn precision(&mut self, name: &str, span: Span) -> Eval<DType> {
        match DType::from_name(name) {
            Some(dtype) if dtype.is_float() => Ok(dtype),
            _ => {
                let message = format!("`:precision` is `:f32` or `:bf16`, not `:{name}`");
                Err(self.fail(Code::CallKeyword, span, message))
            }
        }
    }
}
