//! `sxc eval`: a graph run on the reference interpreter.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use sx_artifact::tensor::{Data, Tensor};
use sx_files::tensors::{self, Rounding, Value, Want, json, print};

use super::args::Eval;
use super::check::{self, Loaded};
use super::{Exit, Failure, Terminal};
use crate::diag::{Sources, suggest};
use crate::driver;
use crate::eval::Module;
use crate::ir::{Graph, NodeId, Op, Type};
use crate::ops::Trap;
use crate::plan::names;
use crate::reference;

pub(super) fn run(args: &Eval, terminal: &Terminal) -> Result<Exit, Failure> {
    let graphs: Vec<String> = args.graph.iter().cloned().collect();
    let Loaded { module, sources } = check::loaded(&args.program, &graphs, terminal)?;
    let graph = chosen(&module)?;
    let weights = check::weights(&module, &args.weights, &sources, terminal)?;
    has_memory(graph)?;
    let inputs = inputs(graph, args)?;
    let feed = |op: &Op| match op {
        Op::Input(input) => inputs.get(&input.name).cloned(),
        Op::Param(param) => weights.values.get(&param.name).cloned(),
        _ => None,
    };
    let outputs = reference::run(graph, &|op| feed(op).or_else(|| context(op)))
        .map_err(|(node, trap)| trapped(graph, node, &trap, &sources))?;
    let named: Vec<(&str, &Tensor)> = graph
        .outputs
        .iter()
        .zip(&outputs)
        .map(|(output, tensor)| (output.name.as_str(), &**tensor))
        .collect();
    save(&args.outputs, &named)?;
    show(&graph.name, &named, args, terminal)?;
    Ok(Exit::Done)
}

/// The interpreter stores every value whole: one that cannot be stored is refused before it is tried.
fn has_memory(graph: &Graph) -> Result<(), Failure> {
    let types = || graph.nodes().iter().flat_map(|node| &node.results);
    if driver::can_hold(types()) {
        return Ok(());
    }
    let largest = types().max_by_key(|ty| ty.count()).map(|ty| ty.shown(&[])).unwrap_or_default();
    let message = format!("`{}` has a value {largest}, more than this machine's memory holds", graph.name);
    Err(Failure::new(Exit::Device, message).help("evaluate it with smaller sizes"))
}

/// The only graph there is.
fn chosen(module: &Module) -> Result<&Graph, Failure> {
    match module.graphs.as_slice() {
        [only] => Ok(only),
        several => {
            let names: Vec<String> = several.iter().map(|graph| format!("`{}`", graph.name)).collect();
            let failure = Failure::new(Exit::Usage, "the program has several graphs");
            Err(failure.help(format!("name one behind the file: {}", names.join(", "))))
        }
    }
}

/// The tensors that `--inputs` and `--input` give, for every input of the graph.
fn inputs(graph: &Graph, args: &Eval) -> Result<BTreeMap<String, Arc<Tensor>>, Failure> {
    let rounding = if args.round_inputs { Rounding::Round } else { Rounding::Refuse };
    let wanted: BTreeMap<&str, &Type> = graph
        .inputs
        .iter()
        .map(|id| graph.node(*id))
        .filter_map(|node| match &node.op {
            Op::Input(input) => Some((input.name.as_str(), &node.results[0])),
            _ => None,
        })
        .collect();
    let mut given: BTreeMap<String, Value> = BTreeMap::new();
    let mut unused = Vec::new();
    if let Some(path) = &args.inputs {
        // A file may serve several graphs: what this one does not take is left alone, as `sxrun` does.
        let names = tensors::names(path).map_err(fault)?;
        for name in names {
            if !wanted.contains_key(name.as_str()) {
                unused.push(name);
                continue;
            }
            let value = Value::File { path: path.clone(), key: Some(name.clone()) };
            given.insert(name, value);
        }
    }
    let mut named = Vec::new();
    for text in &args.input {
        let (name, value) = text.split_once('=').ok_or_else(|| {
            let failure = Failure::new(Exit::Usage, format!("`--input {text}` has no value"));
            failure.help("write `--input NAME=VALUE`, such as `--input x=random`")
        })?;
        known(name, &wanted)?;
        if named.contains(&name) {
            let failure = Failure::new(Exit::Fault, format!("the input `{name}` is given twice"));
            return Err(failure.help("leave one out"));
        }
        named.push(name);
        given.insert(name.to_owned(), Value::parse(value).map_err(fault)?);
    }
    let missing: Vec<String> = wanted
        .iter()
        .filter(|(name, _)| !given.contains_key(**name))
        .map(|(name, ty)| {
            let domain = ty.domain.shown(&ty.dims, &[]).map_or(String::new(), |domain| format!(" {domain}"));
            let near = suggest::nearest_key(name, unused.iter().map(String::as_str));
            let near = near.map_or(String::new(), |key| format!(" (the file has `{key}`)"));
            format!("`{name}` {ty}{domain}{near}")
        })
        .collect();
    if !missing.is_empty() {
        let failure = Failure::new(Exit::Fault, format!("inputs without a value: {}", missing.join(", ")));
        return Err(match unused.as_slice() {
            [] => failure.help("give each by `--input NAME=VALUE`, or all by `--inputs FILE.npz`"),
            unused => {
                let names = suggest::some_of(unused.iter().map(String::as_str));
                failure.help(format!("the file's {names} are no inputs: give them the names of inputs, or each input by `--input NAME=VALUE`"))
            }
        });
    }
    let load = |(name, value): (String, Value)| {
        let ty = wanted[name.as_str()];
        let (shape, values) = (ty.shape(), names::check(ty));
        let want = Want { name: &name, dtype: ty.dtype, shape: &shape, check: values.as_ref() };
        let tensor = value.load(&want, rounding).map_err(fault)?;
        Ok((name, Arc::new(tensor)))
    };
    given.into_iter().map(load).collect()
}

