//! Programs that were wrong once: a graph as text, behind a line with the seed of its inputs.
//!
//! ```text
//! ; seed 17: what was wrong
//! graph "random17" (%0)
//! ```

use crate::inputs;
use crate::random_graph::Case;
use crate::shrink::shrink;
use crate::ways::{Failure, Way, compare};
use std::path::Path;
use sx_compiler::ir::text;
use sx_compiler::ops::verify::verify;

/// The smallest program found that fails as `case` does, as the text of a file.
pub fn smallest(case: &Case, failure: &Failure, ways: &[Way<'_>]) -> String {
    let ways: Vec<Way<'_>> = ways.iter().copied().filter(|way| way.name() == failure.way).collect();
    let mut why = failure.why.clone();
    let graph = shrink(&case.graph, |graph| {
        let values = inputs::values(graph, case.seed);
        let found = compare(graph, &values, &ways).err().filter(|found| found.wrong == failure.wrong);
        found.inspect(|found| why.clone_from(&found.why)).is_some()
    });
    let why = why.lines().collect::<Vec<_>>().join(" ");
    format!("; seed {}: {}: {why}\n{}", case.seed, failure.way, text::print(&graph, None))
}

/// The program of a file.
pub fn read(path: &Path) -> Result<Case, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let (first, rest) = text.split_once('\n').ok_or("a seed, then a graph")?;
    let seed = first.strip_prefix("; seed ").and_then(|rest| rest.split(':').next()?.trim().parse().ok());
    let seed = seed.ok_or("the first line is `; seed NUMBER: what was wrong`")?;
    let graph = text::read(rest).map_err(|error| error.to_string())?;
    verify(&graph).map_err(|violation| violation.to_string())?;
    let inputs = inputs::values(&graph, seed);
    Ok(Case { seed, graph, inputs })
}
