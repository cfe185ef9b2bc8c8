//! The values of a program's parameters: from safetensors files, or made as the program says.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sx_artifact::dtype::DType;
use sx_artifact::tensor::{Data, Tensor};
use sx_files::tensors::{self, Mismatch, Rounding, Want, safetensors};

use crate::diag::suggest::{nearest_key, some_of};
use crate::diag::{Code, Diagnostic, Sink};
use crate::driver;
use crate::eval::{Init, ParamDecl};
use crate::failure::{Exit, Failure};
use crate::reference;

/// The values of a program's parameters, and what the files hold beside them.
pub struct Weights {
    /// Values by parameter.
    pub values: BTreeMap<String, Arc<Tensor>>,
    /// A sentence about keys that no parameter uses, if there are any.
    pub unused: Option<String>,
    /// A sentence about each parameter that several files have.
    pub twice: Vec<String>,
}

/// A value for each of `params`: the last file that has one, or else its `:init`. What is missing or does not
/// fit is one diagnostic.
pub fn values(params: &[ParamDecl], files: &[PathBuf], sink: &mut Sink) -> Result<Weights, Failure> {
    let mut values = BTreeMap::new();
    let (mut wrong, mut unused) = (BTreeMap::new(), BTreeSet::new());
    let (mut seen, mut twice) = (BTreeMap::new(), Vec::new());
    for path in files {
        let failed = |error: sx_files::tensors::Error| Failure::new(Exit::Fault, error.to_string());
        of_known_format(path)?;
        let file = safetensors::File::open(path).map_err(failed)?;
        for (key, raw) in file.tensors().map_err(failed)? {
            let Some(param) = params.iter().find(|param| param.name == key) else {
                unused.insert(key);
                continue;
            };
            if let Some(before) = seen.insert(key.clone(), path) {
                let (before, path) = (before.display(), path.display());
                twice.push(format!("`{key}` stands in `{before}` and in `{path}`; the second is taken"));
            }
            let shape = shape(param);
            let want = Want { name: &key, dtype: param.dtype, shape: &shape, check: None };
            match raw.convert(&want, Rounding::Refuse) {
                Ok(tensor) => {
                    wrong.remove(&key);
                    values.insert(key, Arc::new(tensor));
                }
                Err(error) => {
                    let words = unfit(&key, param.dtype, path, error);
                    wrong.insert(key, words);
                }
            }
        }
    }
    for param in params {
        if values.contains_key(&param.name) || wrong.contains_key(&param.name) {
            continue;
        }
        let size = crate::ir::Type::plain(param.dtype, &shape(param));
        if param.init.is_some() && !driver::can_hold([&size]) {
            let words =
                format!("`{}` {} is more than this machine's memory holds", param.name, size.shown(&[]));
            wrong.insert(param.name.clone(), words);
            continue;
        }
        match initial(param) {
            Some(tensor) => _ = values.insert(param.name.clone(), Arc::new(tensor)),
            None => {
                let ty = crate::ir::Type::plain(param.dtype, &shape(param));
                let near = match nearest_key(&param.name, unused.iter().map(String::as_str)) {
                    Some(key) => format!("; a key that is near is `{key}`"),
                    None => String::new(),
                };
                let words = format!("`{}` {} has no value{near}", param.name, ty.shown(&[]));
                wrong.insert(param.name.clone(), words);
            }
        }
    }
    if let Some(first) = params.iter().find(|param| wrong.contains_key(&param.name)) {
        let message = match wrong.len() {
            1 => format!("the parameter `{}` has no value that fits", first.name),
            n => format!("{n} parameters have no value that fits"),
        };
        let list: Vec<String> = wrong.into_values().collect();
        let mut diagnostic = Diagnostic::new(Code::ParamValue, first.origin, message).note(list.join("\n"));
        if let Some(unused) = told(&unused) {
            diagnostic = diagnostic.note(unused);
        }
        let help = match files {
            [] => "give their values by `--weights FILE.safetensors`, or an `:init` in the program",
            _ => {
                "give the tensors of the files the names and types of the parameters, scopes included, or the parameters an `:init`"
            }
        };
        sink.report(diagnostic.help(help));
        return Err(Failure::told());
    }
    Ok(Weights { values, unused: told(&unused), twice })
}

