//! Graph to text.

use crate::ir::op::{Constant, Context};
use crate::ir::{Axis, Dim, Domain, Graph, Interval, Marks, Node, Op, Origin, Type, Value};
use std::fmt::Write;
use sx_artifact::kernel::FoldOp;
use sx_artifact::tensor::{Data, Tensor};

/// Constants of at most this many elements are printed whole.
pub(super) const PRINTED: usize = 64;

/// The graph as text. With `origin`, each line ends with what it says of the node's origin, if anything.
pub fn print(graph: &Graph, origin: Option<&dyn Fn(&Origin) -> String>) -> String {
    let mut printer = Printer { axes: Vec::new(), origin, text: String::new() };
    collect_axes(graph, &mut printer.axes);
    printer.graph(graph, 0);
    printer.text
}

/// The name of a reduction in text.
pub(super) fn fold_name(op: FoldOp) -> &'static str {
    match op {
        FoldOp::Sum => "sum",
        FoldOp::Max => "max",
        FoldOp::Min => "min",
        FoldOp::Prod => "prod",
        FoldOp::All => "all",
        FoldOp::Any => "any",
    }
}

/// The name of an operation in text.
pub fn name(op: &Op) -> &str {
    match op {
        Op::Input(_) => "input",
        Op::Param(_) => "param",
        Op::Context(_) => "context",
        Op::Constant(_) => "constant",
        Op::Iota(_) => "iota",
        Op::Map(map) => map.f.name(),
        Op::Cast(_) => "cast",
        Op::As(_) => "as",
        Op::Broadcast(_) => "broadcast",
        Op::Reshape(_) => "reshape",
        Op::Transpose(_) => "transpose",
        Op::Slice(_) => "slice",
        Op::Concat(_) => "concat",
        Op::Reduce(reduce) => fold_name(reduce.op),
        Op::Matmul(_) => "matmul",
        Op::Index(_) => "index",
        Op::Gather(_) => "gather",
        Op::Attention(_) => "attention",
        Op::Composite(_) => "composite",
    }
}

struct Printer<'a> {
    axes: Vec<Axis>,
    origin: Option<&'a dyn Fn(&Origin) -> String>,
    text: String,
}

impl Printer<'_> {
    fn graph(&mut self, graph: &Graph, depth: usize) {
        let inputs: Vec<String> = graph.inputs.iter().map(|&id| value(id.into())).collect();
        self.line(depth, &format!("graph {:?} ({})", graph.name, inputs.join(" ")));
        if depth == 0 && !self.axes.is_empty() {
            let axes: Vec<String> =
                self.axes.iter().map(|axis| format!("{}=#{}", self.axis(axis), axis.id)).collect();
            self.line(1, &format!("axes {}", axes.join(" ")));
        }
        for id in graph.ids() {
            let node = graph.node(id);
            let mut line = format!("{} = {}", value(id.into()), self.node(node));
            if let Some(place) =
                self.origin.map(|say| say(graph.origin(node.origin))).filter(|p| !p.is_empty())
            {
                let _ = write!(line, " ; {place}");
            }
            self.line(depth + 1, &line);
            for region in node.op.regions() {
                self.graph(region, depth + 2);
            }
        }
        let outputs: Vec<String> =
            graph.outputs.iter().map(|output| format!("{:?} {}", output.name, value(output.value))).collect();
        self.line(depth + 1, format!("return {}", outputs.join(", ")).trim_end());
    }

    fn line(&mut self, depth: usize, line: &str) {
        let _ = writeln!(self.text, "{:indent$}{line}", "", indent = 2 * depth);
    }

    fn node(&self, node: &Node) -> String {
        let types: Vec<String> = node.results.iter().map(|ty| self.ty(ty)).collect();
        let mut words = vec![name(&node.op).to_owned()];
        if let Op::Composite(composite) = &node.op {
            words.push(format!("{:?}", composite.name));
        }
        words.extend(node.args.iter().map(|&arg| value(arg)));
        words.extend(self.attributes(&node.op, &node.results));
        words.extend(marks(node.marks));
        format!("{}  {}", words.join(" "), types.join(", "))
    }

    fn attributes(&self, op: &Op, results: &[Type]) -> Vec<String> {
        let list = |name: &str, items: &[usize]| format!("{name}=[{}]", joined(items));
        let shape = |dims: &[Dim]| match results {
            [result] if result.dims == dims => vec![],
            _ => vec![format!("to={}", self.dims(dims))],
        };
        match op {
            Op::Input(input) => vec![format!("{:?}", input.name)],
            Op::Param(param) => vec![format!("{:?}", param.name)],
            Op::Context(Context::Step) => vec!["step".to_owned()],
            Op::Context(Context::Microbatch) => vec!["microbatch".to_owned()],
            Op::Constant(constant) => vec![elements(constant)],
            Op::Iota(iota) => vec![format!("axis={}", iota.axis)],
            Op::Broadcast(broadcast) => shape(&broadcast.dims),
            Op::Reshape(reshape) => shape(&reshape.dims),
            Op::Transpose(transpose) => vec![list("order", &transpose.order)],
            Op::Slice(s) => {
                vec![format!("axis={}", s.axis), format!("start={}", s.start), format!("stop={}", s.stop)]
            }
            Op::Concat(concat) => vec![format!("axis={}", concat.axis)],
            Op::Reduce(reduce) => {
                let keepdims = reduce.keepdims.then(|| "keepdims".to_owned());
                [list("axes", &reduce.axes)].into_iter().chain(keepdims).collect()
            }
            Op::Matmul(matmul) if matmul.out_f32 => vec!["out=f32".to_owned()],
            Op::Gather(gather) => vec![format!("axis={}", gather.axis)],
            Op::Attention(attention) if attention.zero_hidden_rows => vec!["zero-hidden-rows".to_owned()],
            Op::Composite(composite) if composite.domain.is_some() => vec!["stated".to_owned()],
            Op::Map(_) | Op::Cast(_) | Op::As(_) | Op::Matmul(_) | Op::Index(_) => vec![],
            Op::Attention(_) | Op::Composite(_) => vec![],
        }
    }

    fn ty(&self, ty: &Type) -> String {
        format!("{} {} {}", self.dims(&ty.dims), ty.dtype, self.domain(&ty.domain))
    }

    fn dims(&self, dims: &[Dim]) -> String {
        let dims: Vec<String> = dims.iter().map(|dim| self.dim(dim)).collect();
        format!("[{}]", dims.join(" "))
    }

    fn dim(&self, dim: &Dim) -> String {
        match &dim.axis {
            Some(axis) => format!("{}={}", self.axis(axis), dim.size),
            None => dim.size.to_string(),
        }
    }

    /// The name, with the number where another axis has the same name.
    fn axis(&self, axis: &Axis) -> String {
        let namesakes = self.axes.iter().filter(|other| other.name == axis.name).count();
        if namesakes < 2 { axis.name.to_string() } else { format!("{}#{}", axis.name, axis.id) }
    }

    fn domain(&self, domain: &Domain) -> String {
        match domain {
            Domain::Range(range) => interval(range),
            Domain::Logit { over } => format!("Logit over {over}"),
            Domain::Prob { over } => format!("Prob over {over}"),
            Domain::LogProb { over } => format!("LogProb over {over}"),
            Domain::Mask => "Mask".to_owned(),
            Domain::Binary => "Binary".to_owned(),
            Domain::Additive => "Additive".to_owned(),
            Domain::Index(dim) => format!("Index[{}]", self.dim(dim)),
        }
    }
}

