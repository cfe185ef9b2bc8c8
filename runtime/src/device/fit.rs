//! Whether a program fits a device: its limits, and its memory.

use super::select::Found;
use crate::error::{Error, in_words};
use crate::model::Model;
use sx_artifact::code::wgpu::{self, Lack, staging_bytes};
use sx_artifact::code::{Code, KernelCode, Target, Variant, metadata_entry};
use sx_artifact::program::{Program, Resource, Role};
use sx_artifact::validate::Valid;

pub use sx_artifact::code::wgpu::Limits;

/// Bytes that a program needs beside its weights, which some devices use where they lie.
pub fn memory(program: &Program) -> u64 {
    let stored = |role: &Role| matches!(role, Role::Scratch { .. } | Role::Param | Role::Constant);
    let own = program.resources.iter().filter(|resource| !stored(&resource.role));
    let slots = program.slots.iter().fold(0u64, |sum, &bytes| sum.saturating_add(bytes));
    own.map(Resource::bytes).fold(slots, u64::saturating_add)
}

/// The variant of a kernel for a kind of adapter that these limits have room for, or why there is none.
pub(super) fn variant<'a>(
    limits: &Limits,
    on_cpu: bool,
    kernel: &'a KernelCode,
) -> Result<&'a Variant, String> {
    wgpu::variant(limits, on_cpu, kernel).map_err(|lack| match lack {
        Some(Lack { what, needed, most, .. }) => format!("it needs {needed} {what}, and there are {most}"),
        None => "the artifact has no code for this kind of device".to_owned(),
    })
}

/// Why some graph of `model` cannot run on `found`, if that can be known without trying.
pub fn obstacle(model: &Model, found: &Found) -> Result<Option<String>, Error> {
    if !model.targets().contains(&found.target) {
        let (has, target) = (in_words(model.targets()), found.target);
        return Ok(Some(format!("it was built for {has}; build it for `{target}` too")));
    }
    for graph in model.graphs() {
        let program = model.artifact().program(&graph.name)?;
        let all =
            graph.memory.iter().find(|memory| memory.target == found.target && found.target != Target::Cpu);
        let needed = all.map_or_else(|| memory(&program), |memory| memory.bytes);
        if let Some(most) = found.memory_bytes.filter(|most| needed > *most) {
            return Ok(Some(format!("`{}` needs {needed} bytes, and there are {most} in all", graph.name)));
        }
        let Some(limits) = &found.limits else { continue };
        let entry = metadata_entry(found.target, &graph.name);
        let code = code(&entry, model.artifact().entry(&entry)?, &program)?;
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
            if let Err(why) = variant(limits, found.is_cpu, code) {
                return Ok(Some(format!("the kernel `{}` of `{}`: {why}", kernel.name, graph.name)));
            }
        }
    }
    Ok(None)
}

/// The code for a program that an entry holds.
pub(super) fn code(entry: &str, bytes: &[u8], program: &Program) -> Result<Valid<Code>, Error> {
    let damaged =
        |invalid| Error::Device(format!("`{entry}` of the artifact is not right: {invalid}; build it again"));
    Code::decode(bytes, program).map_err(damaged)
}

/// The buffers that a program needs, each with its bytes.
fn buffers(program: &Program, code: &Code) -> Vec<(String, u64)> {
    let own = program.resources.iter().filter(|it| !matches!(it.role, Role::Scratch { .. }));
    let mut all: Vec<(String, u64)> = own.map(|it| (format!("`{}`", it.name), it.bytes())).collect();
    let slots = program.slots.iter().enumerate();
    all.extend(slots.map(|(i, &bytes)| (format!("slot {i} of intermediate values"), bytes)));
    all.extend(code.scratch().into_iter().map(|bytes| ("values between dispatches".to_owned(), bytes)));
    all.push(("what answers are read through".to_owned(), staging_bytes(program)));
    all
}
