//! What belongs to the artifact: parameters, and what the runtime feeds.

use super::{Builtin, Call};
use crate::diag::{Code, Diagnostic, Span};
use crate::eval::machine::{Eval, Machine};
use crate::eval::trace::number_as;
use crate::eval::value::{Function, Number, Value};
use crate::eval::{Init, ParamDecl};
use crate::ir::op::{Context, Param};
use crate::ir::{Dim, Domain, Graph, Op, Output, Type};
use std::rc::Rc;
use std::sync::Arc;
use sx_artifact::dtype::DType;
use sx_artifact::tensor::Tensor;

pub(super) static TABLE: [Builtin; 1] = [Builtin {
    name: "param",
    signature: "(param \"name\" [sizes] :init nil :dtype :f32)",
    summary: "`:init` is a number or a function of no arguments",
    example: "(param \"w\" [784 128])",
    least: 2,
    most: Some(2),
    keys: &["init", "dtype"],
    run: param,
}];

fn param(m: &mut Machine<'_>, call: &Call) -> Eval {
    m.traced("param", call.span)?;
    m.outside_init("param", call.span)?;
    let name = m.string("param", &call.args[0])?;
    if name.is_empty() {
        return Err(m.fail(Code::ParamForm, call.args[0].span, "param: the name is empty"));
    }
    let dims = m.dims("param", &call.args[1])?;
    let dtype = m.dtype_key(call, DType::F32)?;
    let full: Rc<str> =
        m.scopes.iter().map(String::as_str).chain([&*name]).collect::<Vec<_>>().join(".").into();
    let at = m.declare(call, &full, &dims, dtype)?;
    if m.params[at].init.is_none()
        && let Some(init) = call.key("init")
    {
        let made = match &init.value {
            Value::Function(function) => m.init_graph(&full, &function.clone(), &dims, dtype, init.span)?,
            value => match Number::of(value).map(|number| number_as(number, dtype)) {
                Some(Some(data)) => Init::Constant(Tensor::new(&[], data)),
                Some(None) => {
                    let message = format!("param: {value} does not fit {dtype}");
                    return Err(m.fail(Code::DimDtype, init.span, message));
                }
                None => {
                    let message = format!(
                        "param: `:init` is a number or a function of no arguments, and this is {}",
                        value.kind()
                    );
                    return Err(m.fail(Code::ParamForm, init.span, message));
                }
            },
        };
        m.params[at].init = Some(made);
    }
    let trace = m.traces.last().expect("a graph is being traced");
    let value = match trace.params.get(&full) {
        Some(value) => *value,
        None => {
            m.countable("param", &dims, call.span)?;
            let ty = Type { dtype, dims, domain: Domain::widest(dtype) };
            let value = m.emit_source(Op::Param(Param { name: full.to_string() }), ty, call.span);
            let trace = m.traces.last_mut().expect("a graph is being traced");
            trace.params.insert(full, value);
            value
        }
    };
    Ok(m.tensor(value, None))
}

impl Machine<'_> {
    /// Declares a parameter, or compares it with its first declaration; its position in the list.
    fn declare(&mut self, call: &Call, name: &str, dims: &[Dim], dtype: DType) -> Eval<usize> {
        let origin = self.calls.iter().rev().find(|_| self.sources.is_library(call.span.file));
        let origin = origin.map_or(call.span, |frame| frame.site);
        let Some(at) = self.params.iter().position(|param| param.name == name) else {
            self.params.push(ParamDecl {
                name: name.to_string(),
                dims: dims.to_vec(),
                dtype,
                init: None,
                origin,
            });
            return Ok(self.params.len() - 1);
        };
        let first = &self.params[at];
        let sizes = |dims: &[Dim]| dims.iter().map(|dim| dim.size).collect::<Vec<_>>();
        if sizes(&first.dims) == sizes(dims) && first.dtype == dtype {
            return Ok(at);
        }
        let message = format!(
            "param: `{name}` is {:?} {dtype} here and {:?} {} elsewhere",
            sizes(dims),
            sizes(&first.dims),
            first.dtype
        );
        let place = first.origin;
        let diagnostic =
            Diagnostic::new(Code::ParamShape, call.span, message).note_at(place, "the first use");
        Err(self.report(
            diagnostic.help("one name has one shape and one dtype in all graphs; `scope` makes names differ"),
        ))
    }

    /// Refuses what has no value yet when parameters get their first ones.
    fn outside_init(&mut self, callee: &str, span: Span) -> Eval<()> {
        let Some(name) = self.traces.iter().find_map(|trace| trace.init_of.clone()) else { return Ok(()) };
        let message =
            format!("{callee}: the `:init` of `{name}` is computed before there are parameters and calls");
        let diagnostic = Diagnostic::new(Code::ParamForm, span, message);
        Err(self.report(diagnostic.help("make it of numbers, `iota` and operations on those")))
    }

    /// Traces how a parameter's first value is made.
    fn init_graph(
        &mut self,
        name: &str,
        function: &Rc<Function>,
        dims: &[Dim],
        dtype: DType,
        span: Span,
    ) -> Eval<Init> {
        self.open_trace(name);
        if let Some(trace) = self.traces.last_mut() {
            trace.init_of = Some(name.into());
        }
        let result = self.apply(function, Vec::new(), span).map(Value::single);
        let result = result.and_then(|made| {
            if let Value::Tensor(tensor) = &made {
                self.here(tensor, "param", span)?;
            }
            Ok(made)
        });
        let mut graph: Graph = self.close_trace();
        let tensor = match result? {
            Value::Tensor(tensor) => tensor,
            Value::Poisoned => return Err(crate::eval::machine::Stop::Reported),
            other => return Err(self.wants_tensor("param", &other, span)),
        };
        let wanted = dims.iter().map(|dim| dim.size).collect::<Vec<_>>();
        if tensor.ty.shape() != wanted || tensor.ty.dtype != dtype {
            let message = format!("param: `:init` gives {}, and `{name}` is {wanted:?} {dtype}", tensor.ty);
            return Err(self.fail(Code::ParamShape, span, message));
        }
        graph.outputs.push(Output { name: "out".to_string(), value: tensor.value });
        Ok(Init::Graph(Arc::new(graph)))
    }

    /// `(getf ctx :step)`: an integer scalar that the runtime feeds.
    pub(super) fn context(&mut self, name: &str, key: Span, span: Span) -> Eval {
        self.traced("getf", span)?;
        self.outside_init("getf", span)?;
        let context = match name {
            "step" => Context::Step,
            "microbatch" => Context::Microbatch,
            _ => {
                let diagnostic =
                    Diagnostic::new(Code::TypeRange, key, format!("getf: the context has no `:{name}`"));
                return Err(self.report(diagnostic.note("it has `:step` and `:microbatch`")));
            }
        };
        let trace = self.traces.last().expect("a graph is being traced");
        let known = trace.contexts.iter().find(|(other, _)| *other == context).map(|(_, value)| *value);
        let value = match known {
            Some(value) => value,
            None => {
                let value = self.emit_source(Op::Context(context), Type::plain(DType::I64, &[]), span);
                let trace = self.traces.last_mut().expect("a graph is being traced");
                trace.contexts.push((context, value));
                value
            }
        };
        Ok(self.tensor(value, None))
    }
}
