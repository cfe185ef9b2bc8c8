//! A program that is ready: its launches as recorded dispatches, its calls, its profile.

use super::adapter::Gpu;
use super::buffers::{Buffers, upload};
use super::pipelines::{self, Pipeline};
use crate::device::{Context, Executable, Prepare};
use crate::error::Error;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;
use sx_artifact::dtype::DType;
use sx_artifact::program::{Launch, Program, Resource, Role, Site, Step};
use sx_artifact::tensor::Tensor;
use sx_artifact::wgpu::{
    RECORD_BYTES, Source, TRAP_BYTES, Variant, WgpuCode, metadata_entry, resource_bytes,
};

/// One recorded step.
enum Op {
    Launch { number: u32, dispatches: Vec<Recorded> },
    Copy { from: usize, to: usize, bytes: u64 },
    Loop { count: u64, body: Vec<Op> },
}

/// A dispatch with its bindings.
struct Recorded {
    pipeline: wgpu::ComputePipeline,
    bindings: wgpu::BindGroup,
    groups: [u32; 3],
}

/// A program with its buffers and pipelines on a device.
pub(super) struct Ready {
    gpu: Arc<Gpu>,
    graph: String,
    resources: Vec<Resource>,
    buffers: Buffers,
    ops: Vec<Op>,
    /// For each launch, the sites of its traps.
    sites: Vec<Vec<u32>>,
    /// The program's sites.
    places: Vec<Site>,
}

impl Ready {
    /// Makes pipelines, buffers and bindings.
    pub(super) fn new(gpu: Arc<Gpu>, job: Prepare<'_>) -> Result<Ready, Error> {
        let program = job.program;
        let entry = metadata_entry(&program.graph);
        let code: WgpuCode = serde_json::from_slice(&job.contents.entry(&entry)?).map_err(|e| {
            Error::Device(format!("`{entry}` of the artifact cannot be read: {e}; build it again"))
        })?;
        let chosen = pipelines::choose(&gpu, program, &code)?;
        let pipelines = pipelines::make(&gpu, program, job.contents, &chosen)?;
        let buffers = Buffers::new(&gpu, &job, &code)?;
        let mut recorder =
            Recorder { gpu: &gpu, program, chosen, pipelines, buffers: &buffers, sites: vec![] };
        let ops = recorder.steps(&program.steps)?;
        let sites = recorder.sites;
        Ok(Ready {
            graph: program.graph.clone(),
            resources: program.resources.clone(),
            gpu,
            buffers,
            ops,
            sites,
            places: program.sites.clone(),
        })
    }

    fn of_role(&self, wanted: fn(&Role) -> bool) -> impl Iterator<Item = (usize, &Resource)> {
        self.resources.iter().enumerate().filter(move |(_, resource)| wanted(&resource.role))
    }

    /// Brings inputs and context to the device.
    fn feed(&self, inputs: &[&Tensor], context: Context) -> Result<(), Error> {
        let wanted: Vec<_> = self.of_role(|role| *role == Role::Input).collect();
        if wanted.len() != inputs.len() {
            return Err(Error::Device(format!(
                "{} inputs were given, `{}` takes {}",
                inputs.len(),
                self.graph,
                wanted.len()
            )));
        }
        for ((i, resource), input) in wanted.into_iter().zip(inputs) {
            if resource.dtype != input.dtype() || resource.shape != input.shape() {
                return Err(Error::Device(format!(
                    "input `{}` is {} {:?}, `{}` takes {} {:?}",
                    resource.name,
                    input.dtype(),
                    input.shape(),
                    self.graph,
                    resource.dtype,
                    resource.shape
                )));
            }
            upload(&self.gpu, &self.buffers.resources[i], input.bytes())?;
        }
        for (i, resource) in self.of_role(|role| *role == Role::Context) {
            let value = if resource.name == "microbatch" { context.microbatch } else { context.step };
            let bytes = if resource.dtype == DType::I64 {
                value.to_le_bytes().to_vec()
            } else {
                (value as i32).to_le_bytes().to_vec()
            };
            upload(&self.gpu, &self.buffers.resources[i], &bytes)?;
        }
        Ok(())
    }

