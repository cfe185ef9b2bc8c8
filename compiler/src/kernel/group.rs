//! Fusion: which values are stored. Decided once, for every target.
//!
//! Outputs are stored. So is what several kernels would have to compute again at a cost, what a gather reads
//! other than through views, and whatever [`super::lower`] finds it cannot compute in place. Everything else
//! lives in registers.

use super::analysis::{Analysis, Answers, Facts, MOST_READS, is_source};
use super::lower::{Lowered, Retry, lower};
use crate::ir::{Graph, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;
use sx_artifact::kernel::Inst;

/// How often grouping begins anew with what was found to be missing. It nearly always ends after two rounds; the kernels
/// of any round are right.
const ROUNDS: usize = 8;
/// How many results of lowering one root are remembered: what is stored is tried, and some of it taken back.
const REMEMBERED: usize = 4;

/// A graph's kernels, operands before users, each computing one stored value.
pub struct Groups<'a> {
    /// The kernels.
    pub kernels: Vec<Lowered>,
    analysis: Analysis<'a>,
}

impl Groups<'_> {
    /// The value in whose buffer `v` is.
    pub fn storage(&self, v: Value) -> Value {
        self.analysis.storage(v)
    }
}

/// Groups a graph into kernels.
pub fn kernels(graph: &Graph) -> Groups<'_> {
    let facts = Rc::new(Facts::new(graph));
    let known = graph.ids().map(|_| Vec::new()).collect();
    let mut memory = Memory { graph, known };
    let mut forced = BTreeSet::new();
    let mut round = 0;
    let (mut analysis, mut kernels) = loop {
        let mut analysis = Analysis::new(&facts, &forced);
        let (kernels, missing) = memory.lower_all(&mut analysis);
        round += 1;
        if missing.is_empty() || round == ROUNDS {
            break (analysis, kernels);
        }
        forced.extend(missing);
    };
    memory.inline(&mut analysis, &mut kernels, &forced);
    let place = |lowered: Rc<Lowered>| {
        let mut lowered = Lowered::clone(&lowered);
        lowered.reads = lowered.reads.iter().map(|&v| analysis.storage(v)).collect();
        lowered
    };
    let kernels = kernels.into_values().map(place).collect();
    Groups { kernels, analysis }
}

/// The kernels of the values that are stored, operands before users.
type Kernels = BTreeMap<Value, Rc<Lowered>>;

/// The kernels that read each value.
struct Readers(HashMap<Value, BTreeSet<Value>>);

impl Readers {
    fn new(kernels: &Kernels, analysis: &Analysis<'_>) -> Readers {
        let mut readers = Readers(HashMap::new());
        kernels.iter().for_each(|(root, lowered)| readers.add(*root, lowered, analysis));
        readers
    }

    fn add(&mut self, root: Value, lowered: &Lowered, analysis: &Analysis<'_>) {
        for &read in &lowered.reads {
            self.0.entry(analysis.storage(read)).or_default().insert(root);
        }
    }

    fn remove(&mut self, root: Value, lowered: &Lowered, analysis: &Analysis<'_>) {
        for &read in &lowered.reads {
            self.0.entry(analysis.storage(read)).or_default().remove(&root);
        }
    }

    /// Puts `new` in place of the kernel of `root`.
    fn replace(
        &mut self,
        kernels: &mut Kernels,
        root: Value,
        new: Option<Rc<Lowered>>,
        analysis: &Analysis<'_>,
    ) {
        if let Some(old) = kernels.remove(&root) {
            self.remove(root, &old, analysis);
        }
        if let Some(new) = new {
            self.add(root, &new, analysis);
            kernels.insert(root, new);
        }
    }

    fn of(&self, value: Value) -> Vec<Value> {
        self.0.get(&value).into_iter().flatten().copied().collect()
    }
}

/// What lowering a root gave, with what it relied on.
struct Known {
    answers: Answers,
    result: Result<Rc<Lowered>, Value>,
}

/// The results of lowering roots, for as long as what they relied on stays the same.
struct Memory<'a> {
    graph: &'a Graph,
    /// What is known of each node.
    known: Vec<Vec<Known>>,
}

