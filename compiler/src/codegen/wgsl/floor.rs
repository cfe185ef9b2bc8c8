//! Floors: what every device of a kind has at least, which code for that kind stays within.

use sx_artifact::code::wgpu::Limits;

/// What every device of a kind has at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Floor {
    /// What the command line calls it.
    pub name: &'static str,
    /// Which devices it is about, in one line.
    pub summary: &'static str,
    /// What they have.
    pub limits: Limits,
}

/// WebGPU's default limits.
const WEBGPU: Limits = Limits {
    storage_buffers: 8,
    binding_bytes: 128 << 20,
    buffer_bytes: 256 << 20,
    workgroup_bytes: 16 << 10,
    invocations: 256,
    groups: 65_535,
};

/// The floors there are; code is made for the first where nothing else is asked for.
pub const FLOORS: [Floor; 3] = [
    Floor {
        name: "webgpu",
        summary: "what WebGPU promises by default, in every browser that has it",
        limits: WEBGPU,
    },
    Floor {
        name: "webgpu-compat",
        summary: "what WebGPU promises in its compatibility mode, for older devices",
        limits: Limits { invocations: 128, ..WEBGPU },
    },
    Floor {
        name: "vulkan",
        summary: "what Vulkan 1.1 demands of every device",
        limits: Limits { storage_buffers: 4, buffer_bytes: 1 << 30, invocations: 128, ..WEBGPU },
    },
];
