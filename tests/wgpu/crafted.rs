//! Code that no compiler of ours made, as an attacker would write it: it is refused, or it stays within its buffers.

use super::cases::{self, Case, Close};
use super::{Memory, program, ways};
use serde_json::Value as Json;
use std::panic::{AssertUnwindSafe, catch_unwind};
use sx_artifact::code::wgpu::code_entry;
use sx_artifact::code::{Code, Target, metadata_entry};
use sx_artifact::dtype::DType;
use sx_artifact::kernel::{KernelKind, Loop};
use sx_artifact::program::Program;
use sx_artifact::tensor::{Data, Tensor};
use sx_compiler::codegen::wgsl::generate;
use sx_runtime::device::{Context, Device, Prepare};
use sx_tests::mutate;
use sx_tests::random::Random;

/// Elements of the copy.
const LEN: u64 = 64;

/// A kernel that copies.
fn copy() -> Case {
    let mut code = cases::Code::default();
    let x = code.load(0, 0, &[1]);
    let stores = vec![cases::store(x, 1, &[1])];
    let kind = KernelKind::Loop(Loop { dims: vec![LEN], along: vec![], body: code.body(), stores });
    let x: Vec<f32> = (0..LEN).map(|i| i as f32).collect();
    cases::case("copy", vec![cases::tensor(x)], &[(DType::F32, LEN, Close::Exact)], kind)
}

/// The copy's program and entries, and the name of its code.
fn built(case: &Case) -> (Program, Memory, String) {
    let program = program(std::slice::from_ref(case));
    let emitted = generate(&program).unwrap();
    let code = emitted.code.unwrap().kernels[0].variants[0].dispatches[0].code.clone();
    (program, Memory(emitted.files), code)
}

fn run(
    device: &dyn Device,
    program: &Program,
    files: &Memory,
    input: &Tensor,
) -> Result<Vec<Tensor>, String> {
    let mut ready =
        device.prepare(Prepare { program, contents: files }).map_err(|error| error.to_string())?;
    ready.call(&[input], Context::default(), Vec::new()).map_err(|error| error.to_string())
}

/// A text with these declarations and this body, in the place of the copy's.
fn text(declared: &str, body: &str) -> String {
    format!(
        "struct SxRecord {{ zero: u32, launch: u32 }}\n\
         @group(0) @binding(0) var<uniform> sx: SxRecord;\n\
         {declared}\n\
         @compute @workgroup_size(64)\n\
         fn sx_run(@builtin(global_invocation_id) id: vec3<u32>) {{\n{body}\n}}\n"
    )
}

const ARGS: &str = "@group(0) @binding(1) var<storage, read> a0: array<f32, 64>;\n\
                    @group(0) @binding(2) var<storage, read_write> a1: array<f32, 64>;";

/// What each text is refused for.
const REFUSED: &[(&str, &str, &str)] = &[
    ("@group(0) @binding(3) var<storage, read_write> more: array<f32, 64>;", "more[0] = 1.0f;", "`more`"),
    ("@group(1) @binding(1) var<storage, read> other: array<f32, 64>;", "", "`other`"),
    ("@group(0) @binding(1) var<storage, read_write> a0: array<f32, 64>;", "a0[0] = 1.0f;", "`a0`"),
    ("@group(0) @binding(2) var<storage, read_write> a1: array<f32, 65>;", "a1[0] = 1.0f;", "`a1`"),
    ("@group(0) @binding(1) var<uniform> a0: vec4<f32>;", "", "`a0`"),
    ("var<workgroup> many: array<u32, 100000>;", "many[id.x] = 1u;", "workgroup memory"),
    ("", "var many: array<u32, 1000000>; many[id.x] = 1u;", "bytes of their own"),
    ("", "this is no code", "error"),
];

#[test]
fn code_that_is_not_what_its_metadata_says_is_refused() {
    let case = copy();
    for (way, device) in ways() {
        let (program, mut files, code) = built(&case);
        let entry = code_entry(&program.graph, &code);
        let honest = String::from_utf8(files.0[&entry].clone()).unwrap();
        let renamed = (honest.replace("fn sx_run(", "fn other("), "entry point");
        let narrower = (honest.replace("@workgroup_size(64)", "@workgroup_size(32)"), "entry point");
        let others = REFUSED.iter().map(|(declared, body, why)| (text(declared, body), *why));
        for (crafted, why) in others.chain([renamed, narrower]) {
            files.0.insert(entry.clone(), crafted.clone().into_bytes());
            let error = run(&device, &program, &files, &case.inputs[0]).unwrap_err();
            assert!(error.contains(why), "{way}: {crafted}\n{error}");
        }
    }
}

/// Reads and writes far outside, in every kind of memory: what is bound or neighbours it may change, the rest not.
#[test]
fn code_that_reaches_far_stays_within_its_buffers() {
    let reaches = [
        "a1[id.x] = a0[id.x * 268435399u + 16777216u];",
        "a1[id.x + 64u + (id.x << 20u)] = 7.0f;\na1[id.x] = a0[id.x];",
        "var own: array<f32, 4>;\nown[id.x * 65537u + sx.zero] = 7.0f;\na1[id.x] = own[id.x * 1048573u];",
        "a1[id.x] = vec4<f32>(a0[id.x])[id.x * 65537u];",
        "a1[id.x] = f32(7u / (id.x ^ id.x)) + f32((-2147483647 - 1) / (i32(sx.zero) - 1));",
    ];
    let case = copy();
    for (way, device) in ways() {
        let (program, mut files, code) = built(&case);
        let honest = Memory(files.0.clone());
        for body in reaches {
            let entry = code_entry(&program.graph, &code);
            files.0.insert(entry, text(ARGS, body).into_bytes());
            let outputs = run(&device, &program, &files, &case.inputs[0]).unwrap();
            let Data::F32(values) = outputs[0].data() else { panic!("floats are copied") };
            let foreign = values.iter().find(|&&x| !(0.0..=LEN as f32).contains(&x) && x < 2e9 && x > -2e9);
            assert_eq!(foreign, None, "{way}: {body}");
            // What comes after it finds everything as it should be.
            assert_eq!(
                run(&device, &program, &honest, &case.inputs[0]).unwrap()[0].data(),
                case.inputs[0].data()
            );
        }
    }
}

/// How many changed metadata are tried; validation refuses most of them.
const CHANGED: u64 = 400;

#[test]
fn changed_metadata_is_refused_or_runs() {
    let case = copy();
    let Some(device) = super::device() else { return };
    let (program, mut files, _) = built(&case);
    let entry = metadata_entry(Target::Wgpu, &program.graph);
    let honest: Json = serde_json::from_slice(&files.0[&entry]).unwrap();
    let mut accepted = 0;
    for seed in 0..CHANGED {
        let mut random = Random::new(seed);
        let mut json = honest.clone();
        mutate::change(&mut json, &mut random);
        let bytes = serde_json::to_vec(&json).unwrap();
        let valid = Code::decode(&bytes, &program).is_ok();
        accepted += u64::from(valid);
        files.0.insert(entry.clone(), bytes);
        let ran = catch_unwind(AssertUnwindSafe(|| run(&device, &program, &files, &case.inputs[0])));
        let ran = ran.unwrap_or_else(|_| panic!("seed {seed}: a panic with {json}"));
        assert!(valid || ran.is_err(), "seed {seed}: {json}");
    }
    assert!(accepted > 0 && accepted < CHANGED, "{accepted} of {CHANGED} were accepted");
}
