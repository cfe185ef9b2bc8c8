//! The pipeline: the passes as a table, then the changes of representation. `sxc ir --after` follows it.

use crate::diag::Sources;
use crate::ir::Graph;
use crate::kernel::analysis::MOST_READS;
use crate::kernel::group;
use crate::ops::verify::verify;
use crate::passes::rewrite::with_regions;
use crate::passes::{attention, const_fold, cse, dce, expand_composites, precision, simplify, split_concat};
use crate::plan::{self, Grouped, Planned};

/// A pass: graph to graph, every promise of the graph kept.
pub struct Pass {
    /// The name, that of its module.
    pub name: &'static str,
    /// Whether it runs on regions, too, before the graph that owns them.
    pub in_regions: bool,
    /// What it does.
    pub run: fn(&Graph) -> Graph,
}

/// Stores a dtype for every node. It goes into the regions of marked nodes itself.
const PRECISION: Pass = Pass { name: "precision", in_regions: false, run: precision::run };

/// What leaves less to do, in the order in which it is repeated until nothing changes.
const SIMPLIFY: [Pass; 4] = [
    Pass { name: "const_fold", in_regions: true, run: const_fold::run },
    Pass { name: "simplify", in_regions: true, run: simplify::run },
    Pass { name: "cse", in_regions: true, run: cse::run },
    Pass { name: "dce", in_regions: true, run: dce::run },
];

/// Leaves no composite. The pipeline asks for the names of what is expanded, too.
const EXPAND: Pass =
    Pass { name: "expand_composites", in_regions: false, run: |graph| expand_composites::run(graph).graph };

/// What prepares a graph without composites for fusion.
const PREPARE: [Pass; 2] = [
    Pass { name: "attention", in_regions: false, run: attention::run },
    Pass { name: "split_concat", in_regions: false, run: |graph| split_concat::run(graph, MOST_READS) },
];

/// Every pass, in the order of its first use.
pub fn passes() -> impl Iterator<Item = &'static Pass> {
    [&PRECISION].into_iter().chain(&SIMPLIFY).chain([&EXPAND]).chain(&PREPARE)
}

impl Pass {
    /// The graph that the pass makes of `graph`.
    pub fn apply(&self, graph: &Graph) -> Graph {
        let after = if self.in_regions { with_regions(graph, &self.run) } else { (self.run)(graph) };
        checked(self.name, &after);
        after
    }
}

/// The graph with a stored dtype for every node.
pub fn after_precision(graph: &Graph) -> Graph {
    PRECISION.apply(graph)
}

/// The graph with less to do, composites closed.
pub fn after_simplify(graph: &Graph) -> Graph {
    simplified(&after_precision(graph))
}

/// The program of a traced graph.
pub fn program(graph: &Graph, sources: &Sources) -> Planned {
    let expanded = expand_composites::run(&after_simplify(graph));
    checked(EXPAND.name, &expanded.graph);
    let mut fused = simplified(&expanded.graph);
    for pass in &PREPARE {
        fused = simplified(&pass.apply(&fused));
    }
    let groups = group::kernels(&fused);
    let grouped = Grouped { graph: &fused, traced: graph, groups: &groups, names: &expanded.names };
    plan::plan(&grouped, sources)
}

/// [`SIMPLIFY`] until nothing changes.
fn simplified(graph: &Graph) -> Graph {
    let mut before = graph.clone();
    loop {
        let after = SIMPLIFY.iter().fold(before.clone(), |graph, pass| pass.apply(&graph));
        if after == before {
            return after;
        }
        before = after;
    }
}

/// Checks the graph that a pass gave, in tests and builds for debugging.
fn checked(pass: &str, graph: &Graph) {
    if cfg!(debug_assertions)
        && let Err(violation) = verify(graph)
    {
        panic!("{pass} made an ill-typed graph: {violation}");
    }
}
