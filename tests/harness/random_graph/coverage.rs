//! What random programs hold, counted on the graphs themselves: how often each kind of kernel meets each feature.

use super::Case;
use super::feature::{Feature, Kind};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use sx_artifact::dtype::DType;
use sx_artifact::scalar::ScalarFn;
use sx_artifact::tensor::{Data, Tensor};
use sx_compiler::ir::{Graph, NodeId, Op, Value};

/// How many functions deep an operand is followed: a kernel that computes them on the way reads what is below.
const FUNCTIONS: u32 = 4;

/// How often each kind met each feature.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage(pub BTreeMap<(Kind, Feature), u64>);

impl Coverage {
    /// Adds what a program holds.
    pub fn add(&mut self, case: &Case) {
        let graph = Reader::new(case);
        for id in case.graph.ids() {
            for (kind, operands) in graph.sites(id) {
                for feature in graph.features(id, &operands) {
                    *self.0.entry((kind, feature)).or_default() += 1;
                }
            }
        }
    }

    /// The cells with fewer than `least`, each as `Kind x Feature: count`.
    pub fn below(&self, least: u64) -> Vec<String> {
        let cells =
            Kind::ALL.iter().flat_map(|&kind| Feature::ALL.iter().map(move |&feature| (kind, feature)));
        let counted = cells.map(|cell| (cell, self.0.get(&cell).copied().unwrap_or(0)));
        let few = counted.filter(|(_, count)| *count < least);
        few.map(|((kind, feature), count)| format!("{kind:?} x {feature:?}: {count}")).collect()
    }
}

struct Reader<'c> {
    graph: &'c Graph,
    inputs: &'c [Tensor],
    users: Vec<Vec<NodeId>>,
    outputs: HashSet<NodeId>,
}

/// What was met on the way from a node to what is stored.
#[derive(Default)]
struct Met {
    features: BTreeSet<Feature>,
    /// What the kernel reads, with the axes it reads it by: one entry for each way.
    bases: Vec<NodeId>,
}

