//! Which device a name means, and which devices there are.

#[cfg(feature = "cpu")]
use super::cpu;
#[cfg(feature = "wgpu")]
use super::wgpu;
use super::{Device, fit::Limits};
use crate::cost;
use crate::error::Error;
use crate::model::Model;
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

/// Finds the devices of this machine, of the kinds that this program was built with.
pub fn devices() -> Devices {
    let (adapters, no_gpu) = adapters();
    Devices { found: host().into_iter().chain(adapters).collect(), no_gpu }
}

/// The GPUs, or why there are none.
#[cfg(feature = "wgpu")]
fn adapters() -> (Vec<Found>, Option<String>) {
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
    (others.collect(), adapters.reason)
}

#[cfg(not(feature = "wgpu"))]
fn adapters() -> (Vec<Found>, Option<String>) {
    (Vec::new(), Some("this program was built without the feature `wgpu`".to_owned()))
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
    if let Some(host) = host()
        && (name == "cpu" || (name == "auto" && targets == [Target::Cpu]))
    {
        return open(&host, targets);
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
        None if name == "auto" => Err(Error::NoDevice { targets: targets.to_vec(), here: here(&devices) }),
        None => Err(Error::Device(absent(name, &devices))),
    }
}

/// Opens the device that `name` means for a graph of `model`, as [`select`] does. A graph that the processor is done
/// with before a GPU's driver is loaded has `auto` mean the processor.
pub fn select_for(name: &str, model: &Model, graph: &str) -> Result<Selected, Error> {
    let targets = model.targets();
    if name == "auto"
        && targets.contains(&Target::Cpu)
        && let Some(host) = host()
        && is_cheap(&cost::of(&model.artifact().program(graph)?))
    {
        return open(&host, targets);
    }
    select(name, targets)
}

/// Whether a processor computes a call in a millisecond or so, which is some twenty times less than it takes to find a
/// GPU, and about what it takes to hand work to one.
fn is_cheap(cost: &cost::Cost) -> bool {
    cost.flops <= 8 << 20 && cost.bytes <= 8 << 20 && cost.launches <= 64
}

/// The processor, where this program was built with it.
fn host() -> Option<Found> {
    cfg!(feature = "cpu").then(|| Found {
        id: "cpu".to_owned(),
        name: "cpu".to_owned(),
        target: Target::Cpu,
        backend: "host".to_owned(),
        driver: format!("{} threads", rayon::current_num_threads()),
        is_cpu: true,
        limits: None,
        memory_bytes: sx_files::memory::total(),
        features: Vec::new(),
    })
}

fn open(found: &Found, targets: &[Target]) -> Result<Selected, Error> {
    if !targets.contains(&found.target) {
        return Err(Error::Target {
            device: found.name.clone(),
            target: found.target,
            has: targets.to_vec(),
        });
    }
    Ok(Selected { target: found.target, device: device(found)?, found: found.clone() })
}

fn device(found: &Found) -> Result<Box<dyn Device>, Error> {
    match found.target {
        #[cfg(feature = "cpu")]
        Target::Cpu => Ok(Box::new(cpu::Cpu)),
        #[cfg(feature = "wgpu")]
        Target::Wgpu => Ok(Box::new(numbered(found, &wgpu::Options::default())?)),
        #[cfg(not(all(feature = "cpu", feature = "wgpu")))]
        target => Err(Error::Device(format!("this program was built without the feature `{target}`"))),
    }
}

/// Opens the adapter that was found under its number: two of one name are two devices.
#[cfg(feature = "wgpu")]
pub fn numbered(found: &Found, options: &wgpu::Options) -> Result<wgpu::Wgpu, Error> {
    let number = found.id.strip_prefix("wgpu:").and_then(|number| number.parse().ok());
    let gone =
        || Error::Device(format!("`{}` is gone; the devices have changed since they were listed", found.id));
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

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.id == self.name {
            write!(f, "`{}`", self.id)
        } else {
            write!(f, "`{}` ({})", self.id, self.name)
        }
    }
}
