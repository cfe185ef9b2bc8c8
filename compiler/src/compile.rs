//! From traced graphs to what an artifact holds: pure, and the same for the same input.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use sx_artifact::code::Target;
use sx_artifact::manifest::Memory;
use sx_artifact::tensor::Tensor;
use sx_artifact::write::{Contents, Graph, NamedBytes, ParamValue};

use crate::codegen::{self, Emitted, Floor};
use crate::diag::{Code, Diagnostic, Sources};
use crate::eval::Module;
use crate::pipeline;
use crate::plan::Planned;

/// A compiled program: everything of an artifact but the values of its parameters.
pub struct Compiled {
    /// The graphs, in the order of the source.
    pub graphs: Vec<CompiledGraph>,
    /// The targets, each once.
    pub targets: Vec<Target>,
}

/// A compiled graph.
pub struct CompiledGraph {
    /// What every target runs.
    pub planned: Planned,
    /// What each target adds.
    pub emitted: BTreeMap<Target, Emitted>,
}

/// Compiles every graph of `module` for every target, whose devices have what `floor` says. An error is a kernel that
/// a target cannot have, with the reason and its place.
pub fn compile(
    module: &Module,
    sources: &Sources,
    targets: &[Target],
    floor: &Floor,
) -> Result<Compiled, Diagnostic> {
    let mut targets = targets.to_vec();
    targets.sort_unstable();
    targets.dedup();
    let mut graphs = Vec::new();
    for graph in &module.graphs {
        let planned = pipeline::program(graph, sources);
        let mut emitted = BTreeMap::new();
        for &target in &targets {
            let made = codegen::emitter(target, floor).emit(&planned.program);
            emitted.insert(target, made.map_err(|refused| refusal(&planned, refused))?);
        }
        graphs.push(CompiledGraph { planned, emitted });
    }
    Ok(Compiled { graphs, targets })
}

fn refusal(planned: &Planned, refused: codegen::Refused) -> Diagnostic {
    Diagnostic {
        code: Code::FitKernel,
        message: refused.message,
        span: planned.kernel_span(refused.kernel),
        notes: Vec::new(),
        help: Some("make the graph smaller, or leave that target out: `--target cpu`".to_owned()),
    }
}

impl CompiledGraph {
    /// The bytes it asks of each target's device.
    fn memory(&self) -> Vec<Memory> {
        let memory = |(&target, emitted): (&Target, &Emitted)| Memory { target, bytes: emitted.memory };
        self.emitted.iter().map(memory).collect()
    }
}

impl Compiled {
    /// Generated code, by the name of its entry.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let emitted = self.graphs.iter().flat_map(|graph| graph.emitted.values());
        emitted.flat_map(|emitted| &emitted.files).map(|(name, bytes)| (name.as_str(), bytes.as_slice()))
    }

    /// The contents of an artifact with these values for the parameters of `module`, which are all there.
    pub fn contents<'a>(
        &'a self,
        module: &Module,
        values: &'a BTreeMap<String, Arc<Tensor>>,
    ) -> Contents<'a> {
        let constants = self.graphs.iter().flat_map(|graph| &graph.planned.constants);
        Contents {
            compiler: concat!("sxc ", env!("CARGO_PKG_VERSION")).to_owned(),
            targets: self.targets.clone(),
            graphs: self
                .graphs
                .iter()
                .map(|graph| Graph { program: &graph.planned.program, memory: graph.memory() })
                .collect(),
            params: module
                .params
                .iter()
                .filter_map(|param| Some((param, values.get(&param.name)?)))
                .map(|(param, value)| ParamValue {
                    name: param.name.clone(),
                    dtype: value.dtype(),
                    shape: value.shape().to_vec(),
                    bytes: Cow::Borrowed(value.bytes()),
                })
                .collect(),
            constants: constants
                .map(|(name, value)| NamedBytes { name: name.clone(), bytes: Cow::Borrowed(value.bytes()) })
                .collect(),
            entries: self
                .entries()
                .map(|(name, bytes)| NamedBytes { name: name.to_owned(), bytes: Cow::Borrowed(bytes) })
                .collect(),
        }
    }
}
