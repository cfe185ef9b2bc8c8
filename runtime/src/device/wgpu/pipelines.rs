//! Pipelines: one for each distinct code, made on several threads.

use super::adapter::Gpu;
use crate::device::{Contents, SharedBytes, fit};
use crate::error::Error;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use sx_artifact::code::{Code, Dispatch, ENTRY_POINT, Language, Variant, code_entry};
use sx_artifact::program::Program;

/// A pipeline and the layout of its bindings.
pub(super) struct Pipeline {
    pub(super) pipeline: wgpu::ComputePipeline,
    pub(super) layout: wgpu::BindGroupLayout,
}

/// The variant of each kernel that this device runs: the first that is for its kind and that it has room for.
pub(super) fn choose<'a>(gpu: &Gpu, program: &Program, code: &'a Code) -> Result<Vec<&'a Variant>, Error> {
    if code.kernels.len() != program.kernels.len() {
        return Err(Error::Device(format!("the wgpu code of `{}` is for another program", program.graph)));
    }
    let mut chosen = vec![];
    for (kernel, code) in program.kernels.iter().zip(&code.kernels) {
        let variant = fit::variant(&gpu.info.limits, gpu.as_cpu, code).map_err(|why| {
            Error::Device(format!(
                "`{}` cannot run `{}` of `{}`: {why}; use `--device cpu`",
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
    dispatch: &'a Dispatch,
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
    for dispatch in chosen.iter().flat_map(|variant| &variant.dispatches) {
        if sources.contains_key(dispatch.code.as_str()) {
            continue;
        }
        let entry = code_entry(gpu.language, &program.graph, &dispatch.code);
        let bytes = contents.entry(&entry)?;
        sources.insert(&dispatch.code, Source { name: &dispatch.code, dispatch, bytes });
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
        let entries = layout(source.dispatch);
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
    let what = format!("loading kernel `{}`", source.name);
    let text = || {
        let broken =
            |_| Error::Device(format!("the code of kernel `{}` is not text: build it again", source.name));
        std::str::from_utf8(&source.bytes).map_err(broken)
    };
    let [x, y, z] = source.dispatch.workgroup;
    let entry_points =
        [wgpu::PassthroughShaderEntryPoint { name: ENTRY_POINT.into(), workgroup_size: (x, y, z) }];
    let mut descriptor = wgpu::ShaderModuleDescriptorPassthrough {
        label: Some(source.name),
        entry_points: entry_points[..].into(),
        ..Default::default()
    };
    match gpu.language {
        Language::Wgsl => {
            let descriptor = wgpu::ShaderModuleDescriptor {
                label: Some(source.name),
                source: wgpu::ShaderSource::Wgsl(text()?.into()),
            };
            return gpu.checked(&what, || gpu.device.create_shader_module(descriptor));
        }
        Language::Spirv => {
            let words = source
                .bytes
                .chunks_exact(4)
                .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
            descriptor.spirv = Some(words.collect::<Vec<u32>>().into());
        }
        Language::Msl => descriptor.msl = Some(text()?.into()),
    }
    // SAFETY: the code is an entry of an artifact whose digest was checked when `contents.entry` gave it, and
    // the compiler wrote it from a kernel that reaches nothing outside the windows it states; the layout below
    // has exactly the bindings that the code declares.
    gpu.checked(&what, || unsafe { gpu.device.create_shader_module_passthrough(descriptor) })
}
