//! What the `wgpu` target adds to a program: for each kernel its variants, dispatches and bindings.
//!
//! The compiler writes it as `programs/GRAPH.wgpu.json` beside the code itself (`kernels/wgsl/…`,
//! `kernels/spirv/…`, `kernels/msl/…`); the runtime picks the first variant whose condition holds, allocates
//! what is stated, binds and dispatches. `shaders/README.md` has the contract of a kernel's header.

use crate::manifest::entry_name;
use crate::program::{Program, Resource, Role, Step, buffer_bytes};
use serde::{Deserialize, Serialize};

/// Bytes of the record that a dispatch reads as its uniform: one a launch, as far apart as WebGPU's floor asks.
pub const RECORD_BYTES: u64 = 256;

/// Bytes of the trap buffer: claimed, launch, trap, 0, position (two words), value (two words).
pub const TRAP_BYTES: u64 = 32;

/// WebGPU's floor for the size of one binding; larger arguments are bound in windows of it.
pub const WINDOW_BYTES: u64 = 128 << 20;

/// Where the compiler puts the metadata of a graph.
pub fn metadata_entry(graph: &str) -> String {
    entry_name("programs", graph) + ".wgpu.json"
}

/// Where the code of a dispatch is in WGSL; `code` is [`Dispatch::code`].
pub fn wgsl_entry(graph: &str, code: &str) -> String {
    entry_name("kernels/wgsl", graph) + &format!("/{code}.wgsl")
}

/// Where the code of a dispatch is in SPIR-V.
pub fn spirv_entry(graph: &str, code: &str) -> String {
    entry_name("kernels/spirv", graph) + &format!("/{code}.spv")
}

/// Where the code of a dispatch is in the Metal Shading Language.
pub fn msl_entry(graph: &str, code: &str) -> String {
    entry_name("kernels/msl", graph) + &format!("/{code}.metal")
}

/// The name of every dispatch's entry point, in all three languages.
pub const ENTRY_POINT: &str = "sx_run";

/// The metadata of a program: one entry for each of its kernels, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WgpuCode {
    /// One for each kernel of the program.
    pub kernels: Vec<KernelCode>,
}

/// The ways to run one kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelCode {
    /// In order of preference; the runtime takes the first whose condition holds and whose needs are met.
    pub variants: Vec<Variant>,
}

/// Which kind of adapter a variant is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum When {
    /// Adapters that run shaders on a CPU: barriers are dear, fat workgroups are cheap.
    Cpu,
    /// All others.
    Gpu,
    /// Either.
    Any,
}

impl When {
    /// True if a variant with this condition may run on an adapter of that kind.
    pub fn holds(self, adapter_is_cpu: bool) -> bool {
        match self {
            When::Cpu => adapter_is_cpu,
            When::Gpu => !adapter_is_cpu,
            When::Any => true,
        }
    }
}

/// Limits of a device that a variant relies on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Needs {
    /// Storage buffers in one dispatch.
    pub storage_buffers: u32,
    /// Bytes of workgroup memory.
    pub workgroup_bytes: u32,
    /// Invocations in one workgroup.
    pub invocations: u32,
    /// Bytes of the largest binding.
    pub binding_bytes: u64,
}

/// One way to run a kernel: dispatches, in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variant {
    /// A short name: `cpu`, `gpu`, `any`.
    pub name: String,
    /// The adapters it is for.
    pub when: When,
    /// True if sums are in the order that the first variant has, so that both give the same bits.
    pub keeps_order: bool,
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
    /// The code: the stem of its files, the same for dispatches with the same code.
    pub code: String,
    /// Workgroups.
    pub groups: [u32; 3],
    /// Invocations of a workgroup.
    pub workgroup: [u32; 3],
    /// Storage bindings 1, 2, …; binding 0 is the launch's record.
    pub bindings: Vec<Window>,
    /// True if the trap buffer is bound behind them.
    pub traps: bool,
}

/// A part of a buffer, bound to a dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Window {
    /// The buffer.
    pub source: Source,
    /// Where it starts, in bytes.
    pub offset: u64,
    /// How long it is, in bytes.
    pub bytes: u64,
    /// Whether the dispatch writes it.
    pub write: bool,
}

/// A buffer of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// An argument of the kernel.
    Arg(u32),
    /// A buffer between dispatches: position in [`Variant::scratch`].
    Scratch(u32),
}

impl WgpuCode {
    /// Sizes of the scratch buffers that all launches share: position `i` is large enough for position `i` of
    /// every variant, whichever is picked, so that memory is the same number on all devices.
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

/// Bytes of a resource's own buffer.
pub fn resource_bytes(resource: &Resource) -> u64 {
    buffer_bytes(resource.dtype, resource.count())
}

/// Bytes of a slot of the memory plan: whole words, at least one.
pub fn slot_bytes(slot: u64) -> u64 {
    slot.next_multiple_of(4).max(4)
}

/// Launches in `steps`, each written one counted once however often it runs.
pub fn launches(steps: &[Step]) -> u64 {
    steps
        .iter()
        .map(|step| match step {
            Step::Launch(_) => 1,
            Step::Copy { .. } => 0,
            Step::Loop { body, .. } => launches(body),
        })
        .sum()
}

/// Bytes of the buffer that answers are read back through: the trap, then each output.
pub fn staging_bytes(program: &Program) -> u64 {
    let outputs = program.resources.iter().filter(|resource| resource.role == Role::Output);
    TRAP_BYTES + outputs.map(resource_bytes).sum::<u64>()
}

/// Bytes the runtime asks of a device for this program, exactly: resources that are not in a slot, slots,
/// scratch between dispatches, a record for each launch, the trap buffer, and what answers are read through.
pub fn wgpu_bytes(program: &Program, code: &WgpuCode) -> u64 {
    let own = program.resources.iter().filter(|resource| !matches!(resource.role, Role::Scratch { .. }));
    own.map(resource_bytes).sum::<u64>()
        + program.slots.iter().map(|&slot| slot_bytes(slot)).sum::<u64>()
        + code.scratch().iter().sum::<u64>()
        + launches(&program.steps).max(1) * RECORD_BYTES
        + TRAP_BYTES
        + staging_bytes(program)
}
