//! Whether a program fits what a kind of device has at least: `sxc check --fits`.

use sx_artifact::program::{Resource, Role};
use sx_artifact::wgpu::{TRAP_BYTES, Variant, WgpuCode, resource_bytes, staging_bytes};

use crate::compile::{self, Target};
use crate::diag::{Code, Diagnostic, Sink, Sources, Span};
use crate::eval::Module;
use crate::plan::Planned;

/// What every device of a kind has at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Floor {
    /// What the command line calls it.
    pub name: &'static str,
    /// Which devices it is about, in one line.
    pub summary: &'static str,
    /// Storage buffers in a dispatch.
    pub storage_buffers: u32,
    /// Bytes of one storage binding.
    pub binding_bytes: u64,
    /// Bytes of one buffer.
    pub buffer_bytes: u64,
    /// Bytes of workgroup memory.
    pub workgroup_bytes: u32,
    /// Invocations of a workgroup.
    pub invocations: u32,
    /// Workgroups along each axis of a dispatch.
    pub groups: u32,
}

/// The floors there are.
pub const FLOORS: [Floor; 3] = [
    Floor {
        name: "webgpu",
        summary: "what WebGPU promises by default, in every browser that has it",
        storage_buffers: 8,
        binding_bytes: 128 << 20,
        buffer_bytes: 256 << 20,
        workgroup_bytes: 16 << 10,
        invocations: 256,
        groups: 65_535,
    },
    Floor {
        name: "webgpu-compat",
        summary: "what WebGPU promises in its compatibility mode, for older devices",
        storage_buffers: 8,
        binding_bytes: 128 << 20,
        buffer_bytes: 256 << 20,
        workgroup_bytes: 16 << 10,
        invocations: 128,
        groups: 65_535,
    },
    Floor {
        name: "vulkan",
        summary: "what Vulkan 1.1 demands of every device",
        storage_buffers: 4,
        binding_bytes: 128 << 20,
        buffer_bytes: 1 << 30,
        workgroup_bytes: 16 << 10,
        invocations: 128,
        groups: 65_535,
    },
];

/// Reports every buffer and every kernel of the program that exceeds `floor`, where it is written.
pub fn check(module: &Module, sources: &Sources, floor: &Floor, sink: &mut Sink) {
    let compiled = match compile::compile(module, sources, &[Target::Wgpu]) {
        Ok(compiled) => compiled,
        Err(refused) => {
            sink.report(refused);
            return;
        }
    };
    for (planned, code) in compiled.graphs.iter().zip(&compiled.wgpu) {
        let found = buffers(planned, floor).into_iter().chain(kernels(planned, code, floor));
        found.for_each(|diagnostic| _ = sink.report(diagnostic));
    }
}

fn buffers(planned: &Planned, floor: &Floor) -> Vec<Diagnostic> {
    let most = floor.buffer_bytes;
    let too_large = |what: String, bytes: u64, span: Span| {
        let message = format!("{what} has {bytes} bytes, and `{}` allows {most} for one buffer", floor.name);
        Diagnostic::new(Code::FitBuffer, span, message).help(
            "use smaller sizes, or divide it in two; `sxrun devices FILE.sxa` compares with a machine's own devices",
        )
    };
    let resources = planned.program.resources.iter().zip(&planned.resource_spans);
    let mut found: Vec<Diagnostic> = resources
        .filter(|(resource, _)| resource_bytes(resource) > most)
        .map(|(resource, span)| too_large(described(resource), resource_bytes(resource), *span))
        .collect();
    // What answers are read through is one buffer for all outputs.
    let outputs = || {
        let all = planned.program.resources.iter().zip(&planned.resource_spans);
        all.filter(|(resource, _)| resource.role == Role::Output)
    };
    let together = staging_bytes(&planned.program);
    if together - TRAP_BYTES > most && outputs().all(|(output, _)| resource_bytes(output) <= most) {
        let what = format!("what `{}` gives, {} outputs together,", planned.program.graph, outputs().count());
        found.extend(outputs().next_back().map(|(_, span)| too_large(what, together, *span)));
    }
    found
}

fn described(resource: &Resource) -> String {
    let Resource { name, dtype, shape, .. } = resource;
    match resource.role {
        Role::Input => format!("the input `{name}` {shape:?} {dtype}"),
        Role::Output => format!("the output `{name}` {shape:?} {dtype}"),
        Role::Param => format!("the parameter `{name}` {shape:?} {dtype}"),
        Role::State => format!("the state `{name}` {shape:?} {dtype}"),
        Role::Constant => format!("a constant {shape:?} {dtype}"),
        Role::Scratch { .. } | Role::Context => format!("this value {shape:?} {dtype}, which is stored,"),
    }
}

fn kernels(planned: &Planned, code: &WgpuCode, floor: &Floor) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (at, (kernel, code)) in planned.program.kernels.iter().zip(&code.kernels).enumerate() {
        // A device of the kind may run its shaders on a CPU or not: both need a variant with room.
        let excess = [true, false].into_iter().find_map(|on_cpu| {
            let mut variants = code.variants.iter().filter(|variant| variant.when.holds(on_cpu));
            let first = variants.clone().next()?;
            if variants.any(|variant| excess(variant, floor).is_none()) { None } else { excess(first, floor) }
        });
        let Some(Excess { what, needed, most, grows }) = excess else { continue };
        let message =
            format!("the kernel `{}` needs {needed} {what}, and `{}` has {most}", kernel.name, floor.name);
        let step = if grows { "use smaller sizes" } else { "where a device has no more, use `--device cpu`" };
        let help = format!("{step}; `sxrun devices FILE.sxa` compares with a machine's own devices");
        found.push(Diagnostic {
            code: Code::FitKernel,
            message,
            span: planned.kernel_span(at),
            notes: Vec::new(),
            help: Some(help),
        });
    }
    found
}

/// What a variant needs more of than the floor has.
struct Excess {
    what: &'static str,
    needed: u64,
    most: u64,
    /// Whether it grows with the sizes of the tensors.
    grows: bool,
}

/// The first thing of which the floor has less than the variant needs.
fn excess(variant: &Variant, floor: &Floor) -> Option<Excess> {
    let needs = &variant.needs;
    let groups = variant.dispatches.iter().flat_map(|dispatch| dispatch.groups).max().unwrap_or(0);
    let between = variant.scratch.iter().copied().max().unwrap_or(0);
    let row = |what, needed, most, grows| Excess { what, needed, most, grows };
    let rows = [
        row("storage buffers", needs.storage_buffers.into(), floor.storage_buffers.into(), false),
        row("bytes in a binding", needs.binding_bytes, floor.binding_bytes, true),
        row("bytes in a buffer between its dispatches", between, floor.buffer_bytes, true),
        row("bytes of workgroup memory", needs.workgroup_bytes.into(), floor.workgroup_bytes.into(), false),
        row("invocations in a workgroup", needs.invocations.into(), floor.invocations.into(), false),
        row("workgroups in a dispatch", groups.into(), floor.groups.into(), true),
    ];
    rows.into_iter().find(|row| row.needed > row.most)
}
