//! The CPU: runs kernels as they stand in the program, block by block, on all cores.
//!
//! A kernel is made ready once ([`launch`], where [`split`] cuts it): a loop becomes a [`tape::Nest`] (compiled by [`compile`], run by
//! [`machine`]) that applies plain vectorised loops to blocks of lanes which stay in the nearest cache; a
//! matrix product or an attention calls a matrix multiplication between such nests. Read in this order:
//! [`lanes`], [`scalar`], [`fold`], [`memory`], [`space`], [`tape`], [`compile`] (with [`keep`], [`fuse`], [`emit`],
//! [`place`]), [`machine`], [`contract`], [`attention`], and this file, which owns the buffers.
//!
//! A trap's position is, among the coordinates at which the index is refused, the first in row-major order of
//! the body it stands in; its site turns that into a position in the index operand. Of several traps of a
//! launch the first by position is reported.
#![allow(unsafe_code, reason = "lanes are untyped memory, shared between threads that write different parts")]

mod ahead;
mod analyse;
mod attention;
mod buffer;
mod compile;
mod contract;
mod cores;
mod emit;
mod fold;
mod fuse;
mod keep;
mod lanes;
mod launch;
mod machine;
mod memory;
mod operand;
mod output;
mod place;
mod product;
mod scalar;
mod space;
mod split;
mod tape;
mod team;
#[cfg(test)]
mod tests;

use super::{Context, Device, Executable, Prepare, SharedBytes};
use crate::error::Error;
use buffer::{Arg, Buffer, Report};
use launch::Ready;
use std::cell::RefCell;
use std::time::Instant;
use sx_artifact::dtype::DType;
use sx_artifact::kernel::Mode;
use sx_artifact::program::{Launch, Program, Resource, Role, Step};
use sx_artifact::tensor::{Data, Tensor};
use team::Team;

/// The processor this program runs on, with the threads of rayon's global pool.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cpu;

impl Device for Cpu {
    fn name(&self) -> &str {
        "cpu"
    }

    fn memory_bytes(&self) -> Option<u64> {
        super::fit::host_memory()
    }

    fn prepare(&self, job: Prepare<'_>) -> Result<Box<dyn Executable>, Error> {
        Ok(Box::new(Prepared::new(job)?))
    }
}

/// Where a resource's elements are.
enum Home {
    /// In the caller's tensor, by position among the inputs.
    Input(usize),
    /// In a tensor made for each call, by position among the outputs.
    Output(usize),
    /// In the artifact.
    Shared(SharedBytes),
    /// In a buffer of ours, by number.
    Own(usize),
}

/// A program on the CPU.
struct Prepared {
    program: Program,
    kernels: Vec<Ready>,
    homes: Vec<Home>,
    /// Slots first, then what resources have of their own.
    buffers: Vec<Buffer>,
    team: RefCell<Team>,
}

// SAFETY: shared bytes are only read.
unsafe impl Send for Prepared {}

fn refused(message: impl Into<String>) -> Error {
    Error::Device(message.into())
}

impl Prepared {
    fn new(job: Prepare<'_>) -> Result<Prepared, Error> {
        let program = job.program.clone();
        let kernels = program.kernels.iter().map(|kernel| {
            Ready::new(kernel)
                .map_err(|why| refused(format!("kernel `{}` cannot run on the cpu: {why}", kernel.name)))
        });
        let kernels = kernels.collect::<Result<_, _>>()?;
        let mut buffers = Vec::with_capacity(program.slots.len());
        for &bytes in &program.slots {
            buffers.push(memory(&program, bytes)?);
        }
        let mut written = vec![false; program.resources.len()];
        mark_written(&program, &program.steps, &mut written)?;
        let mut homes = Vec::with_capacity(program.resources.len());
        let (mut inputs, mut outputs) = (0, 0);
        for (resource, &written) in program.resources.iter().zip(&written) {
            homes.push(match &resource.role {
                Role::Input if written => {
                    return Err(refused(format!("input `{}` is written by the program", resource.name)));
                }
                Role::Input => {
                    inputs += 1;
                    Home::Input(inputs - 1)
                }
                Role::Output => {
                    outputs += 1;
                    Home::Output(outputs - 1)
                }
                Role::Scratch { slot } => slot_home(&program, resource, *slot)?,
                Role::Context => own(&program, &mut buffers, resource)?,
                Role::Param | Role::Constant | Role::State => {
                    let bytes = job.contents.bytes_of(resource)?;
                    value_home(&program, &mut buffers, resource, bytes, written)?
                }
            });
        }
        let prepared = Prepared { program, kernels, homes, buffers, team: RefCell::new(Team::new()) };
        prepared.check(&prepared.program.steps)?;
        Ok(prepared)
    }

