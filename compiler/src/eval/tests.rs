//! Programs and what they give.

mod errors;
mod habits;
mod numeric;
mod ordinary;
mod traced;

use super::machine::Machine;
use super::value::Value;
use super::{EvalOptions, Loader, Module, evaluate};
use crate::diag::render::{Paint, render_all};
use crate::diag::{Severity, Sink, Sources};
use crate::ir::{Graph, Op};
use std::collections::HashMap;

/// Files by path.
pub(super) struct Files(pub(super) HashMap<&'static str, &'static str>);

impl Loader for Files {
    fn load(&mut self, path: &str) -> Result<String, String> {
        self.0.get(path).map(|text| text.to_string()).ok_or_else(|| "no such file".to_string())
    }
}

/// The value of a program's last form as it prints, or the codes and messages of its errors.
pub(super) fn value_of(text: &str) -> String {
    let options = EvalOptions { max_depth: 1000, max_steps: 200_000, ..EvalOptions::default() };
    let (mut sources, mut sink) = (Sources::default(), Sink::default());
    let root = sources.add("test.sx", text);
    let mut files = Files(HashMap::new());
    let printed = super::on_a_deep_stack(&options, || {
        let mut machine = Machine::new(&mut sources, &mut sink, &mut files, &options);
        let id = machine.load_root(root).ok()?;
        let last: Value = machine.modules[id].last.clone();
        let printed = last.to_string();
        Some(printed)
    });
    match (sink.count(Severity::Error), printed) {
        (0, Some(printed)) => printed,
        _ => listed(&sink),
    }
}

pub(super) fn listed(sink: &Sink) -> String {
    let line = |d: &crate::diag::Diagnostic| format!("{}: {}", d.code.as_str(), d.message);
    sink.diagnostics().iter().map(line).collect::<Vec<_>>().join("\n")
}

/// A program's module, or its diagnostics as they are rendered.
pub(super) fn traced(text: &str, dims: &[(&str, u64)]) -> Result<Module, String> {
    let dims = dims.iter().map(|(name, size)| (name.to_string(), *size)).collect();
    let options = EvalOptions { dims, ..EvalOptions::default() };
    let (mut sources, mut sink) = (Sources::default(), Sink::default());
    let root = sources.add("test.sx", text);
    let module = evaluate(&mut sources, &mut sink, root, &mut Files(HashMap::new()), &options);
    module.ok_or_else(|| render_all(sink.diagnostics(), &sources, Paint::Plain))
}

/// As [`traced`], of a program without mistakes.
pub(super) fn module(text: &str) -> Module {
    traced(text, &[]).unwrap_or_else(|errors| panic!("{errors}"))
}

/// A graph in short: each node as `op operands : type`.
pub(super) fn short(graph: &Graph) -> String {
    let mut lines = Vec::new();
    for id in graph.ids() {
        let node = graph.node(id);
        let name = match &node.op {
            Op::Input(input) => format!("input {}", input.name),
            Op::Param(param) => format!("param {}", param.name),
            op => crate::ops::rules(op).about().name.to_string(),
        };
        let args: String = node.args.iter().map(|arg| format!(" %{}", arg.node.0)).collect();
        lines.push(format!("%{} = {name}{args} : {}", id.0, node.results[0]));
    }
    for output in &graph.outputs {
        lines.push(format!("{} = %{}", output.name, output.value.node.0));
    }
    lines.join("\n")
}