impl<'c> Reader<'c> {
    fn new(case: &'c Case) -> Reader<'c> {
        let graph = &case.graph;
        let mut users = vec![Vec::new(); graph.nodes().len()];
        for id in graph.ids() {
            graph.node(id).args.iter().for_each(|arg| users[arg.node.0 as usize].push(id));
        }
        let outputs = graph.outputs.iter().map(|output| output.value.node).collect();
        Reader { graph, inputs: &case.inputs, users, outputs }
    }

    /// The kinds that a node is the result of, each with its operands.
    fn sites(&self, id: NodeId) -> Vec<(Kind, Vec<Value>)> {
        let node = self.graph.node(id);
        let args = node.args.clone();
        match &node.op {
            Op::Map(_) => vec![(Kind::Map, args)],
            Op::Reduce(reduce) => {
                let mut sites = vec![(Kind::Reduce, args.clone())];
                if !reduce.axes.is_empty() && self.folds_below(args[0]) {
                    sites.push((Kind::Rows, args));
                }
                sites
            }
            Op::Composite(composite) if composite.name == "attention" => {
                vec![(Kind::LibraryAttention, args)]
            }
            Op::Composite(_) => vec![(Kind::Rows, args)],
            Op::Matmul(_) if self.is_softmax(args[0]) => {
                vec![(Kind::Attention, self.scored(args[0]).into_iter().chain([args[1]]).collect())]
            }
            Op::Matmul(_) if self.graph.ty(args[0]).rank() == 2 => vec![(Kind::Product, args)],
            Op::Matmul(_) => vec![(Kind::BatchedProduct, args)],
            Op::Index(_) => vec![(Kind::Index, args)],
            Op::Gather(_) => vec![(Kind::Gather, args)],
            Op::Concat(_) => vec![(Kind::Concat, args)],
            Op::Input(_) | Op::Param(_) | Op::Context(_) | Op::Constant(_) | Op::Iota(_) => vec![],
            Op::Cast(_) | Op::As(_) | Op::Broadcast(_) | Op::Reshape(_) => vec![],
            Op::Transpose(_) | Op::Slice(_) | Op::Attention(_) => vec![],
        }
    }

    /// Whether another fold stands between a fold's operand and what is stored.
    fn folds_below(&self, x: Value) -> bool {
        let node = self.graph.node(x.node);
        match &node.op {
            Op::Reduce(_) => true,
            Op::Map(_) | Op::Broadcast(_) => node.args.iter().any(|&arg| self.folds_below(arg)),
            _ => false,
        }
    }

    fn map(&self, x: Value, f: ScalarFn) -> Option<&[Value]> {
        let node = self.graph.node(x.node);
        matches!(&node.op, Op::Map(map) if map.f == f).then_some(&node.args)
    }

    /// Whether a value is `exp(..) / ..`, perhaps with some rows replaced.
    fn is_softmax(&self, x: Value) -> bool {
        let weights = self.map(x, ScalarFn::Where).map_or(x, |args| args[2]);
        self.map(weights, ScalarFn::Div).is_some_and(|args| self.map(args[0], ScalarFn::Exp).is_some())
    }

    /// The operands of the product under a softmax, and what else the scores are made of.
    fn scored(&self, x: Value) -> Vec<Value> {
        let mut found = Vec::new();
        let mut seen = HashSet::new();
        let mut waiting = vec![x];
        while let Some(v) = waiting.pop() {
            let node = self.graph.node(v.node);
            match &node.op {
                _ if !seen.insert(v) => {}
                Op::Matmul(_) => found.extend(&node.args),
                Op::Map(_) => waiting.extend(&node.args),
                Op::Reduce(_) => {}
                Op::Broadcast(_) if matches!(self.graph.node(node.args[0].node).op, Op::Reduce(_)) => {}
                _ => found.push(v),
            }
        }
        found
    }

    fn features(&self, id: NodeId, operands: &[Value]) -> BTreeSet<Feature> {
        let mut met = Met::default();
        for &operand in operands {
            self.operand(operand, &mut met, false, FUNCTIONS);
            if self.is_stored(operand) {
                met.features.insert(Feature::Plain);
            }
        }
        let distinct: HashSet<NodeId> = met.bases.iter().copied().collect();
        let mut features = met.features;
        if distinct.len() < met.bases.len() {
            features.insert(Feature::ReadTwice);
        }
        features.extend(self.uses(id));
        features
    }

    /// Whether a value is read as it is stored, or computed where it is used.
    fn is_stored(&self, x: Value) -> bool {
        let op = &self.graph.node(x.node).op;
        matches!(op, Op::Input(_) | Op::Map(_) | Op::Reduce(_) | Op::Matmul(_) | Op::Composite(_))
    }

    /// Follows an operand to what a kernel reads.
    fn operand(&self, x: Value, met: &mut Met, moved: bool, left: u32) {
        let node = self.graph.node(x.node);
        let ty = self.graph.ty(x);
        let shape = ty.shape();
        let sizes = [(Feature::SizeOne, shape.contains(&1)), (Feature::SizeZero, shape.contains(&0))];
        met.features.extend(sizes.iter().filter(|(_, has)| *has).map(|(feature, _)| *feature));
        if shape.iter().any(|size| [5, 7, 11, 13].contains(size)) {
            met.features.insert(Feature::Prime);
        }
        met.features.insert(of_dtype(ty.dtype));
        let through = |feature, met: &mut Met| {
            met.features.insert(feature);
            self.operand(node.args[0], met, true, left);
        };
        match &node.op {
            Op::Transpose(_) => through(Feature::Permuted, met),
            Op::Slice(_) => through(Feature::Sliced, met),
            Op::Broadcast(_) if self.constant(node.args[0]) => self.base(x, met),
            Op::Broadcast(_) => through(Feature::Broadcast, met),
            Op::Reshape(_) => {
                let (split, joined) = reshaped(&self.graph.ty(node.args[0]).shape(), &shape);
                if joined && matches!(self.graph.node(node.args[0].node).op, Op::Broadcast(_)) {
                    met.features.insert(Feature::Repeated);
                }
                met.features.extend(split.then_some(Feature::Split));
                met.features.extend(joined.then_some(Feature::Joined));
                self.operand(node.args[0], met, true, left);
            }
            Op::Cast(_) | Op::As(_) => self.operand(node.args[0], met, moved, left),
            Op::Map(_) if left > 0 => {
                met.features.extend(moved.then_some(Feature::View));
                node.args.iter().for_each(|&arg| self.operand(arg, met, moved, left - 1));
                self.shared(x, met);
            }
            Op::Concat(_) => {
                met.features.insert(Feature::Concatenated);
                self.base(x, met);
            }
            Op::Index(_) | Op::Gather(_) => {
                met.features.insert(Feature::Gathered);
                self.base(x, met);
            }
            Op::Map(_) | Op::Reduce(_) | Op::Matmul(_) | Op::Attention(_) | Op::Composite(_) => {
                met.features.extend(moved.then_some(Feature::View));
                self.base(x, met);
            }
            Op::Input(_) | Op::Param(_) | Op::Context(_) | Op::Constant(_) | Op::Iota(_) => self.base(x, met),
        }
    }

    fn base(&self, x: Value, met: &mut Met) {
        match &self.graph.node(x.node).op {
            Op::Iota(_) => met.features.extend([Feature::Positions]),
            Op::Constant(_) | Op::Broadcast(_) => met.features.extend([Feature::Constant]),
            Op::Input(_) => {
                let at = self.graph.inputs.iter().position(|&input| input == x.node);
                if at.is_some_and(|at| special(&self.inputs[at])) {
                    met.features.insert(Feature::Special);
                }
                met.bases.push(x.node);
                self.shared(x, met);
            }
            _ => {
                met.bases.push(x.node);
                self.shared(x, met);
            }
        }
    }

    fn constant(&self, x: Value) -> bool {
        matches!(self.graph.node(x.node).op, Op::Constant(_))
    }

    fn shared(&self, x: Value, met: &mut Met) {
        let users: HashSet<&NodeId> = self.users[x.node.0 as usize].iter().collect();
        met.features.extend((users.len() > 1).then_some(Feature::Shared));
        met.features.extend(self.outputs.contains(&x.node).then_some(Feature::AlsoOutput));
    }

    /// What becomes of a result.
    fn uses(&self, id: NodeId) -> BTreeSet<Feature> {
        let mut features = BTreeSet::new();
        let users = &self.users[id.0 as usize];
        for &user in users {
            let node = self.graph.node(user);
            match &node.op {
                Op::Map(_) => {
                    features.insert(Feature::ThenMap);
                    let mut other = Met::default();
                    let rest = node.args.iter().filter(|arg| arg.node != id);
                    rest.for_each(|&arg| self.operand(arg, &mut other, false, 0));
                    let moves = [Feature::Permuted, Feature::Joined, Feature::Split, Feature::Sliced];
                    if moves.iter().chain([&Feature::Broadcast]).any(|f| other.features.contains(f)) {
                        features.insert(Feature::ThenResidual);
                    }
                }
                Op::Reduce(_) => features.extend([Feature::ThenReduced]),
                Op::Reshape(_) | Op::Transpose(_) | Op::Slice(_) => features.extend([Feature::ThenMoved]),
                Op::Cast(cast) if cast.dtype == DType::Bf16 => features.extend([Feature::ThenRounded]),
                Op::Cast(_) => features.extend(
                    self.users[user.0 as usize]
                        .iter()
                        .any(|&next| matches!(&self.graph.node(next).op, Op::Cast(to) if to.dtype == DType::Bf16))
                        .then_some(Feature::ThenRounded),
                ),
                _ => {}
            }
        }
        if self.outputs.contains(&id) && !users.is_empty() {
            features.insert(Feature::AlsoOutput);
        }
        features
    }
}

fn of_dtype(dtype: DType) -> Feature {
    match dtype {
        DType::F32 => Feature::F32,
        DType::Bf16 => Feature::Bf16,
        DType::I32 => Feature::I32,
        DType::I64 => Feature::I64,
        DType::Bool => Feature::Bool,
    }
}

fn special(x: &Tensor) -> bool {
    match x.data() {
        Data::F32(x) => x.iter().any(|x| !x.is_finite()),
        Data::Bf16(x) => x.iter().any(|x| !x.is_finite()),
        Data::I32(_) | Data::I64(_) | Data::Bool(_) => false,
    }
}

/// Whether a reshape splits an axis, and whether it joins some; sizes of 1 are left aside.
fn reshaped(from: &[u64], to: &[u64]) -> (bool, bool) {
    let ends = |shape: &[u64]| {
        let products = shape.iter().scan(1u64, |product, size| {
            *product *= size;
            Some(*product)
        });
        products.collect::<BTreeSet<u64>>()
    };
    let (from, to) = (ends(from), ends(to));
    (to.difference(&from).next().is_some(), from.difference(&to).next().is_some())
}
