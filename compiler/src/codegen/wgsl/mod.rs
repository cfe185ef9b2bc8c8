//! Kernels as WGSL, and from it as SPIR-V and as Metal's language: the `wgpu` target.
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
mod header;
mod lanes;
mod library;
mod loop_kernel;
mod scalar;
mod split_bindings;
mod split_reduction;
mod text;
mod translate;
mod values;

use code::Code;
use split_bindings::{Part, Parts};
use std::collections::{BTreeMap, BTreeSet};
use sx_artifact::kernel::{Kernel, KernelKind};
use sx_artifact::program::Program;
use sx_artifact::wgpu::{
    Dispatch, KernelCode, Needs, Variant, WgpuCode, When, metadata_entry, msl_entry, spirv_entry, wgsl_entry,
};

/// Bytes of workgroup memory that every device has.
const WORKGROUP_BYTES: u32 = 16 << 10;

/// The code of a program for the `wgpu` target.
pub struct Generated {
    /// Entries of the artifact, by name.
    pub files: BTreeMap<String, Vec<u8>>,
    /// What `programs/GRAPH.wgpu.json`, one of the entries, says.
    pub code: WgpuCode,
}

/// A kernel that cannot be spelled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Its position in the program.
    pub kernel: usize,
    /// What is refused and why.
    pub message: String,
}

/// Spells all kernels of a program, or names one that it cannot spell.
pub fn generate(program: &Program) -> Result<Generated, Refused> {
    let mut generated = Generated { files: BTreeMap::new(), code: WgpuCode::default() };
    let mut stems = BTreeSet::new();
    for (at, kernel) in program.kernels.iter().enumerate() {
        let refused = |why: String| Refused {
            kernel: at,
            message: format!(
                "the kernel `{}` of `{}` cannot be made for wgpu: {why}",
                kernel.name, program.graph
            ),
        };
        let code = generated.kernel(&program.graph, kernel, &mut stems).map_err(refused)?;
        generated.code.kernels.push(code);
    }
    let metadata = serde_json::to_vec_pretty(&generated.code).expect("metadata has only string keys");
    generated.files.insert(metadata_entry(&program.graph), metadata);
    Ok(generated)
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

fn spell(part: &Part, when: When) -> Result<Code, String> {
    match &part.kernel.kind {
        KernelKind::Loop(l) => loop_kernel::code(part, l, when),
        KernelKind::Contraction(c) => contract::code(part, c, when),
        KernelKind::Attention(a) => attention::code(part, a, when),
    }
}

impl Generated {
    fn kernel(
        &mut self,
        graph: &str,
        kernel: &Kernel,
        stems: &mut BTreeSet<String>,
    ) -> Result<KernelCode, String> {
        let stem = stem(&kernel.name, stems);
        let divided = split_bindings::split(kernel)?;
        let mut cpu = variant("cpu", When::Cpu, &divided);
        let mut gpu = variant("gpu", When::Gpu, &divided);
        for (i, part) in divided.parts.iter().enumerate() {
            let (on_cpu, on_gpu) = (spell(part, When::Cpu)?, spell(part, When::Gpu)?);
            let number = if divided.parts.len() > 1 { format!(".{i}") } else { String::new() };
            let exact = matches!(part.kernel.kind, KernelKind::Loop(_));
            let same = on_cpu.text == on_gpu.text;
            let name = |variant: &str| format!("{stem}.{}{number}", if same { "any" } else { variant });
            self.file(graph, &name("cpu"), &on_cpu, exact)?;
            if !same {
                self.file(graph, &name("gpu"), &on_gpu, exact)?;
                gpu.keeps_order &= !reduces(part);
            }
            push(&mut cpu, name("cpu"), on_cpu);
            push(&mut gpu, name("gpu"), on_gpu);
        }
        if cpu.dispatches == gpu.dispatches {
            cpu.name = "any".to_owned();
            cpu.when = When::Any;
            return Ok(KernelCode { variants: vec![cpu] });
        }
        Ok(KernelCode { variants: vec![cpu, gpu] })
    }

    /// Adds the three languages of a dispatch.
    fn file(&mut self, graph: &str, name: &str, code: &Code, exact: bool) -> Result<(), String> {
        if code.workgroup_bytes > WORKGROUP_BYTES {
            return Err(format!(
                "{} bytes of workgroup memory are more than every device has",
                code.workgroup_bytes
            ));
        }
        let wgsl = code.wgsl(true);
        let guarded = translate::check(&wgsl)?;
        let spirv =
            if exact { translate::check(&code.wgsl(false))?.spirv(true)? } else { guarded.spirv(false)? };
        let bindings = 1 + code.bindings.len() as u32 + code.traps as u32;
        self.files.insert(msl_entry(graph, name), guarded.msl(bindings)?.into_bytes());
        self.files.insert(spirv_entry(graph, name), spirv);
        self.files.insert(wgsl_entry(graph, name), wgsl.into_bytes());
        Ok(())
    }
}

fn variant(name: &str, when: When, divided: &Parts) -> Variant {
    Variant {
        name: name.to_owned(),
        when,
        keeps_order: true,
        needs: Needs::default(),
        scratch: divided.scratch.clone(),
        dispatches: vec![],
    }
}

/// True if a part adds numbers in some order.
fn reduces(part: &Part) -> bool {
    match &part.kernel.kind {
        KernelKind::Loop(l) => !l.along.is_empty(),
        KernelKind::Contraction(_) | KernelKind::Attention(_) => true,
    }
}

fn push(variant: &mut Variant, name: String, code: Code) {
    let needs = &mut variant.needs;
    needs.storage_buffers = needs.storage_buffers.max(code.bindings.len() as u32 + code.traps as u32);
    needs.workgroup_bytes = needs.workgroup_bytes.max(code.workgroup_bytes);
    needs.invocations = needs.invocations.max(code.workgroup);
    needs.binding_bytes = code.bindings.iter().map(|window| window.bytes).fold(needs.binding_bytes, u64::max);
    variant.dispatches.push(Dispatch {
        code: name,
        groups: [code.groups, 1, 1],
        workgroup: [code.workgroup, 1, 1],
        bindings: code.bindings,
        traps: code.traps,
    });
}
