//! A graph on a device: inputs in, outputs out, as often as wanted.

use crate::device::{Contents, Context, Device, Executable, Prepare, SharedBytes};
use crate::error::{Error, Refusal};
use crate::model::Model;
use std::cell::Cell;
use std::ops::Index;
use std::time::{Duration, Instant};
use sx_artifact::check::{self, Want};
use sx_artifact::manifest::{Graph, Port};
use sx_artifact::program::{Check, Program, Resource};
use sx_artifact::tensor::Tensor;

/// A graph that is ready to run on a device. Calls reuse its buffers.
pub struct Session {
    program: Program,
    graph: Graph,
    executable: Box<dyn Executable>,
    startup: Startup,
}

/// How long the parts of making a session took.
#[derive(Clone, Copy, Debug)]
pub struct Startup {
    /// Decoding and validating the program.
    pub program: Duration,
    /// Checking the digests of weights and constants.
    pub verify: Duration,
    /// The device's part until it asks for weights: kernels made ready, pipelines.
    pub pipelines: Duration,
    /// The rest of the device's part: buffers, and weights brought there.
    pub upload: Duration,
}

/// The contents of a model, with the moment when the first weights were asked for.
struct Timed<'a> {
    model: &'a Model,
    first_bytes: Cell<Option<Instant>>,
}

impl Contents for Timed<'_> {
    fn bytes_of(&self, resource: &Resource) -> Result<SharedBytes, Error> {
        self.first_bytes.set(self.first_bytes.get().or_else(|| Some(Instant::now())));
        self.model.bytes_of(resource)
    }

    fn entry(&self, name: &str) -> Result<SharedBytes, Error> {
        self.model.entry(name)
    }

    fn id(&self) -> [u8; 32] {
        self.model.id()
    }
}

impl Session {
    /// Prepares `graph` of `model` on `device`.
    pub fn new(model: &Model, graph: &str, device: &dyn Device) -> Result<Session, Error> {
        let start = Instant::now();
        let graph = model.graph(Some(graph))?.clone();
        let program = model.artifact().program(&graph.name)?;
        let decoded = Instant::now();
        model.verify_for(&program)?;
        let verified = Instant::now();
        let contents = Timed { model, first_bytes: Cell::new(None) };
        has_room(&program, device)?;
        let executable = device.prepare(Prepare { program: &program, contents: &contents })?;
        let prepared = Instant::now();
        let uploading = contents.first_bytes.get().unwrap_or(prepared);
        let startup = Startup {
            program: decoded - start,
            verify: verified - decoded,
            pipelines: uploading - verified,
            upload: prepared - uploading,
        };
        Ok(Session { program, graph, executable, startup })
    }

    /// What a call takes, in order.
    pub fn inputs(&self) -> &[Port] {
        &self.graph.inputs
    }

    /// What a call gives, in order.
    pub fn outputs(&self) -> &[Port] {
        &self.graph.outputs
    }

    /// What is executed.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// How long the parts of making this session took.
    pub fn startup(&self) -> Startup {
        self.startup
    }

    /// Bytes asked of the device.
    pub fn allocated_bytes(&self) -> u64 {
        self.executable.allocated_bytes()
    }

    /// Runs the graph once. Every input is given by name, in any order, with its dtype and shape, and values
    /// within its domain.
    pub fn run(&mut self, inputs: &[(&str, Tensor)]) -> Result<Outputs, Error> {
        let inputs: Vec<(&str, &Tensor)> = inputs.iter().map(|(name, tensor)| (*name, tensor)).collect();
        self.run_at(&inputs, Context::default())
    }

    /// Runs the graph once, as this step and microbatch, without taking the inputs.
    pub fn run_at(&mut self, inputs: &[(&str, &Tensor)], context: Context) -> Result<Outputs, Error> {
        let mut outputs = Outputs::default();
        self.run_into(inputs, context, &mut outputs)?;
        Ok(outputs)
    }

    /// Runs the graph once and puts what it gives into `outputs`, whose memory is used again: for loops of calls
    /// that are done with one answer when they ask for the next. After an error `outputs` is empty.
    pub fn run_into(
        &mut self,
        inputs: &[(&str, &Tensor)],
        context: Context,
        outputs: &mut Outputs,
    ) -> Result<(), Error> {
        let spare = std::mem::take(&mut outputs.tensors).into_iter().map(|(_, tensor)| tensor).collect();
        let inputs = bind(&self.graph.inputs, inputs)?;
        let tensors =
            self.executable.call(&inputs, context, spare).map_err(|error| resolve(&self.program, error))?;
        let names = self.graph.outputs.iter().map(|port| port.name.clone());
        outputs.tensors = names.zip(tensors).collect();
        Ok(())
    }

