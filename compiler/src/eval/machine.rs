//! The machine: expressions to values, and the one place that reports.

use super::builtin::{self, Arg, Builtin};
use super::module::{Binding, Module};
use super::special::{self, Special};
use super::trace::Trace;
use super::value::{Function, Name, Tensor, Value};
use super::{EvalOptions, Loader, ParamDecl};
use crate::diag::{Code, Diagnostic, Sink, Sources, Span};
use crate::ir::{Marks, OriginId};
use crate::syntax::{Datum, Tree};
use std::collections::HashMap;
use std::rc::Rc;

/// Why an evaluation ended without a value. Its cause has been reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// A mistake: what stands beside it can still be evaluated.
    Reported,
    /// A limit: the whole top-level form is given up.
    Limit,
}

/// What evaluation gives.
pub(super) type Eval<T = Value> = Result<T, Stop>;

/// A call of a function written in sx, while it runs.
pub(super) struct Frame {
    /// The calling form.
    pub(super) site: Span,
    /// Whether that form stands in a file of the user's.
    pub(super) by_user: bool,
    /// Who is called, for messages.
    pub(super) callee: Option<Name>,
    /// The origin of nodes that this call makes, and the trace it belongs to, once it made one.
    pub(super) origin: Option<(u32, OriginId)>,
}

/// How many arguments count for nothing beside their call.
const FEW: usize = 64;

/// Everything in force while a program is evaluated.
pub(super) struct Machine<'a> {
    pub(super) sources: &'a mut Sources,
    pub(super) sink: &'a mut Sink,
    /// Warnings that are told of a program without errors.
    pub(super) warnings: Vec<Diagnostic>,
    pub(super) loader: &'a mut dyn Loader,
    pub(super) options: &'a EvalOptions,
    pub(super) builtins: HashMap<&'static str, &'static Builtin>,
    pub(super) specials: HashMap<&'static str, &'static Special>,
    pub(super) modules: Vec<Module>,
    /// The module whose code is running.
    pub(super) module: usize,
    /// The modules that are being loaded, outermost first, with the import that asked for each.
    pub(super) loading: Vec<(usize, Option<Span>)>,
    pub(super) calls: Vec<Frame>,
    pub(super) traces: Vec<Trace>,
    pub(super) next_trace: u32,
    pub(super) next_axis: u32,
    /// `scope` prefixes in force.
    pub(super) scopes: Vec<String>,
    pub(super) marks: Marks,
    pub(super) params: Vec<ParamDecl>,
    /// The sizes that the command line gives, and which of them were used.
    pub(super) dims: Vec<CommandDim>,
    pub(super) steps: u64,
    pub(super) depth: usize,
    /// The names that `let`s being evaluated have bound for their bodies, each with the depth of calls.
    pub(super) siblings: Vec<(usize, Name)>,
}

/// A size from the command line.
pub(super) struct CommandDim {
    pub(super) name: Name,
    pub(super) dim: crate::ir::Dim,
    pub(super) used: bool,
}