    /// Copies trap and outputs to the staging buffer.
    fn collect(&self, encoder: &mut wgpu::CommandEncoder) {
        let staging = &self.buffers.staging;
        encoder.copy_buffer_to_buffer(&self.buffers.trap, 0, staging, 0, TRAP_BYTES);
        let mut offset = TRAP_BYTES;
        for (i, resource) in self.of_role(|role| *role == Role::Output) {
            let bytes = resource_bytes(resource);
            encoder.copy_buffer_to_buffer(&self.buffers.resources[i], 0, staging, offset, bytes);
            offset += bytes;
        }
    }

    /// Reads the staging buffer: a trap, or the outputs.
    fn answers(&self, spare: Vec<Tensor>) -> Result<Vec<Tensor>, Error> {
        let staging = &self.buffers.staging;
        let read = self.mapped(staging)?;
        let result = self.answers_of(&read, spare);
        drop(read);
        staging.unmap();
        result
    }

    fn mapped(&self, buffer: &wgpu::Buffer) -> Result<wgpu::BufferView, Error> {
        let (send, receive) = std::sync::mpsc::channel();
        // The receiver lives until the answer is there; if it is gone nobody waits for one.
        buffer.map_async(wgpu::MapMode::Read, .., move |result| drop(send.send(result)));
        self.gpu.wait()?;
        let failed = |why: String| {
            Error::Device(format!(
                "answers could not be read from `{}`: {why}; run again",
                self.gpu.info.name
            ))
        };
        match receive.try_recv() {
            Ok(Ok(())) => buffer.get_mapped_range(..).map_err(|e| failed(e.to_string())),
            Ok(Err(e)) => Err(failed(e.to_string())),
            Err(_) => Err(failed("the device gave no answer".to_owned())),
        }
    }

    fn answers_of(&self, bytes: &[u8], spare: Vec<Tensor>) -> Result<Vec<Tensor>, Error> {
        let word = |i: usize| {
            u32::from_le_bytes([bytes[4 * i], bytes[4 * i + 1], bytes[4 * i + 2], bytes[4 * i + 3]])
        };
        let long = |i: usize| word(i) as u64 | (word(i + 1) as u64) << 32;
        if word(0) != 0 {
            let site = self.sites.get(word(1) as usize).and_then(|sites| sites.get(word(2) as usize));
            let site = site.copied().unwrap_or(0);
            // The kernel counts over what the index depends on.
            let place = self.places.get(site as usize);
            let position = place.map_or(long(4), |place| place.operand_position_of_own(long(4)));
            return Err(Error::Trap { site, position, value: long(6) as i64 });
        }
        let mut offset = TRAP_BYTES as usize;
        let mut outputs = vec![];
        let mut spare = spare.into_iter();
        for (_, resource) in self.of_role(|role| *role == Role::Output) {
            let length = resource.count() as usize * resource.dtype.size();
            let bytes = &bytes[offset..offset + length];
            let tensor = Tensor::from_bytes_over(spare.next(), resource.dtype, &resource.shape, bytes);
            let wrong =
                || Error::Device(format!("output `{}` holds what is not {}", resource.name, resource.dtype));
            outputs.push(tensor.ok_or_else(wrong)?);
            offset += resource_bytes(resource) as usize;
        }
        Ok(outputs)
    }

    fn encoder(&self) -> wgpu::CommandEncoder {
        self.gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some(&self.graph) })
    }
}

impl Executable for Ready {
    fn call(
        &mut self,
        inputs: &[&Tensor],
        context: Context,
        spare: Vec<Tensor>,
    ) -> Result<Vec<Tensor>, Error> {
        self.feed(inputs, context)?;
        self.gpu.checked(&format!("running `{}`", self.graph), || {
            let mut encoder = self.encoder();
            encoder.clear_buffer(&self.buffers.trap, 0, None);
            encode(&mut encoder, &self.ops, &self.buffers);
            self.collect(&mut encoder);
            self.gpu.queue.submit([encoder.finish()]);
        })?;
        self.answers(spare)
    }

