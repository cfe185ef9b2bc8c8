//! Drops what no output needs. Inputs stay: they are the graph's signature.

use super::rewrite::Rewrite;
use crate::ir::Graph;

/// The graph without dead nodes.
pub fn run(graph: &Graph) -> Graph {
    let mut live = graph.live();
    graph.inputs.iter().for_each(|input| live[input.0 as usize] = true);
    let mut work = Rewrite::new(graph);
    for id in graph.ids() {
        let results = if live[id.0 as usize] { work.copy(graph.node(id)) } else { Vec::new() };
        work.set(results);
    }
    work.finish()
}
