//! A graph of an artifact with the inputs it is run on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use sx_runtime::device::{self, Context};
use sx_runtime::{Model, Session, Tensor};

/// A session and its inputs.
pub(crate) struct Graph {
    session: Session,
    inputs: Vec<(String, Tensor)>,
    /// Outputs of the last run, kept so that they can be compared with a peer's.
    outputs: Vec<(String, Tensor)>,
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
        Ok(Graph { session, inputs, outputs: Vec::new() })
    }

    pub(crate) fn run(&mut self) -> Result<(), crate::Failure> {
        let inputs: Vec<(&str, &Tensor)> =
            self.inputs.iter().map(|(name, tensor)| (name.as_str(), tensor)).collect();
        self.outputs = self.session.run_at(&inputs, Context::default())?.into_vec();
        Ok(())
    }

    pub(crate) fn write_output(&self, name: &str, file: &Path) -> Result<(), crate::Failure> {
        let (_, tensor) = self.outputs.iter().find(|(known, _)| known == name).ok_or("no such output")?;
        Ok(std::fs::write(file, tensor.bytes())?)
    }
}
