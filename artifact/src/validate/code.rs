//! Whether a target's code fits its program: every buffer there, every window within its buffer, nothing written but
//! what the kernel writes, and needs that are those of the dispatches. The code itself is the device's to check.

use super::{Invalid, MAX_POINTS, Valid};
use crate::code::wgpu::{TRAP_BYTES, WINDOW_ALIGN};
use crate::code::{Buffer, Code, Dispatch, KernelCode, Needs, Variant, Window};
use crate::kernel::{Kernel, Mode};
use crate::program::{Program, buffer_bytes};
use std::collections::HashMap;

type Checked<T = ()> = Result<T, Invalid>;

fn wrong<T>(what: impl Into<String>) -> Checked<T> {
    Err(Invalid::new("", what))
}

impl Code {
    /// The code that `bytes` hold, if it fits `program`, which is valid itself.
    pub fn decode(bytes: &[u8], program: &Program) -> Checked<Valid<Code>> {
        let code: Code =
            serde_json::from_slice(bytes).map_err(|error| Invalid::new("", error.to_string()))?;
        code.validate(program)
    }

    /// The same code, known to fit `program`, which is valid itself.
    pub fn validate(self, program: &Program) -> Checked<Valid<Code>> {
        if self.kernels.len() != program.kernels.len() {
            return wrong(format!(
                "it is for {} kernels and the program has {}",
                self.kernels.len(),
                program.kernels.len()
            ));
        }
        let mut shapes = HashMap::new();
        for (kernel, code) in program.kernels.iter().zip(&self.kernels) {
            check_kernel(kernel, code, &mut shapes)
                .map_err(|error| error.within(&format!("kernel `{}`", kernel.name)))?;
        }
        let all = self.scratch().iter().try_fold(0u64, |sum, &bytes| sum.checked_add(bytes));
        if all.is_none_or(|all| all > MAX_POINTS) {
            return wrong("its buffers are larger than any memory");
        }
        Ok(Valid(self))
    }
}

/// What dispatches with the same code have in common: a pipeline is made once for all of them.
#[derive(PartialEq, Eq)]
struct Shape {
    workgroup: [u32; 3],
    writes: Vec<bool>,
    traps: bool,
    exact: bool,
}

impl Shape {
    fn of(dispatch: &Dispatch) -> Shape {
        Shape {
            workgroup: dispatch.workgroup,
            writes: dispatch.bindings.iter().map(|window| window.write).collect(),
            traps: dispatch.traps,
            exact: dispatch.exact,
        }
    }
}

fn check_kernel<'a>(kernel: &Kernel, code: &'a KernelCode, shapes: &mut HashMap<&'a str, Shape>) -> Checked {
    if code.variants.is_empty() {
        return wrong("it has no variant");
    }
    for variant in &code.variants {
        let check = || {
            scratch(variant)?;
            for (number, dispatch) in variant.dispatches.iter().enumerate() {
                check_dispatch(kernel, variant, dispatch)
                    .map_err(|error| error.within(&format!("dispatch {number}")))?;
            }
            Ok(())
        };
        check().map_err(|error: Invalid| error.within(&format!("variant `{}`", variant.name)))?;
        for dispatch in &variant.dispatches {
            if *shapes.entry(&dispatch.code).or_insert_with(|| Shape::of(dispatch)) != Shape::of(dispatch) {
                return wrong(format!("the code `{}` is bound in two ways", dispatch.code));
            }
        }
    }
    Ok(())
}

fn scratch(variant: &Variant) -> Checked {
    match variant.scratch.iter().position(|&bytes| bytes == 0 || bytes % 4 != 0) {
        None => Ok(()),
        Some(at) => wrong(format!("scratch buffer {at} is not made of whole 32-bit words")),
    }
}

fn check_dispatch(kernel: &Kernel, variant: &Variant, dispatch: &Dispatch) -> Checked {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if dispatch.code.is_empty() || !dispatch.code.chars().all(plain) {
        return wrong(format!("{:?} cannot name code", dispatch.code));
    }
    if dispatch.groups.contains(&0) || dispatch.workgroup.contains(&0) {
        return wrong("it has no invocations");
    }
    if dispatch.traps && kernel.traps == 0 {
        return wrong("it binds the trap buffer of a kernel that cannot trap");
    }
    for (number, window) in dispatch.bindings.iter().enumerate() {
        let place = |error: Invalid| error.within(&format!("binding {number}"));
        check_window(kernel, variant, window).map_err(place)?;
        let clash = |other: &&Window| {
            let apart =
                window.offset >= other.offset + other.bytes || other.offset >= window.offset + window.bytes;
            other.buffer == window.buffer && (other.write != window.write || (window.write && !apart))
        };
        if dispatch.bindings[..number].iter().any(|other| clash(&other)) {
            return wrong(format!("binding {number} writes what another binding has"));
        }
    }
    check_needs(variant, dispatch)
}

/// Windows lie within their buffers, and write only what the kernel writes.
fn check_window(kernel: &Kernel, variant: &Variant, window: &Window) -> Checked {
    let (bytes, may_write) = match window.buffer {
        Buffer::Arg(arg) => match kernel.args.get(arg as usize) {
            Some(arg) => (buffer_bytes(arg.dtype, arg.len), arg.mode == Mode::Write),
            None => return wrong(format!("there is no argument {arg}")),
        },
        Buffer::Scratch(at) => match variant.scratch.get(at as usize) {
            Some(&bytes) => (bytes, true),
            None => return wrong(format!("there is no scratch buffer {at}")),
        },
    };
    if window.bytes == 0 || !window.bytes.is_multiple_of(4) || !window.offset.is_multiple_of(WINDOW_ALIGN) {
        return wrong("it is not made of whole words from where a window may start");
    }
    if window.offset.checked_add(window.bytes).is_none_or(|end| end > bytes) {
        return wrong("it leaves its buffer");
    }
    if window.write && !may_write {
        return wrong("it writes what the kernel only reads");
    }
    Ok(())
}

/// A device is chosen by the needs, so they must cover what is dispatched.
fn check_needs(variant: &Variant, dispatch: &Dispatch) -> Checked {
    match &variant.needs {
        Needs::Wgpu(needs) => {
            let buffers = dispatch.bindings.len() + usize::from(dispatch.traps);
            let invocations = dispatch.workgroup.iter().try_fold(1u32, |all, &size| all.checked_mul(size));
            let trap = if dispatch.traps { TRAP_BYTES } else { 0 };
            let bytes = dispatch.bindings.iter().map(|window| window.bytes).fold(trap, u64::max);
            let covered = buffers <= needs.storage_buffers as usize
                && invocations.is_some_and(|all| all <= needs.invocations)
                && bytes <= needs.binding_bytes.max(TRAP_BYTES);
            if covered { Ok(()) } else { wrong("it needs more than its variant says") }
        }
    }
}