impl Memory<'_> {
    /// Lowers what the outputs need, root after root. What a root cannot compute in place is stored at once, and is a
    /// root itself. Gives the kernels, and what was stored that way.
    fn lower_all(&mut self, analysis: &mut Analysis<'_>) -> (Kernels, Vec<Value>) {
        let (mut kernels, mut missing) = (Kernels::new(), Vec::new());
        let mut waiting: Vec<Value> =
            self.graph.outputs.iter().map(|output| analysis.storage(output.value)).collect();
        while let Some(root) = waiting.pop() {
            if !analysis.is_stored(root) || kernels.contains_key(&root) {
                continue;
            }
            let lowered = loop {
                let lacking = match self.lower(analysis, root) {
                    Ok(lowered) if lowered.reads.len() <= MOST_READS => break lowered,
                    Ok(lowered) => match analysis.most_reads_below(root, &lowered.reads) {
                        Some(value) => value,
                        None => break lowered,
                    },
                    Err(value) => value,
                };
                analysis.set_stored(lacking, true);
                missing.push(lacking);
            };
            waiting.extend(lowered.reads.iter().map(|&read| analysis.storage(read)));
            kernels.insert(root, lowered);
        }
        (kernels, missing)
    }

    /// Computes in place again what was stored before its surroundings were: each value that one kernel alone reads,
    /// or that is cheap, is tried. What no kernel reads any more goes.
    fn inline(&mut self, analysis: &mut Analysis<'_>, kernels: &mut Kernels, forced: &BTreeSet<Value>) {
        let outputs: HashSet<Value> =
            self.graph.outputs.iter().map(|output| analysis.storage(output.value)).collect();
        let mut readers = Readers::new(kernels, analysis);
        let candidates: Vec<Value> =
            kernels.keys().rev().filter(|value| !outputs.contains(value)).copied().collect();
        for value in candidates {
            let users = readers.of(value);
            let single = |root: &Value| reads_once(&kernels[root], value, analysis);
            let wanted = forced.contains(&value) || users.iter().all(single);
            if !wanted || !analysis.may_be_inlined(value, users.len()) {
                continue;
            }
            analysis.set_stored(value, false);
            let Some(lowered) = self.lower_each(analysis, kernels, &users) else {
                analysis.set_stored(value, true);
                continue;
            };
            readers.replace(kernels, value, None, analysis);
            for (user, new) in users.into_iter().zip(lowered) {
                readers.replace(kernels, user, Some(new), analysis);
            }
        }
    }

    /// The kernels of all roots, if each can be lowered from what is there.
    fn lower_each(
        &mut self,
        analysis: &Analysis<'_>,
        kernels: &Kernels,
        roots: &[Value],
    ) -> Option<Vec<Rc<Lowered>>> {
        let there = |read: &Value| {
            let storage = analysis.storage(*read);
            is_source(self.graph, storage) || kernels.contains_key(&storage)
        };
        let fits =
            |lowered: &Rc<Lowered>| lowered.reads.len() <= MOST_READS && lowered.reads.iter().all(there);
        let mut lowered = Vec::with_capacity(roots.len());
        for &root in roots {
            lowered.push(self.lower(analysis, root).ok().filter(fits)?);
        }
        Some(lowered)
    }

    /// The kernel of a root, or what must be stored first.
    fn lower(&mut self, analysis: &Analysis<'_>, root: Value) -> Result<Rc<Lowered>, Value> {
        let known = &mut self.known[root.node.0 as usize];
        if let Some(found) = known.iter().find(|known| analysis.agrees(&known.answers)) {
            return found.result.clone();
        }
        analysis.listen();
        let result = match lower(self.graph, analysis, root) {
            Ok(lowered) => Ok(Rc::new(lowered)),
            Err(Retry::Store(value)) => Err(storable(self.graph, analysis, root, value)),
            Err(Retry::Split { .. }) => unreachable!("splits are made by `lower`"),
        };
        if known.len() == REMEMBERED {
            known.remove(0);
        }
        known.push(Known { answers: analysis.answers(), result: result.clone() });
        result
    }
}

/// `wanted` if storing it changes anything. Otherwise an operand of the root, the costliest that is still computed in
/// place: an operation whose operands are all stored can always be lowered, so lowering always ends.
fn storable(graph: &Graph, analysis: &Analysis<'_>, root: Value, wanted: Value) -> Value {
    let computed = |v: &Value| *v != root && !analysis.is_stored(*v) && !is_source(graph, *v);
    if computed(&wanted) {
        return wanted;
    }
    let operands = graph.node(root.node).args.iter().copied().filter(computed);
    let costliest = operands.max_by_key(|&operand| analysis.cost(operand));
    costliest.unwrap_or_else(|| unreachable!("{:?} of stored operands is a kernel", graph.node(root.node).op))
}

/// Whether a kernel reads `value` at one position only, so that computing it there is no repetition.
fn reads_once(lowered: &Lowered, value: Value, analysis: &Analysis<'_>) -> bool {
    let is_value =
        |arg: u32| lowered.reads.get(arg as usize).is_some_and(|&read| analysis.storage(read) == value);
    let sections = lowered.kernel.sections();
    let accesses = sections.iter().flat_map(|section| &section.body.insts).filter_map(Inst::access);
    accesses.filter(|access| is_value(access.arg)).count() == 1
}
