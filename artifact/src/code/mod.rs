//! The code that a target adds to a program: the variants of each kernel, and how each variant is dispatched.
//!
//! The compiler writes it as `programs/GRAPH.TARGET.json` beside the code itself (`kernels/…`). The runtime
//! picks the first variant whose needs the device meets, allocates what is stated, binds and dispatches.
//! What only one target knows stands in a module of its own, such as [`wgpu`].

pub mod wgpu;

use crate::manifest::entry_name;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What an artifact is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Target {
    /// The processor, which runs the kernels of the program themselves.
    Cpu,
    /// GPUs by way of WGSL.
    Wgpu,
}

impl Target {
    /// Every target, the processor first.
    pub const ALL: [Target; 2] = [Target::Cpu, Target::Wgpu];

    /// The target's name in artifacts and on command lines.
    pub fn name(self) -> &'static str {
        match self {
            Target::Cpu => "cpu",
            Target::Wgpu => "wgpu",
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The entry of an artifact that holds the metadata of a graph for a target: a [`Code`].
pub fn metadata_entry(target: Target, graph: &str) -> String {
    format!("{}.{target}.json", entry_name("programs", graph))
}

/// What a target adds to a program: one entry for each of its kernels, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Code {
    /// One for each kernel of the program.
    pub kernels: Vec<KernelCode>,
}

/// The ways to run one kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelCode {
    /// In order of preference; the runtime takes the first whose needs the device meets.
    pub variants: Vec<Variant>,
}

/// What a variant relies on, in the terms of its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Needs {
    /// Of an adapter.
    Wgpu(wgpu::Needs),
}

/// One way to run a kernel: dispatches, in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variant {
    /// A short name: `cpu`, `gpu`, `any`.
    pub name: String,
    /// What it needs of the device.
    pub needs: Needs,
    /// Sizes in bytes of the buffers that lie between its dispatches.
    pub scratch: Vec<u64>,
    /// What runs.
    pub dispatches: Vec<Dispatch>,
}

/// One dispatch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dispatch {
    /// The code: the stem of its file, the same for dispatches with the same code.
    pub code: String,
    /// Workgroups.
    pub groups: [u32; 3],
    /// Invocations of a workgroup.
    pub workgroup: [u32; 3],
    /// The windows that the code takes, in its order.
    pub bindings: Vec<Window>,
    /// True if the trap buffer is bound behind them.
    pub traps: bool,
    /// True if float operations happen as the code has them: none is contracted with another, none rearranged.
    pub exact: bool,
}

/// A part of a buffer, bound to a dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Window {
    /// The buffer.
    pub buffer: Buffer,
    /// Where the window starts, in bytes.
    pub offset: u64,
    /// How long it is, in bytes.
    pub bytes: u64,
    /// Whether the dispatch writes it.
    pub write: bool,
}

/// A buffer of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Buffer {
    /// An argument of the kernel.
    Arg(u32),
    /// A buffer between dispatches: position in [`Variant::scratch`].
    Scratch(u32),
}

impl Code {
    /// Sizes of the scratch buffers that all launches share: position `i` is large enough for position `i` of every
    /// variant, whichever is picked, so that memory is the same number on all devices.
    pub fn scratch(&self) -> Vec<u64> {
        let mut sizes: Vec<u64> = Vec::new();
        for variant in self.kernels.iter().flat_map(|kernel| &kernel.variants) {
            for (i, &bytes) in variant.scratch.iter().enumerate() {
                match sizes.get_mut(i) {
                    Some(size) => *size = (*size).max(bytes),
                    None => sizes.push(bytes),
                }
            }
        }
        sizes
    }
}
