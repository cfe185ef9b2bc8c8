//! The staged evaluator: from trees to traced graphs.
//!
//! Evaluation is compile time. Ordinary values (numbers, lists, functions) are computed; a tensor is symbolic,
//! and an operation on tensors records a node in the graph being traced. Loops and recursion therefore unroll,
//! `if` asks ordinary values only, and a run is bounded in steps and depth. A mistake is reported where it is
//! made and its value becomes one that silences consequences, so that a run finds the mistakes beside it too.
//!
//! Read in this order: `value`, `scope`, `machine` (expressions and calls), `limits` (how many of them),
//! `special` (the forms), `lambda` (parameters) and `types` (what is written beside them), `module`, `define` and
//! `resolve` (files), `trace` and `graph` (tensors), `builtin`.

mod builtin;
mod bury;
mod convert;
mod define;
mod doc;
mod graph;
mod habits;
mod lambda;
mod limits;
mod machine;
mod module;
mod quote;
mod resolve;
mod scope;
mod special;
#[cfg(test)]
mod tests;
mod trace;
mod types;
mod value;
mod words;

pub use doc::{Doc, Optional, doc, documented};

use crate::diag::{Code, Diagnostic, FileId, Severity, Sink, Sources, Span};
use crate::ir::{Dim, Graph, UserDomain};
use machine::{CommandDim, Machine};
use std::sync::Arc;
use sx_artifact::dtype::DType;
use sx_artifact::tensor::Tensor;

/// How files that a program imports are read.
pub trait Loader: Send {
    /// The text of the file at `path`, or why there is none.
    fn load(&mut self, path: &str) -> Result<String, String>;
}

/// What the command line says about an evaluation.
#[derive(Clone, Debug)]
pub struct EvalOptions {
    /// Sizes by name, as `--dim` gives them; they stand over a `defaxis`.
    pub dims: Vec<(String, u64)>,
    /// How deeply expressions and calls may nest.
    pub max_depth: usize,
    /// How many steps an evaluation may take.
    pub max_steps: u64,
    /// The graphs to trace; every one where it is empty.
    pub graphs: Vec<String>,
}

impl Default for EvalOptions {
    fn default() -> EvalOptions {
        EvalOptions { dims: Vec::new(), max_depth: 10_000, max_steps: 2_500_000, graphs: Vec::new() }
    }
}

/// A program after evaluation.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// The program's graphs, in order, under their names.
    pub graphs: Vec<Graph>,
    /// Every parameter that a graph uses, in the order of first use.
    pub params: Vec<ParamDecl>,
    /// What `defrun` says of graphs; one that is not here has seed 0 and precision f32.
    pub runs: Vec<TracedRun>,
    /// The ranges that the program, or what it imports, names: types are shown with them.
    pub domains: Vec<UserDomain>,
}

impl Module {
    /// The graph's seed.
    pub fn seed(&self, graph: &str) -> u64 {
        self.runs.iter().find(|run| run.graph == graph).map_or(0, |run| run.seed)
    }
}

/// What `defrun` says of a graph. The precision is in the nodes' marks too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracedRun {
    /// The graph's name.
    pub graph: String,
    /// The seed of its random draws.
    pub seed: u64,
    /// The precision that f32 results are stored in, where it was said.
    pub precision: Option<DType>,
}

/// A learned value of the program.
#[derive(Clone, Debug)]
pub struct ParamDecl {
    /// The name, scopes included.
    pub name: String,
    /// The shape.
    pub dims: Vec<Dim>,
    /// The dtype.
    pub dtype: DType,
    /// Its value where no file gives one.
    pub init: Option<Init>,
    /// Where it is first used.
    pub origin: Span,
}

/// How a parameter's first value is made.
#[derive(Clone, Debug)]
pub enum Init {
    /// One repeated element: a tensor of rank 0.
    Constant(Tensor),
    /// A graph without inputs whose output `out` is the value.
    Graph(Arc<Graph>),
}

/// How much stack an evaluation has for each level that expressions and calls may nest.
const STACK_A_LEVEL: usize = 12 << 10;

/// Evaluates a program. `None` where it has errors, all of which are in `sink`.
pub fn evaluate(
    sources: &mut Sources,
    sink: &mut Sink,
    root: FileId,
    loader: &mut dyn Loader,
    options: &EvalOptions,
) -> Option<Module> {
    on_a_deep_stack(options, || {
        let before = sink.count(Severity::Error);
        let mut machine = Machine::new(sources, sink, loader, options);
        machine.command_dims();
        let module = machine.load_root(root).ok().map(|id| machine.trace_graphs(id));
        let warnings = std::mem::take(&mut machine.warnings);
        let clean = sink.count(Severity::Error) == before;
        for warning in warnings.into_iter().filter(|_| clean) {
            sink.report(warning);
        }
        module.filter(|_| clean)
    })
}

/// Runs on a thread whose stack is deep enough for the options' limit.
fn on_a_deep_stack<T: Send>(options: &EvalOptions, run: impl FnOnce() -> T + Send) -> T {
    let stack = (16 << 20) + options.max_depth.saturating_mul(STACK_A_LEVEL);
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("evaluate".to_string()).stack_size(stack);
        let handle = thread.spawn_scoped(scope, run).expect("the system has room for one more thread");
        match handle.join() {
            Ok(value) => value,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

impl Machine<'_> {
    /// Takes the sizes of the command line; one name with two sizes is an error.
    fn command_dims(&mut self) {
        for (name, size) in &self.options.dims {
            if let Some(first) = self.dims.iter().find(|given| *given.name == **name) {
                if first.dim.size != *size {
                    let message = format!("`--dim` gives `{name}` two sizes: {} and {size}", first.dim.size);
                    let code = Code::GraphDim;
                    self.sink.report(Diagnostic { code, message, span: None, notes: Vec::new(), help: None });
                }
                continue;
            }
            let dim = Dim { size: *size, axis: Some(self.new_axis(name)) };
            self.dims.push(CommandDim { name: name.as_str().into(), dim, used: false });
        }
    }
}
