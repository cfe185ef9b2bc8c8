//! Records attention: `softmax(scores) v`, where the scores are elementwise work on a product, becomes one node, so
//! that the scores need not be stored. Fusion and the targets read the node and look for nothing themselves.
//!
//! The softmax is recognised by what it computes, whoever wrote it. Where another node needs the weights, too, they
//! are stored anyway, and nothing is recorded.

use super::rewrite::{Rewrite, rewrite};
use crate::ir::{Graph, Node, NodeId, Op, Origin, OriginId, Output, Type, Value, op};
use crate::ops::Builder;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use sx_artifact::dtype::DType;
use sx_artifact::kernel::FoldOp;
use sx_artifact::scalar::ScalarFn;
use sx_artifact::tensor::{Data, Tensor};

/// The most operations between the product and the softmax: each is done again for every block of keys.
const MOST_STEPS: usize = 64;
/// The most tensors that the scores are made of besides the product; with queries, keys, values, the result and the
/// traps these are the eight buffers that every device has.
const MOST_TENSORS: usize = 3;

/// The graph with every attention as one node.
pub fn run(graph: &Graph) -> Graph {
    let found = Finder::new(graph).all();
    if found.is_empty() {
        return graph.clone();
    }
    let mut id = 0;
    rewrite(graph, |work, node| {
        let this = NodeId(id);
        id += 1;
        match found.get(&this) {
            Some(attention) => record(work, node, attention),
            None => work.copy(node),
        }
    })
}

/// What an attention is made of.
struct Found {
    query: Value,
    key: Value,
    value: Value,
    dots: Value,
    scores: Value,
    zero_hidden_rows: bool,
    /// The nodes from the product to the scores, in order.
    steps: Vec<NodeId>,
    /// What else the steps read, in the order of first use.
    others: Vec<Value>,
}

/// The weights of an attention, and what they are the softmax of.
struct Weights {
    scores: Value,
    zero_hidden_rows: bool,
}

struct Finder<'g> {
    graph: &'g Graph,
    users: Vec<Vec<NodeId>>,
    outputs: HashSet<NodeId>,
}

