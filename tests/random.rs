//! Random programs give what the reference gives, by the interpreter of kernels and on every device.

use sx_runtime::device::Device;
use sx_runtime::device::cpu::Cpu;
use sx_tests::random_graph::coverage::Coverage;
use sx_tests::random_graph::{self, Case};
use sx_tests::ways::{Failure, Way, compare};
use sx_tests::{assert_none, devices, files, regression, shown};

/// The programs that the interpreter of kernels and the CPU run.
const CASES: u64 = 1160;
/// The programs that each Vulkan driver runs: each takes its compiler a while.
const DRIVEN: u64 = 10;

#[test]
fn random_programs_give_what_the_reference_gives() {
    let (mut coverage, mut wrong, mut compared) = (Coverage::default(), Vec::new(), (0, 0));
    for seed in 0..CASES {
        let case = random_graph::case(seed);
        assert!(case.graph.nodes().len() >= 8, "seed {seed} is a small program");
        coverage.add(&case);
        match compare(&case.graph, &case.inputs, &[Way::Kernels, Way::On(&Cpu)]) {
            Ok((known, all)) => compared = (compared.0 + known, compared.1 + all),
            Err(failure) => wrong.push(told(&case, &failure, &[Way::Kernels, Way::On(&Cpu)])),
        }
    }
    assert_none(&wrong);
    assert_none(&coverage.below(3));
    assert!(compared.0 * 10 >= compared.1 * 9, "only {compared:?} elements were compared");
}

#[test]
fn random_programs_give_what_the_reference_gives_on_every_driver() {
    let mut wrong = Vec::new();
    for device in &devices::wgpu() {
        let ways = [Way::On(device as &dyn Device)];
        for seed in (0..DRIVEN).map(|n| n * 29) {
            let case = random_graph::case(seed);
            if let Err(failure) = compare(&case.graph, &case.inputs, &ways) {
                wrong.push(told(&case, &failure, &ways));
            }
        }
    }
    assert_none(&wrong);
}

/// A failure with the smallest program that has it.
fn told(case: &Case, failure: &Failure, ways: &[Way<'_>]) -> String {
    format!("seed {}: {failure}\n{}", case.seed, regression::smallest(case, failure, ways))
}

/// What went wrong once is right.
#[test]
fn programs_that_were_wrong_are_right() {
    let found = devices::wgpu();
    let devices = found.iter().map(|device| Way::On(device as &dyn Device));
    let ways: Vec<Way<'_>> = [Way::Kernels, Way::On(&Cpu)].into_iter().chain(devices).collect();
    let mut wrong = Vec::new();
    for path in files("tests/regressions", ".graph") {
        let case = regression::read(&path).unwrap_or_else(|error| panic!("{}: {error}", shown(&path)));
        if let Err(failure) = compare(&case.graph, &case.inputs, &ways) {
            wrong.push(format!("{}: {failure}", shown(&path)));
        }
    }
    assert_none(&wrong);
}
