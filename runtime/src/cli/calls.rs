//! What `run` and `bench` share: the options that name a model, a device and inputs.

use super::Failure;
use std::path::PathBuf;
use sx_artifact::manifest::Port;
use sx_files::tensors::{self, Rounding, Value};
use sx_runtime::session::{described, want};
use sx_runtime::{Error, Model, Tensor};

/// What is run, and where.
#[derive(clap::Args)]
pub(super) struct Target {
    /// The artifact.
    pub(super) file: PathBuf,
    /// The graph; may be left out where there is one.
    pub(super) graph: Option<String>,
    /// `auto`, `cpu`, `wgpu`, `wgpu:N`, or part of an adapter's name.
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    pub(super) device: String,
    /// Where the weights of an artifact built with `--external-weights` are (default: beside FILE.sxa, as FILE.weights).
    #[arg(long, value_name = "FILE")]
    pub(super) weights: Option<PathBuf>,
}

impl Target {
    pub(super) fn model(&self) -> Result<Model, Error> {
        Model::open_with_weights(&self.file, self.weights.as_deref())
    }
}

/// Where inputs come from.
#[derive(clap::Args)]
pub(super) struct Inputs {
    /// An input: a number, `2x3:f32=1 2 3 4 5 6`, `@file.npy`, `@file.npz:key`, `@file.safetensors:key`,
    /// `random` or `random:SEED`.
    #[arg(short, long = "input", value_name = "NAME=VALUE")]
    inputs: Vec<String>,
    /// A `.npz` or `.safetensors` file with inputs by their names.
    #[arg(long = "inputs", value_name = "FILE")]
    by_name: Option<PathBuf>,
    /// Round values that an input's dtype cannot hold (f64 to f32, f32 to bf16) instead of refusing them.
    #[arg(long)]
    round_inputs: bool,
}

/// What becomes of an input that no option names.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Otherwise {
    /// It is missing.
    Refuse,
    /// It is random.
    Random,
}

impl Inputs {
    /// A tensor for each port.
    pub(super) fn load(
        &self,
        ports: &[Port],
        otherwise: Otherwise,
    ) -> Result<Vec<(String, Tensor)>, Failure> {
        let rounding = if self.round_inputs { Rounding::Round } else { Rounding::Refuse };
        let mut loaded = Vec::new();
        let mut missing = Vec::new();
        for (port, value) in ports.iter().zip(self.values(ports)?) {
            let value =
                value.or_else(|| (otherwise == Otherwise::Random).then_some(Value::Random { seed: 0 }));
            match value {
                Some(value) => loaded.push((port.name.clone(), value.load(&want(port), rounding)?)),
                None => missing.push(described(port)),
            }
        }
        if missing.is_empty() { Ok(loaded) } else { Err(Error::MissingInputs { names: missing }.into()) }
    }

    /// What is said of each port.
    fn values(&self, ports: &[Port]) -> Result<Vec<Option<Value>>, Failure> {
        let mut values: Vec<Option<Value>> = vec![None; ports.len()];
        if let Some(path) = &self.by_name {
            let names = tensors::names(path)?;
            for (port, value) in ports.iter().zip(&mut values) {
                if names.contains(&port.name) {
                    *value = Some(Value::File { path: path.clone(), key: Some(port.name.clone()) });
                }
            }
        }
        let mut seen = Vec::new();
        for text in &self.inputs {
            let (name, value) = text.split_once('=').ok_or_else(|| {
                Failure::Usage(format!("`--input {text}` names no value; write `--input NAME=VALUE`"))
            })?;
            let place = ports.iter().position(|port| port.name == name).ok_or_else(|| Error::NoInput {
                name: name.to_owned(),
                has: ports.iter().map(|port| port.name.clone()).collect(),
            })?;
            if seen.contains(&place) {
                return Err(Error::InputTwice { name: name.to_owned() }.into());
            }
            seen.push(place);
            values[place] = Some(Value::parse(value)?);
        }
        Ok(values)
    }
}
