//! Programs changed at random, as an attacker would: what validation accepts runs on the CPU without a panic, and
//! where the interpreter has an answer, that is the answer.

use crate::close::same_within;
use crate::random::Random;
use crate::ways::caught;
use crate::{compiled, mutate, random_graph};
use std::collections::BTreeMap;
use sx_artifact::dtype::DType;
use sx_artifact::kernel::KernelKind;
use sx_artifact::program::{Program, Resource, Role};
use sx_artifact::tensor::{Data, Tensor};
use sx_compiler::plan;
use sx_runtime::device::cpu::Cpu;
use sx_runtime::device::{Context, Device, Prepare};

/// How much of the largest element a rounding may become: nothing keeps what a changed program subtracts apart.
const CANCELLED: f32 = 1e-2;
/// The most points of a kernel, and elements of a buffer, that a test waits for.
const LARGE: u64 = 1 << 16;

/// Changes the program of a seed. True if validation accepts what comes of it; then it runs on the CPU.
pub fn case(seed: u64) -> Result<bool, String> {
    let Some(program) = changed(seed) else { return Ok(false) };
    // The interpreter is for what the compiler makes: it has no answer where elements stay unwritten.
    let want = caught(|| interpreted(&program));
    let got = caught(|| on_cpu(&program)).map_err(|message| format!("the cpu panics: {message}"))?;
    if let (Ok(Ok(want)), Ok(got)) = (want, got) {
        let same = want.len() == got.len()
            && want.iter().zip(&got).all(|(want, got)| same_within(want, got, CANCELLED));
        if !same {
            return Err(format!("{want:?}\nbut on the cpu {got:?}"));
        }
    }
    Ok(true)
}

/// The program of a random graph with a few changes, if it is another and valid.
fn changed(seed: u64) -> Option<Program> {
    let graph = random_graph::case(seed % 300).graph;
    let planned = compiled::planned(&graph).expect("a valid program");
    let mut random = Random::new(seed);
    let mut json = serde_json::to_value(&planned.program).expect("a program is JSON");
    for _ in 0..1 + random.below(3) {
        mutate::change(&mut json, &mut random);
    }
    let program: Program = serde_json::from_value(json).ok()?;
    let small =
        |sizes: &[u64]| sizes.iter().try_fold(1u64, |n, &m| n.checked_mul(m)).is_some_and(|n| n <= LARGE);
    let quick = program.kernels.iter().all(|kernel| match &kernel.kind {
        KernelKind::Loop(it) => small(&[&it.dims[..], &it.along].concat()),
        KernelKind::Contraction(it) => small(&[&it.batch[..], &it.m, &it.n, &it.k].concat()),
        KernelKind::Attention(_) => false,
    });
    let fits = program.resources.iter().all(|resource| small(&resource.shape));
    (quick && fits && program != planned.program && program.validate().is_ok()).then_some(program)
}

/// The values of a resource: small numbers that differ.
fn values(resource: &Resource) -> Tensor {
    let numbers = (0..resource.count()).map(|i| (i * 7 % 11) as i64 - 5);
    let data: Data = match resource.dtype {
        DType::F32 => numbers.map(|x| x as f32).collect::<Vec<_>>().into(),
        DType::Bf16 => numbers.map(|x| half::bf16::from_f32(x as f32)).collect::<Vec<_>>().into(),
        DType::I32 => numbers.map(|x| x as i32).collect::<Vec<_>>().into(),
        DType::I64 => numbers.collect::<Vec<_>>().into(),
        DType::Bool => numbers.map(|x| x > 0).collect::<Vec<_>>().into(),
    };
    Tensor::new(&resource.shape, data)
}

fn interpreted(program: &Program) -> Result<Vec<Tensor>, String> {
    plan::interpret::run(program, &values).map_err(|stop| stop.to_string())
}

fn on_cpu(program: &Program) -> Result<Vec<Tensor>, String> {
    let held =
        program.resources.iter().filter(|resource| matches!(resource.role, Role::Constant | Role::Param));
    let contents: BTreeMap<String, Vec<u8>> =
        held.map(|resource| (resource.name.clone(), values(resource).bytes().to_vec())).collect();
    let contents = compiled::Memory(contents);
    let job = Prepare { program, contents: &contents };
    let mut executable = Cpu.prepare(job).map_err(|error| error.to_string())?;
    let inputs = program.resources.iter().filter(|resource| resource.role == Role::Input);
    let inputs: Vec<Tensor> = inputs.map(values).collect();
    let inputs: Vec<&Tensor> = inputs.iter().collect();
    executable.call(&inputs, Context::default(), Vec::new()).map_err(|error| error.to_string())
}
