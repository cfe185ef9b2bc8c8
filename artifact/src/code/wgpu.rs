//! What the `wgpu` target alone knows: what a variant needs of an adapter, what an adapter allows, and the memory that
//! a program asks for. `shaders/README.md` has the contract of a kernel's header.

use super::{Code, KernelCode, Variant};
use crate::manifest::entry_name;
use crate::program::{Program, Resource, Role};
use serde::{Deserialize, Serialize};

/// Bytes of the record that a dispatch reads as its uniform: one a launch, as far apart as WebGPU's floor asks.
pub const RECORD_BYTES: u64 = 256;

/// Bytes of the trap buffer: claimed, launch, trap, 0, position (two words), value (two words).
pub const TRAP_BYTES: u64 = 32;

/// Where a window may start: WebGPU's floor for the alignment of a storage binding.
pub const WINDOW_ALIGN: u64 = 256;

/// The name of the entry point of every dispatch.
pub const ENTRY_POINT: &str = "sx_run";

/// The first function of every text: it gives `x` back in a way that a shader compiler cannot see through, so that
/// float operations stay as they are written.
pub const OPAQUE: &str = "fn opq(x: f32) -> f32 {\n    return bitcast<f32>(bitcast<u32>(x) ^ sx.zero);\n}\n";

/// What stands for [`OPAQUE`] where the language has another way to say so.
pub const TRANSPARENT: &str = "fn opq(x: f32) -> f32 {\n    return x;\n}\n";

/// The entry of an artifact that holds the WGSL of a dispatch; `code` is [`super::Dispatch::code`].
pub fn code_entry(graph: &str, code: &str) -> String {
    format!("{}/{code}.wgsl", entry_name("kernels/wgsl", graph))
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

/// What a variant needs of an adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Needs {
    /// The kind of adapter it is for.
    pub when: When,
    /// Storage buffers in one dispatch.
    pub storage_buffers: u32,
    /// Bytes of workgroup memory.
    pub workgroup_bytes: u32,
    /// Invocations in one workgroup.
    pub invocations: u32,
    /// Bytes of the largest binding.
    pub binding_bytes: u64,
}

/// What an adapter allows at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one buffer.
    pub buffer_bytes: u64,
    /// Bytes of one storage binding.
    pub binding_bytes: u64,
    /// Storage buffers in a dispatch.
    pub storage_buffers: u32,
    /// Bytes of workgroup memory.
    pub workgroup_bytes: u32,
    /// Invocations in a workgroup.
    pub invocations: u32,
    /// Workgroups along each axis of a dispatch.
    pub groups: u32,
}

/// Something of which a variant needs more than there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lack {
    /// What it is, such as `storage buffers in a dispatch`.
    pub what: &'static str,
    /// How much the variant needs.
    pub needed: u64,
    /// How much there is.
    pub most: u64,
    /// Whether the need grows with the sizes of the tensors.
    pub grows: bool,
}

/// What `variant` needs of an adapter.
pub fn needs(variant: &Variant) -> &Needs {
    match &variant.needs {
        super::Needs::Wgpu(needs) => needs,
    }
}

/// The first thing of which `variant` needs more than `limits` allow.
pub fn lacking(limits: &Limits, variant: &Variant) -> Option<Lack> {
    let needs = needs(variant);
    let groups = variant.dispatches.iter().flat_map(|dispatch| dispatch.groups).max().unwrap_or(0);
    let between = variant.scratch.iter().copied().max().unwrap_or(0);
    let row = |what, needed, most, grows| Lack { what, needed, most, grows };
    let rows = [
        row(
            "storage buffers in a dispatch",
            needs.storage_buffers.into(),
            limits.storage_buffers.into(),
            true,
        ),
        row("bytes in a binding", needs.binding_bytes, limits.binding_bytes, true),
        row("bytes in a buffer between its dispatches", between, limits.buffer_bytes, true),
        row("bytes of workgroup memory", needs.workgroup_bytes.into(), limits.workgroup_bytes.into(), false),
        row("invocations in a workgroup", needs.invocations.into(), limits.invocations.into(), false),
        row("workgroups in a dispatch", groups.into(), limits.groups.into(), true),
    ];
    rows.into_iter().find(|row| row.needed > row.most)
}

/// The variant of a kernel that an adapter of a kind runs: the first that `limits` have room for. Else what the first
/// lacks, or nothing where none is for that kind.
pub fn variant<'a>(
    limits: &Limits,
    on_cpu: bool,
    kernel: &'a KernelCode,
) -> Result<&'a Variant, Option<Lack>> {
    let mut lack = None;
    for variant in kernel.variants.iter().filter(|variant| needs(variant).when.holds(on_cpu)) {
        match lacking(limits, variant) {
            None => return Ok(variant),
            found => lack = lack.or(found),
        }
    }
    Err(lack)
}

/// Bytes of the buffer that answers are read back through: the trap, then each output.
pub fn staging_bytes(program: &Program) -> u64 {
    let outputs = program.resources.iter().filter(|resource| resource.role == Role::Output);
    TRAP_BYTES + outputs.map(Resource::bytes).sum::<u64>()
}

/// Bytes the runtime asks of a device for this program, exactly: resources and slots, scratch between dispatches, a
/// record for each launch, the trap buffer, and what answers are read through.
pub fn memory_bytes(program: &Program, code: &Code) -> u64 {
    program.buffer_bytes()
        + code.scratch().iter().sum::<u64>()
        + program.launches().max(1) * RECORD_BYTES
        + TRAP_BYTES
        + staging_bytes(program)
}
