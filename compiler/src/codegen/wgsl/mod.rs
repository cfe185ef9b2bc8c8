//! Kernels as WGSL: the `wgpu` target.
//!
//! A kernel is divided into parts that fit WebGPU's floor (`split_bindings`, `split_reduction`); each part is spelled once for
//! adapters that run on a CPU and once for all others, naga checks the text, and metadata says which is which.
//!
//! Read in this order: `split_bindings`, `values`, `header`, `body`, `scalar`, then a kind of kernel: `loop_kernel` (maps and
//! rows, with `lanes`),
//! `contract`, `attention`, which end in `epilogue`; `translate` comes last.

mod attention;
mod body;
mod code;
mod contract;
mod epilogue;
pub mod floor;
mod header;
mod lanes;
mod library;
mod loop_kernel;
mod scalar;
mod split_bindings;
mod split_reduction;
mod text;
pub mod translate;
mod values;

use super::{Emit, Emitted, Refused};
use code::Dispatched;
use split_bindings::{Part, Parts};
use std::collections::{BTreeMap, BTreeSet};
use sx_artifact::code::wgpu::{self, Limits, When, code_entry, memory_bytes};
use sx_artifact::code::{Code, Dispatch, KernelCode, Needs, Target, Variant, metadata_entry};
use sx_artifact::kernel::{Kernel, KernelKind};
use sx_artifact::program::Program;

/// The target `wgpu`.
pub struct Wgsl {
    /// What every device has that the code is for.
    pub limits: Limits,
}

impl Emit for Wgsl {
    fn emit(&self, program: &Program) -> Result<Emitted, Refused> {
        let mut writer = Writer { graph: &program.graph, files: BTreeMap::new(), stems: BTreeSet::new() };
        let mut code = Code::default();
        for (at, kernel) in program.kernels.iter().enumerate() {
            let refused = |why: String| Refused {
                kernel: at,
                message: format!(
                    "the kernel `{}` of `{}` cannot be made for wgpu: {why}",
                    kernel.name, program.graph
                ),
            };
            code.kernels.push(writer.kernel(kernel, &self.limits).map_err(refused)?);
        }
        let metadata = serde_json::to_vec_pretty(&code).expect("metadata has only string keys");
        writer.files.insert(metadata_entry(Target::Wgpu, &program.graph), metadata);
        let memory = memory_bytes(program, &code);
        Ok(Emitted { files: writer.files, code: Some(code), memory })
    }
}

/// The code of a program for devices that have what `webgpu` promises.
pub fn generate(program: &Program) -> Result<Emitted, Refused> {
    Wgsl { limits: floor::FLOORS[0].limits }.emit(program)
}

/// A file name for a kernel, unique in its program.
fn stem(name: &str, stems: &mut BTreeSet<String>) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    let base: String = name.chars().map(plain).collect();
    let mut stem = base.clone();
    for i in 2.. {
        if stems.insert(stem.clone()) {
            break;
        }
        stem = format!("{base}_{i}");
    }
    stem
}

fn spell(part: &Part, when: When) -> Result<Dispatched, String> {
    match &part.kernel.kind {
        KernelKind::Loop(l) => loop_kernel::code(part, l, when),
        KernelKind::Contraction(c) => contract::code(part, c, when),
        KernelKind::Attention(a) => attention::code(part, a, when),
    }
}

/// Writes the files of a program.
struct Writer<'a> {
    graph: &'a str,
    files: BTreeMap<String, Vec<u8>>,
    /// The names that kernels have taken.
    stems: BTreeSet<String>,
}

impl Writer<'_> {
    fn kernel(&mut self, kernel: &Kernel, limits: &Limits) -> Result<KernelCode, String> {
        let stem = stem(&kernel.name, &mut self.stems);
        let divided = split_bindings::split(kernel, limits)?;
        let mut cpu = variant("cpu", &divided);
        let mut gpu = variant("gpu", &divided);
        for (i, part) in divided.parts.iter().enumerate() {
            let (on_cpu, on_gpu) = (spell(part, When::Cpu)?, spell(part, When::Gpu)?);
            let number = if divided.parts.len() > 1 { format!(".{i}") } else { String::new() };
            let same = on_cpu.text == on_gpu.text;
            let name = |variant: &str| format!("{stem}.{}{number}", if same { "any" } else { variant });
            self.file(&name("cpu"), &on_cpu, limits)?;
            if !same {
                self.file(&name("gpu"), &on_gpu, limits)?;
            }
            cpu.dispatches.push((name("cpu"), on_cpu));
            gpu.dispatches.push((name("gpu"), on_gpu));
        }
        let (cpu, gpu) = (cpu.finish(When::Cpu), gpu.finish(When::Gpu));
        if cpu.dispatches != gpu.dispatches {
            return Ok(KernelCode { variants: vec![cpu, gpu] });
        }
        let Needs::Wgpu(needs) = cpu.needs;
        let needs = Needs::Wgpu(wgpu::Needs { when: When::Any, ..needs });
        Ok(KernelCode { variants: vec![Variant { name: "any".to_owned(), needs, ..cpu }] })
    }

    /// Adds the text of a dispatch, which naga accepts.
    fn file(&mut self, name: &str, code: &Dispatched, limits: &Limits) -> Result<(), String> {
        if code.workgroup_bytes > limits.workgroup_bytes {
            return Err(format!(
                "{} bytes of workgroup memory are more than every device has",
                code.workgroup_bytes
            ));
        }
        let wgsl = code.wgsl();
        translate::check(&wgsl)?;
        self.files.insert(code_entry(self.graph, name), wgsl.into_bytes());
        Ok(())
    }
}

/// A variant whose dispatches are being made.
struct Unfinished {
    name: &'static str,
    scratch: Vec<u64>,
    dispatches: Vec<(String, Dispatched)>,
}

fn variant(name: &'static str, divided: &Parts) -> Unfinished {
    Unfinished { name, scratch: divided.scratch.clone(), dispatches: Vec::new() }
}

impl Unfinished {
    fn finish(self, when: When) -> Variant {
        let all = || self.dispatches.iter().map(|(_, code)| code);
        let needs = wgpu::Needs {
            when,
            storage_buffers: all().map(Dispatched::storage_buffers).max().unwrap_or(0),
            workgroup_bytes: all().map(|code| code.workgroup_bytes).max().unwrap_or(0),
            invocations: all().map(|code| code.workgroup).max().unwrap_or(0),
            binding_bytes: all()
                .flat_map(|code| &code.bindings)
                .map(|window| window.bytes)
                .max()
                .unwrap_or(0),
        };
        let dispatch = |(name, code): (String, Dispatched)| Dispatch {
            code: name,
            groups: [code.groups, 1, 1],
            workgroup: [code.workgroup, 1, 1],
            bindings: code.bindings,
            traps: code.traps,
            exact: code.exact,
        };
        Variant {
            name: self.name.to_owned(),
            needs: Needs::Wgpu(needs),
            scratch: self.scratch,
            dispatches: self.dispatches.into_iter().map(dispatch).collect(),
        }
    }
}
