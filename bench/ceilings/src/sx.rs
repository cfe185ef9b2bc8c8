//! A graph of an artifact with the inputs it is run on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use sx_artifact::program::Step;
use sx_runtime::device::{self, Context};
use sx_runtime::{Model, Outputs, Session, Tensor};

/// A session and its inputs.
pub(crate) struct Graph {
    session: Session,
    inputs: Vec<(String, Tensor)>,
    /// Outputs of the last run, kept so that they can be compared with a peer's.
    outputs: Outputs,
}

impl Graph {
    pub(crate) fn open(
        artifact: &Path,
        graph: &str,
        device: &str,
        files: &BTreeMap<String, PathBuf>,
    ) -> Result<Graph, crate::Failure> {
        let model = Model::open(artifact)?;
        let device = device::select(device, model.targets())?.device;
        let session = Session::new(&model, graph, &*device)?;
        let mut inputs = Vec::new();
        for port in session.inputs() {
            let file =
                files.get(&port.name).ok_or_else(|| format!("no file for the input `{}`", port.name))?;
            let tensor = Tensor::from_bytes(port.dtype, &port.shape, &std::fs::read(file)?)
                .ok_or_else(|| format!("{} does not hold the input `{}`", file.display(), port.name))?;
            inputs.push((port.name.clone(), tensor));
        }
        Ok(Graph { session, inputs, outputs: Outputs::default() })
    }

    pub(crate) fn run(&mut self) -> Result<(), crate::Failure> {
        let inputs = named(&self.inputs);
        Ok(self.session.run_into(&inputs, Context::default(), &mut self.outputs)?)
    }

    /// The kernel and the nanoseconds of each launch.
    pub(crate) fn profile(&mut self) -> Result<Vec<(String, u64)>, crate::Failure> {
        let times = self.session.profile(&named(&self.inputs))?;
        let program = self.session.program();
        let mut names = Vec::new();
        kernels(&program.steps, &mut |kernel| names.push(program.kernels[kernel as usize].name.clone()));
        Ok(names.into_iter().zip(times).collect())
    }

    pub(crate) fn write_output(&self, name: &str, file: &Path) -> Result<(), crate::Failure> {
        let tensor = self.outputs.get(name).ok_or("no such output")?;
        Ok(std::fs::write(file, tensor.bytes())?)
    }
}

fn named(inputs: &[(String, Tensor)]) -> Vec<(&str, &Tensor)> {
    inputs.iter().map(|(name, tensor)| (name.as_str(), tensor)).collect()
}

/// Calls `each` with the kernel of every launch, those of loops once.
fn kernels(steps: &[Step], each: &mut impl FnMut(u32)) {
    for step in steps {
        match step {
            Step::Launch(launch) => each(launch.kernel),
            Step::Loop { body, .. } => kernels(body, each),
            Step::Copy { .. } => {}
        }
    }
}
