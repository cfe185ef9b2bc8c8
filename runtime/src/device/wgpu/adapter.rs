//! Finding adapters, opening one, and turning wgpu's errors into ours.

use super::lower;
use crate::device::Limits;
use crate::error::Error;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// What is known of an adapter before it is opened.
#[derive(Clone, Debug)]
pub struct AdapterInfo {
    /// The name its driver gives, such as `llvmpipe (LLVM 15.0.6, 256 bits)`.
    pub name: String,
    /// `vulkan`, `metal` or `dx12`.
    pub backend: String,
    /// The driver and its version.
    pub driver: String,
    /// True if its shaders run on a CPU.
    pub is_cpu: bool,
    /// What it allows at most.
    pub limits: Limits,
    /// Bytes of all its memory, where the driver tells.
    pub memory_bytes: Option<u64>,
    /// What it can do beyond the least that every device can, as far as it matters here.
    pub features: Vec<&'static str>,
}

/// The adapters of this machine, or why there are none.
#[derive(Clone, Debug, Default)]
pub struct Adapters {
    /// Those found, real GPUs first, then by how much they allow.
    pub found: Vec<AdapterInfo>,
    /// Why `found` is empty, and what can be done.
    pub reason: Option<String>,
}

/// How to choose an adapter and how to use it.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Part of the adapter's name, in any case; the first adapter where this is `None`.
    pub adapter: Option<String>,
    /// Let wgpu lower the WGSL even where the device takes SPIR-V. The environment variable
    /// `SX_WGPU_WGSL=1` asks for the same.
    pub wgsl: bool,
    /// Run the variants for adapters on a CPU, or those for others, whatever the adapter is: for tests.
    pub as_cpu: Option<bool>,
}

const NO_ADAPTER: &str = "no GPU driver was found: install a Vulkan driver (on Debian `apt-get install \
                          mesa-vulkan-drivers` also gives one that runs on the CPU), or use the device `cpu`";

fn instance() -> Result<wgpu::Instance, String> {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = wgpu::Backends::VULKAN | wgpu::Backends::METAL | wgpu::Backends::DX12;
    descriptor.flags = wgpu::InstanceFlags::empty();
    if wgpu::Instance::enabled_backend_features().is_empty() {
        return Err("this program has no GPU backend for this system: use the device `cpu`".to_owned());
    }
    Ok(wgpu::Instance::new(descriptor))
}

fn enumerate() -> Result<Vec<wgpu::Adapter>, String> {
    let mut adapters = pollster::block_on(instance()?.enumerate_adapters(wgpu::Backends::all()));
    adapters.sort_by_key(|adapter| {
        let kind = match adapter.get_info().device_type {
            wgpu::DeviceType::DiscreteGpu => 0,
            wgpu::DeviceType::IntegratedGpu => 1,
            wgpu::DeviceType::VirtualGpu => 2,
            wgpu::DeviceType::Other => 3,
            wgpu::DeviceType::Cpu => 4,
        };
        // Of two of a kind, the one with more room first: the order of drivers is chance.
        (kind, std::cmp::Reverse(adapter.limits().max_compute_invocations_per_workgroup))
    });
    if adapters.is_empty() { Err(NO_ADAPTER.to_owned()) } else { Ok(adapters) }
}

fn describe(adapter: &wgpu::Adapter) -> AdapterInfo {
    let (info, limits) = (adapter.get_info(), adapter.limits());
    let named = [
        (wgpu::Features::PASSTHROUGH_SHADERS, "takes kernels as they are"),
        (wgpu::Features::TIMESTAMP_QUERY, "has a clock"),
    ];
    let features = named.into_iter().filter(|(feature, _)| adapter.features().contains(*feature));
    let features = features.map(|(_, name)| name).collect();
    AdapterInfo {
        name: info.name,
        backend: format!("{:?}", info.backend).to_lowercase(),
        driver: [info.driver, info.driver_info].join(" ").trim().to_owned(),
        is_cpu: info.device_type == wgpu::DeviceType::Cpu,
        limits: Limits {
            buffer_bytes: limits.max_buffer_size,
            binding_bytes: limits.max_storage_buffer_binding_size,
            storage_buffers: limits.max_storage_buffers_per_shader_stage,
            workgroup_bytes: limits.max_compute_workgroup_storage_size,
            invocations: limits.max_compute_invocations_per_workgroup,
            groups: limits.max_compute_workgroups_per_dimension,
        },
        memory_bytes: memory(adapter),
        features,
    }
}

