//! A smaller graph that fails in the same way: outputs are dropped, nodes replaced by inputs or by their operands,
//! operands of concatenations dropped, composites opened, sizes made smaller, as long as the failure stays.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use sx_compiler::ir::{Dim, Graph, NodeId, Op, Type, Value, op};
use sx_compiler::ops::Builder;

/// The most graphs that are tried.
const TRIES: usize = 4000;

/// The smallest graph found that still `fails`.
pub fn shrink(graph: &Graph, mut fails: impl FnMut(&Graph) -> bool) -> Graph {
    let mut best = graph.clone();
    let mut left = TRIES;
    'again: loop {
        for change in changes(&best) {
            let Some(smaller) = changed(&best, &change) else { continue };
            if smaller == best || left == 0 {
                continue;
            }
            left -= 1;
            if fails(&smaller) {
                best = smaller;
                continue 'again;
            }
        }
        return best;
    }
}

/// A way to make a graph smaller.
#[derive(Clone, Debug)]
enum Change {
    /// Keeps one output alone.
    Output(usize),
    /// Gives an operand of an output's node instead.
    Lift(usize),
    /// Makes a node an input.
    Input(NodeId),
    /// Puts an operand of the same type in place of a node.
    Operand(NodeId, usize),
    /// Drops an operand of a concatenation.
    Drop(NodeId, usize),
    /// Puts a composite's region in its place.
    Open(NodeId),
    /// Makes every size of one value another.
    Sizes(Vec<(u64, u64)>),
}

fn changes(graph: &Graph) -> Vec<Change> {
    let mut all = Vec::new();
    if graph.outputs.len() > 1 {
        all.extend((0..graph.outputs.len()).map(Change::Output));
    } else if let [output] = &graph.outputs[..] {
        all.extend((0..graph.node(output.value.node).args.len()).map(Change::Lift));
    }
    for id in graph.ids().rev() {
        let node = graph.node(id);
        if !node.op.regions().is_empty() {
            all.push(Change::Open(id));
        }
        if !matches!(node.op, Op::Input(_)) {
            all.push(Change::Input(id));
        }
        let same = |arg: &Value| {
            let (a, b) = (graph.ty(*arg), &node.results[0]);
            (a.dtype, a.shape()) == (b.dtype, b.shape())
        };
        all.extend((0..node.args.len()).filter(|&at| same(&node.args[at])).map(|at| Change::Operand(id, at)));
        if matches!(node.op, Op::Concat(_)) && node.args.len() > 1 {
            all.extend((0..node.args.len()).map(|at| Change::Drop(id, at)));
        }
    }
    all.extend(sizes(graph).into_iter().map(Change::Sizes));
    all
}

/// Sizes to try instead of those that there are, alone and in pairs, for one may be a multiple of another.
fn sizes(graph: &Graph) -> Vec<Vec<(u64, u64)>> {
    let types = graph.nodes().iter().flat_map(|node| &node.results);
    let found: BTreeSet<u64> = types.flat_map(Type::shape).collect();
    let mut all = Vec::new();
    for &size in found.iter().rev() {
        for to in [1, 2, size / 2, size.saturating_sub(1)].into_iter().filter(|&to| 0 < to && to < size) {
            all.push(vec![(size, to)]);
            for &other in found.iter().filter(|&&other| other > size && other.is_multiple_of(size)) {
                all.push(vec![(size, to), (other, other / size * to)]);
            }
        }
    }
    all
}

/// The graph with a change, if it still is one; what nothing needs is gone.
fn changed(graph: &Graph, change: &Change) -> Option<Graph> {
    let mut work = Work { new: graph.without_nodes(), map: Vec::new(), names: names(graph) };
    let mut outputs = graph.outputs.clone();
    match change {
        Change::Output(at) => outputs = vec![outputs[*at].clone()],
        Change::Lift(at) => outputs[0].value = graph.node(outputs[0].value.node).args[*at],
        _ => {}
    }
    let needed = needed(graph, &outputs.iter().map(|output| output.value).collect::<Vec<_>>(), change);
    for id in graph.ids() {
        let results = if needed.contains(&id) { work.node(graph, id, change)? } else { Vec::new() };
        work.map.push(results);
    }
    let mut new = work.new;
    new.outputs = outputs;
    for output in &mut new.outputs {
        output.value = *work.map[output.value.node.0 as usize].get(output.value.result as usize)?;
    }
    Some(new)
}

fn names(graph: &Graph) -> HashSet<String> {
    let name = |id: &NodeId| match &graph.node(*id).op {
        Op::Input(input) => Some(input.name.clone()),
        _ => None,
    };
    graph.inputs.iter().filter_map(name).collect()
}

