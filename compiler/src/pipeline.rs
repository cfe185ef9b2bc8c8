//! The road: the passes, in order, then the changes of representation. `sxc ir --after` follows it.

use crate::diag::Sources;
use crate::ir::Graph;
use crate::kernel::analysis::MOST_READS;
use crate::kernel::group;
use crate::passes::{const_fold, cse, dce, expand_composites, precision, simplify, split_concat};
use crate::plan::{self, Grouped, Planned};

/// The graph with a stored dtype for every node.
pub fn after_precision(graph: &Graph) -> Graph {
    precision::run(graph)
}

/// The graph with less to do, composites closed.
pub fn after_simplify(graph: &Graph) -> Graph {
    simplified(&after_precision(graph))
}

/// The program of a traced graph.
pub fn program(graph: &Graph, sources: &Sources) -> Planned {
    let opened = expand_composites::run(&after_simplify(graph));
    let fused = split_concat::run(&simplified(&opened.graph), MOST_READS);
    let groups = group::kernels(&fused);
    let grouped = Grouped { graph: &fused, traced: graph, groups: &groups, names: &opened.names };
    plan::plan(&grouped, sources)
}

/// Folding, simplification, sharing and sweeping until nothing changes.
fn simplified(graph: &Graph) -> Graph {
    let mut before = graph.clone();
    loop {
        let after = dce::run(&cse::run(&simplify::run(&const_fold::run(&before))));
        if after == before {
            return after;
        }
        before = after;
    }
}
