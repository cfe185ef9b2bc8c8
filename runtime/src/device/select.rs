//! Which device a name means, and which devices there are.

use super::fit::{self, Limits};
use super::{Device, cpu, wgpu};
use crate::error::{Error, in_words};
use std::fmt;
use sx_artifact::code::Target;

/// An open device and the target whose code it runs.
pub struct Selected {
    /// The target.
    pub target: Target,
    /// The device.
    pub device: Box<dyn Device>,
    /// What is known of it.
    pub found: Found,
}

/// A device of this machine.
#[derive(Clone, Debug)]
pub struct Found {
    /// What `--device` calls it: `cpu`, `wgpu:0`, ….
    pub id: String,
    /// Its name, of which `--device` also takes a part.
    pub name: String,
    /// The target whose code it runs.
    pub target: Target,
    /// How it is reached: `host`, `vulkan`, `metal`, `dx12`.
    pub backend: String,
    /// The driver and its version.
    pub driver: String,
    /// Whether its code runs on the processor.
    pub is_cpu: bool,
    /// What it allows at most, where there are such limits.
    pub limits: Option<Limits>,
    /// Bytes of all its memory, where that is known.
    pub memory_bytes: Option<u64>,
    /// What it can do beyond the least that every device can, as far as it matters here.
    pub features: Vec<&'static str>,
}

/// The devices of this machine, and why there are no GPUs where there are none.
#[derive(Clone, Debug)]
pub struct Devices {
    /// The devices, the CPU first.
    pub found: Vec<Found>,
    /// Why there is no `wgpu` device, and what can be done.
    pub no_gpu: Option<String>,
}

/// Finds the devices of this machine.
pub fn devices() -> Devices {
    let adapters = wgpu::adapters();
    let others = adapters.found.into_iter().enumerate().map(|(number, adapter)| Found {
        id: format!("wgpu:{number}"),
        name: adapter.name,
        target: Target::Wgpu,
        backend: adapter.backend,
        driver: adapter.driver,
        is_cpu: adapter.is_cpu,
        limits: Some(adapter.limits),
        memory_bytes: adapter.memory_bytes,
        features: adapter.features,
    });
    Devices { found: std::iter::once(host()).chain(others).collect(), no_gpu: adapters.reason }
}

/// Opens the device that `name` means: `auto`, `cpu`, `wgpu`, `wgpu:N` or part of an adapter's name.
/// `targets` are those the artifact has code for.
///
/// `auto` is the first real GPU, else the CPU, else a Vulkan driver that runs on the CPU; it never means a
/// device that the artifact has no code for. A device that is there but has no code in the artifact is
/// [`Error::Target`]; one that is not there is [`Error::Device`].
pub fn select(name: &str, targets: &[Target]) -> Result<Selected, Error> {
    let has = |target: Target| targets.contains(&target);
    // Looking for GPUs takes tens of milliseconds: it is left out where it cannot matter.
    if name == "cpu" || (name == "auto" && targets == [Target::Cpu]) {
        return open(&host(), targets);
    }
    let devices = devices();
    let mut found = devices.found.iter();
    let chosen = match name {
        "auto" => {
            let usable = || devices.found.iter().filter(|it| has(it.target));
            usable()
                .find(|it| !it.is_cpu)
                .or_else(|| usable().find(|it| it.target == Target::Cpu))
                .or_else(|| usable().next())
        }
        "wgpu" => found.find(|it| it.target == Target::Wgpu),
        _ if name.starts_with("wgpu:") => found.find(|it| it.id == name),
        "" => None,
        _ => found.find(|it| it.name.to_lowercase().contains(&name.to_lowercase())),
    };
    match chosen {
        Some(chosen) => open(chosen, targets),
        None if name == "auto" => Err(Error::Device(none_fits(targets, &devices))),
        None => Err(Error::Device(absent(name, &devices))),
    }
}

/// The processor.
fn host() -> Found {
    Found {
        id: "cpu".to_owned(),
        name: "cpu".to_owned(),
        target: Target::Cpu,
        backend: "host".to_owned(),
        driver: format!("{} threads", rayon::current_num_threads()),
        is_cpu: true,
        limits: None,
        memory_bytes: fit::host_memory(),
        features: Vec::new(),
    }
}

fn open(found: &Found, targets: &[Target]) -> Result<Selected, Error> {
    if !targets.contains(&found.target) {
        return Err(Error::Target {
            device: found.name.clone(),
            target: found.target,
            has: targets.to_vec(),
        });
    }
    let device: Box<dyn Device> = match found.target {
        Target::Cpu => Box::new(cpu::Cpu),
        Target::Wgpu => Box::new(numbered(found, &wgpu::Options::default())?),
    };
    Ok(Selected { target: found.target, device, found: found.clone() })
}

/// Opens the adapter that was found under its number: two of one name are two devices.
pub fn numbered(found: &Found, options: &wgpu::Options) -> Result<wgpu::Wgpu, Error> {
    let number = found.id.strip_prefix("wgpu:").and_then(|number| number.parse().ok());
    let gone = || Error::Device(format!("`{}` is gone; `sxrun devices` lists what there is", found.id));
    let device = wgpu::Wgpu::numbered(number.ok_or_else(gone)?, options)?;
    if device.info().name == found.name { Ok(device) } else { Err(gone()) }
}

fn absent(name: &str, devices: &Devices) -> String {
    format!("there is no device `{name}` here; there is {}", here(devices))
}

/// The devices there are, and why there is no GPU among them.
fn here(devices: &Devices) -> String {
    let ids: Vec<String> = devices.found.iter().map(|it| it.to_string()).collect();
    let why = devices.no_gpu.as_ref().map_or(String::new(), |why| format!("; {why}"));
    ids.join(", ") + &why
}

/// No device here has a target of the artifact, which another machine may have.
fn none_fits(targets: &[Target], devices: &Devices) -> String {
    format!(
        "the artifact was built for {}, and no device here runs that; there is {}; build it with `--target cpu` to \
         run it on the processor",
        in_words(targets),
        here(devices)
    )
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.id == self.name {
            write!(f, "`{}`", self.id)
        } else {
            write!(f, "`{}` ({})", self.id, self.name)
        }
    }
}
