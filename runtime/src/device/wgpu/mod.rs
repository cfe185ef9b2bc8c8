//! GPUs through wgpu: Vulkan, Metal, DX12, and Vulkan drivers that run on a CPU.
//!
//! An artifact has kernels as WGSL. On Vulkan `lower` checks them and makes SPIR-V of them; elsewhere wgpu does. Every call to wgpu that can fail runs in an error scope (`adapter::Gpu::checked`), and
//! what happens outside one is kept and reported by the next call: nothing here panics on a device's account.

mod adapter;
mod buffers;
mod lower;
mod pipelines;
mod run;
mod transfer;

pub use adapter::{AdapterInfo, Adapters, Options, adapters};

use super::{Device, Executable, Prepare};
use crate::error::Error;
use adapter::Gpu;
use std::sync::Arc;

/// A GPU, or a Vulkan driver that plays one.
pub struct Wgpu {
    gpu: Arc<Gpu>,
}

impl Wgpu {
    /// Opens the adapter that `options` choose.
    pub fn new(options: &Options) -> Result<Wgpu, Error> {
        Ok(Wgpu { gpu: Arc::new(Gpu::open(None, options)?) })
    }

    /// Opens the adapter that stands at this position in [`adapters`], whatever its name is.
    pub fn numbered(number: usize, options: &Options) -> Result<Wgpu, Error> {
        Ok(Wgpu { gpu: Arc::new(Gpu::open(Some(number), options)?) })
    }

    /// What is known of the adapter.
    pub fn info(&self) -> &AdapterInfo {
        &self.gpu.info
    }
}

impl Device for Wgpu {
    fn name(&self) -> &str {
        &self.gpu.info.name
    }

    fn needs(&self, program: &sx_artifact::program::Program) -> u64 {
        super::fit::memory(program)
    }

    fn memory_bytes(&self) -> Option<u64> {
        self.gpu.info.memory_bytes
    }

    fn prepare(&self, job: Prepare<'_>) -> Result<Box<dyn Executable>, Error> {
        Ok(Box::new(run::Ready::new(self.gpu.clone(), job)?))
    }
}
