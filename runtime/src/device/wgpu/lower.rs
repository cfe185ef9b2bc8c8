//! From the WGSL of an artifact to the SPIR-V that a driver takes, with what naga alone does not promise: an interface
//! that is the one its metadata states, and float operations that stay as they are written.
//!
//! The text may come from anyone. naga validates it; arrays in registers and workgroup memory are indexed within
//! their bounds, integers are never divided by 0; and a Vulkan device, as wgpu opens it, keeps every access to a bound
//! buffer within that buffer. So a kernel reaches nothing but what is bound to it, whatever it says.

use std::borrow::Cow;
use sx_artifact::code::Dispatch;
use sx_artifact::code::wgpu::{ENTRY_POINT, OPAQUE, TRANSPARENT, TRAP_BYTES};
use wgpu::naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use wgpu::naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use wgpu::naga::{
    AddressSpace, Function, GlobalVariable, Handle, Module, ShaderStage, StorageAccess, Type, front,
};

/// Whether this build can make SPIR-V.
pub(super) const CAN: bool = cfg!(not(target_vendor = "apple"));

/// Bytes of an invocation's own memory: beyond what any kernel of ours takes, and within every thread's stack.
const PRIVATE_BYTES: u64 = 1 << 18;

/// What code must keep to: the dispatches that run it, and the workgroup memory that their variant states.
pub(super) struct Interface<'a> {
    /// Dispatches with this code, all of one form.
    pub(super) dispatches: Vec<&'a Dispatch>,
    /// Bytes of workgroup memory.
    pub(super) workgroup_bytes: u32,
}

/// Code that is valid and keeps to its interface.
pub(super) struct Checked {
    module: Module,
    info: ModuleInfo,
    exact: bool,
}

impl Interface<'_> {
    /// Bytes of storage binding `number`, from 1, and whether it is written.
    fn binding(&self, number: u32) -> Option<(u64, bool)> {
        let first = self.dispatches.first()?;
        let at = (number as usize).checked_sub(1)?;
        match first.bindings.get(at) {
            Some(window) => {
                let bytes = self.dispatches.iter().map(|dispatch| dispatch.bindings[at].bytes).min();
                Some((bytes?, window.write))
            }
            None if first.traps && at == first.bindings.len() => Some((TRAP_BYTES, true)),
            None => None,
        }
    }
}

/// Parses and validates WGSL, and compares it with its interface. An error says what is wrong.
pub(super) fn check(text: &str, interface: &Interface<'_>) -> Result<Checked, String> {
    let first = interface.dispatches.first().ok_or("nothing runs it")?;
    let text = match text.strip_prefix(OPAQUE) {
        Some(rest) if first.exact => Cow::Owned(format!("{TRANSPARENT}{rest}")),
        _ => Cow::Borrowed(text),
    };
    let module = front::wgsl::parse_str(&text).map_err(|error| error.emit_to_string(&text))?;
    let info = Validator::new(ValidationFlags::all(), Capabilities::empty())
        .validate(&module)
        .map_err(|error| error.emit_to_string(&text))?;
    entry_point(&module, first.workgroup)?;
    globals(&module, interface)?;
    private(&module)?;
    Ok(Checked { module, info, exact: first.exact })
}

fn entry_point(module: &Module, workgroup: [u32; 3]) -> Result<(), String> {
    match &module.entry_points[..] {
        [entry]
            if entry.name == ENTRY_POINT
                && entry.stage == ShaderStage::Compute
                && entry.workgroup_size == workgroup
                && entry.workgroup_size_overrides.is_none() =>
        {
            Ok(())
        }
        _ => Err(format!("its entry point is not `{ENTRY_POINT}` with workgroups of {workgroup:?}")),
    }
}

fn size(module: &Module, ty: Handle<Type>) -> u64 {
    u64::from(module.types[ty].inner.size(module.to_ctx()))
}

