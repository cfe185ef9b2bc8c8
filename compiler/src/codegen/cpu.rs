//! The target `cpu`: its device runs the kernels of the program themselves.

use super::{Emit, Emitted, Refused};
use std::collections::BTreeMap;
use sx_artifact::program::Program;

/// The processor.
pub(super) struct Cpu;

impl Emit for Cpu {
    fn emit(&self, program: &Program) -> Result<Emitted, Refused> {
        Ok(Emitted { files: BTreeMap::new(), code: None, memory: program.buffer_bytes() })
    }
}