fn known(name: &str, wanted: &BTreeMap<&str, &Type>) -> Result<(), Failure> {
    if wanted.contains_key(name) {
        return Ok(());
    }
    let failure = Failure::new(Exit::Fault, format!("the graph has no input `{name}`"));
    let all: Vec<String> = wanted.keys().map(|name| format!("`{name}`")).collect();
    Err(match suggest::nearest(name, wanted.keys().copied()) {
        Some(near) => failure.help(format!("did you mean `{near}`?")),
        None if all.is_empty() => failure.help("it takes no inputs"),
        None => failure.help(format!("its inputs are {}", all.join(", "))),
    })
}

/// A single call is the first: step and microbatch are 0.
fn context(op: &Op) -> Option<Arc<Tensor>> {
    matches!(op, Op::Context(_)).then(|| Arc::new(Tensor::new(&[], Data::I32(vec![0]))))
}

fn trapped(graph: &Graph, node: NodeId, trap: &Trap, sources: &Sources) -> Failure {
    let span = names::users_span(graph, graph.node(node).origin, sources);
    let place = sources.position(span.file, span.start);
    let message = format!(
        "{}:{}:{}: `{}`: the index {} at position {} is outside its axis of {}",
        sources.name(span.file),
        place.line,
        place.column,
        sources.brief(span),
        trap.value,
        trap.position,
        trap.size
    );
    Failure::new(Exit::Fault, message).help(format!("indices go from 0 to {}", trap.size.saturating_sub(1)))
}

/// `FILE.npz` takes all outputs, `NAME=FILE.npy` one.
fn save(files: &[String], outputs: &[(&str, &Tensor)]) -> Result<(), Failure> {
    for file in files {
        let one = file.split_once('=').and_then(|(name, path)| {
            outputs.iter().find(|(output, _)| *output == name).map(|output| (output, path))
        });
        match (one, file.split_once('=')) {
            (Some((output, path)), _) => tensors::save(Path::new(path), &[*output]).map_err(fault)?,
            (None, Some((name, path))) if !Path::new(file).exists() && !name.contains('/') => {
                let failure =
                    Failure::new(Exit::Fault, format!("the graph has no output `{name}` for `{path}`"));
                let all: Vec<String> = outputs.iter().map(|(name, _)| format!("`{name}`")).collect();
                return Err(failure.help(format!("its outputs are {}", all.join(", "))));
            }
            _ => tensors::save(Path::new(file), outputs).map_err(fault)?,
        }
    }
    Ok(())
}

fn show(graph: &str, outputs: &[(&str, &Tensor)], args: &Eval, terminal: &Terminal) -> Result<(), Failure> {
    if args.json {
        return terminal.document(&json::Outputs { graph, device: "reference", outputs: outputs.to_vec() });
    }
    if args.outputs.is_empty() {
        for (name, tensor) in outputs {
            terminal.result(&format!("{}\n", print::tensor(name, tensor)))?;
        }
    }
    Ok(())
}

fn fault(error: tensors::Error) -> Failure {
    Failure::new(Exit::Fault, error.to_string())
}
