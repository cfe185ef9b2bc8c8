//! The buffers of a program on a device: exactly those that `memory_bytes` counts.

use super::adapter::Gpu;
use crate::device::Prepare;
use crate::error::Error;
use std::sync::{Arc, PoisonError};
use sx_artifact::code::Code;
use sx_artifact::code::wgpu::{RECORD_BYTES, TRAP_BYTES, staging_bytes};
use sx_artifact::program::{Resource, Role};
use sx_artifact::validate::Valid;

/// Bytes of an upload that wgpu stages at a time.
const UPLOAD: usize = 32 << 20;

/// What every buffer of a kernel is used for.
const STORAGE: wgpu::BufferUsages =
    wgpu::BufferUsages::STORAGE.union(wgpu::BufferUsages::COPY_SRC).union(wgpu::BufferUsages::COPY_DST);

/// Buffers, and how many bytes they have together.
pub(super) struct Buffers {
    /// For each resource, its own buffer or its slot's.
    pub(super) resources: Vec<Arc<wgpu::Buffer>>,
    pub(super) scratch: Vec<Arc<wgpu::Buffer>>,
    /// A record for each launch.
    pub(super) records: wgpu::Buffer,
    pub(super) trap: wgpu::Buffer,
    /// What answers are read through where the device does not map its buffers. It is there on all devices, so that
    /// `memory_bytes` is one number; a driver on a CPU gives no memory to what nobody touches.
    pub(super) staging: wgpu::Buffer,
    pub(super) bytes: u64,
}

/// Makes buffers and counts them.
struct Maker<'a> {
    gpu: &'a Gpu,
    bytes: u64,
}

impl Maker<'_> {
    fn make(&mut self, what: &str, bytes: u64, usage: wgpu::BufferUsages) -> Result<wgpu::Buffer, Error> {
        let most = self.gpu.limits.max_buffer_size;
        if bytes > most {
            return Err(Error::Device(format!(
                "{what} has {bytes} bytes, and `{}` allows {most} for one buffer; use the device `cpu`",
                self.gpu.info.name
            )));
        }
        self.bytes += bytes;
        let descriptor =
            wgpu::BufferDescriptor { label: None, size: bytes, usage, mapped_at_creation: false };
        self.gpu.checked(&format!("allocating {bytes} bytes for {what}"), || {
            self.gpu.device.create_buffer(&descriptor)
        })
    }

    fn storage(&mut self, what: &str, bytes: u64) -> Result<Arc<wgpu::Buffer>, Error> {
        self.make(what, bytes, STORAGE).map(Arc::new)
    }

    /// A buffer that every call writes or reads: mapped itself, as `how` says, where the device does that.
    fn port(&mut self, what: &str, bytes: u64, how: wgpu::BufferUsages) -> Result<wgpu::Buffer, Error> {
        self.make(what, bytes, if self.gpu.maps { STORAGE | how } else { STORAGE })
    }

    /// A buffer that never changes: the one that another graph of the artifact has, or a new one.
    fn learned(&mut self, job: &Prepare<'_>, resource: &Resource) -> Result<Arc<wgpu::Buffer>, Error> {
        let kind = if resource.role == Role::Param { "param" } else { "constant" };
        let key = (job.contents.id(), format!("{kind} {}", resource.name));
        let mut shared = self.gpu.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = resource.bytes();
        if let Some(buffer) = shared.get(&key).and_then(std::sync::Weak::upgrade)
            && buffer.size() == bytes
        {
            self.bytes += bytes;
            return Ok(buffer);
        }
        let buffer = self.storage(&format!("{kind} `{}`", resource.name), bytes)?;
        upload(self.gpu, &buffer, &job.contents.bytes_of(resource)?)?;
        shared.insert(key, Arc::downgrade(&buffer));
        Ok(buffer)
    }
}

/// Writes `bytes` to the front of a buffer, padded to whole words.
pub(super) fn upload(gpu: &Gpu, buffer: &wgpu::Buffer, bytes: &[u8]) -> Result<(), Error> {
    if bytes.len() as u64 > buffer.size() {
        return Err(Error::Device(format!(
            "{} bytes were given for a buffer of {}",
            bytes.len(),
            buffer.size()
        )));
    }
    let whole = bytes.len() & !3;
    gpu.checked("writing to a buffer", || {
        for (i, some) in bytes[..whole].chunks(UPLOAD).enumerate() {
            gpu.queue.write_buffer(buffer, (i * UPLOAD) as u64, some);
            if some.len() == UPLOAD {
                gpu.queue.submit([]);
            }
        }
        if whole < bytes.len() {
            let mut word = [0; 4];
            word[..bytes.len() - whole].copy_from_slice(&bytes[whole..]);
            gpu.queue.write_buffer(buffer, whole as u64, &word);
        }
    })
}

impl Buffers {
    /// Allocates what a program needs and uploads what it knows.
    pub(super) fn new(gpu: &Gpu, job: &Prepare<'_>, code: &Valid<Code>) -> Result<Buffers, Error> {
        let program = job.program;
        let mut maker = Maker { gpu, bytes: 0 };
        let slots = program
            .slots
            .iter()
            .enumerate()
            .map(|(i, &bytes)| maker.storage(&format!("slot {i} of intermediate values"), bytes))
            .collect::<Result<Vec<_>, _>>()?;
        let mut resources = vec![];
        for resource in &program.resources {
            resources.push(match &resource.role {
                Role::Scratch { slot } => slots[*slot as usize].clone(),
                Role::Param | Role::Constant => maker.learned(job, resource)?,
                role => {
                    let read = *role == Role::Output;
                    let how = if read { wgpu::BufferUsages::MAP_READ } else { wgpu::BufferUsages::MAP_WRITE };
                    maker.port(&format!("`{}`", resource.name), resource.bytes(), how)?.into()
                }
            });
        }
        let scratch = code
            .scratch()
            .into_iter()
            .map(|bytes| maker.storage("values between dispatches", bytes))
            .collect::<Result<Vec<_>, _>>()?;
        let count = program.launches().max(1);
        let uniform = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
        let records = maker.make("the launches' records", count * RECORD_BYTES, uniform)?;
        let mut bytes = vec![0; (count * RECORD_BYTES) as usize];
        for (launch, record) in bytes.chunks_mut(RECORD_BYTES as usize).enumerate() {
            record[4..8].copy_from_slice(&(launch as u32).to_le_bytes());
        }
        upload(gpu, &records, &bytes)?;
        let trap = maker.port("the trap", TRAP_BYTES, wgpu::BufferUsages::MAP_READ)?;
        let staging = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let staging = maker.make("the answers", staging_bytes(program), staging)?;
        Ok(Buffers { resources, scratch, records, trap, staging, bytes: maker.bytes })
    }
}
