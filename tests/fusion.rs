//! Fusion changes no value: random graphs by the reference, as fused kernels, and on the CPU.

use sx_artifact::tensor::{Data, Tensor};
use sx_runtime::device::cpu::Cpu;
use sx_tests::compiled;
use sx_tests::random_graph::case;

/// How many graphs; each is a few dozen nodes at most.
const CASES: u64 = 600;

#[test]
fn fused_kernels_give_what_the_reference_gives() {
    for seed in 0..CASES {
        let case = case(seed);
        let inputs: Vec<Tensor> = case.inputs.iter().map(|input| Tensor::clone(input)).collect();
        let expected = sx_tests::reference(&case.graph, &inputs).expect("nothing traps");
        let ways = [
            ("fused", compiled::interpreted(&case.graph, &inputs)),
            ("on the cpu", compiled::on_device(&Cpu, &case.graph, &inputs)),
        ];
        for (way, found) in ways {
            let found = found.unwrap_or_else(|error| panic!("seed {seed} {way}: {error}"));
            for ((want, got), output) in expected.iter().zip(&found).zip(&case.graph.outputs) {
                assert!(close(want, got), "seed {seed}, {}: {want:?}\nbut {way} {got:?}", output.name);
            }
        }
    }
}

/// Equal, or within what rounding after each operation can do; a value that is beyond it in a long chain of
/// cancelling sums is compared by the size of the largest element.
fn close(want: &Tensor, got: &Tensor) -> bool {
    match (want.data(), got.data()) {
        (Data::F32(a), Data::F32(b)) => {
            let scale = a.iter().filter(|x| x.is_finite()).fold(1.0f32, |m, x| m.max(x.abs()));
            let same = |x: f32, y: f32| x == y || (x.is_nan() && y.is_nan()) || (x - y).abs() <= 1e-4 * scale;
            a.len() == b.len() && a.iter().zip(b).all(|(&x, &y)| same(x, y))
        }
        _ => want == got,
    }
}
