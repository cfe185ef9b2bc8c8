//! Lifetimes and slots: intermediates that are never live together share a buffer.

use std::collections::BTreeSet;
use sx_artifact::program::{Program, Role, Step};

/// Gives each intermediate a slot. Slots are buffers of their own: WebGPU forbids one buffer to be read and
/// written in one dispatch, even in disjoint windows.
pub fn share(program: &mut Program) {
    let last_use = last_uses(program);
    let mut slots = Slots::default();
    let mut given: Vec<Option<u32>> = vec![None; program.resources.len()];
    for (step, resource) in writes(program) {
        let Role::Scratch { .. } = program.resources[resource as usize].role else { continue };
        let bytes = program.resources[resource as usize].bytes();
        let free_after = last_use[resource as usize].max(step);
        given[resource as usize] = Some(slots.choose(step, bytes, free_after));
    }
    let mut sizes = slots.sizes;
    for (resource, slot) in program.resources.iter_mut().zip(given) {
        let bytes = resource.bytes();
        let Role::Scratch { slot: place } = &mut resource.role else { continue };
        // One of no elements is written by no launch: it has a slot of its own, of no bytes.
        *place = slot.unwrap_or_else(|| {
            sizes.push(bytes);
            sizes.len() as u32 - 1
        });
    }
    program.slots = sizes;
}

/// The slots while a program is walked.
#[derive(Default)]
struct Slots {
    /// Bytes of each.
    sizes: Vec<u64>,
    /// Those in use, by the last step that uses what is in them.
    busy: BTreeSet<(usize, u32)>,
    /// Those that are free, by their bytes.
    free: BTreeSet<(u64, u32)>,
}

impl Slots {
    /// The free slot that fits best, in use from `step` to `free_after`: the smallest that is large enough, else the
    /// largest, which grows.
    fn choose(&mut self, step: usize, bytes: u64, free_after: usize) -> u32 {
        while let Some(&(last, slot)) = self.busy.first().filter(|(last, _)| *last < step) {
            self.busy.remove(&(last, slot));
            self.free.insert((self.sizes[slot as usize], slot));
        }
        let fitting = self.free.range((bytes, 0)..).next().or(self.free.last()).copied();
        let slot = match fitting {
            Some(found) => {
                self.free.remove(&found);
                self.sizes[found.1 as usize] = found.0.max(bytes);
                found.1
            }
            None => {
                self.sizes.push(bytes);
                self.sizes.len() as u32 - 1
            }
        };
        self.busy.insert((free_after, slot));
        slot
    }
}

/// Each resource that a step writes, in order.
fn writes(program: &Program) -> Vec<(usize, u32)> {
    let mut found = Vec::new();
    for (at, step) in program.steps.iter().enumerate() {
        match step {
            Step::Launch(launch) => {
                let args = &program.kernels[launch.kernel as usize].args;
                let written =
                    |(binding, arg): (&sx_artifact::program::Binding, &sx_artifact::kernel::Arg)| {
                        (arg.mode == sx_artifact::kernel::Mode::Write).then_some((at, binding.resource))
                    };
                found.extend(launch.args.iter().zip(args).filter_map(written));
            }
            Step::Copy { to, .. } => found.push((at, *to)),
            Step::Loop { .. } => unreachable!("loops are made after memory is shared"),
        }
    }
    found
}

fn last_uses(program: &Program) -> Vec<usize> {
    let mut last = vec![0; program.resources.len()];
    for (at, step) in program.steps.iter().enumerate() {
        match step {
            Step::Launch(launch) => launch.args.iter().for_each(|b| last[b.resource as usize] = at),
            Step::Copy { from, .. } => last[*from as usize] = at,
            Step::Loop { .. } => unreachable!("loops are made after memory is shared"),
        }
    }
    last
}
