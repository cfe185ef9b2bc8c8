//! `sxc eval`: a graph run on the reference interpreter.

use std::collections::BTreeMap;
use std::sync::Arc;

use sx_artifact::tensor::{Data, Tensor};
use sx_files::tensors::{Rounding, Want, call, json, print};

use super::args::Eval;
use super::check::{self, Loaded};
use super::{Exit, Failure, Terminal};
use crate::diag::Sources;
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
    let names: Vec<&str> = graph.outputs.iter().map(|output| output.name.as_str()).collect();
    let saves = call::saves(&args.outputs, &names).map_err(mistake)?;
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
    for save in &saves {
        save.write(&named).map_err(|error| Failure::new(Exit::Fault, error.to_string()))?;
        terminal.note(&format!("wrote {}", save.path.display()));
    }
    let printed = named.into_iter().filter(|(name, _)| !saves.iter().any(|save| save.has(name)));
    show(&graph.name, printed.collect(), args, terminal)?;
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
    let nodes = graph.inputs.iter().map(|id| graph.node(*id));
    let taken: Vec<_> = nodes
        .filter_map(|node| match &node.op {
            Op::Input(input) => Some((&*input.name, &node.results[0])),
            _ => None,
        })
        .map(|(name, ty)| (name, ty, ty.shape(), names::check(ty)))
        .collect();
    let ports = taken.iter().map(|(name, ty, shape, values)| call::Port {
        want: Want { name, dtype: ty.dtype, shape, check: values.as_ref() },
        described: described(name, ty),
    });
    let ports: Vec<call::Port<'_>> = ports.collect();
    let rounding = if args.round_inputs { Rounding::Round } else { Rounding::Refuse };
    let given = call::Given { values: &args.input, file: args.inputs.as_deref(), rounding, otherwise: None };
    let loaded = call::inputs(&ports, &given).map_err(mistake)?;
    Ok(loaded.into_iter().map(|(name, tensor)| (name, Arc::new(tensor))).collect())
}

/// An input with its type and domain.
fn described(name: &str, ty: &Type) -> String {
    let domain = ty.domain.shown(&ty.dims, &[]).map_or(String::new(), |domain| format!(" {domain}"));
    format!("`{name}` {ty}{domain}")
}

fn mistake(call::Mistake { usage, message, help }: call::Mistake) -> Failure {
    let failure = Failure::new(if usage { Exit::Usage } else { Exit::Fault }, message);
    if help.is_empty() { failure } else { failure.help(help) }
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

fn show(graph: &str, printed: Vec<(&str, &Tensor)>, args: &Eval, terminal: &Terminal) -> Result<(), Failure> {
    if args.json {
        return terminal.document(&json::Outputs { graph, device: "reference", outputs: printed });
    }
    let print = |(name, tensor)| terminal.result(&format!("{}\n", print::tensor(name, tensor)));
    printed.into_iter().try_for_each(print)
}
