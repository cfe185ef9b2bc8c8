//! The `wgpu` target, compiler and runtime together: hand-built kernels against a naive evaluation.
//!
//! Runs on whatever Vulkan driver `VK_DRIVER_FILES` names. Without one it says so and passes, unless
//! `SX_REQUIRE` contains `wgpu`.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests fail by panicking and print why they skip")]

#[path = "wgpu/cases.rs"]
mod cases;
#[path = "wgpu/naive.rs"]
mod naive;

use cases::{Case, Close};
use std::collections::BTreeMap;
use std::sync::Arc;
use sx_artifact::kernel::Mode;
use sx_artifact::program::*;
use sx_artifact::tensor::{Data, Tensor};
use sx_artifact::wgpu::wgpu_bytes;
use sx_compiler::codegen::wgsl::generate;
use sx_runtime::device::wgpu::{Options, Wgpu, adapters};
use sx_runtime::device::{Contents, Context, Device, Prepare, SharedBytes};
use sx_runtime::error::Error;

/// An artifact in memory.
struct Files(BTreeMap<String, Vec<u8>>);

impl Contents for Files {
    fn bytes_of(&self, resource: &Resource) -> Result<SharedBytes, Error> {
        self.entry(&resource.name)
    }
    fn entry(&self, name: &str) -> Result<SharedBytes, Error> {
        let bytes = self.0.get(name).ok_or_else(|| Error::Device(format!("no entry `{name}`")))?;
        Ok(SharedBytes::new(Arc::new(bytes.clone()), 0, bytes.len()))
    }
    fn id(&self) -> [u8; 32] {
        [7; 32]
    }
}

/// How a device is used: each way has its own text.
const WAYS: [(&str, bool, Option<bool>); 3] =
    [("passed through", false, None), ("lowered by wgpu", true, None), ("as a GPU", false, Some(false))];

fn device(wgsl: bool, as_cpu: Option<bool>) -> Option<Wgpu> {
    let found = adapters();
    if let Some(reason) = found.reason {
        let required = std::env::var("SX_REQUIRE").is_ok_and(|list| list.contains("wgpu"));
        assert!(!required, "SX_REQUIRE asks for wgpu: {reason}");
        println!("skipped: {reason}");
        return None;
    }
    Some(Wgpu::new(&Options { adapter: None, wgsl, as_cpu }).unwrap())
}

fn resource(name: String, dtype: sx_artifact::dtype::DType, len: u64, role: Role) -> Resource {
    Resource { name, dtype, shape: vec![len], role, encoding: Encoding::Plain, domain: String::new(), check: None }
}

/// A program that runs every case once.
fn program(cases: &[Case]) -> Program {
    let mut program = Program {
        graph: "cases".to_owned(),
        resources: vec![],
        kernels: cases.iter().map(|case| case.kernel.clone()).collect(),
        steps: vec![],
        slots: vec![],
        sites: vec![],
        origins: vec![],
    };
    for (i, case) in cases.iter().enumerate() {
        let mut args = vec![];
        for (j, arg) in case.kernel.args.iter().enumerate() {
            let role = if arg.mode == Mode::Read { Role::Input } else { Role::Output };
            args.push(Binding { resource: program.resources.len() as u32 });
            program.resources.push(resource(format!("{}-{j}", case.kernel.name), arg.dtype, arg.len, role));
        }
        let sites = (0..case.kernel.traps).map(|trap| 100 * i as u32 + trap).collect();
        program.steps.push(Step::Launch(Launch { kernel: i as u32, args, sites, origins: vec![] }));
    }
    program
}

fn floats(data: &Data) -> Option<Vec<f64>> {
    match data {
        Data::F32(x) => Some(x.iter().map(|&x| x as f64).collect()),
        Data::Bf16(x) => Some(x.iter().map(|x| x.to_f64()).collect()),
        _ => None,
    }
}

/// The spacing of f32 at `x`.
fn ulp(x: f64) -> f64 {
    let x = (x as f32).abs().clamp(f32::MIN_POSITIVE, f32::MAX / 2.0);
    (f32::from_bits(x.to_bits() + 1) - x) as f64
}

/// The first element that is not close enough.
fn difference(got: &Data, want: &Data, close: Close) -> Option<String> {
    let (Some(x), Some(y)) = (floats(got), floats(want)) else {
        let scale = matches!(close, Close::Scale(_));
        // A comparison with what was summed in another order may differ here and there.
        return (got != want && !scale).then(|| format!("got {got:?}\nwant {want:?}"));
    };
    let most = y.iter().filter(|y| y.is_finite()).fold(0f64, |a, y| a.max(y.abs()));
    for (i, (&x, &y)) in x.iter().zip(&y).enumerate() {
        if x.is_nan() && y.is_nan() {
            continue;
        }
        let tiny = |v: f64| v.abs() < f32::MIN_POSITIVE as f64;
        let near = match close {
            Close::Exact => x.to_bits() == y.to_bits() || (tiny(x) && tiny(y) && x != y),
            Close::Ulps(n) => x == y || (x - y).abs() <= n * ulp(y) || (tiny(x) && tiny(y)),
            Close::Scale(n) => x == y || (x - y).abs() <= n * most,
        };
        if !near {
            return Some(format!("at {i}: got {x:e}, want {y:e}"));
        }
    }
    None
}

fn check(cases: Vec<Case>) {
    let program = program(&cases);
    let generated = generate(&program).unwrap();
    let bytes = wgpu_bytes(&program, &generated.code);
    let files = Files(generated.files);
    let want: Vec<Vec<Data>> = cases.iter().map(|case| naive::run(&case.kernel, &case.inputs)).collect();
    let inputs: Vec<&Tensor> = cases.iter().flat_map(|case| &case.inputs).collect();
    let mut wrong = vec![];
    for (way, wgsl, as_cpu) in WAYS {
        let Some(device) = device(wgsl, as_cpu) else { return };
        let mut ready = device.prepare(Prepare { program: &program, contents: &files }).unwrap();
        assert_eq!(ready.allocated_bytes(), bytes, "bytes asked of the device");
        let outputs = ready.call(&inputs, Context::default()).unwrap();
        assert_eq!(outputs, ready.call(&inputs, Context::default()).unwrap(), "a rerun gives the same bits");
        let mut outputs = outputs.into_iter();
        for (case, want) in cases.iter().zip(&want) {
            for (i, (want, &close)) in want.iter().zip(&case.close).enumerate() {
                let got = outputs.next().unwrap();
                if let Some(difference) = difference(got.data(), want, close) {
                    wrong.push(format!("{} output {i}, {way}, {close:?}: {difference}", case.kernel.name));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn scalar_functions() {
    check(cases::scalars());
}

#[test]
fn movement() {
    check(cases::movement());
}

#[test]
fn reductions() {
    check(cases::reductions());
}

#[test]
fn products() {
    check(cases::products());
}

#[test]
fn attention() {
    check(cases::attentions());
}
