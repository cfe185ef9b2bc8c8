//! A program as the command line takes it, without a command line.

use std::path::Path;

use sx_artifact::code::Target;
use sx_artifact::dtype::DType;
use sx_artifact::tensor::{Data, Tensor};
use sx_artifact::write;
use sx_compiler::codegen::FLOORS;
use sx_compiler::compile;
use sx_compiler::diag::render::{Paint, render_all};
use sx_compiler::diag::{Sink, Sources};
use sx_compiler::driver::weights;
use sx_compiler::eval::{EvalOptions, Loader, Module, evaluate};
use sx_compiler::fits;
use sx_compiler::ir::{Graph, NodeId, text};
use sx_runtime::Model;

use crate::random::Random;

/// Imports come from a folder of the repository.
pub struct Folder<'a>(pub &'a Path);

impl Loader for Folder<'_> {
    fn load(&mut self, path: &str) -> Result<String, String> {
        std::fs::read_to_string(self.0.join(path)).map_err(|_| "there is no such file".to_owned())
    }
}

/// What became of a program.
pub struct Checked {
    /// Every text that was read.
    pub sources: Sources,
    /// Every diagnostic.
    pub sink: Sink,
    /// The graphs, where there is no error.
    pub module: Option<Module>,
}

impl Checked {
    /// The diagnostics, as users see them.
    pub fn rendered(&self) -> String {
        render_all(self.sink.diagnostics(), &self.sources, Paint::Plain)
    }

    /// The codes of the diagnostics, in order, each once.
    pub fn codes(&self) -> Vec<&'static str> {
        let mut codes: Vec<&str> = self.sink.diagnostics().iter().map(|d| d.code.as_str()).collect();
        codes.dedup();
        codes
    }
}

/// Checks `text` under the name `name`. A line such as `; sxc check model.sx --dim b=8` among its comments says
/// what the command line says; after `sxc build` the parameters need values, too.
pub fn check(name: &str, text: &str, folder: &Path) -> Checked {
    let command =
        text.lines().take_while(|line| line.starts_with(';')).find(|line| line.starts_with("; sxc "));
    let words: Vec<&str> = command.unwrap_or_default().split_whitespace().collect();
    // Small enough that a program without an end is one soon, and large enough for every other.
    let mut options = EvalOptions { max_depth: 500, max_steps: 200_000, ..EvalOptions::default() };
    for pair in words.windows(2) {
        match (pair[0], pair[1].split_once('=')) {
            ("--dim", Some((name, size))) => {
                options.dims.push((name.to_owned(), size.parse().expect("a size is a number")));
            }
            ("--graph", _) => options.graphs.push(pair[1].to_owned()),
            _ => {}
        }
    }
    let (mut sources, mut sink) = (Sources::default(), Sink::default());
    let root = sources.add(name, text);
    let module = evaluate(&mut sources, &mut sink, root, &mut Folder(folder), &options);
    if let (Some(module), Some(&"build")) = (&module, words.get(2)) {
        // A failure that is no diagnostic would be a file that cannot be read, and there is none.
        _ = weights::values(&module.params, &[], &mut sink);
    }
    if let (Some(module), Some(at)) = (&module, words.iter().position(|word| *word == "--fits")) {
        let floor = FLOORS.iter().find(|floor| words.get(at + 1) == Some(&floor.name));
        fits::check(module, &sources, floor.expect("a floor by its name"), &mut sink);
    }
    Checked { sources, sink, module }
}

/// A program's artifact, opened; it has no parameters.
pub fn model(name: &str, text: &str) -> Model {
    let checked = check(name, text, Path::new("."));
    let module = checked.module.as_ref().unwrap_or_else(|| panic!("{}", checked.rendered()));
    let compiled = compile::compile(module, &checked.sources, &[Target::Cpu, Target::Wgpu], &FLOORS[0]);
    let compiled = compiled.unwrap_or_else(|refused| panic!("{}", refused.message));
    let bytes = write::to_bytes(&compiled.contents(module, &Default::default())).expect("an artifact");
    Model::from_bytes(bytes).expect("the same artifact")
}

/// The graph of one expression over inputs, such as `(x [2 3]) (i [2] :i32)`. It keeps no origins, so that it can
/// be planned without its text.
pub fn graph(inputs: &str, body: &str) -> Graph {
    let program = format!("(import sx/nn)\n(defgraph expression ({inputs}) {body})");
    let mut checked = check("expression.sx", &program, Path::new("."));
    let Some(module) = checked.module.take() else { panic!("{body}: {}", checked.rendered()) };
    let printed = text::print(&module.graphs[0], None);
    text::read(&printed).unwrap_or_else(|error| panic!("{error}\n{printed}"))
}

/// A value for each input of a graph, the same on every run: floats in [-4, 4), integers below `ids`, masks.
pub fn values(graph: &Graph, ids: usize) -> Vec<Tensor> {
    let mut random = Random::new(graph.nodes().len() as u64);
    let mut value = |id: NodeId| {
        let ty = graph.ty(id.into());
        let shape = ty.shape();
        let mut below = |end: usize| {
            let count = shape.iter().product::<u64>();
            (0..count).map(|_| random.below(end)).collect::<Vec<usize>>().into_iter()
        };
        let float = |x: usize| x as f32 / 8192.0 - 4.0;
        let data: Data = match ty.dtype {
            DType::F32 => below(1 << 16).map(float).collect::<Vec<_>>().into(),
            DType::Bf16 => below(1 << 16).map(|x| half::bf16::from_f32(float(x))).collect::<Vec<_>>().into(),
            DType::I32 => below(ids).map(|x| x as i32).collect::<Vec<_>>().into(),
            DType::I64 => below(ids).map(|x| x as i64).collect::<Vec<_>>().into(),
            DType::Bool => below(2).map(|x| x == 1).collect::<Vec<_>>().into(),
        };
        Tensor::new(&shape, data)
    };
    graph.inputs.iter().map(|&id| value(id)).collect()
}
