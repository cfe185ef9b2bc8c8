//! Pipelines: one for each distinct code, made on several threads.

use super::adapter::Gpu;
use super::lower::{self, Interface};
use crate::device::{Contents, SharedBytes, fit};
use crate::error::Error;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use sx_artifact::code::wgpu::{ENTRY_POINT, code_entry, needs};
use sx_artifact::code::{Code, Dispatch, Variant};
use sx_artifact::program::Program;
use sx_artifact::validate::Valid;

/// A pipeline and the layout of its bindings.
pub(super) struct Pipeline {
    pub(super) pipeline: wgpu::ComputePipeline,
    pub(super) layout: wgpu::BindGroupLayout,
}

/// The variant of each kernel that this device runs: the first that is for its kind and that it has room for.
pub(super) fn choose<'a>(
    gpu: &Gpu,
    program: &Program,
    code: &'a Valid<Code>,
) -> Result<Vec<&'a Variant>, Error> {
    let mut chosen = vec![];
    for (kernel, code) in program.kernels.iter().zip(&code.kernels) {
        let variant = fit::variant(&gpu.info.limits, gpu.as_cpu, code).map_err(|why| {
            Error::Device(format!(
                "`{}` cannot run `{}` of `{}`: {why}; use the device `cpu`",
                gpu.info.name, kernel.name, program.graph
            ))
        })?;
        chosen.push(variant);
    }
    Ok(chosen)
}

/// Code on its way to a pipeline.
struct Source<'a> {
    name: &'a str,
    interface: Interface<'a>,
    bytes: SharedBytes,
}

/// Makes the pipelines of all chosen variants, by the name of their code.
pub(super) fn make<'a>(
    gpu: &Gpu,
    program: &Program,
    contents: &dyn Contents,
    chosen: &[&'a Variant],
) -> Result<BTreeMap<&'a str, Pipeline>, Error> {
    let mut sources: BTreeMap<&str, Source<'a>> = BTreeMap::new();
    for variant in chosen {
        let workgroup_bytes = needs(variant).workgroup_bytes;
        for dispatch in &variant.dispatches {
            if let Some(source) = sources.get_mut(dispatch.code.as_str()) {
                let interface = &mut source.interface;
                interface.workgroup_bytes = interface.workgroup_bytes.min(workgroup_bytes);
                interface.dispatches.push(dispatch);
                continue;
            }
            let bytes = contents.entry(&code_entry(&program.graph, &dispatch.code))?;
            let interface = Interface { dispatches: vec![dispatch], workgroup_bytes };
            sources.insert(&dispatch.code, Source { name: &dispatch.code, interface, bytes });
        }
    }
    let sources: Vec<Source<'a>> = sources.into_values().collect();
    let next = AtomicUsize::new(0);
    let made = Mutex::new(BTreeMap::new());
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(sources.len().max(1));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(source) = sources.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let pipeline = pipeline(gpu, source);
                    made.lock().unwrap_or_else(PoisonError::into_inner).insert(source.name, pipeline);
                }
            });
        }
    });
    let made = made.into_inner().unwrap_or_else(PoisonError::into_inner);
    made.into_iter().map(|(name, pipeline)| Ok((name, pipeline?))).collect()
}

fn pipeline(gpu: &Gpu, source: &Source<'_>) -> Result<Pipeline, Error> {
    let module = module(gpu, source)?;
    gpu.checked(&format!("making kernel `{}`", source.name), || {
        let entries = layout(source.interface.dispatches[0]);
        let layout = gpu.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some(source.name),
            entries: &entries,
        });
        let whole = gpu.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some(source.name),
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
        let pipeline = gpu.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(source.name),
            layout: Some(&whole),
            module: &module,
            entry_point: Some(ENTRY_POINT),
            // Every kernel writes workgroup memory before it reads it.
            compilation_options: wgpu::PipelineCompilationOptions {
                zero_initialize_workgroup_memory: false,
                ..Default::default()
            },
            cache: None,
        });
        Pipeline { pipeline, layout }
    })
}

/// Binding 0 is the launch's record; then come the windows, then the trap.
fn layout(dispatch: &Dispatch) -> Vec<wgpu::BindGroupLayoutEntry> {
    let entry = |binding: u32, ty: wgpu::BufferBindingType| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
        count: None,
    };
    let mut entries = vec![entry(0, wgpu::BufferBindingType::Uniform)];
    let storage = dispatch.bindings.iter().map(|window| !window.write).chain(dispatch.traps.then_some(false));
    for (i, read_only) in storage.enumerate() {
        entries.push(entry(i as u32 + 1, wgpu::BufferBindingType::Storage { read_only }));
    }
    entries
}

fn module(gpu: &Gpu, source: &Source<'_>) -> Result<wgpu::ShaderModule, Error> {
    let refused = |why: String| {
        Error::Device(format!(
            "the code of kernel `{}` is refused: {why}; build the artifact again",
            source.name
        ))
    };
    let text = std::str::from_utf8(&source.bytes).map_err(|error| refused(error.to_string()))?;
    let checked = lower::check(text, &source.interface).map_err(refused)?;
    let what = format!("loading kernel `{}`", source.name);
    if gpu.passthrough {
        return passthrough(gpu, source, &checked, &what);
    }
    let descriptor = wgpu::ShaderModuleDescriptor {
        label: Some(source.name),
        source: wgpu::ShaderSource::Wgsl(text.into()),
    };
    gpu.checked(&what, || gpu.device.create_shader_module(descriptor))
}

/// A module that goes to the driver as it is.
#[cfg(not(target_vendor = "apple"))]
fn passthrough(
    gpu: &Gpu,
    source: &Source<'_>,
    checked: &lower::Checked,
    what: &str,
) -> Result<wgpu::ShaderModule, Error> {
    let words = checked.spirv().map_err(|why| {
        Error::Device(format!("kernel `{}` has no SPIR-V: {why}; use `--device cpu`", source.name))
    })?;
    let [x, y, z] = source.interface.dispatches[0].workgroup;
    let entry_points =
        [wgpu::PassthroughShaderEntryPoint { name: ENTRY_POINT.into(), workgroup_size: (x, y, z) }];
    let descriptor = wgpu::ShaderModuleDescriptorPassthrough {
        label: Some(source.name),
        entry_points: entry_points[..].into(),
        spirv: Some(words.into()),
        ..Default::default()
    };
    // SAFETY: naga made the words here from a module that it validated, with indices held within their arrays; the
    // layout has exactly the bindings that `lower::check` found the module to keep to; and the device keeps accesses
    // within bound buffers.
    gpu.checked(what, || unsafe { gpu.device.create_shader_module_passthrough(descriptor) })
}

#[cfg(target_vendor = "apple")]
fn passthrough(
    gpu: &Gpu,
    _: &Source<'_>,
    _: &lower::Checked,
    what: &str,
) -> Result<wgpu::ShaderModule, Error> {
    Err(Error::Device(format!("{what} failed: `{}` takes no kernels as they are", gpu.info.name)))
}
