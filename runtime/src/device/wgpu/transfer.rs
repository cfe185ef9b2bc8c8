//! How tensors come to the device and answers back.
//!
//! On a CPU ([`Gpu::maps`]) inputs are written into the kernels' own buffers and outputs read from them. Elsewhere
//! wgpu stages what is uploaded, and answers are copied to a buffer that can be mapped.

use super::adapter::Gpu;
use super::buffers::upload;
use super::run::Ready;
use crate::device::{Context, output, pages};
use crate::error::Error;
use std::borrow::Cow;
use std::ops::Deref;
use std::time::Duration;
use sx_artifact::code::wgpu::TRAP_BYTES;
use sx_artifact::dtype::DType;
use sx_artifact::program::{Resource, Role};
use sx_artifact::tensor::Tensor;

/// A buffer that is mapped for reading until this is dropped.
pub(super) struct Read<'a> {
    buffer: &'a wgpu::Buffer,
    /// `None` only while this is dropped.
    view: Option<wgpu::BufferView>,
}

impl Deref for Read<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.view.as_deref().unwrap_or(&[])
    }
}

impl Drop for Read<'_> {
    fn drop(&mut self) {
        self.view = None;
        self.buffer.unmap();
    }
}

/// Waits for the device, and maps buffers for reading.
pub(super) fn read<'a>(gpu: &Gpu, buffers: &[&'a wgpu::Buffer]) -> Result<Vec<Read<'a>>, Error> {
    map(gpu, buffers, wgpu::MapMode::Read)?;
    let mut views: Vec<Read<'a>> = buffers.iter().map(|buffer| Read { buffer, view: None }).collect();
    for read in &mut views {
        read.view = Some(read.buffer.get_mapped_range(..).map_err(|e| unmapped(gpu, &e.to_string()))?);
    }
    Ok(views)
}

/// Writes to the front of buffers in place.
fn write(gpu: &Gpu, writes: &[(&wgpu::Buffer, Cow<'_, [u8]>)]) -> Result<(), Error> {
    let buffers: Vec<&wgpu::Buffer> = writes.iter().map(|(buffer, _)| *buffer).collect();
    map(gpu, &buffers, wgpu::MapMode::Write)?;
    let mut done = Ok(());
    for (buffer, bytes) in writes {
        match buffer.get_mapped_range_mut(..) {
            Ok(mut view) => Piece(view.slice(..bytes.len())).fill(bytes),
            Err(e) => done = Err(unmapped(gpu, &e.to_string())),
        }
        buffer.unmap();
    }
    done
}

/// Bytes that one thread copies.
const PIECE: usize = 1 << 20;

/// A part of a mapped buffer that one thread writes.
struct Piece<'a>(wgpu::WriteOnly<'a, [u8]>);

// SAFETY: it is an exclusive reference to plain bytes, and any thread may write those; wgpu says so of sized types.
unsafe impl Send for Piece<'_> {}

impl Piece<'_> {
    /// Copies `from`, by several threads if it is large.
    fn fill(self, from: &[u8]) {
        if from.len() <= PIECE {
            return self.copy(from);
        }
        let middle = from.len() / 2;
        let (left, right) = self.0.split_at(middle);
        let (left, right) = (Piece(left), Piece(right));
        rayon::join(move || left.fill(&from[..middle]), move || right.fill(&from[middle..]));
    }

    /// Copies `from` step by step.
    fn copy(self, from: &[u8]) {
        let mut rest = self.0;
        for from in from.chunks(pages::STEP) {
            let (mut to, after) = rest.split_at(from.len());
            to.copy_from_slice(from);
            rest = after;
        }
    }
}

/// How long an answer is waited for once the device has finished.
const PATIENCE: Duration = Duration::from_secs(10);

/// Maps all of `buffers`, or none.
fn map(gpu: &Gpu, buffers: &[&wgpu::Buffer], mode: wgpu::MapMode) -> Result<(), Error> {
    let (send, receive) = std::sync::mpsc::channel();
    for (i, buffer) in buffers.iter().enumerate() {
        let send = send.clone();
        // The receiver lives until the answers are there; if it is gone nobody waits for them.
        buffer.map_async(mode, .., move |result| drop(send.send((i, result))));
    }
    drop(send);
    let healthy = gpu.wait();
    // Where another thread waits for the device too, it may be that one which hands out our answers, a moment later.
    let patience = if healthy.is_ok() { PATIENCE } else { Duration::ZERO };
    let answers: Vec<_> = std::iter::from_fn(|| receive.recv_timeout(patience).ok()).collect();
    let mapped = answers.iter().filter(|(_, result)| result.is_ok());
    if healthy.is_ok() && mapped.clone().count() == buffers.len() {
        return Ok(());
    }
    mapped.for_each(|(i, _)| buffers[*i].unmap());
    healthy?;
    let why = answers.iter().find_map(|(_, result)| result.as_ref().err().map(|e| e.to_string()));
    Err(unmapped(gpu, &why.unwrap_or_else(|| "the device gave no answer".to_owned())))
}

