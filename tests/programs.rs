//! Whole programs that asked too much of an earlier compiler: each gives what the reference gives, as kernels, on the
//! CPU and on every Vulkan device.

use std::path::Path;

use sx_artifact::tensor::{Data, Tensor};
use sx_compiler::ir::{Graph, text};
use sx_runtime::device::Device;
use sx_runtime::device::cpu::Cpu;
use sx_tests::{assert_none, compiled, devices, files, program, shown};

#[test]
fn programs_give_what_the_reference_gives() {
    let found = devices::wgpu();
    let wgpu = found.iter().map(|device| device as &dyn Device);
    let devices: Vec<&dyn Device> = wgpu.chain([&Cpu as &dyn Device]).collect();
    let wrong =
        files("tests/programs", ".sx").iter().flat_map(|path| check(path, &devices)).collect::<Vec<_>>();
    assert_none(&wrong);
}

fn check(path: &Path, devices: &[&dyn Device]) -> Vec<String> {
    let name = shown(path);
    let text = std::fs::read_to_string(path).expect("a readable program");
    let mut checked = program::check(&name, &text, Path::new("."));
    let Some(module) = checked.module.take() else { return vec![checked.rendered()] };
    module
        .graphs
        .iter()
        .flat_map(|graph| differences(graph, devices))
        .map(|what| format!("{name}: {what}"))
        .collect()
}

/// Where the ways of running a graph differ from the reference.
fn differences(graph: &Graph, devices: &[&dyn Device]) -> Vec<String> {
    // Without origins it can be planned without its text.
    let graph = text::read(&text::print(graph, None)).expect("a printed graph reads back");
    let inputs = program::values(&graph, 2);
    let want = sx_tests::reference(&graph, &inputs).expect("nothing traps");
    let on = |device: &&dyn Device| (device.name().to_owned(), compiled::on_device(*device, &graph, &inputs));
    let ways = devices.iter().map(on).chain([("kernels".to_owned(), compiled::interpreted(&graph, &inputs))]);
    let differs = |(way, got): (String, Result<Vec<Tensor>, String>)| match got {
        Err(error) => Some(format!("{way}: {error}")),
        Ok(got) => {
            let far = want.iter().zip(&got).find_map(|(want, got)| farthest(want, got))?;
            Some(format!("{way}: {far}"))
        }
    };
    ways.filter_map(differs).collect()
}

/// An element that is farther off than rounding explains: of bf16 by two units in the last place.
fn farthest(want: &Tensor, got: &Tensor) -> Option<String> {
    let (want_f, got_f, near): (Vec<f32>, Vec<f32>, f32) = match (want.data(), got.data()) {
        (Data::F32(want), Data::F32(got)) => (want.clone(), got.clone(), 1e-4),
        (Data::Bf16(want), Data::Bf16(got)) => {
            let wide = |v: &[half::bf16]| v.iter().map(|x| x.to_f32()).collect();
            (wide(want), wide(got), 0.0079)
        }
        (want, got) => return (want != got).then(|| format!("{got:?}, not {want:?}")),
    };
    let same = |(x, y): (&f32, &f32)| {
        (x - y).abs() <= near * (1.0 + x.abs()) || (x.is_nan() && y.is_nan()) || x == y
    };
    let at = want_f.iter().zip(&got_f).position(|pair| !same(pair))?;
    Some(format!("{} at {at}, not {}", got_f[at], want_f[at]))
}