fn globals(module: &Module, interface: &Interface<'_>) -> Result<(), String> {
    let mut workgroup = 0u64;
    for (_, global) in module.global_variables.iter() {
        let name = global.name.as_deref().unwrap_or("a variable");
        let bytes = size(module, global.ty);
        match global.space {
            AddressSpace::Uniform | AddressSpace::Storage { .. } => bound(global, bytes, interface)
                .map_err(|()| format!("`{name}` is not bound as its metadata says"))?,
            AddressSpace::WorkGroup => workgroup = workgroup.saturating_add(bytes),
            AddressSpace::Private => {}
            _ => return Err(format!("`{name}` is of a kind that no kernel has")),
        }
    }
    if workgroup > u64::from(interface.workgroup_bytes) {
        return Err(format!("it has {workgroup} bytes of workgroup memory, more than its metadata says"));
    }
    Ok(())
}

/// Whether a buffer is one that is bound: the record, or a window that is large enough and written where need be.
fn bound(global: &GlobalVariable, bytes: u64, interface: &Interface<'_>) -> Result<(), ()> {
    /// Bytes of the record that is bound.
    const RECORD: u64 = 16;
    let binding = global.binding.filter(|binding| binding.group == 0).ok_or(())?;
    let (room, may_write, storage) = match binding.binding {
        0 => (RECORD, false, false),
        number => {
            let (room, may_write) = interface.binding(number).ok_or(())?;
            (room, may_write, true)
        }
    };
    let (is_storage, writes) = match global.space {
        AddressSpace::Storage { access } => {
            (true, access.intersects(StorageAccess::STORE | StorageAccess::ATOMIC))
        }
        _ => (false, false),
    };
    if bytes <= room && storage == is_storage && (may_write || !writes) { Ok(()) } else { Err(()) }
}

/// Refuses code whose invocations need more memory of their own than a thread has.
fn private(module: &Module) -> Result<(), String> {
    let globals = module.global_variables.iter().filter(|(_, global)| global.space == AddressSpace::Private);
    let globals = globals.map(|(_, global)| size(module, global.ty));
    let entries = module.entry_points.iter().map(|entry| &entry.function);
    let functions = module.functions.iter().map(|(_, function)| function).chain(entries);
    let locals = |function: &Function| -> u64 {
        function.local_variables.iter().map(|(_, local)| size(module, local.ty)).fold(0, u64::saturating_add)
    };
    let all = globals.chain(functions.map(locals)).fold(0, u64::saturating_add);
    match all <= PRIVATE_BYTES {
        true => Ok(()),
        false => Err(format!("its invocations have {all} bytes of their own, more than a thread has")),
    }
}

#[cfg(not(target_vendor = "apple"))]
impl Checked {
    /// The code as SPIR-V, which stays within its own arrays.
    pub(super) fn spirv(&self) -> Result<Vec<u32>, String> {
        use wgpu::naga::back::spv;
        let options = spv::Options {
            lang_version: (1, 3),
            flags: spv::WriterFlags::empty(),
            bounds_check_policies: BoundsCheckPolicies {
                index: BoundsCheckPolicy::Restrict,
                // The device does it: see the head of this file.
                buffer: BoundsCheckPolicy::Unchecked,
                image_load: BoundsCheckPolicy::Restrict,
                binding_array: BoundsCheckPolicy::Restrict,
            },
            // Every kernel of ours writes workgroup memory before it reads it.
            zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode::None,
            force_loop_bounding: false,
            ..spv::Options::default()
        };
        let pipeline =
            spv::PipelineOptions { shader_stage: ShaderStage::Compute, entry_point: ENTRY_POINT.to_owned() };
        let words = spv::write_vec(&self.module, &self.info, &options, Some(&pipeline));
        words.map(|words| float_semantics(words, self.exact)).map_err(|error| error.to_string())
    }
}

/// What naga leaves out of SPIR-V: `NoContraction` on float arithmetic (else drivers rearrange it), and a `!=`
/// that is true of NaN.
#[cfg(not(target_vendor = "apple"))]
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
