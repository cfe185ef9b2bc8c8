//! What a device can do at best, measured on it: copies, and arithmetic without them, that fit any machine.

use std::sync::Arc;
use std::time::Instant;
use sx_artifact::code::wgpu::{self as needed, When};
use sx_artifact::code::{Buffer, Code, Dispatch, KernelCode, Needs, Target, Variant, Window, metadata_entry};
use sx_artifact::dtype::DType;
use sx_artifact::kernel::{
    Access, Affine, Arg, Body, Contraction, Inst, Kernel, KernelKind, Loop, Mode, Operand, ScalarType, Store,
    Val,
};
use sx_artifact::program::{Binding, Encoding, Launch, Program, Resource, Role, Step};
use sx_runtime::device::{Contents, Context, Device, Prepare, Selected, SharedBytes, select, wgpu};
use sx_runtime::{Data, Error, Tensor};

/// The highest rates that were reached.
pub(super) struct Ceiling {
    /// Floating-point operations a second.
    pub(super) flops: f64,
    /// What did them.
    pub(super) by: &'static str,
    /// Bytes a second, read and written, in a copy.
    pub(super) bytes: f64,
}

/// Elements of the copy: beyond every cache.
const COPIED: u64 = 1 << 24;
/// Rows, columns and depth of the matrix product.
const SIDE: u64 = 768;

/// Measures a device: one that takes a program's kernels as they are by a copy and a product, a GPU by copies
/// between its buffers and by code that only multiplies and adds.
pub(super) fn measure(selected: &Selected) -> Result<Ceiling, Error> {
    if selected.target != Target::Cpu {
        return on_gpu(selected);
    }
    let device = &*selected.device;
    let copy = best(device, &copy(), &Nothing, &[COPIED], 8)?;
    let product = best(device, &product(), &Nothing, &[SIDE * SIDE, SIDE * SIDE], 8)?;
    let flops = 2.0 * (SIDE * SIDE * SIDE) as f64 / product;
    Ok(Ceiling { flops, by: "matrix product", bytes: 8.0 * COPIED as f64 / copy })
}

/// What the multiplying code runs, and how: `shaders/ceiling.wgsl` says the same.
const INVOCATIONS: u64 = 1 << 18;
const WORKGROUP: u64 = 64;
const GROUPS: u64 = INVOCATIONS / WORKGROUP;
const ROUNDS: u64 = 128;
/// Four vectors of four, a multiplication and an addition each.
const FLOPS_A_ROUND: u64 = 32;
const CODE: &str = include_str!("../../../shaders/ceiling.wgsl");

/// Both are run once and several times in a call: the difference is free of what goes to and from the host.
fn on_gpu(selected: &Selected) -> Result<Ceiling, Error> {
    // Our own text goes through wgpu whatever the driver takes.
    let options = wgpu::Options { wgsl: true, ..wgpu::Options::default() };
    let device = select::numbered(&selected.found, &options)?;
    // A processor that plays a GPU would take seconds for what a GPU does in a wink.
    let groups = if selected.found.is_cpu { GROUPS / 16 } else { GROUPS };
    let contents = Multiplier { groups };
    let copies = Step::Copy { from: 0, to: 1 };
    // It says where the code reads and writes; what is computed is the code's own.
    let kernel = kernel_of(copying(INVOCATIONS), &[INVOCATIONS, INVOCATIONS]);
    let copy = several(&device, copies, &[COPIED, COPIED], &kernel, &contents)?;
    let multiply = several(&device, launch(2), &[INVOCATIONS, INVOCATIONS], &kernel, &contents)?;
    let flops = (groups * WORKGROUP * ROUNDS * FLOPS_A_ROUND) as f64 / multiply;
    Ok(Ceiling { flops, by: "loop of multiplications", bytes: 8.0 * COPIED as f64 / copy })
}

/// Seconds that a step takes when it is repeated.
fn several(
    device: &dyn Device,
    step: Step,
    counts: &[u64],
    kernel: &Kernel,
    contents: &Multiplier,
) -> Result<f64, Error> {
    const MANY: u64 = 5;
    let times = |count: u64| {
        let steps = vec![Step::Loop { count, body: vec![step.clone()] }];
        let program = of_steps(steps, counts, vec![kernel.clone()]);
        best(device, &program, contents, &counts[..1], 4)
    };
    // A clock that is too coarse must not give a rate without end.
    Ok(((times(MANY)? - times(1)?) / (MANY - 1) as f64).max(1e-9))
}

/// The contents of an artifact with the multiplying code.
struct Multiplier {
    /// Workgroups of its dispatch.
    groups: u64,
}

