//! The devices that are here.

use sx_runtime::device::wgpu::{Options, Wgpu, adapters};

/// Every Vulkan adapter as it is used where nothing is asked for.
pub fn wgpu() -> Vec<Wgpu> {
    wgpu_as(false, None)
}

/// Every Vulkan adapter, given WGSL or SPIR-V, and taken for a CPU, a GPU or what it is. None is a skip that says
/// why, unless `SX_REQUIRE` contains `wgpu`.
#[allow(clippy::print_stdout, reason = "a skip is told to whoever runs the tests")]
pub fn wgpu_as(wgsl: bool, as_cpu: Option<bool>) -> Vec<Wgpu> {
    let found = adapters();
    if let Some(reason) = &found.reason {
        let required = std::env::var("SX_REQUIRE").is_ok_and(|list| list.contains("wgpu"));
        assert!(!required, "SX_REQUIRE asks for wgpu: {reason}");
        println!("skipped: {reason}");
    }
    let open = |name: &String| Wgpu::new(&Options { adapter: Some(name.clone()), wgsl, as_cpu });
    let names = found.found.iter().map(|info| info.name.clone());
    names.map(|name| open(&name).unwrap_or_else(|error| panic!("{name}: {error}"))).collect()
}
