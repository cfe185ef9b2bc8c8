//! Fusion: which values are stored. Decided once, for every target.
//!
//! Outputs are stored. So is what several kernels would have to compute again at a cost, what a gather reads
//! other than through views, and whatever [`super::lower`] finds it cannot compute in place. Everything else
//! lives in registers.

use super::analysis::{Analysis, Answers, Facts, MOST_READS, is_source};
use super::lower::{Lowered, Retry, lower};
use crate::ir::{Graph, Value};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

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
    let (mut analysis, mut kernels) = loop {
        let analysis = Analysis::new(&facts, &forced);
        let (kernels, missing) = memory.lower_all(&analysis);
        if missing.is_empty() {
            break (analysis, kernels);
        }
        let before = forced.len();
        forced.extend(missing);
        assert!(forced.len() > before, "only what is not stored is missing: {}", graph.name);
    };
    // What was stored before its surroundings were may be needed no longer.
    let mut readers = readers_of(&kernels, &analysis);
    for value in forced.clone().into_iter().rev() {
        forced.remove(&value);
        let fewer = Analysis::new(&facts, &forced);
        // The kernels that read it are asked first: nearly always one of them says that it is needed.
        let needed = readers.get(&value).into_iter().flatten().any(|&reader| memory.lacks(&fewer, reader));
        let better = if needed { None } else { memory.lower_in_fewer(&fewer, kernels.len()) };
        match better {
            Some(better) => {
                (analysis, kernels) = (fewer, better);
                readers = readers_of(&kernels, &analysis);
            }
            None => {
                forced.insert(value);
            }
        }
    }
    let place = |lowered: Rc<Lowered>| {
        let mut lowered = Lowered::clone(&lowered);
        lowered.reads = lowered.reads.iter().map(|&v| analysis.storage(v)).collect();
        lowered
    };
    kernels.sort_by_key(|(root, _)| *root);
    let kernels = kernels.into_iter().map(|(_, lowered)| place(lowered)).collect();
    Groups { kernels, analysis }
}

/// The kernels of the values that are stored.
type Kernels = Vec<(Value, Rc<Lowered>)>;

/// Which kernels read each value.
fn readers_of(kernels: &Kernels, analysis: &Analysis<'_>) -> HashMap<Value, Vec<Value>> {
    let mut readers: HashMap<Value, Vec<Value>> = HashMap::new();
    for (root, lowered) in kernels {
        for &read in &lowered.reads {
            readers.entry(analysis.storage(read)).or_default().push(*root);
        }
    }
    readers
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
    /// Lowers what the outputs need. Gives the kernels, and what else must be stored.
    fn lower_all(&mut self, analysis: &Analysis<'_>) -> (Kernels, Vec<Value>) {
        let mut missing = Vec::new();
        let kernels = self.walk(analysis, |_, value| {
            missing.extend(value);
            true
        });
        (kernels, missing)
    }

    /// Lowers what the outputs need, if that takes fewer than `most` kernels and nothing else must be stored.
    fn lower_in_fewer(&mut self, analysis: &Analysis<'_>, most: usize) -> Option<Kernels> {
        let mut fewer = true;
        let kernels = self.walk(analysis, |count, value| {
            fewer = count < most && value.is_none();
            fewer
        });
        fewer.then_some(kernels)
    }

    /// Whether a root that is still stored cannot be lowered until something else is stored.
    fn lacks(&mut self, analysis: &Analysis<'_>, root: Value) -> bool {
        analysis.is_stored(root) && self.lower(analysis, root).is_err()
    }

    /// Lowers root after root, from the outputs down. `go_on` is told how many there are so far and what must be
    /// stored instead of being computed in place, and says whether to go on.
    fn walk(
        &mut self,
        analysis: &Analysis<'_>,
        mut go_on: impl FnMut(usize, Option<Value>) -> bool,
    ) -> Kernels {
        let mut found = Vec::new();
        let mut waiting = Vec::new();
        let mut seen = vec![false; self.known.len()];
        let mut wait = |waiting: &mut Vec<Value>, v: Value| {
            if analysis.is_stored(v) && !std::mem::replace(&mut seen[v.node.0 as usize], true) {
                waiting.push(v);
            }
        };
        for output in &self.graph.outputs {
            wait(&mut waiting, analysis.storage(output.value));
        }
        while let Some(root) = waiting.pop() {
            let missing = match self.lower(analysis, root) {
                Ok(lowered) => {
                    for &read in &lowered.reads {
                        wait(&mut waiting, analysis.storage(read));
                    }
                    let many = lowered.reads.len() > MOST_READS;
                    found.push((root, lowered));
                    if many { analysis.most_reads_below(root) } else { None }
                }
                Err(value) => Some(value),
            };
            if !go_on(found.len(), missing) {
                break;
            }
        }
        found
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
