//! The CPU: runs kernels as they stand in the program, block by block, on all cores.
//!
//! A kernel is made ready once (`launch`, where `split` cuts it): a loop becomes a `block_program::Nest` (compiled by
//! `compile`, run by `machine`) that applies plain vectorised loops to blocks of lanes which stay in the nearest
//! cache; a matrix product or an attention calls a matrix multiplication between such nests. Read in this order:
//! `lanes`, `scalar`, `fold`, `memory`, `space`, `block_program`, `compile` (with `keep`, `fuse`, `emit`,
//! `place`, `prefetch`), `team`, `machine`, `contract`, `attention`; then a whole program: `placement`,
//! `check`, `run`.
//!
//! A trap's position is, among the coordinates at which the index is refused, the first in row-major order of
//! the body it stands in; its site turns that into a position in the index operand. Of several traps of a
//! launch the first by position is reported.
#![allow(unsafe_code, reason = "lanes are untyped memory, shared between threads that write different parts")]

mod analyse;
mod attention;
mod block_program;
mod buffer;
mod check;
mod compile;
mod contract;
mod cores;
mod emit;
mod fold;
mod fuse;
mod keep;
mod lanes;
mod launch;
mod machine;
mod memory;
mod operand;
mod place;
mod placement;
mod prefetch;
mod product;
mod run;
mod scalar;
mod space;
mod split;
mod team;
#[cfg(test)]
mod tests;

use super::{Context, Device, Executable, Prepare, SharedBytes};
use crate::error::Error;
use buffer::Buffer;
use launch::Ready;
use placement::{Placement, placements};
use std::cell::RefCell;
use sx_artifact::kernel::Kernel;
use sx_artifact::program::{Program, Resource, Role};
use sx_artifact::tensor::Tensor;
use team::Team;

/// The processor this program runs on, with the threads of rayon's global pool.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cpu;

impl Device for Cpu {
    fn name(&self) -> &str {
        "cpu"
    }

    fn memory_bytes(&self) -> Option<u64> {
        sx_files::memory::available()
    }

    fn needs(&self, program: &Program) -> u64 {
        // Inputs are read where the caller has them, and what the artifact holds where it is mapped.
        let own = |role: &Role| matches!(role, Role::Output | Role::State | Role::Context);
        let own = program.resources.iter().filter(|resource| own(&resource.role)).map(Resource::bytes);
        program.slots.iter().copied().chain(own).fold(0, u64::saturating_add)
    }

    fn prepare(&self, job: Prepare<'_>) -> Result<Box<dyn Executable>, Error> {
        Ok(Box::new(Prepared::new(job)?))
    }
}

/// A program on the CPU.
struct Prepared {
    program: Program,
    kernels: Vec<Ready>,
    placements: Vec<Placement>,
    /// Slots first, then what resources have of their own.
    buffers: Vec<Buffer>,
    team: RefCell<Team>,
}

// SAFETY: shared bytes are only read.
unsafe impl Send for Prepared {}

/// Bytes that each thread works on at most while `program` runs, beside the program's buffers. A thread keeps them for
/// the next call.
pub fn working_bytes(program: &Program) -> Result<u64, Error> {
    Ok(ready(program)?.iter().map(|kernel| kernel.working_bytes() as u64).max().unwrap_or(0))
}

/// The program's kernels made ready.
fn ready(program: &Program) -> Result<Vec<Ready>, Error> {
    let of = |kernel: &Kernel| {
        let why = |why| refused(format!("kernel `{}` cannot run on the cpu: {why}", kernel.name));
        Ready::new(kernel).map_err(why)
    };
    program.kernels.iter().map(of).collect()
}

fn refused(message: impl Into<String>) -> Error {
    Error::Device(message.into())
}

impl Prepared {
    fn new(job: Prepare<'_>) -> Result<Prepared, Error> {
        let program = job.program.clone();
        let kernels = ready(&program)?;
        let (placements, buffers) = placements(&program, job.contents)?;
        let prepared = Prepared { program, kernels, placements, buffers, team: RefCell::new(Team::new()) };
        prepared.check(&prepared.program.steps)?;
        Ok(prepared)
    }
}

impl Executable for Prepared {
    fn call(
        &mut self,
        inputs: &[&Tensor],
        context: Context,
        spare: Vec<Tensor>,
    ) -> Result<Vec<Tensor>, Error> {
        self.execute(inputs, context, spare, None)
    }

    fn allocated_bytes(&self) -> u64 {
        let owned: u64 = self.buffers.iter().map(|buffer| buffer.bytes() as u64).sum();
        let others = self.program.resources.iter().zip(&self.placements);
        let elsewhere = others.filter(|(_, placement)| !matches!(placement, Placement::Own(_)));
        owned + elsewhere.map(|(resource, _)| resource.bytes()).sum::<u64>()
    }

    fn profile(&mut self, inputs: &[&Tensor], context: Context) -> Result<Vec<u64>, Error> {
        let mut times = vec![0; self.program.launches() as usize];
        self.execute(inputs, context, Vec::new(), Some(&mut times))?;
        Ok(times)
    }
}
