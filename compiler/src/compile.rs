//! From traced graphs to what an artifact holds: pure, and the same for the same input.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use sx_artifact::manifest::Memory;
use sx_artifact::tensor::Tensor;
use sx_artifact::wgpu::{WgpuCode, wgpu_bytes};
use sx_artifact::write::{Contents, Graph, NamedBytes, ParamValue};

use crate::codegen::wgsl;
use crate::diag::{Code, Diagnostic, Sources};
use crate::eval::Module;
use crate::pipeline;
use crate::plan::Planned;

/// What an artifact is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// The processor: it runs the kernels of the program itself.
    Cpu,
    /// GPUs by way of WGSL, SPIR-V and Metal's language.
    Wgpu,
}

impl Target {
    /// The target's name in artifacts and on command lines.
    pub fn name(self) -> &'static str {
        match self {
            Target::Cpu => "cpu",
            Target::Wgpu => "wgpu",
        }
    }
}

/// A compiled program: everything of an artifact but the values of its parameters.
pub struct Compiled {
    /// A program for each graph, in the order of the source.
    pub graphs: Vec<Planned>,
    /// What the `wgpu` target adds to each, where it is a target.
    pub wgpu: Vec<WgpuCode>,
    /// The targets, each once.
    pub targets: Vec<Target>,
    /// Generated code, by the name of its entry.
    pub entries: BTreeMap<String, Vec<u8>>,
}

/// Compiles every graph of `module` for every target. An error is a kernel that a target cannot have, with
/// the reason and its place.
pub fn compile(module: &Module, sources: &Sources, targets: &[Target]) -> Result<Compiled, Diagnostic> {
    let graphs: Vec<Planned> = module.graphs.iter().map(|graph| pipeline::program(graph, sources)).collect();
    let mut targets = targets.to_vec();
    targets.sort_unstable();
    targets.dedup();
    let mut entries = BTreeMap::new();
    let mut wgpu = Vec::new();
    for planned in graphs.iter().filter(|_| targets.contains(&Target::Wgpu)) {
        let generated = wgsl::generate(&planned.program).map_err(|refused| Diagnostic {
            code: Code::FitKernel,
            message: refused.message,
            span: planned.kernel_span(refused.kernel),
            notes: Vec::new(),
            help: Some("make the graph smaller, or leave that target out: `--target cpu`".to_owned()),
        })?;
        entries.extend(generated.files);
        wgpu.push(generated.code);
    }
    Ok(Compiled { graphs, wgpu, targets, entries })
}

impl Compiled {
    /// The bytes that the graph at a position asks of each target's device.
    fn memory(&self, at: usize) -> Vec<Memory> {
        let program = &self.graphs[at].program;
        let bytes = |target: Target| match target {
            Target::Cpu => program.buffer_bytes(),
            Target::Wgpu => wgpu_bytes(program, &self.wgpu[at]),
        };
        let memory = |&target: &Target| Memory { target: target.name().to_owned(), bytes: bytes(target) };
        self.targets.iter().map(memory).collect()
    }

    /// The contents of an artifact with these values for the parameters of `module`, which are all there.
    pub fn contents<'a>(
        &'a self,
        module: &Module,
        values: &'a BTreeMap<String, Arc<Tensor>>,
    ) -> Contents<'a> {
        let constants = self.graphs.iter().flat_map(|planned| &planned.constants);
        Contents {
            compiler: concat!("sxc ", env!("CARGO_PKG_VERSION")).to_owned(),
            targets: self.targets.iter().map(|target| target.name().to_owned()).collect(),
            graphs: self
                .graphs
                .iter()
                .enumerate()
                .map(|(at, planned)| Graph { program: &planned.program, memory: self.memory(at) })
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
                .entries
                .iter()
                .map(|(name, bytes)| NamedBytes { name: name.clone(), bytes: Cow::Borrowed(bytes) })
                .collect(),
        }
    }
}