/// A range by its name, or with both ends exact.
fn interval(range: &Interval) -> String {
    if let Some((name, _)) = Interval::NAMED.iter().find(|(_, named)| named == range) {
        return (*name).to_owned();
    }
    let open = if range.lo_open { '(' } else { '[' };
    let close = if range.hi_open { ')' } else { ']' };
    format!("{open}{}, {}{close}", exact(range.lo), exact(range.hi))
}

/// An f64 that reads back as itself.
fn exact(x: f64) -> String {
    let plain = x == 0.0 || x.is_infinite() || (1e-4..1e16).contains(&x.abs());
    if plain { format!("{x}") } else { format!("{x:e}") }
}

fn marks(marks: Marks) -> Vec<String> {
    let precision = marks.precision.map(|dtype| format!("precision={dtype}"));
    precision.into_iter().chain(marks.tf32.then(|| "tf32".to_owned())).collect()
}

fn value(value: Value) -> String {
    match value.result {
        0 => format!("%{}", value.node.0),
        result => format!("%{}.{result}", value.node.0),
    }
}

fn elements(constant: &Constant) -> String {
    let value: &Tensor = &constant.value;
    if value.len() > PRINTED {
        return format!("digest:{:016x}", digest(value.bytes()));
    }
    let elements = match value.data() {
        Data::F32(v) => joined(v.iter().map(|&x| float(x))),
        Data::Bf16(v) => joined(v.iter().map(|x| float(x.to_f32()))),
        Data::I32(v) => joined(v),
        Data::I64(v) => joined(v),
        Data::Bool(v) => joined(v),
    };
    format!("value=[{elements}]")
}

/// A float that reads back as itself; an unusual NaN by its bits.
fn float(x: f32) -> String {
    if x.is_nan() {
        return if x.to_bits() == f32::NAN.to_bits() {
            "nan".to_owned()
        } else {
            format!("nan:{:08x}", x.to_bits())
        };
    }
    let plain = x == 0.0 || x.is_infinite() || (1e-4..1e16).contains(&x.abs());
    if plain { format!("{x:?}") } else { format!("{x:e}") }
}

fn joined<T: ToString>(items: impl IntoIterator<Item = T>) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(" ")
}

/// FNV-1a, to tell constants apart by eye.
fn digest(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn collect_axes(graph: &Graph, axes: &mut Vec<Axis>) {
    let mut add = |dim: &Dim| {
        if let Some(axis) = dim.axis.as_ref().filter(|axis| !axes.contains(axis)) {
            axes.push(axis.clone());
        }
    };
    for node in graph.nodes() {
        for ty in &node.results {
            ty.dims.iter().for_each(&mut add);
            if let Domain::Index(dim) = &ty.domain {
                add(dim);
            }
        }
        if let Op::Broadcast(crate::ir::op::Broadcast { dims })
        | Op::Reshape(crate::ir::op::Reshape { dims }) = &node.op
        {
            dims.iter().for_each(&mut add);
        }
    }
    for node in graph.nodes() {
        for region in node.op.regions() {
            collect_axes(region, axes);
        }
    }
}
