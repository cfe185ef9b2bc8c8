//! What a program means, on host tensors: its kernels by the interpreter of kernels, one after the other.

use std::fmt;
use sx_artifact::dtype::DType;
use sx_artifact::kernel::Mode;
use sx_artifact::kernel::interpret::{self, Trap};
use sx_artifact::program::{Launch, Program, Resource, Role, Step};
use sx_artifact::tensor::{Data, Tensor};

/// Why a program gives no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// An index was refused, at this site.
    Trap(u32, Trap),
    /// A kernel leaves an element of an argument unwritten.
    Unwritten {
        /// The kernel's name.
        kernel: String,
        /// The argument.
        arg: u32,
        /// The first such element.
        element: u64,
    },
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stop::Trap(site, trap) => write!(f, "site {site}: {trap:?}"),
            Stop::Unwritten { kernel, arg, element } => {
                write!(f, "kernel `{kernel}` leaves element {element} of argument {arg} unwritten")
            }
        }
    }
}

/// Runs `program`; `feed` gives inputs, parameters, constants and context values. Outputs in order.
pub fn run(program: &Program, feed: &dyn Fn(&Resource) -> Tensor) -> Result<Vec<Tensor>, Stop> {
    let mut values: Vec<Option<Tensor>> = vec![None; program.resources.len()];
    for (value, resource) in values.iter_mut().zip(&program.resources) {
        match resource.role {
            Role::Input | Role::Param | Role::State | Role::Constant | Role::Context => {
                *value = Some(feed(resource))
            }
            Role::Output | Role::Scratch { .. } => {}
        }
    }
    steps(program, &program.steps, &mut values)?;
    let outputs = program.resources.iter().zip(values).filter(|(r, _)| r.role == Role::Output);
    Ok(outputs.map(|(r, value)| value.unwrap_or_else(|| empty(r)).reshaped(&r.shape)).collect())
}

fn steps(program: &Program, steps_: &[Step], values: &mut [Option<Tensor>]) -> Result<(), Stop> {
    for step in steps_ {
        match step {
            Step::Launch(launch_) => launch(program, launch_, values)?,
            Step::Copy { from, to } => values[*to as usize] = values[*from as usize].clone(),
            Step::Loop { count, body } => {
                for _ in 0..*count {
                    steps(program, body, values)?;
                }
            }
        }
    }
    Ok(())
}

fn launch(program: &Program, launch: &Launch, values: &mut [Option<Tensor>]) -> Result<(), Stop> {
    let kernel = &program.kernels[launch.kernel as usize];
    let resources = launch.args.iter().map(|binding| binding.resource as usize);
    let bound: Vec<(usize, Mode)> = resources.zip(kernel.args.iter().map(|arg| arg.mode)).collect();
    let reads = bound.iter().filter(|(_, mode)| *mode == Mode::Read);
    let hollow = |at: usize| empty(&program.resources[at]);
    let reads: Vec<Tensor> = reads.map(|&(at, _)| values[at].clone().unwrap_or_else(|| hollow(at))).collect();
    let reads: Vec<&Tensor> = reads.iter().collect();
    let written = interpret::run(kernel, &reads).map_err(|stop| match stop {
        interpret::Stop::Trap(trap) => Stop::Trap(launch.sites[trap.trap as usize], trap),
        interpret::Stop::Unwritten { arg, element } => {
            Stop::Unwritten { kernel: kernel.name.clone(), arg, element }
        }
    })?;
    let writes = bound.iter().filter(|(_, mode)| *mode == Mode::Write);
    for (&(at, _), tensor) in writes.zip(written) {
        values[at] = Some(tensor);
    }
    Ok(())
}

/// An output that no launch wrote: it has no elements.
fn empty(resource: &Resource) -> Tensor {
    let data = match resource.dtype {
        DType::F32 => Data::F32(Vec::new()),
        DType::Bf16 => Data::Bf16(Vec::new()),
        DType::I32 => Data::I32(Vec::new()),
        DType::I64 => Data::I64(Vec::new()),
        DType::Bool => Data::Bool(Vec::new()),
    };
    Tensor::new(&resource.shape, data)
}
