//! What a device can do at best, measured on it: a copy and a matrix product that fit any machine.

use std::time::Instant;
use sx_artifact::dtype::DType;
use sx_artifact::kernel::{
    Access, Affine, Arg, Body, Contract, Inst, Kernel, Loop, Mode, Operand, Reg, Store, Val, Work,
};
use sx_artifact::program::{Binding, Encoding, Launch, Program, Resource, Role, Step};
use sx_runtime::device::{Contents, Context, Device, Prepare, SharedBytes};
use sx_runtime::{Data, Error, Tensor};

/// The highest rates that were reached.
pub(super) struct Ceiling {
    /// Floating-point operations a second, in a matrix product.
    pub(super) flops: f64,
    /// Bytes a second, read and written, in a copy.
    pub(super) bytes: f64,
}

/// Elements of the copy: beyond every cache.
const COPIED: u64 = 1 << 24;
/// Rows, columns and depth of the matrix product.
const SIDE: u64 = 768;

/// Measures a device that takes a program's kernels as they are. Others need code that only the compiler
/// writes, so there is nothing to measure them with.
pub(super) fn measure(device: &dyn Device, target: &str) -> Result<Option<Ceiling>, Error> {
    if target != "cpu" {
        return Ok(None);
    }
    let copy = best(device, &copy(), &[COPIED])?;
    let product = best(device, &product(), &[SIDE * SIDE, SIDE * SIDE])?;
    let flops = 2.0 * (SIDE * SIDE * SIDE) as f64 / product;
    Ok(Some(Ceiling { flops, bytes: 8.0 * COPIED as f64 / copy }))
}

/// Seconds of the fastest of a few calls.
fn best(device: &dyn Device, program: &Program, counts: &[u64]) -> Result<f64, Error> {
    let mut executable = device.prepare(Prepare { program, contents: &Nothing })?;
    let inputs: Vec<Tensor> =
        counts.iter().map(|&count| Tensor::new(&[count], Data::F32(vec![1.0; count as usize]))).collect();
    let inputs: Vec<&Tensor> = inputs.iter().collect();
    let mut best = f64::INFINITY;
    let mut outputs = Vec::new();
    for _ in 0..8 {
        let start = Instant::now();
        outputs = executable.call(&inputs, Context::default(), outputs)?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(best)
}

/// The contents of an artifact that has none.
struct Nothing;

impl Contents for Nothing {
    fn bytes_of(&self, resource: &Resource) -> Result<SharedBytes, Error> {
        Err(Error::Device(format!("`{}` is stored nowhere", resource.name)))
    }

    fn entry(&self, name: &str) -> Result<SharedBytes, Error> {
        Err(Error::Device(format!("`{name}` is stored nowhere")))
    }

    fn id(&self) -> [u8; 32] {
        [0; 32]
    }
}

fn access(arg: u32, strides: &[i64]) -> Access {
    Access { arg, at: Affine { offset: 0, strides: strides.to_vec() }, gathered: Vec::new() }
}

fn load(arg: u32, strides: &[i64]) -> Body {
    Body { insts: vec![Inst::Load { access: access(arg, strides), guard: None }] }
}

/// A program of one launch over `counts` elements, the last of them written.
fn program(work: Work, counts: &[u64]) -> Program {
    let last = counts.len() - 1;
    let resource = |(number, &count): (usize, &u64)| Resource {
        name: format!("x{number}"),
        dtype: DType::F32,
        shape: vec![count],
        role: if number == last { Role::Output } else { Role::Input },
        encoding: Encoding::Plain,
        domain: String::new(),
        check: None,
    };
    let arg = |(number, &len): (usize, &u64)| Arg {
        dtype: DType::F32,
        len,
        mode: if number == last { Mode::Write } else { Mode::Read },
    };
    let args = (0..counts.len() as u32).map(|resource| Binding { resource }).collect();
    let name = "ceiling".to_owned();
    Program {
        graph: name.clone(),
        resources: counts.iter().enumerate().map(resource).collect(),
        kernels: vec![Kernel { name, args: counts.iter().enumerate().map(arg).collect(), traps: 0, work }],
        steps: vec![Step::Launch(Launch { kernel: 0, args, sites: Vec::new(), origins: Vec::new() })],
        slots: Vec::new(),
        sites: Vec::new(),
        origins: Vec::new(),
    }
}

fn copy() -> Program {
    let stores = vec![Store { value: Val(0), access: access(1, &[1]) }];
    let work = Loop { dims: vec![COPIED], along: Vec::new(), body: load(0, &[1]), stores };
    program(Work::Loop(work), &[COPIED, COPIED])
}

fn product() -> Program {
    let row = SIDE as i64;
    let operand = |arg| Operand { body: load(arg, &[row, 1]), value: Val(0) };
    let work = Contract {
        batch: Vec::new(),
        m: vec![SIDE],
        n: vec![SIDE],
        k: vec![SIDE],
        lhs: operand(0),
        rhs: operand(1),
        epilogue: Body { insts: vec![Inst::Acc { reg: Reg::F32 }] },
        stores: vec![Store { value: Val(0), access: access(2, &[row, 1]) }],
    };
    program(Work::Contract(work), &[SIDE * SIDE; 3])
}
