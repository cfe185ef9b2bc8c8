//! Every operation against NumPy's answers: exact ones bit for bit, bounded ones within the operation's bound.

use std::collections::{BTreeMap, BTreeSet};
use sx_artifact::dtype::DType;
use sx_artifact::scalar::ScalarFn;
use sx_artifact::tensor::Tensor;
use sx_compiler::ir::Op;
use sx_compiler::ir::op::{Gather, Index};
use sx_compiler::ops::scalar::Kind;
use sx_compiler::ops::{Trap, rules};
use sx_runtime::device::Device;
use sx_runtime::device::cpu::Cpu;
use sx_tests::cases::{self, Case};
use sx_tests::close::{Leeway, hold};
use sx_tests::compiled;

#[test]
fn the_reference_agrees() {
    let cases = cases::all();
    hold("reference", Leeway::NONE, &cases, |case| sx_tests::reference(&case.graph, &case.inputs));
}

#[test]
fn the_kernel_interpreter_agrees() {
    let cases = cases::all();
    hold("kernel interpreter", Leeway::NONE, &cases, |case| compiled::interpreted(&case.graph, &case.inputs));
}

#[test]
fn the_cpu_agrees() {
    let cases = cases::all();
    hold("cpu", Leeway::NONE, &cases, |case| compiled::on_device(&Cpu, &case.graph, &case.inputs));
}

/// The largest case of each operation and dtype, and cases for all shapes that those leave out, of a dtype or
/// function that varies: each case costs a compilation.
fn covering() -> Vec<Case> {
    let mut largest: BTreeMap<String, Case> = BTreeMap::new();
    let mut forms: BTreeMap<String, Vec<Case>> = BTreeMap::new();
    for case in cases::all().into_iter().filter(|case| !case.subnormal) {
        forms.entry(case.form.clone()).or_default().push(case.clone());
        let size = |case: &Case| case.inputs.iter().map(Tensor::len).sum::<usize>();
        match largest.get(&case.kind) {
            Some(known) if size(known) >= size(&case) => {}
            _ => _ = largest.insert(case.kind.clone(), case),
        }
    }
    let mut chosen: Vec<Case> = largest.into_values().collect();
    chosen.iter().for_each(|case| _ = forms.remove(&case.form));
    chosen.extend(forms.into_values().enumerate().map(|(at, mut cases)| cases.swap_remove(at % cases.len())));
    chosen
}

/// On every Vulkan driver here.
#[test]
fn wgpu_agrees() {
    let cases = covering();
    for device in sx_tests::devices::wgpu() {
        hold(device.name(), Leeway::WGPU, &cases, |case| {
            compiled::on_device(&device, &case.graph, &case.inputs)
        });
    }
}

/// An index outside its axis is refused with its place, never read.
#[test]
fn indices_outside_their_axis_trap() {
    let cases = [
        (Op::Index(Index), [0, 4, -1], Trap { position: 1, value: 4, size: 4 }),
        (Op::Index(Index), [0, 3, -1], Trap { position: 2, value: -1, size: 4 }),
        (Op::Gather(Gather { axis: 0 }), [i64::MAX, 0, 0], Trap { position: 0, value: i64::MAX, size: 4 }),
    ];
    let table = Tensor::new(&[4], vec![1.0f32, 2.0, 3.0, 4.0].into());
    for (op, ids, trap) in cases {
        let ids = Tensor::new(&[3], ids.to_vec().into());
        assert_eq!(rules(&op).reference(&[&table, &ids]), Err(trap));
    }
}

/// An operation that is added without answers to test it against is found here.
#[test]
fn every_operation_and_dtype_has_cases() {
    let kinds: BTreeSet<String> = cases::all().into_iter().map(|case| case.kind).collect();
    for &f in ScalarFn::ALL {
        for dtype in DType::ALL.into_iter().filter(|&dtype| Kind::of(f).holds(dtype)) {
            let first = if Kind::of(f) == Kind::MaskThenAny { DType::Bool } else { dtype };
            let kind = format!("map {} {first}", f.name());
            assert!(kinds.contains(&kind), "no case for `{kind}`: see ops/expected.py");
        }
    }
}
