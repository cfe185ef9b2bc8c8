//! From programs to the code of each target.
//!
//! A target is an implementation of [`Emit`], and its line in [`emitter`].

mod cpu;
mod maths;
pub mod wgsl;

use std::collections::BTreeMap;
use sx_artifact::code::{Code, Target};
use sx_artifact::program::Program;

pub use wgsl::floor::{FLOORS, Floor};

/// What makes the code of a target. No method has a default.
pub trait Emit {
    /// The target's part of an artifact for one program, or the kernel that the target cannot have.
    fn emit(&self, program: &Program) -> Result<Emitted, Refused>;
}

/// What a target adds to a program.
#[derive(Clone, Debug)]
pub struct Emitted {
    /// Entries of the artifact, by name.
    pub files: BTreeMap<String, Vec<u8>>,
    /// What the target's metadata, one of the entries, says; `None` where a device runs the program's own kernels.
    pub code: Option<Code>,
    /// The bytes that the program asks of the target's device.
    pub memory: u64,
}

/// A kernel that a target cannot have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Its position in the program.
    pub kernel: usize,
    /// What is refused and why.
    pub message: String,
}

/// The implementation of a target. `floor` is what every device has that the code is for.
pub fn emitter(target: Target, floor: &Floor) -> Box<dyn Emit> {
    match target {
        Target::Cpu => Box::new(cpu::Cpu),
        Target::Wgpu => Box::new(wgsl::Wgsl { limits: floor.limits }),
    }
}
