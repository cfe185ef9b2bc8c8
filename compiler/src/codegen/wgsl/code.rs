//! What the kinds of kernels share: the text of one dispatch, and counting through coordinates.

use super::header::Header;
use super::library;
use super::split_bindings::Part;
use super::text::Text;
use sx_artifact::code::Window;
use sx_artifact::code::wgpu::{ENTRY_POINT, OPAQUE};

/// One dispatch.
pub(super) struct Dispatched {
    /// Header and entry point, without the library's functions.
    pub(super) text: String,
    pub(super) groups: u32,
    pub(super) workgroup: u32,
    pub(super) workgroup_bytes: u32,
    pub(super) bindings: Vec<Window>,
    pub(super) traps: bool,
    /// Whether float operations must stay as they are written.
    pub(super) exact: bool,
}

impl Dispatched {
    /// A dispatch of a kernel whose code follows the header.
    pub(super) fn new(
        header: &Header<'_>,
        part: &Part,
        body: Text,
        workgroup: u32,
        groups: u64,
    ) -> Dispatched {
        Dispatched {
            text: format!("{}\n{}", header.text(), body.finish()),
            // The code strides over what is more.
            groups: groups.clamp(1, part.limits.groups.into()) as u32,
            workgroup,
            workgroup_bytes: 0,
            bindings: header.bindings(&part.buffers),
            traps: header.traps(),
            exact: part.is_exact(),
        }
    }

    /// The storage buffers it takes.
    pub(super) fn storage_buffers(&self) -> u32 {
        self.bindings.len() as u32 + u32::from(self.traps)
    }

    /// The whole WGSL text.
    pub(super) fn wgsl(&self) -> String {
        format!("{OPAQUE}{}\n{}", library::reached(&self.text), self.text)
    }
}

/// Opens the entry point of a kernel whose invocations are told apart by `id.x` alone.
pub(super) fn open_flat(t: &mut Text, workgroup: u32) {
    t.line(format!("@compute @workgroup_size({workgroup})"));
    t.line(format!(
        "fn {ENTRY_POINT}(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {{"
    ));
}

/// Opens the entry point of a kernel whose workgroups work together.
pub(super) fn open_grouped(t: &mut Text, workgroup: u32) {
    t.line(format!("@compute @workgroup_size({workgroup})"));
    t.line(format!(
        "fn {ENTRY_POINT}(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32, @builtin(num_workgroups) groups: vec3<u32>) {{"
    ));
}

/// Opens a loop that counts `name` from 0 to `count`. Its end is hidden behind the record's zero: drivers that
/// unroll it would take seconds to compile what comes of it.
pub(super) fn open_count(t: &mut Text, name: &str, count: u64) {
    t.line(format!("for (var {name} = 0u; {name} < ({count}u ^ sx.zero); {name}++) {{"));
}

/// Names of coordinates: `prefix` and a number.
pub(super) fn names(prefix: &str, count: usize) -> Vec<String> {
    (0..count).map(|i| format!("{prefix}{i}")).collect()
}

/// Writes the coordinates of the flat index `flat`, row-major.
pub(super) fn coordinates(t: &mut Text, flat: &str, names: &[String], sizes: &[u64]) {
    let mut rest = flat.to_owned();
    for i in (0..sizes.len()).rev() {
        let (name, size) = (&names[i], sizes[i]);
        let first = sizes[..i].iter().all(|&size| size <= 1);
        if size <= 1 {
            t.line(format!("let {name} = 0u;"));
        } else if first {
            t.line(format!("let {name} = {rest};"));
        } else {
            t.line(format!("let {name} = {rest} % {size}u;"));
            t.line(format!("let {name}_rest = {rest} / {size}u;"));
            rest = format!("{name}_rest");
        }
    }
}
