//! Runs a program: binds its resources to memory, and goes through its steps.

use super::buffer::{Arg, Report};
use super::placement::Placement;
use super::{Context, Prepared, refused};
use crate::device::output;
use crate::error::Error;
use std::time::Instant;
use sx_artifact::dtype::DType;
use sx_artifact::program::{Launch, Role, Step, launches};
use sx_artifact::tensor::{Data, Tensor};

impl Prepared {
    pub(super) fn execute(
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
            .placements
            .iter()
            .map(|placement| match placement {
                Placement::Input(at) => inputs[*at].bytes().as_ptr().cast_mut(),
                Placement::Output(at) => output::start(&mut outputs[*at]),
                Placement::Shared(bytes) => bytes.as_ptr().cast_mut(),
                Placement::Own(at) => self.buffers[*at].as_mut_ptr(),
            })
            .collect();
        let mut launched = 0;
        self.steps(&self.program.steps, &starts, &mut launched, &mut times)?;
        let resources = self.program.resources.iter().filter(|resource| resource.role == Role::Output);
        Ok(resources.zip(outputs).map(|(resource, data)| Tensor::new(&resource.shape, data)).collect())
    }

    /// Writes the context's integers where the program reads them.
    fn feed(&mut self, context: Context) -> Result<(), Error> {
        for (resource, placement) in self.program.resources.iter().zip(&self.placements) {
            let (Role::Context, Placement::Own(at)) = (&resource.role, placement) else { continue };
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
                    *launched = first + launches(body) as usize;
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