fn unmapped(gpu: &Gpu, why: &str) -> Error {
    Error::Device(format!("buffers of `{}` could not be reached: {why}; run again", gpu.info.name))
}

impl Ready {
    /// Brings inputs and context to the device.
    pub(super) fn feed(&self, inputs: &[&Tensor], context: Context) -> Result<(), Error> {
        let wanted: Vec<_> = self.of_role(|role| *role == Role::Input).collect();
        if wanted.len() != inputs.len() {
            return Err(Error::Device(format!(
                "{} inputs were given, `{}` takes {}",
                inputs.len(),
                self.graph,
                wanted.len()
            )));
        }
        let mut writes: Vec<(&wgpu::Buffer, Cow<'_, [u8]>)> = vec![];
        for ((i, resource), input) in wanted.into_iter().zip(inputs) {
            self.fits(resource, input)?;
            writes.push((&self.buffers.resources[i], input.bytes().into()));
        }
        for (i, resource) in self.of_role(|role| *role == Role::Context) {
            let value = if resource.name == "microbatch" { context.microbatch } else { context.step };
            let bytes = if resource.dtype == DType::I64 {
                value.to_le_bytes().to_vec()
            } else {
                (value as i32).to_le_bytes().to_vec()
            };
            writes.push((&self.buffers.resources[i], bytes.into()));
        }
        if self.gpu.maps {
            return write(&self.gpu, &writes);
        }
        writes.iter().try_for_each(|(buffer, bytes)| upload(&self.gpu, buffer, bytes))
    }

    /// An error unless `input` is what `resource` holds.
    fn fits(&self, resource: &Resource, input: &Tensor) -> Result<(), Error> {
        if resource.dtype == input.dtype() && resource.shape == input.shape() {
            return Ok(());
        }
        Err(Error::Device(format!(
            "input `{}` is {} {:?}, `{}` takes {} {:?}",
            resource.name,
            input.dtype(),
            input.shape(),
            self.graph,
            resource.dtype,
            resource.shape
        )))
    }

    /// Copies trap and outputs to the staging buffer, unless they are read where they are.
    pub(super) fn collect(&self, encoder: &mut wgpu::CommandEncoder) {
        if self.gpu.maps {
            return;
        }
        let staging = &self.buffers.staging;
        encoder.copy_buffer_to_buffer(&self.buffers.trap, 0, staging, 0, TRAP_BYTES);
        let mut offset = TRAP_BYTES;
        for (i, resource) in self.of_role(|role| *role == Role::Output) {
            let bytes = resource.bytes();
            encoder.copy_buffer_to_buffer(&self.buffers.resources[i], 0, staging, offset, bytes);
            offset += bytes;
        }
    }

    /// Waits for what was submitted, and reads it: a trap, or the outputs.
    pub(super) fn answers(&self, spare: Vec<Tensor>) -> Result<Vec<Tensor>, Error> {
        if self.gpu.maps {
            let outputs = self.of_role(|role| *role == Role::Output);
            let mut buffers = vec![&self.buffers.trap];
            buffers.extend(outputs.map(|(i, _)| &*self.buffers.resources[i]));
            let views = read(&self.gpu, &buffers)?;
            let mut views = views.iter().map(|view| &**view);
            self.trapped(views.next().unwrap_or(&[]))?;
            return self.outputs(views, spare);
        }
        let views = read(&self.gpu, &[&self.buffers.staging])?;
        let (trap, mut rest) = views[0].split_at(TRAP_BYTES as usize);
        self.trapped(trap)?;
        let outputs = self.of_role(|role| *role == Role::Output).map(|(_, resource)| {
            let (bytes, behind) = rest.split_at(resource.bytes() as usize);
            rest = behind;
            bytes
        });
        self.outputs(outputs, spare)
    }

    /// The error that the trap buffer holds, if any.
    fn trapped(&self, bytes: &[u8]) -> Result<(), Error> {
        let words: Vec<u32> = bytes
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
            .collect();
        let long = |i: usize| words[i] as u64 | (words[i + 1] as u64) << 32;
        if words[0] == 0 {
            return Ok(());
        }
        let site = self.sites.get(words[1] as usize).and_then(|sites| sites.get(words[2] as usize));
        let site = site.copied().unwrap_or(0);
        // The kernel counts over what the index depends on.
        let place = self.places.get(site as usize);
        let position = place.map_or(long(4), |place| place.operand_position_of_own(long(4)));
        Err(Error::Trap { site, position, value: long(6) as i64 })
    }

    /// Tensors of the outputs' bytes, each padded to whole words.
    fn outputs<'a>(
        &self,
        bytes: impl Iterator<Item = &'a [u8]>,
        spare: Vec<Tensor>,
    ) -> Result<Vec<Tensor>, Error> {
        let mut spare = spare.into_iter();
        self.of_role(|role| *role == Role::Output)
            .zip(bytes)
            .map(|((_, resource), bytes)| {
                let bytes = &bytes[..resource.count() as usize * resource.dtype.size()];
                output::of_bytes(resource, spare.next(), bytes)
            })
            .collect()
    }
}
