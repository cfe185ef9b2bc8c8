//! Where each resource's elements are, decided once for a program.

use super::buffer::Buffer;
use super::{SharedBytes, refused};
use crate::device::Contents;
use crate::error::Error;
use sx_artifact::kernel::Mode;
use sx_artifact::program::{Program, Resource, Role, Step};

/// Where a resource's elements are.
pub(super) enum Placement {
    /// In the caller's tensor, by position among the inputs.
    Input(usize),
    /// In a tensor made for each call, by position among the outputs.
    Output(usize),
    /// In the artifact.
    Shared(SharedBytes),
    /// In a buffer of ours, by number.
    Own(usize),
}

/// The placement of each resource, and the buffers of those that have one of ours: slots first.
pub(super) fn placements(
    program: &Program,
    contents: &dyn Contents,
) -> Result<(Vec<Placement>, Vec<Buffer>), Error> {
    let mut buffers = Vec::with_capacity(program.slots.len());
    for &bytes in &program.slots {
        buffers.push(memory(program, bytes)?);
    }
    let mut written = vec![false; program.resources.len()];
    mark_written(program, &program.steps, &mut written)?;
    let mut placements = Vec::with_capacity(program.resources.len());
    let (mut inputs, mut outputs) = (0, 0);
    for (resource, &written) in program.resources.iter().zip(&written) {
        placements.push(match &resource.role {
            Role::Input if written => {
                return Err(refused(format!("input `{}` is written by the program", resource.name)));
            }
            Role::Input => {
                inputs += 1;
                Placement::Input(inputs - 1)
            }
            Role::Output => {
                outputs += 1;
                Placement::Output(outputs - 1)
            }
            Role::Scratch { slot } => slot_home(program, resource, *slot)?,
            Role::Context => own(program, &mut buffers, resource)?,
            Role::Param | Role::Constant | Role::State => {
                let bytes = contents.bytes_of(resource)?;
                value_placement(program, &mut buffers, resource, bytes, written)?
            }
        });
    }
    Ok((placements, buffers))
}

/// Marks the resources that `steps` write.
fn mark_written(program: &Program, steps: &[Step], written: &mut [bool]) -> Result<(), Error> {
    let mark = |written: &mut [bool], resource: u32| match written.get_mut(resource as usize) {
        Some(written) => {
            *written = true;
            Ok(())
        }
        None => Err(refused(format!("there is no resource {resource}"))),
    };
    for step in steps {
        match step {
            Step::Launch(launch) => {
                let kernel = program.kernels.get(launch.kernel as usize);
                let kernel =
                    kernel.ok_or_else(|| refused(format!("there is no kernel {}", launch.kernel)))?;
                for (arg, binding) in kernel.args.iter().zip(&launch.args) {
                    if arg.mode == Mode::Write {
                        mark(written, binding.resource)?;
                    }
                }
            }
            Step::Copy { to, .. } => mark(written, *to)?,
            Step::Loop { body, .. } => mark_written(program, body, written)?,
        }
    }
    Ok(())
}

fn slot_home(program: &Program, resource: &Resource, slot: u32) -> Result<Placement, Error> {
    match program.slots.get(slot as usize) {
        Some(&bytes) if bytes >= resource.bytes() => Ok(Placement::Own(slot as usize)),
        _ => Err(refused(format!("intermediate `{}` does not fit its slot", resource.name))),
    }
}

/// A buffer of `bytes` bytes.
fn memory(program: &Program, bytes: u64) -> Result<Buffer, Error> {
    usize::try_from(bytes).ok().and_then(Buffer::new).ok_or_else(|| {
        refused(format!(
            "there is no memory for a buffer of {bytes} bytes, and graph `{}` needs {} in all; use smaller sizes or \
             another machine",
            program.graph,
            program.buffer_bytes()
        ))
    })
}

/// A new buffer for a resource.
fn own(program: &Program, buffers: &mut Vec<Buffer>, resource: &Resource) -> Result<Placement, Error> {
    buffers.push(memory(program, resource.bytes())?);
    Ok(Placement::Own(buffers.len() - 1))
}

/// The placement of a resource whose value the artifact holds: in place, unless it is written or not aligned.
fn value_placement(
    program: &Program,
    buffers: &mut Vec<Buffer>,
    resource: &Resource,
    bytes: SharedBytes,
    written: bool,
) -> Result<Placement, Error> {
    let length = resource.count() as usize * resource.dtype.size();
    if bytes.len() < length {
        return Err(refused(format!("the artifact holds too few bytes of `{}`", resource.name)));
    }
    if !written && bytes.as_ptr().align_offset(resource.dtype.size()) == 0 {
        return Ok(Placement::Shared(bytes));
    }
    let placement = own(program, buffers, resource)?;
    if let Some(buffer) = buffers.last_mut() {
        // SAFETY: the buffer was made for at least so many bytes.
        unsafe { buffer.as_mut_ptr().copy_from_nonoverlapping(bytes.as_ptr(), length) };
    }
    Ok(placement)
}