impl<'a> Machine<'a> {
    pub(super) fn new(
        sources: &'a mut Sources,
        sink: &'a mut Sink,
        loader: &'a mut dyn Loader,
        options: &'a EvalOptions,
    ) -> Machine<'a> {
        Machine {
            sources,
            sink,
            warnings: Vec::new(),
            loader,
            options,
            builtins: builtin::all().map(|b| (b.name, b)).collect(),
            specials: special::all().map(|s| (s.name, s)).collect(),
            modules: Vec::new(),
            module: 0,
            loading: Vec::new(),
            calls: Vec::new(),
            traces: Vec::new(),
            next_trace: 0,
            next_axis: 0,
            scopes: Vec::new(),
            marks: Marks::default(),
            params: Vec::new(),
            dims: Vec::new(),
            steps: 0,
            depth: 0,
            siblings: Vec::new(),
        }
    }

    /// The value of an expression.
    pub(super) fn eval(&mut self, tree: &Tree, env: &super::scope::Env) -> Eval {
        Ok(match &tree.datum {
            Datum::Int(n) => Value::Int(*n),
            Datum::Float(x) => Value::Float(*x),
            Datum::Bool(b) => Value::Bool(*b),
            Datum::Nil => Value::Nil,
            Datum::Str(s) => Value::str(s.as_str()),
            Datum::Keyword(k) => Value::Keyword(k.as_str().into()),
            Datum::Symbol(name) => {
                let value = self.variable(name, tree.span, env)?;
                self.name_tensor(value, tree.span)
            }
            Datum::Vector(items) => {
                self.enter(tree.span)?;
                let values = self.eval_each(items, env);
                self.leave();
                let values = values?;
                if values.iter().any(Value::is_poisoned) { Value::Poisoned } else { Value::vector(values) }
            }
            Datum::List(items) if items.is_empty() => Value::Nil,
            Datum::List(items) => {
                self.enter(tree.span)?;
                let value = self.form(tree, items, env);
                self.leave();
                let value = value?;
                self.name_tensor(value, tree.span)
            }
        })
    }

    fn form(&mut self, tree: &Tree, items: &[Tree], env: &super::scope::Env) -> Eval {
        let (head, rest) = (&items[0], &items[1..]);
        if let Datum::Symbol(name) = &head.datum {
            if let Some(special) = self.specials.get(name.as_str()) {
                return (special.run)(self, tree, rest, env);
            }
            if env.slot(name).is_none() {
                match self.binding(name) {
                    Some(Binding::Macro(closure)) => {
                        let expansion = self.expand(&closure, rest, tree.span)?;
                        return self.eval(&expansion, env);
                    }
                    // What follows is not code as it is written here.
                    None if self.form_elsewhere(name).is_some() => {
                        return Err(self.unknown(name, head.span, env.names()));
                    }
                    _ => {}
                }
            }
        }
        let function = self.eval(head, env);
        let function = self.recover(function)?.single();
        let args = self.eval_args(rest, env)?;
        match &function {
            Value::Poisoned => Ok(Value::Poisoned),
            Value::Function(f) => self.call(&f.clone(), args, tree.span),
            other => {
                let message = format!("{} cannot be called: it is not a function", other.kind());
                Err(self.report(Diagnostic::new(Code::CallValue, head.span, message)))
            }
        }
    }

    /// Evaluates arguments, each on its own: a mistake in one does not hide those in others.
    pub(super) fn eval_args(&mut self, trees: &[Tree], env: &super::scope::Env) -> Eval<Vec<Arg>> {
        let values = self.eval_each(trees, env)?;
        Ok(values.into_iter().zip(trees).map(|(value, tree)| Arg { value, span: tree.span }).collect())
    }

    fn eval_each(&mut self, trees: &[Tree], env: &super::scope::Env) -> Eval<Vec<Value>> {
        // Few arguments are part of their call; very many take memory like a list.
        if let Some(far) = trees.get(FEW) {
            self.copied(trees.len(), far.span)?;
        }
        let mut values = Vec::with_capacity(trees.len());
        for tree in trees {
            let value = self.eval(tree, env);
            values.push(self.recover(value)?.single());
        }
        Ok(values)
    }

    /// Evaluates forms in order; the value of the last. A mistake in one does not hide those in the next.
    pub(super) fn eval_body(&mut self, body: &[Tree], env: &super::scope::Env) -> Eval {
        let mut last = Value::Nil;
        for tree in body {
            let value = self.eval(tree, env);
            last = self.recover(value)?;
        }
        Ok(last)
    }

    /// Turns a reported mistake into the value that silences its consequences. In the library a mistake of the
    /// user's call ends that call: nothing else there is the user's.
    pub(super) fn recover(&self, result: Eval) -> Eval {
        let library =
            self.modules.get(self.module).is_some_and(|module| self.sources.is_library(module.file));
        match result {
            Err(Stop::Reported) if self.exhausted() => Err(Stop::Limit),
            Err(Stop::Reported) if !library => Ok(Value::Poisoned),
            other => other,
        }
    }

    /// Remembers which of the user's expressions a tensor is the value of.
    fn name_tensor(&self, value: Value, span: Span) -> Value {
        match value {
            Value::Tensor(tensor) if !self.sources.is_library(span.file) => {
                Value::Tensor(Tensor { written: Some(span), ..tensor })
            }
            other => other,
        }
    }

    /// Calls a function with evaluated arguments.
    pub(super) fn call(&mut self, function: &Rc<Function>, args: Vec<Arg>, site: Span) -> Eval {
        match &**function {
            Function::Builtin(builtin) => self.call_builtin(builtin, args, site),
            Function::Closure(closure) | Function::Graph(closure) => self.call_closure(closure, args, site),
        }
    }

    /// Calls a function with values that stand for themselves; `site` is where messages point.
    pub(super) fn apply(&mut self, function: &Rc<Function>, values: Vec<Value>, site: Span) -> Eval {
        self.enter(site)?;
        let args = values.into_iter().map(|value| Arg { value, span: site }).collect();
        let value = self.call(function, args, site);
        self.leave();
        value
    }

    fn call_closure(&mut self, closure: &super::value::Closure, args: Vec<Arg>, site: Span) -> Eval {
        if args.iter().any(|arg| arg.value.is_poisoned()) {
            return Ok(Value::Poisoned);
        }
        let by_user = !self.sources.is_library(site.file);
        self.calls.push(Frame { site, by_user, callee: closure.name.clone(), origin: None });
        let module = std::mem::replace(&mut self.module, closure.module);
        let value = self.run_closure(closure, args, site);
        self.module = module;
        self.calls.pop();
        value
    }

    fn run_closure(&mut self, closure: &super::value::Closure, args: Vec<Arg>, site: Span) -> Eval {
        let bound = self.bind(closure, args, site)?;
        let value = self.eval_body(&closure.lambda.body, &bound.env)?;
        self.check_results(closure, value, bound.axes)
    }

    /// Reports a diagnostic. One whose place is a line of the library shows the user's call instead, and
    /// the line as a note.
    pub(super) fn report(&mut self, mut diagnostic: Diagnostic) -> Stop {
        if let Some(span) = diagnostic.span
            && self.sources.is_library(span.file)
            && let Some(frame) = self.calls.iter().rev().find(|frame| frame.by_user)
        {
            diagnostic.span = Some(frame.site);
            let place = match &frame.callee {
                Some(name) => {
                    diagnostic.message = spoken_for(&diagnostic.message, name);
                    format!("in `{name}`, a function of the library")
                }
                None => "in a function of the library".to_string(),
            };
            diagnostic = diagnostic.note_at(span, place);
        }
        self.sink.report(diagnostic);
        Stop::Reported
    }

    /// Reports what a function of the library finds wrong with its arguments: at the user's call, and without a line
    /// of the library, which would tell no more.
    pub(super) fn refuse_call(&mut self, mut diagnostic: Diagnostic) -> Stop {
        if let Some(frame) = self.calls.iter().rev().find(|frame| frame.by_user) {
            diagnostic.span = Some(frame.site);
        }
        self.report(diagnostic)
    }

    /// Reports a diagnostic that has no notes.
    pub(super) fn fail(&mut self, code: Code, span: Span, message: impl Into<String>) -> Stop {
        self.report(Diagnostic::new(code, span, message))
    }

    /// A short form of the source text, for naming an operand.
    pub(super) fn text(&self, span: Span) -> String {
        self.sources.brief(span)
    }
}

/// A message of what `outer` called inside, as one of `outer`: `sum: no axis 3` becomes `mean: no axis 3`.
fn spoken_for(message: &str, outer: &str) -> String {
    match message.split_once(": ") {
        Some((inner, rest)) if !inner.contains([' ', '`']) => format!("{outer}: {rest}"),
        _ => message.to_string(),
    }
}
