//! Kernels against the interpreter, and against known answers.

mod cases;
mod memory;
mod product;
mod random;

use super::buffer::{Arg, Report, Trap};
use super::launch::Ready;
use super::team::Team;
use half::bf16;
use sx_artifact::dtype::DType;
use sx_artifact::kernel::{
    Access, Affine, Arg as KernelArg, Body, Const, FoldOp, Inst, Kernel, KernelKind, Loop, Mode, ScalarType,
    Store, Val,
};
use sx_artifact::kernel::{interpret, text};
use sx_artifact::scalar::ScalarFn;
use sx_artifact::tensor::{Data, Tensor};

/// A small generator of numbers (an xorshift).
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
    pub(super) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len() as u64) as usize]
    }
    pub(super) fn float(&mut self) -> f32 {
        self.below(4001) as f32 / 1000.0 - 2.0
    }
    /// `count` elements; integers small, so that they are good indices.
    pub(super) fn data(&mut self, dtype: DType, count: usize) -> Data {
        let n = 0..count;
        match dtype {
            DType::F32 => n.map(|_| self.float()).collect::<Vec<f32>>().into(),
            DType::Bf16 => n.map(|_| bf16::from_f32(self.float())).collect::<Vec<bf16>>().into(),
            DType::I32 => n.map(|_| self.below(9) as i32 - 4).collect::<Vec<i32>>().into(),
            DType::I64 => n.map(|_| self.below(9) as i64 - 4).collect::<Vec<i64>>().into(),
            DType::Bool => n.map(|_| self.below(2) == 1).collect::<Vec<bool>>().into(),
        }
    }
}

/// A body under construction.
#[derive(Default)]
pub(super) struct Build {
    pub(super) body: Body,
}

impl Build {
    pub(super) fn push(&mut self, inst: Inst) -> Val {
        self.body.insts.push(inst);
        Val(self.body.insts.len() as u32 - 1)
    }
    pub(super) fn load(&mut self, arg: u32, strides: &[i64]) -> Val {
        self.push(Inst::Load { access: access(arg, 0, strides), guard: None })
    }
    pub(super) fn call(&mut self, f: ScalarFn, args: &[Val]) -> Val {
        self.push(Inst::Call { f, args: args.to_vec() })
    }
    pub(super) fn f32(&mut self, x: f32) -> Val {
        self.push(Inst::Const(Const::F32(x.to_bits())))
    }
    pub(super) fn fold(&mut self, op: FoldOp, x: Val) -> Val {
        self.push(Inst::Fold { op, x })
    }
}

pub(super) fn access(arg: u32, offset: i64, strides: &[i64]) -> Access {
    Access { arg, at: Affine { offset, strides: strides.to_vec() }, gathered: Vec::new() }
}

pub(super) fn store(value: Val, arg: u32, strides: &[i64]) -> Store {
    Store { value, access: access(arg, 0, strides) }
}

/// A kernel over `data`, of which the arguments from `reads` on are written.
pub(super) fn kernel(kind: KernelKind, data: &[Data], reads: usize, traps: u32) -> Kernel {
    let arg = |(i, data): (usize, &Data)| KernelArg {
        dtype: data.dtype(),
        len: data.len() as u64,
        mode: if i < reads { Mode::Read } else { Mode::Write },
    };
    Kernel { name: "test".to_string(), args: data.iter().enumerate().map(arg).collect(), traps, kind }
}

/// Runs a kernel on this target.
pub(super) fn run(kernel: &Kernel, data: &mut [Data]) -> Option<Trap> {
    let ready = Ready::new(kernel).expect("a kernel that has a meaning");
    let args: Vec<Arg> = data
        .iter_mut()
        .map(|data| Arg { len: data.len() as u64, start: crate::device::output::start(data), shift: 0 })
        .collect();
    let report = Report::default();
    ready.run(&args, &report, &mut Team::new());
    assert!(!report.is_outside(), "{kernel:?} reached outside of its buffers");
    report.first_trap()
}

/// Whether each element is as close as a few roundings leave it.
pub(super) fn close(a: &Data, b: &Data, tolerance: f32) -> bool {
    let near = |x: f32, y: f32| {
        x.to_bits() == y.to_bits()
            || (x.is_nan() && y.is_nan())
            || x == y
            || (x - y).abs() <= tolerance * (1.0 + x.abs().max(y.abs()))
    };
    match (a, b) {
        (Data::F32(a), Data::F32(b)) => a.len() == b.len() && a.iter().zip(b).all(|(x, y)| near(*x, *y)),
        (Data::Bf16(a), Data::Bf16(b)) => a.iter().zip(b).all(|(x, y)| {
            near(x.to_f32(), y.to_f32()) || (x.to_bits() as i32 - y.to_bits() as i32).abs() <= 1
        }),
        (a, b) => a == b,
    }
}

/// Runs a kernel on this target and by the interpreter, and compares.
pub(super) fn check(kernel: &Kernel, data: &[Data], tolerance: f32) {
    let mut ours = data.to_vec();
    let trap = run(kernel, &mut ours);
    let reads = kernel.args.iter().filter(|arg| arg.mode == Mode::Read).count();
    let tensor = |data: &Data| Tensor::new(&[data.len() as u64], data.clone());
    let tensors: Vec<Tensor> = data[..reads].iter().map(tensor).collect();
    let writes = data[reads..].to_vec();
    let refused = match interpret::run_onto(kernel, &tensors.iter().collect::<Vec<_>>(), writes) {
        Err(trap) => Some((trap.position, trap.trap, trap.value)),
        Ok(written) => {
            for (i, (a, b)) in ours[reads..].iter().zip(&written).enumerate() {
                if trap.is_none() && !close(a, b, tolerance) {
                    let short = |d: &Data| format!("{d:?}").chars().take(400).collect::<String>();
                    let (a, b, kernel) = (short(a), short(b), text::print(kernel));
                    panic!("output {i} of {kernel}\n       ours {a}\ninterpreter {b}");
                }
            }
            None
        }
    };
    assert_eq!(trap.map(|t| (t.position, t.trap, t.value)), refused, "{}", text::print(kernel));
}