/// Bytes of the memory that lies at the device, by the driver's own account.
#[cfg(not(target_vendor = "apple"))]
fn memory(adapter: &wgpu::Adapter) -> Option<u64> {
    // SAFETY: the handles are read while `adapter` keeps them alive, and only a query is made of them.
    let properties = unsafe {
        let vulkan = adapter.as_hal::<wgpu::hal::api::Vulkan>()?;
        let instance = vulkan.shared_instance().raw_instance();
        instance.get_physical_device_memory_properties(vulkan.raw_physical_device())
    };
    /// `VK_MEMORY_HEAP_DEVICE_LOCAL_BIT`
    const LOCAL: u32 = 1;
    let heaps = properties.memory_heaps.iter().take(properties.memory_heap_count as usize);
    let local = heaps.filter(|heap| heap.flags.as_raw() & LOCAL != 0).map(|heap| heap.size);
    Some(local.fold(0u64, u64::saturating_add)).filter(|bytes| *bytes > 0)
}

#[cfg(target_vendor = "apple")]
fn memory(_: &wgpu::Adapter) -> Option<u64> {
    None
}

/// The adapters of this machine.
pub fn adapters() -> Adapters {
    match enumerate() {
        Ok(found) => Adapters { found: found.iter().map(describe).collect(), reason: None },
        Err(reason) => Adapters { found: vec![], reason: Some(reason) },
    }
}

/// Buffers by the digest of the artifact and the name of what they hold.
pub(super) type Shared = HashMap<([u8; 32], String), Weak<wgpu::Buffer>>;

/// An open device and what programs share on it.
pub(super) struct Gpu {
    pub(super) info: AdapterInfo,
    /// Which variants it runs.
    pub(super) as_cpu: bool,
    /// Whether tensors are read and written where the device has them, which is host memory: so on a CPU.
    pub(super) maps: bool,
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    pub(super) limits: wgpu::Limits,
    pub(super) timestamps: bool,
    /// Whether kernels are lowered here and go to the driver as they are; else wgpu lowers them.
    pub(super) passthrough: bool,
    /// Parameters and constants by artifact and name, for as long as a program uses them.
    pub(super) shared: Mutex<Shared>,
    /// What went wrong outside of a scope: the first message.
    fault: Arc<Mutex<Option<String>>>,
}

