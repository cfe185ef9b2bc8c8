//! Whether a program fits a device: its limits, and its memory.

use super::select::Found;
use crate::error::Error;
use crate::model::Model;
use sx_artifact::program::{Program, Role};
use sx_artifact::wgpu::{Variant, WgpuCode, metadata_entry, resource_bytes, slot_bytes, staging_bytes};

/// What a device allows at most.
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

/// Bytes that a program needs beside its weights, which some devices use where they lie.
pub fn memory(program: &Program) -> u64 {
    let stored = |role: &Role| matches!(role, Role::Scratch { .. } | Role::Param | Role::Constant);
    let own = program.resources.iter().filter(|resource| !stored(&resource.role));
    let slots = program.slots.iter().fold(0u64, |sum, &bytes| sum.saturating_add(bytes));
    own.map(resource_bytes).fold(slots, u64::saturating_add)
}

/// What a variant needs more of than there is.
pub(super) fn lacking(limits: &Limits, variant: &Variant) -> Option<String> {
    let needs = &variant.needs;
    let groups = variant.dispatches.iter().flat_map(|dispatch| dispatch.groups).max().unwrap_or(0);
    let pairs = [
        (
            "storage buffers in a dispatch",
            u64::from(needs.storage_buffers),
            u64::from(limits.storage_buffers),
        ),
        ("bytes of workgroup memory", u64::from(needs.workgroup_bytes), u64::from(limits.workgroup_bytes)),
        ("invocations in a workgroup", u64::from(needs.invocations), u64::from(limits.invocations)),
        ("bytes in a binding", needs.binding_bytes, limits.binding_bytes),
        ("workgroups in a dispatch", u64::from(groups), u64::from(limits.groups)),
    ];
    let (what, need, limit) = pairs.into_iter().find(|(_, need, limit)| need > limit)?;
    Some(format!("it needs {need} {what}, and there are {limit}"))
}

/// The variant of a kernel for a kind of adapter that these limits have room for, or why there is none.
pub(super) fn variant<'a>(
    limits: &Limits,
    on_cpu: bool,
    variants: &'a [Variant],
) -> Result<&'a Variant, String> {
    let mut why = "the artifact has no code for this kind of device".to_owned();
    for variant in variants.iter().filter(|variant| variant.when.holds(on_cpu)).rev() {
        match lacking(limits, variant) {
            None => {}
            Some(lack) => why = lack,
        }
    }
    let mut fitting = variants.iter().filter(|variant| variant.when.holds(on_cpu));
    fitting.find(|variant| lacking(limits, variant).is_none()).ok_or(why)
}

/// Why some graph of `model` cannot run on `found`, if that can be known without trying.
pub fn obstacle(model: &Model, found: &Found) -> Result<Option<String>, Error> {
    if !model.targets().iter().any(|target| target == found.target) {
        let (has, target) = (model.targets().join(", "), found.target);
        return Ok(Some(format!("it was built for {has}; build it with `--target {target}`")));
    }
    for graph in model.graphs() {
        let program = model.artifact().program(&graph.name)?;
        let all = graph.memory.iter().find(|memory| memory.target == found.target && found.target != "cpu");
        let needed = all.map_or_else(|| memory(&program), |memory| memory.bytes);
        if let Some(most) = found.memory_bytes.filter(|most| needed > *most) {
            return Ok(Some(format!("`{}` needs {needed} bytes, and there are {most} in all", graph.name)));
        }
        let Some(limits) = &found.limits else { continue };
        let entry = metadata_entry(&graph.name);
        let code: WgpuCode = serde_json::from_slice(model.artifact().entry(&entry)?).map_err(|error| {
            Error::Device(format!("`{entry}` of the artifact cannot be read: {error}; build it again"))
        })?;
        if let Some((what, bytes)) =
            buffers(&program, &code).into_iter().find(|(_, bytes)| *bytes > limits.buffer_bytes)
        {
            let most = limits.buffer_bytes;
            return Ok(Some(format!(
                "{what} of `{}` has {bytes} bytes, a buffer at most {most}",
                graph.name
            )));
        }
        for (kernel, code) in program.kernels.iter().zip(&code.kernels) {
            if let Err(why) = variant(limits, found.is_cpu, &code.variants) {
                return Ok(Some(format!("the kernel `{}` of `{}`: {why}", kernel.name, graph.name)));
            }
        }
    }
    Ok(None)
}

/// The buffers that a program needs, each with its bytes.
fn buffers(program: &Program, code: &WgpuCode) -> Vec<(String, u64)> {
    let own = program.resources.iter().filter(|it| !matches!(it.role, Role::Scratch { .. }));
    let mut all: Vec<(String, u64)> = own.map(|it| (format!("`{}`", it.name), resource_bytes(it))).collect();
    let slots = program.slots.iter().enumerate();
    all.extend(slots.map(|(i, &bytes)| (format!("slot {i} of intermediate values"), slot_bytes(bytes))));
    all.extend(code.scratch().into_iter().map(|bytes| ("values between dispatches".to_owned(), bytes)));
    all.push(("what answers are read through".to_owned(), staging_bytes(program)));
    all
}

/// Bytes of this machine's memory, where the system tells.
pub(super) fn host_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes << 10)
}