/// Why a file's tensor cannot be a parameter's value.
fn unfit(key: &str, dtype: DType, path: &Path, error: tensors::Error) -> String {
    let file = path.display();
    match error {
        tensors::Error::Input { mismatch: Mismatch::Shape { expected, found }, .. } => {
            format!("`{key}` has the shape {expected:?}, and in `{file}` it is {found:?}")
        }
        tensors::Error::Input { mismatch: Mismatch::DType { found, .. }, .. } => {
            format!("`{key}` is {dtype}, and in `{file}` it is {found}: convert it there")
        }
        tensors::Error::Input { mismatch, .. } => format!("`{key}` of `{file}` {mismatch}"),
        other => other.to_string(),
    }
}

fn shape(param: &ParamDecl) -> Vec<u64> {
    param.dims.iter().map(|dim| dim.size).collect()
}

/// The value that `:init` makes.
fn initial(param: &ParamDecl) -> Option<Tensor> {
    match param.init.as_ref()? {
        Init::Constant(element) => Some(repeated(element, &shape(param))),
        Init::Graph(graph) => {
            let outputs = reference::run(graph, &|_| None).ok()?;
            outputs.into_iter().next().map(|tensor| Tensor::clone(&tensor))
        }
    }
}

/// A tensor of one repeated element.
fn repeated(element: &Tensor, shape: &[u64]) -> Tensor {
    let count = shape.iter().product::<u64>() as usize;
    let data = match element.data() {
        Data::F32(v) => Data::F32(vec![v[0]; count]),
        Data::Bf16(v) => Data::Bf16(vec![v[0]; count]),
        Data::I32(v) => Data::I32(vec![v[0]; count]),
        Data::I64(v) => Data::I64(vec![v[0]; count]),
        Data::Bool(v) => Data::Bool(vec![v[0]; count]),
    };
    Tensor::new(shape, data)
}

fn told(unused: &BTreeSet<String>) -> Option<String> {
    let verb = if unused.len() == 1 { "a key of the weights is" } else { "keys of the weights are" };
    let names = some_of(unused.iter().map(String::as_str));
    (!unused.is_empty()).then(|| format!("{verb} used by no parameter: {names}"))
}

/// Refuses other files than safetensors by what they begin with.
fn of_known_format(path: &Path) -> Result<(), Failure> {
    let mut head = [0; 6];
    // What cannot be read is told where it is read.
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut head));
    let (what, by) = match &head {
        _ if read.is_err() => return Ok(()),
        b"\x93NUMPY" => {
            ("a `.npy` array", "save_file({\"NAME\": numpy.load(\"FILE.npy\")}, \"FILE.safetensors\")")
        }
        [b'P', b'K', 3, 4, ..] if path.extension().is_some_and(|end| end == "npz") => {
            ("a `.npz` archive", "save_file(dict(numpy.load(\"FILE.npz\")), \"FILE.safetensors\")")
        }
        [b'P', b'K', 3, 4, ..] => (
            "a zip archive, such as a checkpoint of PyTorch",
            "save_file(torch.load(\"FILE\"), \"FILE.safetensors\")",
        ),
        [b'G', b'G', b'U', b'F', ..] => ("a GGUF file", "save_file(tensors, \"FILE.safetensors\")"),
        _ => return Ok(()),
    };
    let library = if by.contains("torch.load") { "torch" } else { "numpy" };
    let message = format!("`{}` is {what}, and weights are read from `.safetensors` files", path.display());
    Err(Failure::new(Exit::Fault, message)
        .help(format!("convert it with Python's `safetensors.{library}`: `{by}`")))
}
