//! Whether the steps of a program fit its kernels and buffers.

use super::{Invalid, MAX_NESTING, MAX_POINTS, MAX_STEPS, kernel};
use crate::dtype::DType;
use crate::kernel::Mode;
use crate::program::{Check, Launch, Program, Resource, Role, Site, Step};
use std::collections::HashSet;
use std::mem::discriminant;

type Checked<T = ()> = Result<T, Invalid>;

/// Checks a whole program.
pub(super) fn check(program: &Program) -> Checked {
    resources(program)?;
    let mut names = HashSet::new();
    let mut points = Vec::new();
    for it in &program.kernels {
        let place = format!("kernel `{}`", it.name);
        if it.name.is_empty() || !names.insert(&it.name) {
            return Err(Invalid::new(place, "its name is not its own"));
        }
        points.push(kernel::check(it).map_err(|error| error.within(&place))?);
    }
    for (number, site) in program.sites.iter().enumerate() {
        check_site(site, program.origins.len()).map_err(|error| error.within(&format!("site {number}")))?;
    }
    let mut walk = Walk {
        program,
        points,
        slots: vec![None; program.slots.len()],
        written: vec![false; program.resources.len()],
        work: 0,
        steps: 0,
    };
    walk.steps(&program.steps, 1, 0)?;
    walk.outputs()
}

/// Where a trap's position points has to be computable, whatever position a device reports.
fn check_site(site: &Site, origins: usize) -> Checked {
    index(site.origin, origins, "origin")?;
    let reach = site
        .at
        .strides
        .iter()
        .zip(&site.dims)
        .try_fold(site.at.offset.unsigned_abs(), |sum, (stride, size)| {
            sum.checked_add(stride.unsigned_abs().checked_mul(*size)?)
        });
    let fits = site.dims.len() == site.at.strides.len() && reach.is_some_and(|reach| reach < 1 << 62);
    if fits { Ok(()) } else { Err(Invalid::new("", "its positions cannot be computed")) }
}

fn index(at: u32, len: usize, what: &str) -> Checked {
    match (at as usize) < len {
        true => Ok(()),
        false => Err(Invalid::new("", format!("there is no {what} {at}"))),
    }
}

fn resources(program: &Program) -> Checked {
    let mut total = 0u64;
    let mut add = |bytes: u64| {
        total = total.checked_add(bytes).filter(|&total| total <= MAX_POINTS)?;
        Some(())
    };
    let too_large = |place: String| Invalid::new(place, "it is larger than any memory");
    for (number, &bytes) in program.slots.iter().enumerate() {
        let place = || format!("slot {number}");
        if bytes == 0 || bytes % 4 != 0 {
            return Err(Invalid::new(place(), format!("{bytes} bytes are not whole 32-bit words")));
        }
        add(bytes).ok_or_else(|| too_large(place()))?;
    }
    let mut names = HashSet::new();
    for it in &program.resources {
        let place = || format!("resource `{}`", it.name);
        let bytes = bytes(it).ok_or_else(|| too_large(place()))?;
        let fits = match it.role {
            Role::Scratch { slot } => match program.slots.get(slot as usize) {
                Some(&size) => size >= bytes,
                None => return Err(Invalid::new(place(), format!("there is no slot {slot}"))),
            },
            Role::Context => {
                matches!(it.name.as_str(), "step" | "microbatch") && it.dtype.is_int() && count(it) == Some(1)
            }
            Role::Input | Role::Output | Role::Param | Role::State | Role::Constant => {
                add(bytes).ok_or_else(|| too_large(place()))?;
                true
            }
        };
        if !fits {
            return Err(Invalid::new(place(), "it does not fit its role"));
        }
        let named = !matches!(it.role, Role::Scratch { .. });
        if named && !names.insert((discriminant(&it.role), &it.name)) {
            return Err(Invalid::new(place(), "another of its role has the same name"));
        }
        if let Some(check) = &it.check
            && !checkable(check, it)
        {
            return Err(Invalid::new(place(), format!("{check:?} cannot be asked of its values")));
        }
    }
    Ok(())
}

fn checkable(check: &Check, it: &Resource) -> bool {
    match check {
        Check::Range { .. } | Check::Binary => it.dtype != DType::Bool,
        Check::Index { .. } => it.dtype.is_int(),
        Check::Additive => it.dtype.is_float(),
        Check::Prob { over } => it.dtype.is_float() && (*over as usize) < it.shape.len(),
    }
}

/// How many elements, unless that is more than any memory holds.
fn count(it: &Resource) -> Option<u64> {
    let count = it.shape.iter().try_fold(1u64, |n, &size| n.checked_mul(size))?;
    (count <= MAX_POINTS).then_some(count)
}

fn bytes(it: &Resource) -> Option<u64> {
    count(it).map(|count| crate::program::buffer_bytes(it.dtype, count))
}

/// A buffer: resources of one slot share it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Buffer {
    Slot(u32),
    Own(u32),
}

/// The steps in the order of execution.
struct Walk<'a> {
    program: &'a Program,
    /// How many points each kernel visits.
    points: Vec<u64>,
    /// Which resource each slot holds.
    slots: Vec<Option<u32>>,
    /// Whether each resource has been written.
    written: Vec<bool>,
    /// Points visited so far.
    work: u64,
    /// Steps taken so far.
    steps: u64,
}

