//! Replaces composites by what they are made of, at the door of fusion.
//!
//! A softmax whose result is the left operand of a matrix product and nothing else, and whose scores come
//! from a product, stays: it is the mark by which fusion knows an attention.

use super::rewrite::Rewrite;
use crate::ir::{Domain, Graph, Node, NodeId, Op, Origin, OriginId, Value};
use std::collections::HashMap;
use std::sync::Arc;
use sx_artifact::dtype::DType;

/// A graph without composites (but the softmax of each attention), and the composite each node came from.
pub struct Opened {
    /// The graph.
    pub graph: Graph,
    /// The library function that nodes of an origin stood in, the outermost composite.
    pub names: HashMap<OriginId, Arc<str>>,
}

/// Opens everything.
pub fn run(graph: &Graph) -> Opened {
    let mut names = HashMap::new();
    let mut opened = graph.clone();
    loop {
        let keep = attentions(&opened);
        let is_open = |id: &NodeId| matches!(opened.node(*id).op, Op::Composite(_)) && !keep.contains(id);
        if !opened.ids().any(|id| is_open(&id)) {
            return Opened { graph: opened, names };
        }
        // A softmax is opened last: whether it is an attention's is only seen when its surroundings are open.
        let others = opened.ids().filter(is_open).any(|id| !is_softmax(opened.node(id)));
        let now = |id: NodeId| is_open(&id) && (!others || !is_softmax(opened.node(id)));
        opened = open_once(&opened, now, &mut names);
    }
}

fn open_once(graph: &Graph, now: impl Fn(NodeId) -> bool, names: &mut HashMap<OriginId, Arc<str>>) -> Graph {
    let mut work = Rewrite::new(graph);
    for id in graph.ids() {
        let node = graph.node(id);
        let results = match &node.op {
            Op::Composite(composite) if now(id) => {
                let known = names.get(&node.origin).cloned();
                let name = known.unwrap_or_else(|| Arc::from(composite.name.as_str()));
                let first = work.new.origins().len() as u32;
                let results = inline(&mut work, node, &composite.region);
                let last = work.new.origins().len() as u32;
                names.extend((first..last).map(|origin| (OriginId(origin), Arc::clone(&name))));
                results
            }
            _ => work.copy(node),
        };
        work.set(results);
    }
    work.finish()
}

/// Copies a region's nodes in place of the node that owns it.
fn inline(work: &mut Rewrite<'_>, owner: &Node, region: &Graph) -> Vec<Value> {
    let args = work.args(owner);
    let first = work.new.origins().len() as u32;
    for origin in region.origins() {
        let parent = origin.parent.map_or(owner.origin, |p| OriginId(p.0 + first));
        work.new.add_origin(Origin { parent: Some(parent), ..*origin });
    }
    let mut map: Vec<Vec<Value>> = Vec::new();
    for id in region.ids() {
        let node = region.node(id);
        let results = match region.inputs.iter().position(|&input| input == id) {
            Some(which) => vec![args[which]],
            None => {
                let args: Vec<Value> =
                    node.args.iter().map(|v| map[v.node.0 as usize][v.result as usize]).collect();
                let origin = OriginId(node.origin.0 + first);
                let mut b = crate::ops::Builder::at(&mut work.new, origin, node.marks);
                b.push(node.op.clone(), &args, node.results.clone())
            }
        };
        map.push(results);
    }
    region.outputs.iter().map(|o| map[o.value.node.0 as usize][o.value.result as usize]).collect()
}

fn is_softmax(node: &Node) -> bool {
    matches!(&node.op, Op::Composite(composite) if composite.name == "softmax")
}

/// The softmaxes that stay.
fn attentions(graph: &Graph) -> Vec<NodeId> {
    let uses = graph.uses();
    let mut found = Vec::new();
    for node in graph.nodes().iter().filter(|node| matches!(node.op, Op::Matmul(_))) {
        let weights = node.args[0].node;
        let candidate = graph.node(weights);
        let ty = graph.ty(node.args[0]);
        let last = ty.rank() - 1;
        let fits = is_softmax(candidate)
            && ty.dtype == DType::F32
            && over_axis(candidate) == Some(last)
            && uses[weights.0 as usize] == 1
            && node.args[1].node != weights;
        if fits && has_product(graph, candidate.args[0], &uses) {
            found.push(weights);
        }
    }
    found
}

fn over_axis(softmax: &Node) -> Option<usize> {
    match softmax.results[0].domain {
        Domain::Prob { over } => Some(over),
        _ => None,
    }
}

/// Whether scores are elementwise work on exactly one product, on every step used once.
fn has_product(graph: &Graph, scores: Value, uses: &[u32]) -> bool {
    let shape = graph.ty(scores).shape();
    let mut at = scores;
    loop {
        let node = graph.node(at.node);
        if uses[at.node.0 as usize] != 1 || graph.ty(at).shape() != shape {
            return false;
        }
        match node.op {
            Op::Matmul(_) => return true,
            Op::Map(_) | Op::As(_) => {}
            _ => return false,
        }
        let leads = |arg: &&Value| reaches_product(graph, **arg);
        let mut towards = node.args.iter().filter(leads);
        match (towards.next(), towards.next()) {
            (Some(&one), None) => at = one,
            _ => return false,
        }
    }
}

/// Whether `v` is elementwise work on a product.
fn reaches_product(graph: &Graph, v: Value) -> bool {
    let mut waiting = vec![v];
    while let Some(v) = waiting.pop() {
        let node = graph.node(v.node);
        match node.op {
            Op::Matmul(_) => return true,
            Op::Map(_) | Op::As(_) => waiting.extend(&node.args),
            _ => {}
        }
    }
    false
}
