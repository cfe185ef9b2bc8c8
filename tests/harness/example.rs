//! Programs that say in their comments how they are built, run, and what they answer.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sx_artifact::code::Target;
use sx_artifact::tensor::Tensor;
use sx_artifact::write;
use sx_compiler::codegen::FLOORS;
use sx_compiler::compile;
use sx_compiler::driver::weights;
use sx_compiler::ir::{Graph, Op};
use sx_compiler::reference;
use sx_files::tensors::{Rounding, Value, Want, print};
use sx_runtime::device::Device;
use sx_runtime::{Model, Outputs, Session, device};

use crate::program;

/// What a program's comments say.
pub struct Example {
    folder: PathBuf,
    name: String,
    text: String,
    /// The words after `sxc build`, and after `sxrun run`.
    build: Vec<String>,
    run: Vec<String>,
    /// What the run prints.
    pub answer: String,
}

/// A compiled example with what it runs on.
pub struct Built {
    graph: Graph,
    weights: BTreeMap<String, Arc<Tensor>>,
    inputs: Vec<(String, Tensor)>,
    /// The open artifact.
    pub model: Model,
}

impl Example {
    /// Reads the program at `path`; what its comments lack is an error in words.
    pub fn read(path: &Path) -> Result<Example, String> {
        Example::with("", path)
    }

    /// Reads the program at `path` with these comments in front of its own.
    pub fn with(comments: &str, path: &Path) -> Result<Example, String> {
        let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
        let text = format!("{comments}{text}");
        let comments: Vec<&str> =
            text.lines().map_while(|line| line.strip_prefix(';')).map(trimmed).collect();
        let command = |start: &str| {
            let line = comments.iter().find_map(|line| line.strip_prefix(start));
            line.map(words).ok_or(format!("no comment says `{start}`"))
        };
        let (build, run) = (command("sxc build ")?, command("sxrun run ")?);
        let lines = comments.iter().skip_while(|line| !line.starts_with("sxrun run ")).skip(1);
        let answer: Vec<&str> = lines.skip_while(|line| line.is_empty()).copied().collect();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let folder = path.parent().unwrap_or(Path::new(".")).to_owned();
        let answer = answer.join("\n").trim_end().to_owned();
        Ok(Example { folder, name, text, build, run, answer })
    }

    /// Compiles it for `targets`, and loads what it runs on.
    pub fn build(&self, targets: &[Target]) -> Result<Built, String> {
        let mut checked = program::check(&self.name, &self.text, &self.folder);
        let Some(module) = checked.module.take() else { return Err(checked.rendered()) };
        let files =
            self.values(&self.build, "--weights").map(|file| self.folder.join(file)).collect::<Vec<_>>();
        let mut sink = sx_compiler::diag::Sink::default();
        let weights = weights::values(&module.params, &files, &mut sink)
            .map_err(|_| "not every parameter has a value".to_owned())?;
        let compiled = compile::compile(&module, &checked.sources, targets, &FLOORS[0])
            .map_err(|refused| refused.message)?;
        let bytes = write::to_bytes(&compiled.contents(&module, &weights.values));
        let model = Model::from_bytes(bytes.map_err(|error| error.to_string())?)
            .map_err(|error| error.to_string())?;
        let [graph] = module.graphs.as_slice() else { return Err("not one graph".to_owned()) };
        let inputs = self.inputs(&model)?;
        Ok(Built { graph: graph.clone(), weights: weights.values, inputs, model })
    }