    fn allocated_bytes(&self) -> u64 {
        self.buffers.bytes
    }

    fn profile(&mut self, inputs: &[&Tensor], context: Context) -> Result<Vec<u64>, Error> {
        // The first call compiles shaders, which is not what a launch takes.
        self.call(inputs, context, Vec::new())?;
        let mut timer = Timer::new(self)?;
        timer.steps(&self.ops)?;
        timer.finish()
    }
}

/// Encodes steps: one pass for as long as no copy comes between.
fn encode(encoder: &mut wgpu::CommandEncoder, ops: &[Op], buffers: &Buffers) {
    let mut flat = vec![];
    flatten(ops, &mut flat);
    for run in flat.chunk_by(|a, b| matches!((a, b), (Op::Launch { .. }, Op::Launch { .. }))) {
        if let [Op::Copy { from, to, bytes }] = run {
            encoder.copy_buffer_to_buffer(&buffers.resources[*from], 0, &buffers.resources[*to], 0, *bytes);
            continue;
        }
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        for op in run {
            if let Op::Launch { dispatches, .. } = op {
                dispatches.iter().for_each(|dispatch| dispatch.encode(&mut pass));
            }
        }
    }
}

fn flatten<'a>(ops: &'a [Op], flat: &mut Vec<&'a Op>) {
    for op in ops {
        match op {
            Op::Loop { count, body } => (0..*count).for_each(|_| flatten(body, flat)),
            _ => flat.push(op),
        }
    }
}

impl Recorded {
    fn encode(&self, pass: &mut wgpu::ComputePass<'_>) {
        let [x, y, z] = self.groups;
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.bindings, &[]);
        pass.dispatch_workgroups(x, y, z);
    }
}

/// Turns steps into recorded ones.
struct Recorder<'a> {
    gpu: &'a Gpu,
    program: &'a Program,
    chosen: Vec<&'a Variant>,
    pipelines: BTreeMap<&'a str, Pipeline>,
    buffers: &'a Buffers,
    sites: Vec<Vec<u32>>,
}

impl Recorder<'_> {
    fn steps(&mut self, steps: &[Step]) -> Result<Vec<Op>, Error> {
        let mut ops = vec![];
        for step in steps {
            ops.push(match step {
                Step::Launch(launch) => self.launch(launch)?,
                Step::Copy { from, to } => {
                    let (from, to) = (*from as usize, *to as usize);
                    Op::Copy { from, to, bytes: resource_bytes(&self.program.resources[from]) }
                }
                Step::Loop { count, body } => Op::Loop { count: *count, body: self.steps(body)? },
            });
        }
        Ok(ops)
    }

    fn launch(&mut self, launch: &Launch) -> Result<Op, Error> {
        let number = self.sites.len() as u32;
        self.sites.push(launch.sites.clone());
        let mut dispatches = vec![];
        for dispatch in &self.chosen[launch.kernel as usize].dispatches {
            let pipeline = &self.pipelines[dispatch.code.as_str()];
            let mut windows = vec![(&self.buffers.records, number as u64 * RECORD_BYTES, 16)];
            for window in &dispatch.bindings {
                let buffer = match window.source {
                    Source::Arg(i) => &self.buffers.resources[launch.args[i as usize].resource as usize],
                    Source::Scratch(i) => &self.buffers.scratch[i as usize],
                };
                windows.push((buffer, window.offset, window.bytes));
            }
            if dispatch.traps {
                windows.push((&self.buffers.trap, 0, TRAP_BYTES));
            }
            let entries: Vec<wgpu::BindGroupEntry<'_>> = windows
                .iter()
                .enumerate()
                .map(|(i, &(buffer, offset, bytes))| wgpu::BindGroupEntry {
                    binding: i as u32,
                    resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                        buffer,
                        offset,
                        size: std::num::NonZeroU64::new(bytes),
                    }),
                })
                .collect();
            let bindings =
                self.gpu.checked(&format!("binding the buffers of `{}`", dispatch.code), || {
                    self.gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
                        label: None,
                        layout: &pipeline.layout,
                        entries: &entries,
                    })
                })?;
            dispatches.push(Recorded {
                pipeline: pipeline.pipeline.clone(),
                bindings,
                groups: dispatch.groups,
            });
        }
        Ok(Op::Launch { number, dispatches })
    }
}