    /// Checks that buffers fit what the steps do with them.
    fn check(&self, steps: &[Step]) -> Result<(), Error> {
        for step in steps {
            match step {
                Step::Launch(launch) => self.check_launch(launch)?,
                Step::Copy { from, to } => {
                    let (from, to) = (self.resource(*from)?, self.resource(*to)?);
                    if from.dtype != to.dtype || from.count() != to.count() {
                        return Err(refused(format!("`{}` cannot be copied to `{}`", from.name, to.name)));
                    }
                }
                Step::Loop { body, .. } => self.check(body)?,
            }
        }
        Ok(())
    }

    fn resource(&self, at: u32) -> Result<&Resource, Error> {
        self.program.resources.get(at as usize).ok_or_else(|| refused(format!("there is no resource {at}")))
    }

    fn check_launch(&self, launch: &Launch) -> Result<(), Error> {
        let kernel = self.program.kernels.get(launch.kernel as usize);
        let kernel = kernel.ok_or_else(|| refused(format!("there is no kernel {}", launch.kernel)))?;
        let wrong = |what: &str| refused(format!("a launch of kernel `{}` {what}", kernel.name));
        if kernel.args.len() != launch.args.len() {
            return Err(wrong("has another number of buffers than the kernel"));
        }
        if launch.sites.len() < kernel.traps as usize {
            return Err(wrong("does not name the sites of all its traps"));
        }
        for (arg, binding) in kernel.args.iter().zip(&launch.args) {
            let resource = self.resource(binding.resource)?;
            if arg.dtype != resource.dtype || arg.len > resource.count() {
                return Err(wrong(&format!("does not fit its buffer `{}`", resource.name)));
            }
        }
        for (i, a) in launch.args.iter().enumerate().filter(|(i, _)| kernel.args[*i].mode == Mode::Write) {
            let others = launch.args.iter().enumerate().filter(|(j, _)| *j != i);
            for (_, b) in others {
                if self.same_memory(a.resource, b.resource) {
                    return Err(wrong("reads or writes a buffer that it also writes"));
                }
            }
        }
        Ok(())
    }

    fn same_memory(&self, a: u32, b: u32) -> bool {
        match (&self.homes[a as usize], &self.homes[b as usize]) {
            (Home::Own(a), Home::Own(b)) => a == b,
            _ => a == b,
        }
    }

    fn execute(
        &mut self,
        inputs: &[&Tensor],
        context: Context,
        spare: Vec<Tensor>,
        mut times: Option<&mut Vec<u64>>,
    ) -> Result<Vec<Tensor>, Error> {
        self.feed(context)?;
        let program = &self.program;
        let of_role = |role: Role| program.resources.iter().filter(move |resource| resource.role == role);
        if of_role(Role::Input).count() != inputs.len() {
            return Err(refused(format!(
                "graph `{}` takes {} inputs",
                program.graph,
                of_role(Role::Input).count()
            )));
        }
        for (resource, tensor) in of_role(Role::Input).zip(inputs) {
            if tensor.dtype() != resource.dtype || tensor.shape() != resource.shape {
                return Err(refused(format!(
                    "input `{}` is not of its declared dtype and shape",
                    resource.name
                )));
            }
        }
        let mut spare = spare.into_iter();
        let outputs = of_role(Role::Output).map(|resource| output::room(resource, spare.next()));
        let mut outputs: Vec<Data> = outputs.collect::<Result<_, _>>()?;
        let starts: Vec<*mut u8> = self
            .homes
            .iter()
            .map(|home| match home {
                Home::Input(at) => inputs[*at].bytes().as_ptr().cast_mut(),
                Home::Output(at) => output::start(&mut outputs[*at]),
                Home::Shared(bytes) => bytes.as_ptr().cast_mut(),
                Home::Own(at) => self.buffers[*at].as_mut_ptr(),
            })
            .collect();
        let mut launched = 0;
        self.steps(&self.program.steps, &starts, &mut launched, &mut times)?;
        let resources = self.program.resources.iter().filter(|resource| resource.role == Role::Output);
        Ok(resources.zip(outputs).map(|(resource, data)| Tensor::new(&resource.shape, data)).collect())
    }

    /// Writes the context's integers where the program reads them.
    fn feed(&mut self, context: Context) -> Result<(), Error> {
        for (resource, home) in self.program.resources.iter().zip(&self.homes) {
            let (Role::Context, Home::Own(at)) = (&resource.role, home) else { continue };
            let value = match resource.name.as_str() {
                "step" => context.step,
                "microbatch" => context.microbatch,
                other => return Err(refused(format!("the runtime feeds no context value `{other}`"))),
            };
            let to = self.buffers[*at].as_mut_ptr();
            // SAFETY: a buffer has at least 64 aligned bytes.
            unsafe {
                match resource.dtype {
                    DType::I64 => *(to as *mut i64) = value,
                    DType::I32 => *(to as *mut i32) = value as i32,
                    other => {
                        return Err(refused(format!("context value `{}` of type {other}", resource.name)));
                    }
                }
            }
        }
        Ok(())
    }

