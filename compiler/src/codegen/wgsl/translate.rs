//! From WGSL to what drivers take: checked by naga, written as SPIR-V and as Metal's language.

use naga::back::{msl, spv};
use naga::proc::BoundsCheckPolicies;
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use naga::{Module, ResourceBinding};
use sx_artifact::code::ENTRY_POINT;

/// A module that naga accepts.
pub(super) struct Checked {
    module: Module,
    info: ModuleInfo,
}

/// Parses and validates a kernel, without any optional capability.
pub(super) fn check(wgsl: &str) -> Result<Checked, String> {
    let module = naga::front::wgsl::parse_str(wgsl).map_err(|e| e.emit_to_string(wgsl))?;
    let info = Validator::new(ValidationFlags::all(), Capabilities::empty())
        .validate(&module)
        .map_err(|e| e.emit_to_string(wgsl))?;
    Ok(Checked { module, info })
}

impl Checked {
    /// SPIR-V without run-time checks: no kernel reaches outside its arguments. With `exact` no float
    /// operation may be contracted or rearranged.
    pub(super) fn spirv(&self, exact: bool) -> Result<Vec<u8>, String> {
        let unchecked = naga::proc::BoundsCheckPolicy::Unchecked;
        let options = spv::Options {
            lang_version: (1, 3),
            flags: spv::WriterFlags::empty(),
            bounds_check_policies: BoundsCheckPolicies {
                index: unchecked,
                buffer: unchecked,
                image_load: unchecked,
                binding_array: unchecked,
            },
            zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode::None,
            force_loop_bounding: false,
            emit_int_div_checks: false,
            ..spv::Options::default()
        };
        let pipeline = spv::PipelineOptions {
            shader_stage: naga::ShaderStage::Compute,
            entry_point: ENTRY_POINT.to_owned(),
        };
        let words =
            spv::write_vec(&self.module, &self.info, &options, Some(&pipeline)).map_err(|e| e.to_string())?;
        let words = float_semantics(words, exact);
        Ok(words.iter().flat_map(|word| word.to_le_bytes()).collect())
    }

    /// The Metal Shading Language, with binding `i` in buffer slot `i`.
    pub(super) fn msl(&self, bindings: u32) -> Result<String, String> {
        let slot = |binding: u32| {
            let target =
                msl::BindTarget { buffer: Some(binding as u8), mutable: true, ..msl::BindTarget::default() };
            (ResourceBinding { group: 0, binding }, target)
        };
        let resources =
            msl::EntryPointResources { resources: (0..bindings).map(slot).collect(), ..Default::default() };
        let options = msl::Options {
            lang_version: (2, 3),
            per_entry_point_map: [(ENTRY_POINT.to_owned(), resources)].into_iter().collect(),
            fake_missing_bindings: false,
            zero_initialize_workgroup_memory: false,
            force_loop_bounding: false,
            emit_int_div_checks: false,
            ..msl::Options::default()
        };
        let (text, _) =
            msl::write_string(&self.module, &self.info, &options, &msl::PipelineOptions::default())
                .map_err(|e| e.to_string())?;
        Ok(text)
    }
}

/// What naga leaves out of SPIR-V: `NoContraction` on float arithmetic (else drivers rearrange it), and a `!=`
/// that is true of NaN.
fn float_semantics(words: Vec<u32>, exact: bool) -> Vec<u32> {
    const EXT_INST: u32 = 12;
    const DECORATE: u32 = 71;
    const MEMBER_DECORATE: u32 = 72;
    const TYPES: std::ops::RangeInclusive<u32> = 19..=39;
    const ARITHMETIC: [u32; 8] = [115, 127, 129, 131, 133, 136, 142, EXT_INST];
    const ORDERED_NOT_EQUAL: u32 = 182;
    const UNORDERED_NOT_EQUAL: u32 = 183;
    const NO_CONTRACTION: u32 = 42;

    let mut starts = vec![];
    let mut at = 5;
    while at < words.len() {
        starts.push(at);
        at += (words[at] >> 16).max(1) as usize;
    }
    let opcode = |at: usize| words[at] & 0xffff;
    let mut decorations = vec![];
    if exact {
        for &at in starts.iter().filter(|&&at| ARITHMETIC.contains(&opcode(at))) {
            decorations.extend([3 << 16 | DECORATE, words[at + 2], NO_CONTRACTION]);
        }
    }
    let place = |at: &&usize| {
        let code = opcode(**at);
        code == DECORATE || code == MEMBER_DECORATE || TYPES.contains(&code)
    };
    let place = starts.iter().find(place).copied().unwrap_or(words.len());
    let mut out = words[..place].to_vec();
    out.extend(decorations);
    for &at in starts.iter().filter(|&&at| at >= place) {
        let end = at + (words[at] >> 16).max(1) as usize;
        let code = if opcode(at) == ORDERED_NOT_EQUAL { UNORDERED_NOT_EQUAL } else { opcode(at) };
        out.push(words[at] & 0xffff_0000 | code);
        out.extend(&words[at + 1..end]);
    }
    out
}
