//! A program that is ready: its launches as recorded dispatches, its calls, its profile. `transfer` has how tensors
//! come to the device and back.

use super::adapter::Gpu;
use super::buffers::Buffers;
use super::pipelines::{self, Pipeline};
use super::transfer;
use crate::device::{Context, Executable, Prepare, fit};
use crate::error::Error;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;
use sx_artifact::code::wgpu::{RECORD_BYTES, TRAP_BYTES};
use sx_artifact::code::{Buffer, Target, Variant, metadata_entry};
use sx_artifact::program::{Launch, Program, Resource, Role, Site, Step};
use sx_artifact::tensor::Tensor;

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
    pub(super) gpu: Arc<Gpu>,
    pub(super) graph: String,
    pub(super) resources: Vec<Resource>,
    pub(super) buffers: Buffers,
    ops: Vec<Op>,
    /// For each launch, the sites of its traps.
    pub(super) sites: Vec<Vec<u32>>,
    /// The program's sites.
    pub(super) places: Vec<Site>,
}

impl Ready {
    /// Makes pipelines, buffers and bindings.
    pub(super) fn new(gpu: Arc<Gpu>, job: Prepare<'_>) -> Result<Ready, Error> {
        let program = job.program;
        let entry = metadata_entry(Target::Wgpu, &program.graph);
        let code = fit::code(&entry, &job.contents.entry(&entry)?, program)?;
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

    pub(super) fn of_role(&self, wanted: fn(&Role) -> bool) -> impl Iterator<Item = (usize, &Resource)> {
        self.resources.iter().enumerate().filter(move |(_, resource)| wanted(&resource.role))
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
        let mut recording = Recording { ready: self, waiting: Vec::new(), begun: false };
        recording.steps(&self.ops)?;
        recording.submit(true)?;
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

/// Steps that are recorded before they are submitted: a long loop takes no memory for all of its turns.
const SUBMITTED: usize = 1 << 12;

/// The steps of a call on their way to the device, loops unrolled.
struct Recording<'a> {
    ready: &'a Ready,
    waiting: Vec<&'a Op>,
    /// Whether some were submitted.
    begun: bool,
}

impl<'a> Recording<'a> {
    fn steps(&mut self, ops: &'a [Op]) -> Result<(), Error> {
        for op in ops {
            match op {
                Op::Loop { count, body } => (0..*count).try_for_each(|_| self.steps(body))?,
                Op::Launch { .. } | Op::Copy { .. } => {
                    if self.waiting.len() == SUBMITTED {
                        self.submit(false)?;
                        self.ready.gpu.wait()?;
                    }
                    self.waiting.push(op);
                }
            }
        }
        Ok(())
    }

    fn submit(&mut self, last: bool) -> Result<(), Error> {
        let Recording { ready, waiting, begun } = self;
        ready.gpu.checked(&format!("running `{}`", ready.graph), || {
            let mut encoder = ready.encoder();
            if !*begun {
                encoder.clear_buffer(&ready.buffers.trap, 0, None);
            }
            encode(&mut encoder, waiting, &ready.buffers);
            if last {
                ready.collect(&mut encoder);
            }
            ready.gpu.queue.submit([encoder.finish()]);
        })?;
        self.waiting.clear();
        self.begun = true;
        Ok(())
    }
}

/// Encodes launches and copies: one pass for as long as no copy comes between.
fn encode(encoder: &mut wgpu::CommandEncoder, ops: &[&Op], buffers: &Buffers) {
    for run in ops.chunk_by(|a, b| matches!((a, b), (Op::Launch { .. }, Op::Launch { .. }))) {
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
                    Op::Copy { from, to, bytes: self.program.resources[from].bytes() }
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
                let buffer = match window.buffer {
                    Buffer::Arg(i) => &self.buffers.resources[launch.args[i as usize].resource as usize],
                    Buffer::Scratch(i) => &self.buffers.scratch[i as usize],
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
                    self.submit(|encoder| encode(encoder, &[op], &self.ready.buffers))?;
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
        let read = transfer::read(&self.ready.gpu, &[&clock.read])?;
        let tick = |i: usize| u64::from_le_bytes(std::array::from_fn(|j| read[0][8 * i + j]));
        let ticks = tick(1).saturating_sub(tick(0));
        drop(read);
        Ok((ticks as f64 * self.ready.gpu.queue.get_timestamp_period() as f64) as u64)
    }

    fn finish(self) -> Result<Vec<u64>, Error> {
        self.ready.gpu.healthy()?;
        Ok(self.nanoseconds)
    }
}
