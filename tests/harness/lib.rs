//! What the tests share: repeatable random programs and graphs, and files whose expectations can be renewed.

pub mod bounds;
pub mod cases;
pub mod close;
pub mod compiled;
pub mod devices;
pub mod example;
pub mod golden;
pub mod inputs;
pub mod long;
pub mod maths;
pub mod mutate;
pub mod mutated;
pub mod program;
pub mod random;
pub mod random_graph;
pub mod regression;
pub mod sample;
pub mod shrink;
pub mod ways;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use sx_artifact::tensor::Tensor;
use sx_compiler::ir::{Graph, Op};
use sx_compiler::reference;

/// The outputs of `graph` as the reference has them, its inputs fed in order; a trap in words.
pub fn reference(graph: &Graph, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
    let name = |op: &Op| match op {
        Op::Input(input) => Some(input.name.clone()),
        _ => None,
    };
    let names: Vec<Option<String>> = graph.inputs.iter().map(|&id| name(&graph.node(id).op)).collect();
    let inputs: Vec<Arc<Tensor>> = inputs.iter().map(|input| Arc::new(input.clone())).collect();
    let feeds = |op: &Op| {
        let wanted = name(op)?;
        let at = names.iter().position(|name| name.as_ref() == Some(&wanted))?;
        inputs.get(at).cloned()
    };
    match reference::run(graph, &feeds) {
        Ok(outputs) => Ok(outputs.into_iter().map(Arc::unwrap_or_clone).collect()),
        Err((node, trap)) => Err(format!("%{}: {trap:?}", node.0)),
    }
}

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(PathBuf::new, Path::to_path_buf)
}

/// Every file below `folder` (relative to the root) whose name ends in `ending`, sorted.
pub fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            if path.is_dir() {
                if path
                    .file_name()
                    .is_none_or(|name| name != "target" && !name.to_string_lossy().starts_with('.'))
                {
                    folders.push(path);
                }
            } else if path.to_string_lossy().ends_with(ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// A path as people write it: relative to the root.
pub fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

/// Fails with every message of `wrong`, if there is any.
pub fn assert_none(wrong: &[String]) {
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}
