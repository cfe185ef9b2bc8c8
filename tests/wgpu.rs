//! The `wgpu` target, compiler and runtime together: kernels against their interpreter.
//!
//! Runs on all Vulkan drivers that `VK_DRIVER_FILES` names. Without one it says so and passes, unless
//! `SX_REQUIRE` contains `wgpu`.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests fail by panicking and print why they skip"
)]

#[path = "wgpu/cases.rs"]
mod cases;
#[path = "wgpu/crafted.rs"]
mod crafted;
#[path = "wgpu/maths.rs"]
mod maths;
#[path = "wgpu/shapes.rs"]
mod shapes;

use cases::{Case, Close};
use sx_artifact::dtype::DType;
use sx_artifact::kernel::{Mode, interpret};
use sx_artifact::program::*;
use sx_artifact::tensor::{Data, Tensor};
use sx_compiler::codegen::wgsl::generate;
use sx_runtime::device::wgpu::{Options, Wgpu};
use sx_runtime::device::{Context, Device, Prepare};
use sx_runtime::error::Error;
use sx_tests::compiled::Memory;
use sx_tests::devices;

/// How a device is used: each way has its own text.
const WAYS: [(&str, bool, Option<bool>); 3] =
    [("passed through", false, None), ("lowered by wgpu", true, None), ("as a GPU", false, Some(false))];

/// Every way to use every driver.
fn ways() -> impl Iterator<Item = (String, Wgpu)> {
    WAYS.into_iter().flat_map(|(way, wgsl, as_cpu)| {
        let devices = devices::wgpu_as(wgsl, as_cpu).into_iter();
        devices.map(move |device| (format!("{way} on {}", device.name()), device))
    })
}

/// A driver, for what does not differ by driver.
fn device() -> Option<Wgpu> {
    devices::wgpu().into_iter().next()
}