impl Walk<'_> {
    fn steps(&mut self, steps: &[Step], times: u64, depth: usize) -> Checked {
        for (number, step) in steps.iter().enumerate() {
            self.step(step, times, depth).map_err(|error| error.within(&format!("step {number}")))?;
        }
        Ok(())
    }

    fn step(&mut self, step: &Step, times: u64, depth: usize) -> Checked {
        let too_many = || Invalid::new("", "the program takes more steps than any machine can");
        self.steps = self.steps.checked_add(times).filter(|&n| n <= MAX_STEPS).ok_or_else(too_many)?;
        match step {
            Step::Launch(launch) => {
                self.launch(launch)?;
                let work = self.points[launch.kernel as usize].checked_mul(times);
                let work =
                    work.and_then(|work| work.checked_add(self.work)).filter(|&work| work <= MAX_POINTS);
                self.work = work.ok_or_else(too_many)?;
                Ok(())
            }
            Step::Copy { from, to } => self.copy(*from, *to),
            Step::Loop { .. } if depth >= MAX_NESTING => {
                Err(Invalid::new("", format!("loops nest deeper than {MAX_NESTING}")))
            }
            Step::Loop { count: 0, .. } => Err(Invalid::new("", "a loop of steps runs 0 times")),
            Step::Loop { count, body } => {
                let inner = times.checked_mul(*count).ok_or_else(too_many)?;
                // A pass is itself a step, so that loops around nothing end, too.
                self.steps =
                    self.steps.checked_add(inner).filter(|&n| n <= MAX_STEPS).ok_or_else(too_many)?;
                // What one pass leaves, the next one finds: the second differs from the first, later ones do not.
                for _ in 0..(*count).min(2) {
                    self.steps(body, inner.div_ceil((*count).min(2)), depth + 1)?;
                }
                Ok(())
            }
        }
    }

    fn launch(&mut self, launch: &Launch) -> Checked {
        let program = self.program;
        index(launch.kernel, program.kernels.len(), "kernel")?;
        let kernel = &program.kernels[launch.kernel as usize];
        let wrong = |what: String| Err(Invalid::new(format!("launch of `{}`", kernel.name), what));
        if launch.args.len() != kernel.args.len() || launch.sites.len() != kernel.traps as usize {
            return wrong("it does not give as many buffers or sites as the kernel takes".to_owned());
        }
        for &site in &launch.sites {
            index(site, program.sites.len(), "site")?;
        }
        for &origin in &launch.origins {
            index(origin, program.origins.len(), "origin")?;
        }
        let mut bound: Vec<(Buffer, Mode)> = Vec::new();
        for (number, (binding, arg)) in launch.args.iter().zip(&kernel.args).enumerate() {
            let buffer = self.buffer(binding.resource)?;
            let it = &program.resources[binding.resource as usize];
            if it.dtype != arg.dtype || count(it).is_none_or(|count| count < arg.len) {
                return wrong(format!("argument {number} does not fit `{}`", it.name));
            }
            let shared = |&(other, mode): &(Buffer, Mode)| {
                other == buffer && (mode, arg.mode) != (Mode::Read, Mode::Read)
            };
            if bound.iter().any(shared) {
                return wrong(format!("`{}` is written and bound to another argument as well", it.name));
            }
            bound.push((buffer, arg.mode));
        }
        for (binding, arg) in launch.args.iter().zip(&kernel.args) {
            match arg.mode {
                Mode::Read => self.read(binding.resource, arg.len)?,
                Mode::Write => self.write(binding.resource)?,
            }
        }
        Ok(())
    }

    fn copy(&mut self, from: u32, to: u32) -> Checked {
        let (source, target) = (self.buffer(from)?, self.buffer(to)?);
        let (a, b) = (&self.program.resources[from as usize], &self.program.resources[to as usize]);
        if source == target || a.dtype != b.dtype || count(a) != count(b) {
            return Err(Invalid::new("", format!("`{}` cannot be copied to `{}`", a.name, b.name)));
        }
        self.read(from, count(a).unwrap_or(0))?;
        self.write(to)
    }

    fn buffer(&self, resource: u32) -> Checked<Buffer> {
        index(resource, self.program.resources.len(), "resource")?;
        Ok(match self.program.resources[resource as usize].role {
            Role::Scratch { slot } => Buffer::Slot(slot),
            _ => Buffer::Own(resource),
        })
    }

    /// An intermediate or output can be read once it was written, as long as its slot has not been reused.
    fn read(&self, resource: u32, elements: u64) -> Checked {
        let it = &self.program.resources[resource as usize];
        let there = match it.role {
            Role::Input | Role::Param | Role::State | Role::Constant | Role::Context => true,
            Role::Output => self.written[resource as usize],
            Role::Scratch { slot } => self.slots[slot as usize] == Some(resource),
        };
        if there || elements == 0 {
            return Ok(());
        }
        Err(Invalid::new("", format!("`{}` is read before it is written", it.name)))
    }

    fn write(&mut self, resource: u32) -> Checked {
        let it = &self.program.resources[resource as usize];
        match it.role {
            Role::Output | Role::State => {}
            Role::Scratch { slot } => self.slots[slot as usize] = Some(resource),
            Role::Input | Role::Param | Role::Constant | Role::Context => {
                return Err(Invalid::new("", format!("`{}` cannot be written", it.name)));
            }
        }
        self.written[resource as usize] = true;
        Ok(())
    }

    fn outputs(&self) -> Checked {
        for (it, written) in self.program.resources.iter().zip(&self.written) {
            if it.role == Role::Output && !written && count(it) != Some(0) {
                return Err(Invalid::new(format!("resource `{}`", it.name), "this output is never written"));
            }
        }
        Ok(())
    }
}
