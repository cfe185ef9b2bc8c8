//! Lifetimes and slots: intermediates that are never live together share a buffer.

use sx_artifact::program::{Program, Role, Step};

/// Gives each intermediate a slot. Slots are buffers of their own: WebGPU forbids one buffer to be read and
/// written in one dispatch, even in disjoint windows.
pub fn share(program: &mut Program) {
    let last_use = last_uses(program);
    let mut slots: Vec<Slot> = Vec::new();
    let mut given: Vec<Option<u32>> = vec![None; program.resources.len()];
    for (step, resource) in writes(program) {
        let Role::Scratch { .. } = program.resources[resource as usize].role else { continue };
        let bytes = program.resources[resource as usize].bytes();
        let slot = choose(&mut slots, step, bytes);
        slots[slot].free_after = last_use[resource as usize].max(step);
        given[resource as usize] = Some(slot as u32);
    }
    for (resource, slot) in program.resources.iter_mut().zip(given) {
        let bytes = resource.bytes();
        let Role::Scratch { slot: place } = &mut resource.role else { continue };
        // One of no elements is written by no launch: it has a slot of its own, of no bytes.
        *place = slot.unwrap_or_else(|| {
            slots.push(Slot { bytes, free_after: usize::MAX });
            slots.len() as u32 - 1
        });
    }
    program.slots = slots.iter().map(|slot| slot.bytes).collect();
}

struct Slot {
    bytes: u64,
    /// The last step that uses what is in it.
    free_after: usize,
}

/// The free slot that fits best: the smallest that is large enough, else the largest, which grows.
fn choose(slots: &mut Vec<Slot>, step: usize, bytes: u64) -> usize {
    let free = |slot: &Slot| slot.free_after < step;
    let fitting =
        slots.iter().enumerate().filter(|(_, s)| free(s) && s.bytes >= bytes).min_by_key(|(_, s)| s.bytes);
    if let Some((at, _)) = fitting {
        return at;
    }
    let largest = slots.iter().enumerate().filter(|(_, s)| free(s)).max_by_key(|(_, s)| s.bytes);
    if let Some((at, _)) = largest {
        slots[at].bytes = bytes;
        return at;
    }
    slots.push(Slot { bytes, free_after: 0 });
    slots.len() - 1
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