    /// Runs the graph once and times each launch, in nanoseconds.
    pub fn profile(&mut self, inputs: &[(&str, &Tensor)]) -> Result<Vec<u64>, Error> {
        let inputs = bind(&self.graph.inputs, inputs)?;
        self.executable.profile(&inputs, Context::default()).map_err(|error| resolve(&self.program, error))
    }
}

/// Refuses a program that asks for more than the device has, before anything tries to allocate it.
fn has_room(program: &Program, device: &dyn Device) -> Result<(), Error> {
    let (needed, most) = (device.needs(program), device.memory_bytes());
    match most.filter(|most| needed > *most) {
        None => Ok(()),
        Some(most) => Err(Error::Device(format!(
            "`{}` needs {needed} bytes, and `{}` has {most}; use smaller sizes or another device",
            program.graph,
            device.name()
        ))),
    }
}

/// What is asked of the tensor for an input.
pub fn want(port: &Port) -> Want<'_> {
    Want { name: &port.name, dtype: port.dtype, shape: &port.shape, check: port.check.as_ref() }
}

/// The tensors in the order of the ports, each fit for its port.
fn bind<'t>(ports: &[Port], inputs: &[(&str, &'t Tensor)]) -> Result<Vec<&'t Tensor>, Error> {
    let mut bound: Vec<Option<&'t Tensor>> = vec![None; ports.len()];
    for &(name, tensor) in inputs {
        let place = ports.iter().position(|port| port.name == name).ok_or_else(|| Error::NoInput {
            name: name.to_owned(),
            has: ports.iter().map(|port| port.name.clone()).collect(),
        })?;
        if bound[place].replace(tensor).is_some() {
            return Err(Error::InputTwice { name: name.to_owned() });
        }
    }
    let missing = ports.iter().zip(&bound).filter(|(_, tensor)| tensor.is_none());
    let names: Vec<String> = missing.map(|(port, _)| described(port)).collect();
    if !names.is_empty() {
        return Err(Error::MissingInputs { names });
    }
    let bound: Vec<&Tensor> = bound.into_iter().flatten().collect();
    for (port, tensor) in ports.iter().zip(&bound) {
        check::demand(&want(port), tensor)
            .map_err(|mismatch| Error::Input { name: port.name.clone(), mismatch })?;
    }
    Ok(bound)
}

/// A port with what it holds: `` `x` [2, 3] f32``, `` `ids` [8] i32 Index[V], below 5``.
pub fn described(port: &Port) -> String {
    let mut domain = if port.domain.is_empty() { String::new() } else { format!(" {}", port.domain) };
    if let Some(Check::Index { size }) = port.check {
        domain += &format!(", below {size}");
    }
    format!("`{}` {:?} {}{domain}", port.name, port.shape, port.dtype)
}

/// A device's trap, told in the words of the program.
fn resolve(program: &Program, error: Error) -> Error {
    let Error::Trap { site, position, value } = error else { return error };
    let Some(site) = program.sites.get(site as usize) else {
        return Error::Device(format!("the device reports a trap {site} that the program does not have"));
    };
    let place = program.origins.get(site.origin as usize);
    let place =
        place.map_or_else(String::new, |origin| format!("{}:{}:{}", origin.file, origin.line, origin.column));
    Error::Refused(Refusal {
        operation: site.operation.clone(),
        operand: site.operand.clone(),
        position,
        value,
        size: site.size,
        place,
    })
}

/// What a call gave, in the order of the graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outputs {
    tensors: Vec<(String, Tensor)>,
}

impl Outputs {
    /// The output called `name`.
    pub fn get(&self, name: &str) -> Option<&Tensor> {
        self.tensors.iter().find(|(known, _)| known == name).map(|(_, tensor)| tensor)
    }

    /// All outputs with their names.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Tensor)> {
        self.tensors.iter().map(|(name, tensor)| (name.as_str(), tensor))
    }

    /// The only output, or the first of several.
    pub fn first(&self) -> Option<&Tensor> {
        self.tensors.first().map(|(_, tensor)| tensor)
    }

    /// The tensors with their names, to keep.
    pub fn into_vec(self) -> Vec<(String, Tensor)> {
        self.tensors
    }
}

/// `outputs["out"]`; panics where there is no output of that name, as other maps do.
impl Index<&str> for Outputs {
    type Output = Tensor;

    fn index(&self, name: &str) -> &Tensor {
        match self.get(name) {
            Some(tensor) => tensor,
            None => panic!("there is no output `{name}`"),
        }
    }
}