/// What the outputs need, with a change made.
fn needed(graph: &Graph, outputs: &[Value], change: &Change) -> HashSet<NodeId> {
    let mut seen = HashSet::new();
    let mut waiting: Vec<NodeId> = outputs.iter().map(|value| value.node).collect();
    while let Some(id) = waiting.pop() {
        if !seen.insert(id) {
            continue;
        }
        let args = &graph.node(id).args;
        match change {
            Change::Input(at) if *at == id => {}
            Change::Operand(at, arg) if *at == id => waiting.push(args[*arg].node),
            Change::Drop(at, arg) if *at == id => {
                let kept = args.iter().enumerate().filter(|(at, _)| at != arg);
                waiting.extend(kept.map(|(_, arg)| arg.node));
            }
            _ => waiting.extend(args.iter().map(|arg| arg.node)),
        }
    }
    seen
}

struct Work {
    new: Graph,
    map: Vec<Vec<Value>>,
    names: HashSet<String>,
}

impl Work {
    fn value(&self, old: Value) -> Option<Value> {
        self.map[old.node.0 as usize].get(old.result as usize).copied()
    }

    fn builder(&mut self) -> Builder<'_> {
        let origin = sx_compiler::ir::OriginId(0);
        Builder::at(&mut self.new, origin, sx_compiler::ir::Marks::default())
    }

    fn input(&mut self, name: String, ty: Type) -> Value {
        let value = self.builder().push(Op::Input(op::Input { name }), &[], vec![ty])[0];
        self.new.inputs.push(value.node);
        value
    }

    fn node(&mut self, graph: &Graph, id: NodeId, change: &Change) -> Option<Vec<Value>> {
        let node = graph.node(id);
        let resized = |dims: &[Dim]| resized(dims, change);
        if let Op::Input(input) = &node.op {
            let ty = Type { dims: resized(&node.results[0].dims), ..node.results[0].clone() };
            return Some(vec![self.input(input.name.clone(), ty)]);
        }
        let mut args = node.args.clone();
        match change {
            Change::Input(at) if *at == id => {
                let ty = &node.results[0];
                let fresh = (0..).map(|n| format!("y{n}")).find(|name| !self.names.contains(name))?;
                self.names.insert(fresh.clone());
                return Some(vec![self.input(fresh, given(ty))]);
            }
            Change::Operand(at, arg) if *at == id => return Some(vec![self.value(args[*arg])?]),
            Change::Drop(at, arg) if *at == id => drop(args.remove(*arg)),
            _ => {}
        }
        let args: Vec<Value> = args.iter().map(|&arg| self.value(arg)).collect::<Option<_>>()?;
        match (&node.op, change) {
            (Op::Composite(composite), Change::Open(at)) if *at == id => self.open(&composite.region, &args),
            (op, _) => self.builder().node(with_sizes(op, change), &args).ok(),
        }
    }

    fn open(&mut self, region: &Arc<Graph>, args: &[Value]) -> Option<Vec<Value>> {
        let mut map: Vec<Vec<Value>> = Vec::new();
        for id in region.ids() {
            let node = region.node(id);
            map.push(match region.inputs.iter().position(|&input| input == id) {
                Some(at) => vec![args[at]],
                None => {
                    let args: Vec<Value> =
                        node.args.iter().map(|arg| map[arg.node.0 as usize][arg.result as usize]).collect();
                    self.builder().node(node.op.clone(), &args).ok()?
                }
            });
        }
        Some(region.outputs.iter().map(|o| map[o.value.node.0 as usize][o.value.result as usize]).collect())
    }
}

/// The type of an input in place of a value: what is known of integers stays, so that indices stay in range.
fn given(ty: &Type) -> Type {
    let shape = ty.shape();
    let plain = Type::plain(ty.dtype, &shape);
    let range = ty.domain.range();
    let kept = ty.dtype.is_int() && range.lo.is_finite() && range.hi.is_finite();
    if kept { Type { domain: ty.domain.clone(), ..plain } } else { plain }
}

fn resized(dims: &[Dim], change: &Change) -> Vec<Dim> {
    let Change::Sizes(pairs) = change else { return dims.to_vec() };
    let to = |size: u64| pairs.iter().find(|(from, _)| *from == size).map_or(size, |(_, to)| *to);
    dims.iter().map(|dim| Dim::of(to(dim.size))).collect()
}

fn with_sizes(op: &Op, change: &Change) -> Op {
    let Change::Sizes(pairs) = change else { return op.clone() };
    let to = |size: u64| pairs.iter().find(|(from, _)| *from == size).map_or(size, |(_, to)| *to);
    match op.clone() {
        Op::Broadcast(it) => Op::Broadcast(op::Broadcast { dims: resized(&it.dims, change) }),
        Op::Reshape(it) => Op::Reshape(op::Reshape { dims: resized(&it.dims, change) }),
        Op::Iota(it) => Op::Iota(op::Iota { dims: resized(&it.dims, change), ..it }),
        Op::Slice(it) => {
            let length = to(it.stop - it.start);
            let start = it.start.min(1);
            Op::Slice(op::Slice { axis: it.axis, start, stop: start + length })
        }
        other => other,
    }
}
