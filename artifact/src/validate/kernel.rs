//! Whether a kernel is sound by itself.

use super::body::{self, Place};
use super::{Invalid, MAX_ARGS, MAX_POINTS};
use crate::kernel::{
    Attention, Body, Contraction, Kernel, KernelKind, Loop, Mode, Operand, ScalarType, Store,
};

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
    match &kernel.kind {
        KernelKind::Loop(it) => check_loop(kernel, it),
        KernelKind::Contraction(it) => check_contract(kernel, it),
        KernelKind::Attention(it) => check_attention(kernel, it),
    }
}

fn place<'a>(kernel: &'a Kernel, sizes: &'a [u64]) -> Place<'a> {
    Place { args: &kernel.args, traps: kernel.traps, sizes, along: 0, acc: None }
}

fn check_loop(kernel: &Kernel, it: &Loop) -> Checked<u64> {
    let sizes = [&it.dims[..], &it.along].concat();
    let points = points(&sizes)?;
    let place = Place { along: it.along.len(), ..place(kernel, &sizes) };
    let values = body::check(&it.body, &place)?;
    body::stores(&it.stores, &place, &values)?;
    Ok(points)
}

fn check_contract(kernel: &Kernel, it: &Contraction) -> Checked<u64> {
    let lhs = operand(kernel, &it.lhs, &[&it.batch[..], &it.m, &it.k].concat(), None, "left operand")?;
    let rhs = operand(kernel, &it.rhs, &[&it.batch[..], &it.k, &it.n].concat(), None, "right operand")?;
    if lhs != rhs || lhs == ScalarType::Bool {
        return Err(Invalid::new("", format!("it cannot multiply {lhs:?} by {rhs:?}")));
    }
    epilogue(kernel, &it.epilogue, &it.stores, &[&it.batch[..], &it.m, &it.n].concat(), lhs)?;
    points(&[&it.batch[..], &it.m, &it.n, &it.k].concat())
}

fn check_attention(kernel: &Kernel, it: &Attention) -> Checked<u64> {
    let with = |more: [u64; 2]| [&it.batch[..], &more].concat();
    let parts = [
        (&it.query, with([it.t, it.d]), None, "query"),
        (&it.key, with([it.s, it.d]), None, "key"),
        (&it.value, with([it.s, it.e]), None, "value"),
        (&it.score, with([it.t, it.s]), Some(ScalarType::F32), "score"),
    ];
    for (part, sizes, acc, name) in parts {
        let found = operand(kernel, part, &sizes, acc, name)?;
        if found != ScalarType::F32 {
            return Err(Invalid::new(name, format!("it is {found:?} where F32 is wanted")));
        }
    }
    epilogue(kernel, &it.epilogue, &it.stores, &with([it.t, it.e]), ScalarType::F32)?;
    points(&[&it.batch[..], &[it.t, it.s, it.d.max(it.e)]].concat())
}

fn operand(
    kernel: &Kernel,
    it: &Operand,
    sizes: &[u64],
    acc: Option<ScalarType>,
    name: &str,
) -> Checked<ScalarType> {
    let values =
        body::check(&it.body, &Place { acc, ..place(kernel, sizes) }).map_err(|error| error.within(name))?;
    values.reg(it.value).map_err(|what| Invalid::new(name, what))
}

fn epilogue(kernel: &Kernel, body: &Body, stores: &[Store], sizes: &[u64], acc: ScalarType) -> Checked {
    let place = Place { acc: Some(acc), ..place(kernel, sizes) };
    let check = || body::stores(stores, &place, &body::check(body, &place)?);
    check().map_err(|error| error.within("epilogue"))
}

/// How many points these sizes have at most, those of size 0 counted as 1: rows run even where nothing lies along
/// them, and the other sizes are multiplied with each other wherever a kernel is planned.
fn points(sizes: &[u64]) -> Checked<u64> {
    let product = sizes.iter().try_fold(1u64, |product, &size| product.checked_mul(size.max(1)));
    product
        .filter(|&product| product <= MAX_POINTS)
        .ok_or_else(|| Invalid::new("", "it visits more points than any machine can"))
}