impl Gpu {
    /// Opens the adapter of this number, or the one that `options` choose, with all its limits and the features
    /// that help.
    pub(super) fn open(number: Option<usize>, options: &Options) -> Result<Gpu, Error> {
        let adapters = enumerate().map_err(Error::Device)?;
        let adapter = match number {
            None => choose(&adapters, options)?,
            Some(number) => adapters.get(number).ok_or_else(|| {
                Error::Device(format!("`wgpu:{number}` is gone; `sxrun devices` lists what there is"))
            })?,
        };
        let info = describe(adapter);
        let as_cpu = options.as_cpu.unwrap_or(info.is_cpu);
        let mut wanted = wgpu::Features::PASSTHROUGH_SHADERS | wgpu::Features::TIMESTAMP_QUERY;
        wanted.set(wgpu::Features::MAPPABLE_PRIMARY_BUFFERS, as_cpu);
        let features = adapter.features() & wanted;
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("sx"),
            required_features: features,
            required_limits: adapter.limits(),
            memory_hints: wgpu::MemoryHints::MemoryUsage,
            ..Default::default()
        };
        let (device, queue) = pollster::block_on(adapter.request_device(&descriptor)).map_err(|e| {
            Error::Device(format!(
                "`{}` could not be opened: {e}; use another device (`sxrun devices`)",
                info.name
            ))
        })?;
        let fault: Arc<Mutex<Option<String>>> = Arc::default();
        let (uncaptured, lost) = (fault.clone(), fault.clone());
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| keep(&uncaptured, error.to_string())));
        device.set_device_lost_callback(move |reason, message| {
            if reason != wgpu::DeviceLostReason::Destroyed {
                keep(&lost, format!("the device was lost ({message}); run again, or use the device `cpu`"));
            }
        });
        let wgsl = options.wgsl || std::env::var_os("SX_WGPU_WGSL").is_some_and(|value| value == "1");
        // Every Vulkan device keeps accesses of kernels within the buffers that are bound, as wgpu asks of it.
        let passthrough = adapter.get_info().backend == wgpu::Backend::Vulkan
            && lower::CAN
            && !wgsl
            && features.contains(wgpu::Features::PASSTHROUGH_SHADERS);
        Ok(Gpu {
            as_cpu,
            maps: features.contains(wgpu::Features::MAPPABLE_PRIMARY_BUFFERS),
            info,
            limits: device.limits(),
            timestamps: features.contains(wgpu::Features::TIMESTAMP_QUERY),
            device,
            queue,
            passthrough,
            shared: Mutex::default(),
            fault,
        })
    }

    /// Runs `act` so that whatever wgpu refuses in it comes back as an error that says `what` failed.
    pub(super) fn checked<T>(&self, what: &str, act: impl FnOnce() -> T) -> Result<T, Error> {
        let memory = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let internal = self.device.push_error_scope(wgpu::ErrorFilter::Internal);
        let validation = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let result = act();
        let errors = [
            pollster::block_on(validation.pop()),
            pollster::block_on(internal.pop()),
            pollster::block_on(memory.pop()),
        ];
        match errors.into_iter().flatten().next() {
            None => self.healthy().map(|()| result),
            Some(wgpu::Error::OutOfMemory { .. }) => Err(Error::Device(format!(
                "`{}` has not enough memory: {what} failed; use a smaller batch, or the device `cpu`",
                self.info.name
            ))),
            Some(error) => Err(Error::Device(format!(
                "`{}` refused: {what} failed: {error}; use the device `cpu`",
                self.info.name
            ))),
        }
    }

    /// An error if something went wrong since the last look.
    pub(super) fn healthy(&self) -> Result<(), Error> {
        let mut fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        match fault.take() {
            None => Ok(()),
            Some(message) => Err(Error::Device(format!("`{}`: {message}", self.info.name))),
        }
    }

    /// Waits until the device has done what it was given.
    pub(super) fn wait(&self) -> Result<(), Error> {
        match self.device.poll(wgpu::PollType::wait_indefinitely()) {
            Ok(_) => self.healthy(),
            Err(error) => {
                self.healthy()?;
                Err(Error::Device(format!(
                    "`{}` does not answer: {error}; run again, or use the device `cpu`",
                    self.info.name
                )))
            }
        }
    }
}

fn keep(fault: &Mutex<Option<String>>, message: String) {
    fault.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(message);
}

fn choose<'a>(adapters: &'a [wgpu::Adapter], options: &Options) -> Result<&'a wgpu::Adapter, Error> {
    let Some(wanted) = &options.adapter else { return Ok(&adapters[0]) };
    let lower = wanted.to_lowercase();
    let fits = |adapter: &&wgpu::Adapter| adapter.get_info().name.to_lowercase().contains(&lower);
    adapters.iter().find(fits).ok_or_else(|| {
        let names: Vec<String> =
            adapters.iter().map(|adapter| format!("`{}`", adapter.get_info().name)).collect();
        Error::Device(format!("no adapter is called `{wanted}`; there is {}", names.join(", ")))
    })
}
