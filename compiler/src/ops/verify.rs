//! What holds of every graph, whatever made it: operands come first, and types are those that the rules give.

use super::{Fault, rules, sense};
use crate::ir::{Graph, Node, NodeId, Op, Type, Value};
use std::fmt;

/// A graph that is not one: a bug of whoever made it.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// The nodes it is in, outermost first: a composite, then one of its region.
    pub path: Vec<NodeId>,
    /// What does not hold.
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path: Vec<String> = self.path.iter().map(|id| format!("%{}", id.0)).collect();
        write!(f, "{}: {}", path.join(" in "), self.what)
    }
}

/// Checks a graph and its regions. Domains may be narrower or wider than the rules say, but make sense.
pub fn verify(graph: &Graph) -> Result<(), Violation> {
    for id in graph.ids() {
        node(graph, id).map_err(|what| Violation { path: vec![id], what })?;
        for region in graph.node(id).op.regions() {
            verify(region).map_err(|mut violation| {
                violation.path.insert(0, id);
                violation
            })?;
        }
    }
    let result_of =
        |value: Value| graph.nodes().get(value.node.0 as usize)?.results.get(value.result as usize);
    for output in &graph.outputs {
        if result_of(output.value).is_none() {
            let what = format!("output `{}` is no result of a node", output.name);
            return Err(Violation { path: vec![output.value.node], what });
        }
    }
    Ok(())
}

fn node(graph: &Graph, id: NodeId) -> Result<(), String> {
    let node = graph.node(id);
    for &arg in &node.args {
        let stands = arg.node < id && (arg.result as usize) < graph.node(arg.node).results.len();
        if !stands {
            return Err(format!("operand %{}.{} does not stand before it", arg.node.0, arg.result));
        }
    }
    if let Some(ty) = node.results.iter().find(|ty| sense::check(&ty.domain, ty).is_err()) {
        return Err(format!("{} makes no sense", ty.shown(&[])));
    }
    let is_listed = graph.inputs.contains(&id);
    if matches!(node.op, Op::Input(_)) != is_listed {
        return Err("the inputs of a graph are its input nodes".to_owned());
    }
    typed(graph, node)
}

fn typed(graph: &Graph, node: &Node) -> Result<(), String> {
    let args: Vec<Type> = node.args.iter().map(|&arg| graph.ty(arg).clone()).collect();
    let results = match rules(&node.op).infer(&args) {
        Err(Fault::Source) if node.results.len() == 1 && args.is_empty() => return Ok(()),
        Err(fault) => return Err(format!("its operands are refused: {fault:?}")),
        Ok(results) => results,
    };
    let same = |(a, b): (&Type, &Type)| a.dtype == b.dtype && a.shape() == b.shape();
    if results.len() != node.results.len() || !results.iter().zip(&node.results).all(same) {
        return Err(format!("its rules give {results:?}, it says {:?}", node.results));
    }
    Ok(())
}