fn resource(name: String, dtype: sx_artifact::dtype::DType, len: u64, role: Role) -> Resource {
    Resource {
        name,
        dtype,
        shape: vec![len],
        role,
        encoding: Encoding::Plain,
        domain: String::new(),
        check: None,
    }
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

/// What a case's kernel writes, by the interpreter, onto zeros.
fn meaning(case: &Case) -> Vec<Data> {
    let inputs: Vec<&Tensor> = case.inputs.iter().collect();
    let zeros = case.kernel.args[inputs.len()..].iter().map(|arg| match arg.dtype {
        DType::F32 => Data::F32(vec![0.0; arg.len as usize]),
        DType::Bf16 => Data::Bf16(vec![half::bf16::ZERO; arg.len as usize]),
        DType::I32 => Data::I32(vec![0; arg.len as usize]),
        DType::I64 => Data::I64(vec![0; arg.len as usize]),
        DType::Bool => Data::Bool(vec![false; arg.len as usize]),
    });
    interpret::run_onto(&case.kernel, &inputs, zeros.collect()).expect("no index of a case is refused")
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
    let bytes = generated.memory;
    let files = Memory(generated.files);
    let want: Vec<Vec<Data>> = cases.iter().map(meaning).collect();
    let inputs: Vec<&Tensor> = cases.iter().flat_map(|case| &case.inputs).collect();
    let mut wrong = vec![];
    for (way, device) in ways() {
        let mut ready = device.prepare(Prepare { program: &program, contents: &files }).unwrap();
        assert_eq!(ready.allocated_bytes(), bytes, "bytes asked of the device");
        let outputs = ready.call(&inputs, Context::default(), Vec::new()).unwrap();
        assert_eq!(
            outputs,
            ready.call(&inputs, Context::default(), Vec::new()).unwrap(),
            "a rerun gives the same bits"
        );
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

/// The inputs of a case with one element of an index replaced.
fn trapping() -> (Case, Tensor) {
    let case = cases::movement().pop().unwrap();
    (case, cases::tensor(vec![3i32, 0, 10, -1, 7]))
}

#[test]
fn an_index_out_of_range_is_reported_and_reaches_nothing() {
    let (case, bad) = trapping();
    let program = program(std::slice::from_ref(&case));
    let files = Memory(generate(&program).unwrap().files);
    for (way, device) in ways() {
        let mut ready = device.prepare(Prepare { program: &program, contents: &files }).unwrap();
        let good: Vec<&Tensor> = case.inputs.iter().collect();
        let outputs = ready.call(&good, Context::default(), Vec::new()).unwrap();
        let error = ready.call(&[good[0], &bad, good[2]], Context::default(), Vec::new()).unwrap_err();
        assert!(matches!(error, Error::Trap { site: 0, position: 3, value: -1 }), "{way}: {error}");
        // The next call is not the poorer for it.
        assert_eq!(outputs, ready.call(&good, Context::default(), Vec::new()).unwrap(), "{way}");
        assert_eq!(ready.profile(&good, Context::default()).unwrap().len(), 1, "{way}");
    }
}

#[test]
fn steps_copy_and_repeat() {
    use cases::{Code, case, store, tensor};
    use sx_artifact::kernel::*;
    // Three times: y = x + step; x = y. The state and the answer see all of it.
    let mut code = Code::default();
    let x = code.load(0, 0, &[1]);
    let step = code.load(1, 0, &[0]);
    let float = code.convert(ScalarType::F32, step);
    let sum = code.call(sx_artifact::scalar::ScalarFn::Add, &[x, float]);
    let work = KernelKind::Loop(Loop {
        dims: vec![5],
        along: vec![],
        body: code.body(),
        stores: vec![store(sum, 2, &[1])],
    });
    let inputs = vec![tensor(vec![0f32; 5]), tensor(vec![0i64])];
    let case = case("count", inputs, &[(DType::F32, 5, Close::Exact)], work);
    let launch = Launch {
        kernel: 0,
        args: [1, 2, 3].map(|resource| Binding { resource }).to_vec(),
        sites: vec![],
        origins: vec![],
    };
    let program = Program {
        graph: "cases".to_owned(),
        resources: vec![
            resource("x".to_owned(), DType::F32, 5, Role::Input),
            resource("now".to_owned(), DType::F32, 5, Role::Scratch { slot: 0 }),
            resource("step".to_owned(), DType::I64, 1, Role::Context),
            resource("y".to_owned(), DType::F32, 5, Role::Output),
        ],
        kernels: vec![case.kernel],
        steps: vec![
            Step::Copy { from: 0, to: 1 },
            Step::Loop { count: 3, body: vec![Step::Launch(launch), Step::Copy { from: 3, to: 1 }] },
        ],
        slots: vec![20],
        sites: vec![],
        origins: vec![],
    };
    let Some(device) = device() else { return };
    let files = Memory(generate(&program).unwrap().files);
    let mut ready = device.prepare(Prepare { program: &program, contents: &files }).unwrap();
    let x = tensor(vec![0f32, 1.0, 2.0, 3.0, 4.0]);
    let context = Context { step: 7, microbatch: 0 };
    assert_eq!(
        ready.call(&[&x], context, Vec::new()).unwrap(),
        [tensor(vec![21f32, 22.0, 23.0, 24.0, 25.0])]
    );
}

#[test]
fn an_argument_larger_than_a_binding_is_bound_in_windows() {
    use cases::{Code, case, store, tensor};
    use sx_artifact::kernel::*;
    // 36 Mi floats are 144 MiB: read backwards, a thousandth of them, on both sides of the border.
    let n = 36u64 << 20;
    let mut code = Code::default();
    let x = code.load(0, n as i64 - 1, &[-1024]);
    let stores = vec![store(x, 1, &[1])];
    let work = KernelKind::Loop(Loop { dims: vec![n / 1024], along: vec![], body: code.body(), stores });
    let large: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let case = case("windows", vec![tensor(large)], &[(DType::F32, n / 1024, Close::Exact)], work);
    let want = meaning(&case);
    let program = program(std::slice::from_ref(&case));
    let generated = generate(&program).unwrap();
    assert_eq!(generated.code.as_ref().unwrap().kernels[0].variants[0].dispatches[0].bindings.len(), 3);
    let files = Memory(generated.files);
    let Some(device) = device() else { return };
    let mut ready = device.prepare(Prepare { program: &program, contents: &files }).unwrap();
    let outputs = ready.call(&[&case.inputs[0]], Context::default(), Vec::new()).unwrap();
    assert_eq!(outputs[0].data(), &want[0]);
}

#[test]
fn what_a_device_cannot_do_is_an_error() {
    let Some(device) = device() else { return };
    let mut program = program(&[]);
    program.resources.push(resource("huge".to_owned(), DType::I64, 1 << 40, Role::Input));
    let files = Memory(generate(&program).unwrap().files);
    let error = device.prepare(Prepare { program: &program, contents: &files }).err().unwrap().to_string();
    assert!(error.contains("`huge`") && error.contains("the device `cpu`"), "{error}");
    let error =
        Wgpu::new(&Options { adapter: Some("abacus".to_owned()), ..Options::default() }).err().unwrap();
    assert!(error.to_string().contains("no adapter is called `abacus`"), "{error}");
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
