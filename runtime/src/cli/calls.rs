//! What `run` and `bench` share: the options that name a model, a device and inputs.

use super::Failure;
use std::path::{Path, PathBuf};
use sx_artifact::manifest::Port;
use sx_files::tensors::{Rounding, Value, call};
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
    pub(super) fn model(&self) -> Result<Model, Failure> {
        open(&self.file, self.weights.as_deref())
    }
}

/// Opens an artifact. A program is not one yet.
pub(super) fn open(file: &Path, weights: Option<&Path>) -> Result<Model, Failure> {
    Model::open_with_weights(file, weights).map_err(|error| match error {
        Error::Artifact(_) if file.extension().is_some_and(|extension| extension == "sx") => {
            let (program, artifact) = (file.display(), file.with_extension("sxa"));
            Failure::Call(call::Mistake {
                usage: false,
                message: format!("`{program}` is a program, and `sxrun` runs what is built of it"),
                help: format!("`sxc build {program}` makes `{}`", artifact.display()),
            })
        }
        error => error.into(),
    })
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

impl Inputs {
    /// A tensor for each port; one that no option names is `otherwise`, or missing.
    pub(super) fn load(
        &self,
        ports: &[Port],
        otherwise: Option<Value>,
    ) -> Result<Vec<(String, Tensor)>, Failure> {
        let wanted: Vec<call::Port<'_>> =
            ports.iter().map(|port| call::Port { want: want(port), described: described(port) }).collect();
        let rounding = if self.round_inputs { Rounding::Round } else { Rounding::Refuse };
        let given = call::Given { values: &self.inputs, file: self.by_name.as_deref(), rounding, otherwise };
        Ok(call::inputs(&wanted, &given)?)
    }
}
