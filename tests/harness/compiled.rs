//! Graphs as programs: by the interpreter of kernels and on devices.

use std::collections::BTreeMap;
use std::sync::Arc;
use sx_artifact::dtype::DType;
use sx_artifact::program::{Resource, Role};
use sx_artifact::tensor::Tensor;
use sx_compiler::codegen::wgsl;
use sx_compiler::diag::Sources;
use sx_compiler::ir::Graph;
use sx_compiler::pipeline;
use sx_compiler::plan::{self, Planned};
use sx_runtime::device::{Contents, Context, Device, Prepare, SharedBytes};
use sx_runtime::error::Error;

/// The program of a graph that came from no source; it holds what the container asks of every program.
pub fn planned(graph: &Graph) -> Result<Planned, String> {
    let mut sources = Sources::default();
    sources.add("test.sx", "");
    let planned = pipeline::program(graph, &sources);
    planned.program.validate().map_err(|invalid| format!("the program is invalid: {invalid}"))?;
    Ok(planned)
}

/// The outputs of `graph` by the interpreter of kernels; a trap in words.
pub fn interpreted(graph: &Graph, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
    let planned = planned(graph)?;
    let feed = |resource: &Resource| match resource.role {
        Role::Input => inputs[input_at(&planned, resource)].clone(),
        _ => constant(&planned, resource),
    };
    plan::interpret::run(&planned.program, &feed).map_err(|stop| stop.to_string())
}

fn input_at(planned: &Planned, wanted: &Resource) -> usize {
    let inputs = planned.program.resources.iter().filter(|resource| resource.role == Role::Input);
    inputs.clone().position(|resource| resource.name == wanted.name).expect("an input of the program")
}

fn constant(planned: &Planned, resource: &Resource) -> Tensor {
    let found = planned.constants.iter().find(|(name, _)| *name == resource.name);
    (*found.expect("a constant of the program").1).clone()
}

/// The outputs of `graph` on a device, which a second call into the memory of others repeats; a failure in words.
pub fn on_device(device: &dyn Device, graph: &Graph, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
    let planned = planned(graph)?;
    let mut entries: BTreeMap<String, Vec<u8>> = match device.name() {
        "cpu" => BTreeMap::new(),
        _ => wgsl::generate(&planned.program).map_err(|refused| refused.message)?.files,
    };
    entries.extend(planned.constants.iter().map(|(name, value)| (name.clone(), value.bytes().to_vec())));
    let contents = Memory(entries);
    let job = Prepare { program: &planned.program, contents: &contents };
    let mut executable = device.prepare(job).map_err(|error| error.to_string())?;
    let inputs: Vec<&Tensor> = inputs.iter().collect();
    let mut call =
        |spare| executable.call(&inputs, Context::default(), spare).map_err(|error: Error| error.to_string());
    let outputs = call(Vec::new())?;
    let again = call(outputs.iter().map(spoilt).collect())?;
    if again == outputs { Ok(outputs) } else { Err("a second call gives other outputs".to_owned()) }
}

/// A tensor of the same shape whose every byte is another, where that has a meaning.
fn spoilt(tensor: &Tensor) -> Tensor {
    let bytes: Vec<u8> = match tensor.dtype() {
        DType::Bool => tensor.bytes().iter().map(|byte| byte ^ 1).collect(),
        _ => tensor.bytes().iter().map(|byte| !byte).collect(),
    };
    Tensor::from_bytes(tensor.dtype(), tensor.shape(), &bytes).expect("as many bytes as before")
}

/// An artifact in memory: entries by name, constants among them.
pub struct Memory(pub BTreeMap<String, Vec<u8>>);

impl Contents for Memory {
    fn bytes_of(&self, resource: &Resource) -> Result<SharedBytes, Error> {
        self.entry(&resource.name)
    }

    fn entry(&self, name: &str) -> Result<SharedBytes, Error> {
        let bytes = self.0.get(name).ok_or_else(|| Error::Device(format!("no entry `{name}`")))?;
        Ok(SharedBytes::new(Arc::new(bytes.clone()), 0, bytes.len()))
    }

    fn id(&self) -> [u8; 32] {
        [0; 32]
    }
}
