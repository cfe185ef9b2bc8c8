//! `as` and `to`: what a program says, or asks, about a tensor's values.

use super::builtin::Arg;
use super::machine::{Eval, Machine};
use super::scope::Env;
use super::types::{DomainExpr, Entry, Over, Semantic};
use super::value::{Number, Tensor, Value};
use crate::diag::{Code, Diagnostic, Span};
use crate::ir::op::{As, Cast, Map};
use crate::ir::{Dim, Domain, Op};
use crate::syntax::Tree;
use sx_artifact::dtype::DType;
use sx_artifact::scalar::ScalarFn;

pub(super) fn as_form(m: &mut Machine<'_>, form: &Tree, args: &[Tree], env: &Env) -> Eval {
    let [subject, domain] = args else { return Err(m.misshaped(form, "(as x DOMAIN)")) };
    let Some((tensor, arg)) = m.subject("as", subject, env)? else { return Ok(Value::Poisoned) };
    let written = m.written_domain(domain)?;
    let domain = m.domain_of(&written, &tensor, domain.span, env)?;
    m.operation("as", form.span, Op::As(As { domain }), &[arg])
}

pub(super) fn to_form(m: &mut Machine<'_>, form: &Tree, args: &[Tree], env: &Env) -> Eval {
    let [subject, domain] = args else { return Err(m.misshaped(form, "(to x DOMAIN)")) };
    let Some((tensor, arg)) = m.subject("to", subject, env)? else { return Ok(Value::Poisoned) };
    let written = m.written_domain(domain)?;
    let target = m.domain_of(&written, &tensor, domain.span, env)?;
    m.convert(&tensor, arg, target, form.span)
}

impl Machine<'_> {
    fn subject(&mut self, callee: &str, tree: &Tree, env: &Env) -> Eval<Option<(Tensor, Arg)>> {
        match self.eval(tree, env)?.single() {
            Value::Poisoned => Ok(None),
            Value::Tensor(tensor) => {
                let arg = Arg { value: Value::Tensor(tensor.clone()), span: tree.span };
                self.operand(callee, &arg)?;
                Ok(Some((tensor, arg)))
            }
            other => Err(self.wants_tensor(callee, &other, tree.span)),
        }
    }

    /// A domain written beside a tensor: names are those in force.
    fn domain_of(&mut self, written: &DomainExpr, tensor: &Tensor, span: Span, env: &Env) -> Eval<Domain> {
        let rank = tensor.ty.rank();
        match written {
            DomainExpr::Over(kind, over) => {
                let axis = match over {
                    Over::Last => Value::Int(-1),
                    Over::At(at) => Value::Int(*at),
                    Over::Name(name) => self.variable(name, span, env)?,
                };
                let over = self.axis_in(&axis, &tensor.ty.clone(), "over", span)?;
                Ok(match kind {
                    Semantic::Logit => Domain::Logit { over },
                    Semantic::Prob => Domain::Prob { over },
                    Semantic::LogProb => Domain::LogProb { over },
                })
            }
            DomainExpr::Index(Entry::Name(name)) => match self.variable(name, span, env)? {
                Value::Axis(axis) => Ok(Domain::Index(axis.dim)),
                value => match Number::of(&value) {
                    Some(Number::Int(size)) if size >= 0 => Ok(Domain::Index(Dim::of(size as u64))),
                    _ => Err(self.fail(Code::DomainType, span, format!("`{name}` is not a size"))),
                },
            },
            other => {
                let shape = vec![Entry::Any; rank];
                self.domain(other, &shape, span)
            }
        }
    }

    /// The table of conversions.
    fn convert(&mut self, tensor: &Tensor, arg: Arg, target: Domain, span: Span) -> Eval {
        let from = tensor.ty.domain.clone();
        let float = tensor.ty.dtype.is_float();
        let constant = |number: f64| Arg { value: Value::Float(number), span };
        let plain = match (&from, &target) {
            (from, target) if from == target => return Ok(arg.value),
            (Domain::Mask, Domain::Binary) => {
                self.operation("to", span, Op::Cast(Cast { dtype: DType::F32 }), &[arg])?
            }
            (Domain::Mask, Domain::Additive) => {
                let branches = [arg, constant(0.0), constant(f64::NEG_INFINITY)];
                self.map_call("to", span, Map { f: ScalarFn::Where }, &branches)?
            }
            (Domain::Binary, Domain::Mask) => {
                let zero = Arg { value: Value::Int(0), span };
                self.map_call("to", span, Map { f: ScalarFn::Ne }, &[arg, zero])?
            }
            (Domain::Logit { .. } | Domain::Range(_) | Domain::LogProb { .. }, Domain::Prob { over })
                if float =>
            {
                match from {
                    Domain::LogProb { over: own } if own == *over => {
                        self.map_call("to", span, Map { f: ScalarFn::Exp }, &[arg])?
                    }
                    _ => self.nn_call("softmax", arg, *over, span)?,
                }
            }
            (Domain::Logit { .. } | Domain::Range(_), Domain::LogProb { over }) if float => {
                self.nn_call("log-softmax", arg, *over, span)?
            }
            (Domain::Prob { over: own }, Domain::LogProb { over }) if own == over => {
                self.map_call("to", span, Map { f: ScalarFn::Log }, &[arg])?
            }
            _ => {
                let text = self.operand_text(&arg.value, arg.span);
                let message = format!("to: there is no conversion of `{text}` to {}", domain_name(&target));
                let diagnostic = Diagnostic::new(Code::DomainFit, span, message)
                    .note(format!("it is {}", domain_name(&from)))
                    .note("conversions: Mask to Binary and Additive, Binary to Mask, Logit to Prob and LogProb, Prob to LogProb, LogProb to Prob");
                return Err(self.report(diagnostic));
            }
        };
        let known = matches!(&plain, Value::Tensor(tensor) if tensor.ty.domain == target);
        if known || plain.is_poisoned() {
            return Ok(plain);
        }
        self.operation("to", span, Op::As(As { domain: target }), &[Arg { value: plain, span }])
    }

    /// Calls a function of `sx/nn` over an axis.
    fn nn_call(&mut self, name: &str, arg: Arg, over: usize, span: Span) -> Eval {
        let function = self.nn_function(name, span)?;
        let key = Arg { value: Value::Keyword("axis".into()), span };
        let axis = Arg { value: Value::Int(over as i64), span };
        self.call(&function, vec![arg, key, axis], span)
    }
}

fn domain_name(domain: &Domain) -> &'static str {
    match domain {
        Domain::Range(_) => "a range of numbers",
        Domain::Logit { .. } => "Logit",
        Domain::Prob { .. } => "Prob",
        Domain::LogProb { .. } => "LogProb",
        Domain::Mask => "Mask",
        Domain::Binary => "Binary",
        Domain::Additive => "Additive",
        Domain::Index(_) => "Index",
    }
}