impl<'g> Finder<'g> {
    fn new(graph: &'g Graph) -> Finder<'g> {
        let mut users = vec![Vec::new(); graph.nodes().len()];
        for id in graph.ids() {
            graph.node(id).args.iter().for_each(|arg| users[arg.node.0 as usize].push(id));
        }
        Finder { graph, users, outputs: graph.outputs.iter().map(|output| output.value.node).collect() }
    }

    fn all(&self) -> HashMap<NodeId, Found> {
        let is_product = |id: &NodeId| matches!(self.graph.node(*id).op, Op::Matmul(_));
        let candidates = self.graph.ids().filter(is_product);
        candidates.filter_map(|id| Some((id, self.attention(id)?))).collect()
    }

    /// The attention whose second product a node is.
    fn attention(&self, id: NodeId) -> Option<Found> {
        let [weights, value] = self.graph.node(id).args[..] else { return None };
        if self.graph.ty(weights).dtype != DType::F32 || !self.only_weighs(weights) {
            return None;
        }
        let Weights { scores, zero_hidden_rows } = self.weights(weights)?;
        let dots = self.product_below(scores)?;
        let [query, key] = self.graph.node(dots.node).args[..] else { return None };
        let steps = self.steps(dots, scores)?;
        let others = self.others(dots, &steps);
        let stored = others.iter().filter(|other| !self.is_free(**other)).count();
        let fits = stored <= MOST_TENSORS;
        fits.then_some(Found { query, key, value, dots, scores, zero_hidden_rows, steps, others })
    }

    /// Whether a value is nothing but the left operand of products.
    fn only_weighs(&self, v: Value) -> bool {
        let weighs = |user: &NodeId| {
            let node = self.graph.node(*user);
            matches!(node.op, Op::Matmul(_)) && node.args[0] == v && node.args[1] != v
        };
        !self.outputs.contains(&v.node) && self.users[v.node.0 as usize].iter().all(weighs)
    }

    /// The scores of which `v` is the softmax over the last axis.
    fn weights(&self, v: Value) -> Option<Weights> {
        if let Some(scores) = self.softmax(v) {
            return Some(Weights { scores, zero_hidden_rows: false });
        }
        // (where (= (max scores) -inf) 0 (softmax scores))
        let [hidden, zero, softmax] = self.map(v, ScalarFn::Where)?[..] else { return None };
        let scores = self.softmax(softmax)?;
        let [most, least] = self.map(self.repeated(hidden), ScalarFn::Eq)?[..] else { return None };
        let same = self.row_fold(self.repeated(most), FoldOp::Max)? == scores;
        let zeroed = self.constant(zero)? == 0.0 && self.constant(least)? == f32::NEG_INFINITY;
        (same && zeroed).then_some(Weights { scores, zero_hidden_rows: true })
    }

    /// `x` where `v` is `e / sum(e)` with `e = exp(x - max(x))`, over the last axis.
    fn softmax(&self, v: Value) -> Option<Value> {
        let [powers, total] = self.map(v, ScalarFn::Div)?[..] else { return None };
        let [shifted] = self.map(powers, ScalarFn::Exp)?[..] else { return None };
        let [x, most] = self.map(shifted, ScalarFn::Sub)?[..] else { return None };
        let sum = self.row_fold(self.repeated(total), FoldOp::Sum)?;
        let max = self.row_fold(self.repeated(most), FoldOp::Max)?;
        (sum == powers && max == x).then_some(x)
    }

    fn map(&self, v: Value, f: ScalarFn) -> Option<&[Value]> {
        let node = self.graph.node(v.node);
        matches!(&node.op, Op::Map(map) if map.f == f).then_some(&node.args)
    }

    /// What a broadcast repeats; any other value itself.
    fn repeated(&self, v: Value) -> Value {
        let node = self.graph.node(v.node);
        if matches!(node.op, Op::Broadcast(_)) { node.args[0] } else { v }
    }

    /// What a fold over the last axis, which stays with size 1, folds.
    fn row_fold(&self, v: Value, op: FoldOp) -> Option<Value> {
        let node = self.graph.node(v.node);
        let Op::Reduce(reduce) = &node.op else { return None };
        let rank = self.graph.ty(v).rank();
        (reduce.op == op && reduce.keepdims && reduce.axes[..] == [rank - 1]).then_some(node.args[0])
    }

    /// The number that every element of an f32 value is.
    fn constant(&self, v: Value) -> Option<f32> {
        match &self.graph.node(self.repeated(v).node).op {
            Op::Constant(constant) => only(&constant.value),
            _ => None,
        }
    }

    /// The product that scores are elementwise work on. If there are several it is the one that comes first.
    fn product_below(&self, scores: Value) -> Option<Value> {
        let mut seen = HashSet::from([scores.node]);
        let mut waiting = vec![scores];
        let mut found: Option<Value> = None;
        while let Some(v) = waiting.pop() {
            let node = self.graph.node(v.node);
            match node.op {
                Op::Matmul(_) => found = Some(found.map_or(v, |first| first.min(v))),
                Op::Map(_) | Op::As(_) => {
                    waiting.extend(node.args.iter().filter(|arg| seen.insert(arg.node)));
                }
                _ => {}
            }
        }
        found
    }

    /// The elementwise work from the product to the scores, operands first; none if it is too much.
    fn steps(&self, dots: Value, scores: Value) -> Option<Vec<NodeId>> {
        let mut depends = HashMap::from([(dots.node, true)]);
        let mut waiting = vec![scores.node];
        while let Some(&id) = waiting.last() {
            let node = self.graph.node(id);
            let elementwise = matches!(node.op, Op::Map(_) | Op::As(_));
            let unknown = node.args.iter().find(|arg| elementwise && !depends.contains_key(&arg.node));
            match (depends.contains_key(&id), unknown) {
                (false, Some(arg)) => {
                    waiting.push(arg.node);
                    continue;
                }
                (false, None) => {
                    depends.insert(id, elementwise && node.args.iter().any(|arg| depends[&arg.node]));
                }
                (true, _) => {}
            }
            waiting.pop();
        }
        let steps: BTreeSet<NodeId> =
            depends.iter().filter(|(id, on)| **on && **id != dots.node).map(|(id, _)| *id).collect();
        (steps.len() <= MOST_STEPS).then(|| steps.into_iter().collect())
    }

    /// What the steps read that is neither a step nor the product.
    fn others(&self, dots: Value, steps: &[NodeId]) -> Vec<Value> {
        let mut others = Vec::new();
        for &arg in steps.iter().flat_map(|&id| &self.graph.node(id).args) {
            let inside = arg == dots || steps.binary_search(&arg.node).is_ok();
            if !inside && !others.contains(&arg) {
                others.push(arg);
            }
        }
        others
    }

    /// Whether a value is made of constants and positions alone, so that it is computed in place and not read.
    fn is_free(&self, v: Value) -> bool {
        let mut seen = HashSet::from([v.node]);
        let mut waiting = vec![v.node];
        while let Some(id) = waiting.pop() {
            let node = self.graph.node(id);
            let free = match &node.op {
                Op::Constant(constant) => constant.value.len() == 1,
                Op::Iota(_) | Op::Map(_) | Op::Cast(_) | Op::As(_) => true,
                Op::Broadcast(_) | Op::Reshape(_) | Op::Transpose(_) | Op::Slice(_) => true,
                _ => false,
            };
            if !free {
                return false;
            }
            waiting.extend(node.args.iter().map(|arg| arg.node).filter(|arg| seen.insert(*arg)));
        }
        true
    }
}

fn only(tensor: &Tensor) -> Option<f32> {
    match tensor.data() {
        Data::F32(elements) if elements.len() == 1 => elements.first().copied(),
        _ => None,
    }
}

/// The node of an attention in place of its second product.
fn record(work: &mut Rewrite<'_>, node: &Node, found: &Found) -> Vec<Value> {
    let score = Arc::new(region(work.old, found));
    let operands = [found.query, found.key, found.value].into_iter().chain(found.others.iter().copied());
    let args: Vec<Value> = operands.map(|operand| work.value(operand)).collect();
    vec![
        work.at(node)
            .trusted(Op::Attention(op::Attention { score, zero_hidden_rows: found.zero_hidden_rows }), &args),
    ]
}

/// The scores as a region of the products and the other operands.
fn region(graph: &Graph, found: &Found) -> Graph {
    let mut region = Graph::new("score");
    let mut map: HashMap<Value, Value> = HashMap::new();
    let origin = |region: &mut Graph, id: NodeId| {
        let from = graph.origin(graph.node(id).origin);
        region.add_origin(Origin { parent: None, ..*from })
    };
    for (at, &input) in std::iter::once(&found.dots).chain(&found.others).enumerate() {
        let origin = origin(&mut region, input.node);
        let ty: Type = graph.ty(input).clone();
        let op = Op::Input(op::Input { name: at.to_string() });
        let value = Builder::at(&mut region, origin, graph.node(input.node).marks).push(op, &[], vec![ty])[0];
        region.inputs.push(value.node);
        map.insert(input, value);
    }
    for &id in &found.steps {
        let node = graph.node(id);
        let args: Vec<Value> = node.args.iter().map(|arg| map[arg]).collect();
        let origin: OriginId = origin(&mut region, id);
        let results =
            Builder::at(&mut region, origin, node.marks).push(node.op.clone(), &args, node.results.clone());
        map.insert(id.into(), results[0]);
    }
    region.outputs.push(Output { name: "score".to_owned(), value: map[&found.scores] });
    region
}
