//! From `defgraph`s to graphs: inputs with every size known, the traced body, named outputs.

use super::machine::{Eval, Machine, Stop};
use super::scope::Env;
use super::trace::number_as;
use super::types::{TypeExpr, Wanted, is_plist};
use super::value::{AxisName, Closure, Function, Name, Number, Value};
use super::{Module, TracedRun};
use crate::diag::{Code, Diagnostic, Severity, Span};
use crate::ir::op::Input;
use crate::ir::{self, Graph, Marks, Op, Output, UserDomain};
use std::rc::Rc;
use sx_artifact::dtype::DType;
use sx_artifact::tensor::Data;

impl Machine<'_> {
    /// Traces the graphs of a loaded file.
    pub(super) fn trace_graphs(&mut self, module: usize) -> Module {
        self.module = module;
        let names = self.modules[module].graphs.clone();
        let runs = self.runs(module, &names);
        self.check_wanted(&names);
        let mut traced = Module::default();
        for name in names {
            let wanted = self.options.graphs.is_empty() || self.options.graphs.iter().any(|g| **g == *name);
            if !wanted || self.exhausted() {
                continue;
            }
            let run = runs.iter().find(|run| *run.graph == *name);
            self.marks = Marks { precision: run.and_then(|run| run.precision), tf32: false };
            if let Ok(graph) = self.trace_graph(module, &name) {
                traced.graphs.push(graph);
            }
            self.marks = Marks::default();
        }
        self.unused_dims(module);
        traced.params = std::mem::take(&mut self.params);
        traced.runs = runs;
        let named = self.modules[module].domains.iter();
        traced.domains =
            named.map(|(name, range)| UserDomain { name: (**name).into(), range: *range }).collect();
        traced.domains.sort_by(|a, b| a.name.cmp(&b.name));
        traced
    }

    /// What `defrun`s say of each graph; a name that is no graph, or stands in two, is reported.
    fn runs(&mut self, module: usize, graphs: &[Name]) -> Vec<TracedRun> {
        let mut traced: Vec<(TracedRun, Span)> = Vec::new();
        for run in self.modules[module].runs.clone() {
            for (name, span) in run.graphs {
                if !graphs.contains(&name) {
                    let mut diagnostic = Diagnostic::new(
                        Code::GraphName,
                        span,
                        format!("`{name}` is not a graph of this file"),
                    );
                    if let Some(near) = crate::diag::suggest::nearest(&name, graphs.iter().map(|g| &**g)) {
                        diagnostic = diagnostic.help(format!("a similar name is `{near}`"));
                    }
                    self.report(diagnostic);
                    continue;
                }
                if let Some((_, first)) = traced.iter().find(|(other, _)| *other.graph == *name) {
                    let diagnostic =
                        Diagnostic::new(Code::GraphName, span, format!("two runs list the graph `{name}`"));
                    let diagnostic = diagnostic.note_at(*first, "the first");
                    self.report(diagnostic);
                    continue;
                }
                traced.push((
                    TracedRun { graph: name.to_string(), seed: run.seed, precision: run.precision },
                    span,
                ));
            }
        }
        traced.into_iter().map(|(run, _)| run).collect()
    }

    fn check_wanted(&mut self, graphs: &[Name]) {
        for wanted in &self.options.graphs {
            if graphs.iter().any(|name| **name == **wanted) {
                continue;
            }
            let listed = graphs.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            let mut diagnostic = Diagnostic {
                code: Code::GraphName,
                message: format!("there is no graph `{wanted}`"),
                span: None,
                notes: Vec::new(),
                help: None,
            };
            diagnostic = match listed.is_empty() {
                true => diagnostic.note("the file has no `defgraph`"),
                false => diagnostic.note(format!("the file's graphs are {listed}")),
            };
            self.sink.report(diagnostic);
        }
    }

    fn unused_dims(&mut self, module: usize) {
        // A graph with a mistake may not have come to its sizes.
        if self.sink.count(Severity::Error) > 0 || !self.options.graphs.is_empty() {
            return;
        }
        let file = self.sources.name(self.modules[module].file).to_string();
        let unused: Vec<Name> =
            self.dims.iter().filter(|dim| !dim.used).map(|dim| dim.name.clone()).collect();
        for name in unused {
            let diagnostic = Diagnostic {
                code: Code::GraphDim,
                message: format!("`--dim {name}=…`: no graph of {file} has a size called `{name}`"),
                span: None,
                notes: Vec::new(),
                help: None,
            };
            self.sink.report(diagnostic);
        }
    }

    fn trace_graph(&mut self, module: usize, name: &str) -> Eval<Graph> {
        let Some(super::module::Binding::Value(Value::Function(function))) = self.binding(name) else {
            return Err(Stop::Reported);
        };
        let Function::Graph(closure) = &*function else { return Err(Stop::Reported) };
        self.module = module;
        self.calls.clear();
        self.scopes.clear();
        self.open_trace(name);
        let outputs = self.graph_body(closure);
        let mut graph = self.close_trace();
        self.traces.clear();
        graph.outputs = outputs?;
        Ok(graph)
    }

    /// Makes the inputs, evaluates the body, names the outputs.
    fn graph_body(&mut self, closure: &Closure) -> Eval<Vec<Output>> {
        let lambda = closure.lambda.clone();
        if !lambda.optional.is_empty() || !lambda.keys.is_empty() || lambda.rest.is_some() {
            let message = "a graph's inputs are all required: it has no `&optional`, `&key` or `&rest`";
            return Err(self.fail(Code::GraphInput, lambda.span, message));
        }
        let mut names: Vec<(Name, Value)> = Vec::new();
        let mut axes: Vec<AxisName> = Vec::new();
        let mut failed = None;
        for param in &lambda.required {
            let Some(ty) = &param.ty else {
                let message =
                    format!("the input `{}` has no type, and a graph's sizes are all known", param.name);
                let diagnostic = Diagnostic::new(Code::GraphInput, param.span, message);
                failed = Some(self.report(diagnostic.help(format!("write `({} [SIZE…])`", param.name))));
                continue;
            };
            match self.input(&param.name, ty, &mut axes) {
                Ok(value) => names.push((param.name.clone(), value)),
                Err(stop) => failed = Some(stop),
            }
        }
        if let Some(stop) = failed {
            return Err(stop);
        }
        if let Some(context) = &lambda.context {
            names.push((context.clone(), Value::Context));
        }
        let bound = axes.iter().map(|axis| (axis.name.clone(), Value::Axis(axis.clone())));
        let env = Env::default().with(bound.chain(names).collect());
        let value = self.eval_body(&lambda.body, &env)?;
        let value = self.check_results(closure, value, axes)?;
        let span = lambda.body.last().map_or(lambda.span, |tree| tree.span);
        let mut outputs = Vec::new();
        self.measure(&value, span)?;
        self.outputs(&value, span, &mut outputs)?;
        if outputs.is_empty() {
            if value.is_poisoned() {
                return Err(Stop::Reported);
            }
            let name = closure.name.as_deref().unwrap_or_default();
            return Err(self.fail(Code::GraphOutput, span, format!("the graph `{name}` gives nothing")));
        }
        Ok(outputs)
    }

    /// The input nodes of a parameter: one, or one a field, named by a dotted path.
    fn input(&mut self, name: &str, ty: &TypeExpr, axes: &mut Vec<AxisName>) -> Eval {
        if let Some(fields) = &ty.record {
            let mut values = Vec::new();
            for (field, ty) in fields {
                values.push((field.clone(), self.input(&format!("{name}.{field}"), ty, axes)?));
            }
            return Ok(Value::Record(Rc::new(values)));
        }
        let full = self.input_type(ty, name, ty.span)?;
        self.countable(&format!("the input `{name}`"), &full.dims, ty.span)?;
        let value = self.emit_source(Op::Input(Input { name: name.to_string() }), full, ty.span);
        let trace = self.traces.last_mut().expect("a graph is being traced");
        trace.graph.inputs.push(value.node);
        let tensor = self.tensor(value, None);
        // Binds the names in the shape, and compares those that stand twice.
        let wanted = Wanted::Parameter { function: None, name, key: false };
        self.check_type(ty, tensor, ty.span, wanted, axes)
    }

    fn outputs(&mut self, value: &Value, span: Span, outputs: &mut Vec<Output>) -> Eval<()> {
        match value {
            Value::Values(values) => {
                for (i, value) in values.iter().enumerate() {
                    self.output(&format!("out{i}"), value, span, outputs)?;
                }
                Ok(())
            }
            Value::List(_) | Value::Vector(_) | Value::Record(_) => {
                for (key, value) in parts(value, "out", "") {
                    self.output(&key, &value, span, outputs)?;
                }
                Ok(())
            }
            value => self.output("out", value, span, outputs),
        }
    }

    fn output(&mut self, name: &str, value: &Value, span: Span, outputs: &mut Vec<Output>) -> Eval<()> {
        let placed = match value {
            Value::Nil => return Ok(()),
            Value::Poisoned => return Err(Stop::Reported),
            Value::Tensor(tensor) => self.here(tensor, "the graph's result", span)?,
            Value::Bool(b) => self.scalar(Data::Bool(vec![*b]), span)?,
            Value::Int(_) | Value::Float(_) | Value::Axis(_) => self.number_output(name, value, span)?,
            Value::List(_) | Value::Vector(_) | Value::Record(_) => {
                for (key, value) in parts(value, &format!("{name}."), &format!("{name}.")) {
                    self.output(&key, &value, span, outputs)?;
                }
                return Ok(());
            }
            other => {
                let message =
                    format!("the output `{name}` is {}, and outputs are tensors or numbers", other.kind());
                return Err(self.fail(Code::GraphOutput, span, message));
            }
        };
        if outputs.iter().any(|output| output.name == name) {
            return Err(self.fail(Code::GraphOutput, span, format!("two outputs are called `{name}`")));
        }
        outputs.push(Output { name: name.to_string(), value: placed });
        Ok(())
    }

    fn number_output(&mut self, name: &str, value: &Value, span: Span) -> Eval<ir::Value> {
        let number = Number::of(value).expect("the caller asks for numbers");
        let dtype = if matches!(number, Number::Float(_)) { DType::F32 } else { DType::I32 };
        match number_as(number, dtype) {
            Some(data) => self.scalar(data, span),
            None => {
                let message = format!("the output `{name}` is {value}, which is out of range for {dtype}");
                Err(self.fail(Code::DimDtype, span, message))
            }
        }
    }
}

/// The named parts of a list, vector or record: by keyword where it is a property list, else by position.
fn parts(value: &Value, positional: &str, keyed: &str) -> Vec<(String, Value)> {
    if let Value::Record(fields) = value {
        return fields.iter().map(|(name, value)| (format!("{keyed}{name}"), value.clone())).collect();
    }
    let items = value.items().unwrap_or(&[]);
    if is_plist(items) {
        let pairs = items.chunks(2).map(|pair| match &pair[0] {
            Value::Keyword(key) => (format!("{keyed}{key}"), pair[1].clone()),
            _ => unreachable!("a property list has keywords at even places"),
        });
        return pairs.collect();
    }
    items.iter().enumerate().map(|(i, value)| (format!("{positional}{i}"), value.clone())).collect()
}
