//! Expands composites into their regions, just before fusion.

use super::rewrite::{Rewrite, rewrite};
use crate::ir::{Graph, Node, Op, Origin, OriginId, Value};
use std::collections::HashMap;
use std::sync::Arc;

/// A graph without composites, and the composite each node came from.
pub struct Expanded {
    /// The graph.
    pub graph: Graph,
    /// For the origins of expanded nodes, the library function they stood in: the outermost composite.
    pub names: HashMap<OriginId, Arc<str>>,
}

/// The graph with every composite replaced by its region, regions within regions included.
pub fn run(graph: &Graph) -> Expanded {
    let mut names = HashMap::new();
    let graph = rewrite(graph, |work, node| match &node.op {
        Op::Composite(composite) => {
            let first = work.new.origins().len() as u32;
            let args = work.args(node);
            let results = inline(work, node, &composite.region, args);
            let name: Arc<str> = Arc::from(composite.name.as_str());
            let last = work.new.origins().len() as u32;
            names.extend((first..last).map(|origin| (OriginId(origin), Arc::clone(&name))));
            results
        }
        _ => work.copy(node),
    });
    Expanded { graph, names }
}

/// Copies a region's nodes in place of the node that owns it, with `args` for its inputs.
fn inline(work: &mut Rewrite<'_>, owner: &Node, region: &Graph, args: Vec<Value>) -> Vec<Value> {
    let first = work.new.origins().len() as u32;
    for origin in region.origins() {
        let parent = origin.parent.map_or(owner.origin, |p| OriginId(p.0 + first));
        work.new.add_origin(Origin { parent: Some(parent), ..*origin });
    }
    let mut map: Vec<Vec<Value>> = Vec::with_capacity(region.nodes().len());
    let position = |id| region.inputs.iter().position(|&input| input == id);
    for id in region.ids() {
        let node = region.node(id);
        let own_args = || node.args.iter().map(|v| map[v.node.0 as usize][v.result as usize]).collect();
        let origin = OriginId(node.origin.0 + first);
        let results = match (position(id), &node.op) {
            (Some(which), _) => vec![args[which]],
            (None, Op::Composite(inner)) => {
                let own_args = own_args();
                inline(work, &Node { origin, ..node.clone() }, &inner.region, own_args)
            }
            (None, op) => {
                let own_args: Vec<Value> = own_args();
                let mut b = crate::ops::Builder::at(&mut work.new, origin, node.marks);
                b.push(op.clone(), &own_args, node.results.clone())
            }
        };
        map.push(results);
    }
    region.outputs.iter().map(|o| map[o.value.node.0 as usize][o.value.result as usize]).collect()
}
