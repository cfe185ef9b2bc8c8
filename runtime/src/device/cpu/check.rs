//! What must hold of a program before its kernels may touch memory.

use super::placement::Placement;
use super::{Prepared, refused};
use crate::error::Error;
use sx_artifact::kernel::Mode;
use sx_artifact::program::{Launch, Resource, Step};

impl Prepared {
    /// Checks that buffers fit what the steps do with them.
    pub(super) fn check(&self, steps: &[Step]) -> Result<(), Error> {
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

    pub(super) fn resource(&self, at: u32) -> Result<&Resource, Error> {
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
        match (&self.placements[a as usize], &self.placements[b as usize]) {
            (Placement::Own(a), Placement::Own(b)) => a == b,
            _ => a == b,
        }
    }
}
