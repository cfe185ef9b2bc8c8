//! From WGSL to other languages, for reading: checked by naga, written as SPIR-V and as Metal's language.

use naga::back::{msl, spv};
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use naga::{Module, ResourceBinding};
use sx_artifact::code::wgpu::ENTRY_POINT;

/// A module that naga accepts.
pub struct Checked {
    module: Module,
    info: ModuleInfo,
}

/// Parses and validates a kernel, without any optional capability.
pub fn check(wgsl: &str) -> Result<Checked, String> {
    let module = naga::front::wgsl::parse_str(wgsl).map_err(|e| e.emit_to_string(wgsl))?;
    let info = Validator::new(ValidationFlags::all(), Capabilities::empty())
        .validate(&module)
        .map_err(|e| e.emit_to_string(wgsl))?;
    Ok(Checked { module, info })
}

impl Checked {
    /// SPIR-V, in little-endian words.
    pub fn spirv(&self) -> Result<Vec<u8>, String> {
        let options = spv::Options { lang_version: (1, 3), ..spv::Options::default() };
        let pipeline = spv::PipelineOptions {
            shader_stage: naga::ShaderStage::Compute,
            entry_point: ENTRY_POINT.to_owned(),
        };
        let words =
            spv::write_vec(&self.module, &self.info, &options, Some(&pipeline)).map_err(|e| e.to_string())?;
        Ok(words.iter().flat_map(|word| word.to_le_bytes()).collect())
    }

    /// The Metal Shading Language, with binding `i` in buffer slot `i`.
    pub fn msl(&self) -> Result<String, String> {
        let bindings = self.module.global_variables.iter().filter_map(|(_, global)| global.binding);
        let slot = |binding: ResourceBinding| {
            let buffer = u8::try_from(binding.binding).ok();
            (binding, msl::BindTarget { buffer, mutable: true, ..msl::BindTarget::default() })
        };
        let resources =
            msl::EntryPointResources { resources: bindings.map(slot).collect(), ..Default::default() };
        let options = msl::Options {
            lang_version: (2, 3),
            per_entry_point_map: [(ENTRY_POINT.to_owned(), resources)].into_iter().collect(),
            fake_missing_bindings: false,
            ..msl::Options::default()
        };
        let (text, _) =
            msl::write_string(&self.module, &self.info, &options, &msl::PipelineOptions::default())
                .map_err(|e| e.to_string())?;
        Ok(text)
    }
}
