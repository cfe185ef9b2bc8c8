//! What the runtime asks of a device. Two answer so far: `cpu` and `wgpu`. All `unsafe` code is in this folder.
//!
//! A device prepares a program once (allocates, uploads, makes pipelines) and then runs it many times. It
//! decides nothing that the compiler could have decided: it picks variants by their stated conditions,
//! allocates what the plan says, binds, launches, reads back.

#[cfg(feature = "cpu")]
pub mod cpu;
pub mod fit;
mod output;
pub mod pages;
pub mod select;
#[cfg(feature = "wgpu")]
pub mod wgpu;

pub use fit::Limits;
pub use select::{Devices, Found, Selected, devices, select, select_for};

use crate::error::Error;
use sx_artifact::program::{Program, Resource};
use sx_artifact::tensor::Tensor;

/// What prepares a program on a device. No method has a default.
pub trait Device: Send + Sync {
    /// The name that people and `--device` use, such as `cpu` or `llvmpipe (LLVM 15.0.6, 256 bits)`.
    fn name(&self) -> &str;

    /// Bytes of memory that a program may have, where that is known: one that [needs](Device::needs) more is refused.
    fn memory_bytes(&self) -> Option<u64>;

    /// Bytes that a session of `program` takes of that memory at least.
    fn needs(&self, program: &Program) -> u64;

    /// Gives a program buffers and pipelines on this device.
    fn prepare(&self, job: Prepare<'_>) -> Result<Box<dyn Executable>, Error>;
}

/// A program and what it is made of.
pub struct Prepare<'a> {
    /// The program; already validated.
    pub program: &'a Program,
    /// Where its code, constants and parameters are.
    pub contents: &'a dyn Contents,
}

/// What a device reads of an artifact. Slices live as long as the artifact (memory-mapped): a device that
/// computes in host memory uses them in place.
pub trait Contents {
    /// The bytes of a parameter or constant resource: `buffer_bytes` long or its unpadded length.
    fn bytes_of(&self, resource: &Resource) -> Result<SharedBytes, Error>;

    /// An entry of the artifact, such as a kernel's code; its digest has been checked.
    fn entry(&self, name: &str) -> Result<SharedBytes, Error>;

    /// Identifies the artifact, so that buffers of parameters are shared between its graphs.
    fn id(&self) -> [u8; 32];
}

/// Bytes that stay where they are while anybody holds them.
#[derive(Clone)]
pub struct SharedBytes {
    owner: std::sync::Arc<dyn AsRef<[u8]> + Send + Sync>,
    start: usize,
    end: usize,
}

impl SharedBytes {
    /// The bytes `start..end` of `owner`.
    pub fn new(
        owner: std::sync::Arc<dyn AsRef<[u8]> + Send + Sync>,
        start: usize,
        end: usize,
    ) -> SharedBytes {
        assert!(start <= end && end <= (*owner).as_ref().len(), "a range within its owner");
        SharedBytes { owner, start, end }
    }
}

impl std::ops::Deref for SharedBytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &(*self.owner).as_ref()[self.start..self.end]
    }
}

/// The integers a graph may read of its call (`&context`).
#[derive(Clone, Copy, Debug, Default)]
pub struct Context {
    /// `(getf ctx :step)`
    pub step: i64,
    /// `(getf ctx :microbatch)`
    pub microbatch: i64,
}

/// A program that is ready to run on a device. Calls reuse its buffers.
pub trait Executable: Send {
    /// Runs the program. `inputs` are one for each input resource, in the program's order, with its dtype and
    /// shape; the outputs come in the program's order. `spare` are outputs of an earlier call that nobody wants any
    /// more, in the same order, or none: their memory is used again. A trap is [`Error::Trap`] and gives no outputs.
    fn call(
        &mut self,
        inputs: &[&Tensor],
        context: Context,
        spare: Vec<Tensor>,
    ) -> Result<Vec<Tensor>, Error>;

    /// Bytes asked of the device for this program: all its buffers, parameters included.
    fn allocated_bytes(&self) -> u64;

    /// Runs the program and times each launch: nanoseconds, one for each launch of the program in order.
    fn profile(&mut self, inputs: &[&Tensor], context: Context) -> Result<Vec<u64>, Error>;
}