    fn steps(
        &self,
        steps: &[Step],
        starts: &[*mut u8],
        launched: &mut usize,
        times: &mut Option<&mut Vec<u64>>,
    ) -> Result<(), Error> {
        for step in steps {
            match step {
                Step::Launch(launch) => {
                    let began = Instant::now();
                    self.launch(launch, starts)?;
                    if let Some(times) = times {
                        times.resize(times.len().max(*launched + 1), 0);
                        times[*launched] += began.elapsed().as_nanos() as u64;
                    }
                    *launched += 1;
                }
                Step::Copy { from, to } => {
                    let resource = &self.program.resources[*from as usize];
                    let bytes = resource.count() as usize * resource.dtype.size();
                    // SAFETY: both hold so many bytes (checked), and may be the same memory.
                    unsafe { starts[*to as usize].copy_from(starts[*from as usize], bytes) };
                }
                Step::Loop { count, body } => {
                    let first = *launched;
                    for _ in 0..*count {
                        *launched = first;
                        self.steps(body, starts, launched, times)?;
                    }
                    *launched = first + launches(body);
                }
            }
        }
        Ok(())
    }

    fn launch(&self, launch: &Launch, starts: &[*mut u8]) -> Result<(), Error> {
        let kernel = &self.program.kernels[launch.kernel as usize];
        let bound = kernel.args.iter().zip(&launch.args);
        let args: Vec<Arg> = bound
            .map(|(arg, binding)| Arg { start: starts[binding.resource as usize], len: arg.len, shift: 0 })
            .collect();
        let report = Report::default();
        self.kernels[launch.kernel as usize].run(&args, &report, &mut self.team.borrow_mut());
        if report.is_outside() {
            return Err(refused(format!(
                "kernel `{}` reached outside of its buffers; build the artifact again",
                kernel.name
            )));
        }
        match report.first_trap() {
            None => Ok(()),
            Some(trap) => {
                let site = launch.sites[trap.trap as usize];
                let position = match self.program.sites.get(site as usize) {
                    Some(site) => site.operand_position(trap.position),
                    None => trap.position,
                };
                Err(Error::Trap { site, position, value: trap.value })
            }
        }
    }
}

/// How many launches stand in `steps`, those of loops once.
fn launches(steps: &[Step]) -> usize {
    let each = |step: &Step| match step {
        Step::Launch(_) => 1,
        Step::Copy { .. } => 0,
        Step::Loop { body, .. } => launches(body),
    };
    steps.iter().map(each).sum()
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

fn slot_home(program: &Program, resource: &Resource, slot: u32) -> Result<Home, Error> {
    match program.slots.get(slot as usize) {
        Some(&bytes) if bytes >= resource.bytes() => Ok(Home::Own(slot as usize)),
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
fn own(program: &Program, buffers: &mut Vec<Buffer>, resource: &Resource) -> Result<Home, Error> {
    buffers.push(memory(program, resource.bytes())?);
    Ok(Home::Own(buffers.len() - 1))
}

/// A home for a resource whose value the artifact holds: in place, unless it is written or not aligned.
fn value_home(
    program: &Program,
    buffers: &mut Vec<Buffer>,
    resource: &Resource,
    bytes: SharedBytes,
    written: bool,
) -> Result<Home, Error> {
    let length = resource.count() as usize * resource.dtype.size();
    if bytes.len() < length {
        return Err(refused(format!("the artifact holds too few bytes of `{}`", resource.name)));
    }
    if !written && bytes.as_ptr().align_offset(resource.dtype.size()) == 0 {
        return Ok(Home::Shared(bytes));
    }
    let home = own(program, buffers, resource)?;
    if let Some(buffer) = buffers.last_mut() {
        // SAFETY: the buffer was made for at least so many bytes.
        unsafe { buffer.as_mut_ptr().copy_from_nonoverlapping(bytes.as_ptr(), length) };
    }
    Ok(home)
}

impl Executable for Prepared {
    fn call(
        &mut self,
        inputs: &[&Tensor],
        context: Context,
        spare: Vec<Tensor>,
    ) -> Result<Vec<Tensor>, Error> {
        self.execute(inputs, context, spare, None)
    }

    fn allocated_bytes(&self) -> u64 {
        let owned: u64 = self.buffers.iter().map(|buffer| buffer.bytes() as u64).sum();
        let others = self.program.resources.iter().zip(&self.homes);
        let elsewhere = others.filter(|(_, home)| !matches!(home, Home::Own(_)));
        owned + elsewhere.map(|(resource, _)| resource.bytes()).sum::<u64>()
    }

    fn profile(&mut self, inputs: &[&Tensor], context: Context) -> Result<Vec<u64>, Error> {
        let mut times = vec![0; launches(&self.program.steps)];
        self.execute(inputs, context, Vec::new(), Some(&mut times))?;
        Ok(times)
    }
}