    /// The values of an option that may be given several times.
    fn values<'a>(&'a self, words: &'a [String], option: &'a str) -> impl Iterator<Item = &'a str> {
        words.windows(2).filter(move |pair| pair[0] == option).map(|pair| pair[1].as_str())
    }

    fn inputs(&self, model: &Model) -> Result<Vec<(String, Tensor)>, String> {
        let ports = &model.graphs()[0].inputs;
        let given: BTreeMap<&str, &str> =
            self.values(&self.run, "--input").filter_map(|text| text.split_once('=')).collect();
        let file = self.values(&self.run, "--inputs").next();
        let load = |port: &sx_artifact::manifest::Port| {
            let value = match (given.get(port.name.as_str()), file) {
                (Some(text), _) => Value::parse(text).map_err(|error| error.to_string())?,
                (None, Some(file)) => {
                    Value::File { path: self.folder.join(file), key: Some(port.name.clone()) }
                }
                (None, None) => return Err(format!("input `{}` is not given", port.name)),
            };
            let want =
                Want { name: &port.name, dtype: port.dtype, shape: &port.shape, check: port.check.as_ref() };
            let tensor = value.load(&want, Rounding::Refuse).map_err(|error| error.to_string())?;
            Ok((port.name.clone(), tensor))
        };
        ports.iter().map(load).collect()
    }
}

impl Built {
    /// What the reference answers, as `sxc eval` prints it.
    pub fn reference(&self) -> Result<String, String> {
        let feed = |op: &Op| match op {
            Op::Input(input) => {
                let found = self.inputs.iter().find(|(name, _)| *name == input.name);
                found.map(|(_, tensor)| Arc::new(tensor.clone()))
            }
            Op::Param(param) => self.weights.get(&param.name).cloned(),
            _ => None,
        };
        let outputs = reference::run(&self.graph, &feed).map_err(|(_, trap)| format!("{trap:?}"))?;
        let names = self.graph.outputs.iter().map(|output| output.name.as_str());
        Ok(printed(names.zip(outputs.iter().map(|tensor| &**tensor))))
    }

    /// What a device answers.
    pub fn run(&self, device: &str) -> Result<Outputs, sx_runtime::Error> {
        let selected = device::select(device, self.model.targets())?;
        let mut session = Session::new(&self.model, &self.graph.name, &*selected.device)?;
        let inputs: Vec<(&str, Tensor)> =
            self.inputs.iter().map(|(name, tensor)| (name.as_str(), tensor.clone())).collect();
        session.run(&inputs)
    }

    /// The bytes that the artifact states for each of its targets, and those that a session asks of the device.
    pub fn memory(&self, devices: &[&dyn Device]) -> Result<Vec<(String, u64, u64)>, sx_runtime::Error> {
        let graph = self.model.graph(Some(&self.graph.name))?;
        let stated = |target: Target| {
            graph.memory.iter().find(|need| need.target == target).map_or(0, |need| need.bytes)
        };
        let pairs = devices.iter().map(|device| {
            let target = if device.name() == "cpu" { Target::Cpu } else { Target::Wgpu };
            let session = Session::new(&self.model, &self.graph.name, *device)?;
            Ok((device.name().to_owned(), stated(target), session.allocated_bytes()))
        });
        pairs.collect()
    }

    /// What a device answers, as `sxrun run` prints it.
    pub fn on(&self, device: &str) -> Result<String, String> {
        self.run(device).map(|outputs| printed(outputs.iter())).map_err(|error| error.to_string())
    }
}

/// Whether two printed answers are the same, numbers within a millionth.
pub fn agree(a: &str, b: &str) -> bool {
    let parts = |text: &str| -> Vec<String> {
        text.split(|c: char| c.is_whitespace() || "[]".contains(c))
            .filter(|part| !part.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let (a, b) = (parts(a), parts(b));
    let near = |a: &String, b: &String| match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) => (a - b).abs() <= 1e-6 * a.abs().max(b.abs()).max(1.0),
        _ => a == b,
    };
    a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| near(a, b))
}

fn printed<'a>(outputs: impl Iterator<Item = (&'a str, &'a Tensor)>) -> String {
    outputs.map(|(name, tensor)| print::tensor(name, tensor)).collect::<Vec<_>>().join("\n")
}

/// A comment without the space that leads it.
fn trimmed(comment: &str) -> &str {
    comment.strip_prefix(' ').unwrap_or(comment)
}

/// The words of a command line; single quotes join.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (at, part) in line.split('\'').enumerate() {
        match at % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_owned)),
            _ => words.push(part.to_owned()),
        }
    }
    words
}
