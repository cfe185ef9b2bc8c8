//! Whether a program fits what a kind of device has at least: `sxc check --fits`.

use sx_artifact::code::wgpu::{self, Lack, TRAP_BYTES, staging_bytes};
use sx_artifact::code::{Code as KernelsCode, Target};
use sx_artifact::program::{Resource, Role};

use crate::codegen::Floor;
use crate::compile;
use crate::diag::{Code, Diagnostic, Sink, Sources, Span};
use crate::eval::Module;
use crate::plan::Planned;

/// Reports every buffer and every kernel of the program that exceeds `floor`, where it is written.
pub fn check(module: &Module, sources: &Sources, floor: &Floor, sink: &mut Sink) {
    let compiled = match compile::compile(module, sources, &[Target::Wgpu], floor) {
        Ok(compiled) => compiled,
        Err(refused) => {
            sink.report(refused);
            return;
        }
    };
    for graph in &compiled.graphs {
        let code = graph.emitted.values().filter_map(|emitted| emitted.code.as_ref());
        let kernels = code.flat_map(|code| kernels(&graph.planned, code, floor));
        let found = buffers(&graph.planned, floor).into_iter().chain(kernels);
        found.for_each(|diagnostic| _ = sink.report(diagnostic));
    }
}

fn buffers(planned: &Planned, floor: &Floor) -> Vec<Diagnostic> {
    let most = floor.limits.buffer_bytes;
    let too_large = |what: String, bytes: u64, span: Span| {
        let message = format!("{what} has {bytes} bytes, and `{}` allows {most} for one buffer", floor.name);
        Diagnostic::new(Code::FitBuffer, span, message).help(
            "use smaller sizes, or divide it in two; `sxrun devices FILE.sxa` compares with a machine's own devices",
        )
    };
    let resources = planned.program.resources.iter().zip(&planned.resource_spans);
    let mut found: Vec<Diagnostic> = resources
        .filter(|(resource, _)| resource.bytes() > most)
        .map(|(resource, span)| too_large(described(resource), resource.bytes(), *span))
        .collect();
    // What answers are read through is one buffer for all outputs.
    let outputs = || {
        let all = planned.program.resources.iter().zip(&planned.resource_spans);
        all.filter(|(resource, _)| resource.role == Role::Output)
    };
    let together = staging_bytes(&planned.program);
    if together - TRAP_BYTES > most && outputs().all(|(output, _)| output.bytes() <= most) {
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

fn kernels(planned: &Planned, code: &KernelsCode, floor: &Floor) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (at, (kernel, code)) in planned.program.kernels.iter().zip(&code.kernels).enumerate() {
        // A device of the kind may run its shaders on a CPU or not: both need a variant with room.
        let lack = [true, false]
            .into_iter()
            .find_map(|on_cpu| wgpu::variant(&floor.limits, on_cpu, code).err().flatten());
        let Some(Lack { what, needed, most, grows }) = lack else { continue };
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
