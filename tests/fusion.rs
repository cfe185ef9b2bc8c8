//! Fusion changes no value: random graphs by the reference and as fused kernels.

use std::sync::Arc;
use sx_artifact::program::{Resource, Role};
use sx_artifact::tensor::{Data, Tensor};
use sx_compiler::diag::Sources;
use sx_compiler::ir::Op;
use sx_compiler::{pipeline, plan, reference};
use sx_tests::random_graph::{Case, case};

/// How many graphs; each is a few dozen nodes at most.
const CASES: u64 = 600;

#[test]
fn fused_kernels_give_what_the_reference_gives() {
    let mut sources = Sources::default();
    sources.add("random.sx", "");
    for seed in 0..CASES {
        let case = case(seed);
        let expected = by_reference(&case);
        let planned = pipeline::program(&case.graph, &sources);
        let feed = |resource: &Resource| feed(&case, &planned, resource);
        let found = plan::interpret::run(&planned.program, &feed).expect("nothing traps");
        for ((want, got), output) in expected.iter().zip(&found).zip(&case.graph.outputs) {
            assert!(close(want, got), "seed {seed}, {}: {want:?}\nbut fused {got:?}", output.name);
        }
    }
}

fn by_reference(case: &Case) -> Vec<Arc<Tensor>> {
    let feeds = |op: &Op| match op {
        Op::Input(input) => {
            let at: usize = input.name[1..].parse().expect("inputs are numbered");
            Some(Arc::clone(&case.inputs[at]))
        }
        _ => None,
    };
    reference::run(&case.graph, &feeds).expect("nothing traps")
}

fn feed(case: &Case, planned: &plan::Planned, resource: &Resource) -> Tensor {
    match resource.role {
        Role::Input => {
            let at: usize = resource.name[1..].parse().expect("inputs are numbered");
            (*case.inputs[at]).clone()
        }
        _ => {
            let found = planned.constants.iter().find(|(name, _)| *name == resource.name);
            (*found.expect("constants are stored").1).clone()
        }
    }
}

/// Equal, or within what rounding after each operation can do; a value that is beyond it in a long chain of
/// cancelling sums is compared by the size of the largest element.
fn close(want: &Tensor, got: &Tensor) -> bool {
    match (want.data(), got.data()) {
        (Data::F32(a), Data::F32(b)) => {
            let scale = a.iter().filter(|x| x.is_finite()).fold(1.0f32, |m, x| m.max(x.abs()));
            a.len() == b.len()
                && a.iter()
                    .zip(b)
                    .all(|(x, y)| x == y || (x.is_nan() && y.is_nan()) || (x - y).abs() <= 1e-4 * scale)
        }
        _ => want == got,
    }
}