impl Contents for Multiplier {
    fn bytes_of(&self, resource: &Resource) -> Result<SharedBytes, Error> {
        Nothing.bytes_of(resource)
    }

    fn entry(&self, name: &str) -> Result<SharedBytes, Error> {
        let bytes = match name == metadata_entry(Target::Wgpu, NAME) {
            true => serde_json::to_vec(&self.code()).expect("metadata has only string keys"),
            false => CODE.as_bytes().to_vec(),
        };
        let length = bytes.len();
        Ok(SharedBytes::new(Arc::new(bytes), 0, length))
    }

    fn id(&self) -> [u8; 32] {
        Nothing.id()
    }
}

impl Multiplier {
    /// How the multiplying code is run.
    fn code(&self) -> Code {
        let bytes = INVOCATIONS * 4;
        let window = |arg, write| Window { buffer: Buffer::Arg(arg), offset: 0, bytes, write };
        let dispatch = Dispatch {
            code: NAME.to_owned(),
            groups: [self.groups as u32, 1, 1],
            workgroup: [WORKGROUP as u32, 1, 1],
            bindings: vec![window(0, false), window(1, true)],
            traps: false,
            exact: false,
        };
        let needs = needed::Needs {
            when: When::Any,
            storage_buffers: 2,
            workgroup_bytes: 0,
            invocations: WORKGROUP as u32,
            binding_bytes: bytes,
        };
        let variant = Variant {
            name: "any".to_owned(),
            needs: Needs::Wgpu(needs),
            scratch: Vec::new(),
            dispatches: vec![dispatch],
        };
        Code { kernels: vec![KernelCode { variants: vec![variant] }] }
    }
}

/// Seconds of the fastest of a few calls.
fn best(
    device: &dyn Device,
    program: &Program,
    contents: &dyn Contents,
    counts: &[u64],
    calls: u32,
) -> Result<f64, Error> {
    let mut executable = device.prepare(Prepare { program, contents })?;
    let inputs: Vec<Tensor> =
        counts.iter().map(|&count| Tensor::new(&[count], Data::F32(vec![1.0; count as usize]))).collect();
    let inputs: Vec<&Tensor> = inputs.iter().collect();
    let mut best = f64::INFINITY;
    let mut outputs = Vec::new();
    for _ in 0..calls {
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

/// The graph's and the kernel's name.
const NAME: &str = "ceiling";

/// A program of one launch over `counts` elements, the last of them written.
fn program(kind: KernelKind, counts: &[u64]) -> Program {
    of_steps(vec![launch(counts.len() as u32)], counts, vec![kernel_of(kind, counts)])
}

fn launch(args: u32) -> Step {
    let args = (0..args).map(|resource| Binding { resource }).collect();
    Step::Launch(Launch { kernel: 0, args, sites: Vec::new(), origins: Vec::new() })
}

fn kernel_of(kind: KernelKind, counts: &[u64]) -> Kernel {
    let last = counts.len() - 1;
    let arg = |(number, &len): (usize, &u64)| Arg {
        dtype: DType::F32,
        len,
        mode: if number == last { Mode::Write } else { Mode::Read },
    };
    Kernel { name: NAME.to_owned(), args: counts.iter().enumerate().map(arg).collect(), traps: 0, kind }
}

fn of_steps(steps: Vec<Step>, counts: &[u64], kernels: Vec<Kernel>) -> Program {
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
    Program {
        graph: NAME.to_owned(),
        resources: counts.iter().enumerate().map(resource).collect(),
        kernels,
        steps,
        slots: Vec::new(),
        sites: Vec::new(),
        origins: Vec::new(),
    }
}

/// Copies `count` elements.
fn copying(count: u64) -> KernelKind {
    let stores = vec![Store { value: Val(0), access: access(1, &[1]) }];
    KernelKind::Loop(Loop { dims: vec![count], along: Vec::new(), body: load(0, &[1]), stores })
}

fn copy() -> Program {
    program(copying(COPIED), &[COPIED, COPIED])
}

fn product() -> Program {
    let row = SIDE as i64;
    let operand = |arg| Operand { body: load(arg, &[row, 1]), value: Val(0) };
    let work = Contraction {
        batch: Vec::new(),
        m: vec![SIDE],
        n: vec![SIDE],
        k: vec![SIDE],
        lhs: operand(0),
        rhs: operand(1),
        epilogue: Body { insts: vec![Inst::Acc { reg: ScalarType::F32 }] },
        stores: vec![Store { value: Val(0), access: access(2, &[row, 1]) }],
    };
    program(KernelKind::Contraction(work), &[SIDE * SIDE; 3])
}