/// Runs launches one by one and times each: by the device's clock, or by ours where it has none.
struct Timer<'a> {
    ready: &'a Ready,
    nanoseconds: Vec<u64>,
    clock: Option<Clock>,
}

/// The device's clock: two readings of it, and where they are read through.
struct Clock {
    queries: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    read: wgpu::Buffer,
}

impl<'a> Timer<'a> {
    fn new(ready: &'a Ready) -> Result<Timer<'a>, Error> {
        let device = &ready.gpu.device;
        let clock = ready.gpu.checked("making a clock", || {
            ready.gpu.timestamps.then(|| {
                let queries = device.create_query_set(&wgpu::QuerySetDescriptor {
                    label: None,
                    ty: wgpu::QueryType::Timestamp,
                    count: 2,
                });
                let buffer = |usage| {
                    device.create_buffer(&wgpu::BufferDescriptor {
                        label: None,
                        size: 16,
                        usage,
                        mapped_at_creation: false,
                    })
                };
                Clock {
                    queries,
                    resolved: buffer(wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC),
                    read: buffer(wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST),
                }
            })
        })?;
        Ok(Timer { ready, nanoseconds: vec![0; ready.sites.len()], clock })
    }

    fn steps(&mut self, ops: &[Op]) -> Result<(), Error> {
        for op in ops {
            match op {
                Op::Launch { number, dispatches } => {
                    self.nanoseconds[*number as usize] += self.launch(dispatches)?
                }
                Op::Copy { .. } => {
                    self.submit(|encoder| encode(encoder, std::slice::from_ref(op), &self.ready.buffers))?;
                }
                Op::Loop { count, body } => {
                    for _ in 0..*count {
                        self.steps(body)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn submit(&self, record: impl FnOnce(&mut wgpu::CommandEncoder)) -> Result<(), Error> {
        let gpu = &self.ready.gpu;
        gpu.checked("timing a launch", || {
            let mut encoder = self.ready.encoder();
            record(&mut encoder);
            gpu.queue.submit([encoder.finish()]);
        })?;
        gpu.wait()
    }

    fn launch(&self, dispatches: &[Recorded]) -> Result<u64, Error> {
        let start = Instant::now();
        self.submit(|encoder| {
            let timestamp_writes = self.clock.as_ref().map(|clock| wgpu::ComputePassTimestampWrites {
                query_set: &clock.queries,
                beginning_of_pass_write_index: Some(0),
                end_of_pass_write_index: Some(1),
            });
            let mut pass =
                encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label: None, timestamp_writes });
            dispatches.iter().for_each(|dispatch| dispatch.encode(&mut pass));
            drop(pass);
            if let Some(clock) = &self.clock {
                encoder.resolve_query_set(&clock.queries, 0..2, &clock.resolved, 0);
                encoder.copy_buffer_to_buffer(&clock.resolved, 0, &clock.read, 0, 16);
            }
        })?;
        let wall = start.elapsed().as_nanos() as u64;
        let Some(clock) = &self.clock else { return Ok(wall) };
        let read = self.ready.mapped(&clock.read)?;
        let tick = |i: usize| u64::from_le_bytes(std::array::from_fn(|j| read[8 * i + j]));
        let ticks = tick(1).saturating_sub(tick(0));
        drop(read);
        clock.read.unmap();
        Ok((ticks as f64 * self.ready.gpu.queue.get_timestamp_period() as f64) as u64)
    }

    fn finish(self) -> Result<Vec<u64>, Error> {
        self.ready.gpu.healthy()?;
        Ok(self.nanoseconds)
    }
}
