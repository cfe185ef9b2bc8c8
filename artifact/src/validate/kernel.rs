//! Whether a kernel is sound by itself.

use super::body::{self, Place};
use super::{Invalid, MAX_ARGS, MAX_POINTS};
use crate::kernel::section::Section;
use crate::kernel::{Kernel, KernelKind, Mode, ScalarType};

type Checked<T = ()> = Result<T, Invalid>;

/// Checks one kernel; gives how many points it visits.
pub(super) fn check(kernel: &Kernel) -> Checked<u64> {
    if kernel.args.len() > MAX_ARGS {
        return Err(Invalid::new("", format!("it has more than {MAX_ARGS} arguments")));
    }
    if kernel.args.iter().any(|arg| arg.len > MAX_POINTS) {
        return Err(Invalid::new("", "an argument is larger than any memory"));
    }
    let written = kernel.args.iter().skip_while(|arg| arg.mode == Mode::Read);
    if written.clone().any(|arg| arg.mode == Mode::Read) {
        return Err(Invalid::new("", "an argument that is read follows one that is written"));
    }
    let points = points(&visited(&kernel.kind))?;
    let mut results = Vec::new();
    for section in kernel.sections() {
        if section.result.is_none() {
            operands_fit(&kernel.kind, &results)?;
        }
        results.extend(check_section(kernel, &section).map_err(|error| error.within(section.name))?);
    }
    Ok(points)
}

/// The sizes whose product is how many points it visits.
fn visited(kind: &KernelKind) -> Vec<u64> {
    match kind {
        KernelKind::Loop(it) => [&it.dims[..], &it.along].concat(),
        KernelKind::Contraction(it) => [&it.batch[..], &it.m, &it.n, &it.k].concat(),
        KernelKind::Attention(it) => [&it.batch[..], &[it.t, it.s, it.d.max(it.e)]].concat(),
    }
}

/// The type of what a section gives to the rest of the kernel.
fn check_section(kernel: &Kernel, section: &Section<'_>) -> Checked<Option<ScalarType>> {
    let place = Place {
        args: &kernel.args,
        traps: kernel.traps,
        sizes: &section.sizes,
        along: section.along,
        acc: section.acc,
    };
    let values = body::check(section.body, &place)?;
    match section.result {
        Some(result) => values.reg(result).map(Some).map_err(|what| Invalid::new("", what)),
        None => body::stores(section.stores, &place, &values).map(|()| None),
    }
}

/// Whether the operands, of these types, are what the kernel combines.
fn operands_fit(kind: &KernelKind, operands: &[ScalarType]) -> Checked {
    match (kind, operands) {
        (KernelKind::Contraction(_), &[lhs, rhs]) if lhs != rhs || lhs == ScalarType::Bool => {
            Err(Invalid::new("", format!("it cannot multiply {lhs:?} by {rhs:?}")))
        }
        (KernelKind::Attention(_), operands) => match operands.iter().find(|ty| **ty != ScalarType::F32) {
            Some(found) => Err(Invalid::new("", format!("an operand is {found:?} where F32 is wanted"))),
            None => Ok(()),
        },
        (KernelKind::Contraction(_) | KernelKind::Loop(_), _) => Ok(()),
    }
}

/// How many points these sizes have at most, those of size 0 counted as 1: rows run even where nothing lies along
/// them, and the other sizes are multiplied with each other wherever a kernel is planned.
fn points(sizes: &[u64]) -> Checked<u64> {
    let product = sizes.iter().try_fold(1u64, |product, &size| product.checked_mul(size.max(1)));
    product
        .filter(|&product| product <= MAX_POINTS)
        .ok_or_else(|| Invalid::new("", "it visits more points than any machine can"))
}
