//! Whether a body is well typed and stays within its arguments.

use super::{Invalid, MAX_RANK};
use crate::kernel::affine::{self, Range};
use crate::kernel::{Access, Affine, Arg, Body, FoldOp, Inst, Mode, ScalarType, Store, Val};
use crate::scalar::ScalarFn;

/// Where a body stands.
pub(super) struct Place<'a> {
    /// The kernel's arguments.
    pub(super) args: &'a [Arg],
    /// How many traps the kernel has.
    pub(super) traps: u32,
    /// The sizes of the body's coordinates.
    pub(super) sizes: &'a [u64],
    /// How many of them, at the end, are `along` coordinates, where folds may stand.
    pub(super) along: usize,
    /// The type of the accumulator, where there is one.
    pub(super) acc: Option<ScalarType>,
}

/// The type of each value of `body`, and whether it is per element.
pub(super) struct Values {
    pub(super) regs: Vec<ScalarType>,
    per_element: Vec<bool>,
}

type Checked<T = ()> = Result<T, String>;

/// Checks every instruction.
pub(super) fn check(body: &Body, place: &Place<'_>) -> Result<Values, Invalid> {
    if place.sizes.len() > MAX_RANK {
        return Err(Invalid::new(
            "",
            format!("it has {} coordinates, more than {MAX_RANK}", place.sizes.len()),
        ));
    }
    let mut values = Values { regs: Vec::new(), per_element: Vec::new() };
    for (number, inst) in body.insts.iter().enumerate() {
        let reg = instruction(body, inst, place, &values)
            .map_err(|what| Invalid::new(format!("instruction {number}"), what))?;
        let per_element = is_per_element(inst, place, &values);
        values.regs.push(reg);
        values.per_element.push(per_element);
    }
    Ok(values)
}

impl Values {
    /// The type of a value that is used.
    pub(super) fn reg(&self, value: Val) -> Checked<ScalarType> {
        let known = self.regs.get(value.0 as usize).copied();
        known.ok_or_else(|| format!("it uses value {} before there is one", value.0))
    }

    fn expect(&self, value: Val, wanted: ScalarType) -> Checked {
        match self.reg(value)? {
            found if found == wanted => Ok(()),
            found => Err(format!("value {} is {found:?} where {wanted:?} is wanted", value.0)),
        }
    }
}

fn instruction(body: &Body, inst: &Inst, place: &Place<'_>, values: &Values) -> Checked<ScalarType> {
    match inst {
        Inst::Const(_) => {}
        Inst::Index { at, reg } => index(at, *reg, place)?,
        Inst::Load { .. } => load(body, inst, place, values)?,
        Inst::Acc { reg } if place.acc == Some(*reg) => {}
        Inst::Acc { reg } => return Err(format!("there is no accumulator of type {reg:?} here")),
        Inst::Call { f, args } => call(*f, args, values)?,
        Inst::Convert { x, .. } => drop(values.reg(*x)?),
        Inst::RoundBf16 { x } => values.expect(*x, ScalarType::F32)?,
        Inst::Bounded { x, trap, .. } => bounded(*x, *trap, place, values)?,
        Inst::Fold { op, x } => fold(*op, *x, place, values)?,
    }
    inst.reg(place.args, &values.regs).ok_or_else(|| "it has no type".to_owned())
}

/// In a loop a value is per element if it depends on an `along` coordinate.
fn is_per_element(inst: &Inst, place: &Place<'_>, values: &Values) -> bool {
    let along = |at: &Affine| at.strides[place.sizes.len() - place.along..].iter().any(|&stride| stride != 0);
    !inst.is_fold()
        && (inst.affine().is_some_and(along) || inst.uses().any(|value| values.per_element[value.0 as usize]))
}

fn index(at: &Affine, reg: ScalarType, place: &Place<'_>) -> Checked {
    let holds = match reg {
        ScalarType::I32 => Range::new(i32::MIN.into(), i32::MAX.into()),
        ScalarType::I64 => Range::new(i64::MIN.into(), i64::MAX.into()),
        ScalarType::F32 | ScalarType::Bool => return Err(format!("an index cannot be {reg:?}")),
    };
    reach(at, place, std::iter::empty())?;
    match affine::values(at, &affine::coordinates(place.sizes)).within(holds) {
        true => Ok(()),
        false => Err(format!("the index does not fit {reg:?}")),
    }
}

/// Whether it has a stride for each coordinate, and numbers that 64-bit arithmetic holds.
fn reach(at: &Affine, place: &Place<'_>, gathered: impl Iterator<Item = (i64, u64)>) -> Checked {
    if at.strides.len() != place.sizes.len() {
        return Err(format!("it has {} strides for {} coordinates", at.strides.len(), place.sizes.len()));
    }
    match affine::is_exact(at, place.sizes, gathered) {
        true => Ok(()),
        false => Err("its offset and strides reach 2^62 or further".to_owned()),
    }
}

fn load(body: &Body, inst: &Inst, place: &Place<'_>, values: &Values) -> Checked {
    let Inst::Load { access, guard } = inst else { return Ok(()) };
    let arg = argument(access, Mode::Read, place)?;
    if let Some(guard) = guard {
        values.expect(*guard, ScalarType::Bool)?;
    }
    let computed = computed_indices(body, access, values)?;
    reach(&access.at, place, computed.iter().copied())?;
    let mut gathered = Range::new(0, 0);
    for &(stride, size) in &computed {
        gathered = gathered.plus(stride.into(), Range::new(0, (i128::from(size) - 1).max(0)));
    }
    // Rows run even where there is nothing along them.
    let rows = place.sizes.len() - place.along;
    let runs = if is_per_element(inst, place, values) { place.sizes } else { &place.sizes[..rows] };
    if runs.contains(&0) {
        return Ok(());
    }
    let affine = match guard {
        Some(guard) => affine::values_under(&access.at, place.sizes, body, *guard),
        None => Some(affine::values(&access.at, &affine::coordinates(place.sizes))),
    };
    match affine {
        Some(range) => in_bounds(range.plus(1, gathered), arg, access.arg),
        None => Ok(()),
    }
}

/// The stride of each computed index of an access, and the size that the index is below.
fn computed_indices(body: &Body, access: &Access, values: &Values) -> Checked<Vec<(i64, u64)>> {
    let bounded = |&(value, stride): &(Val, i64)| {
        values.reg(value)?;
        match body.insts.get(value.0 as usize) {
            Some(Inst::Bounded { size, .. }) => Ok((stride, *size)),
            _ => Err(format!("value {} is used as an index without having been bounded", value.0)),
        }
    };
    access.gathered.iter().map(bounded).collect()
}

fn in_bounds(range: Range, arg: &Arg, number: u32) -> Checked {
    match range.within(Range::new(0, i128::from(arg.len) - 1)) {
        true => Ok(()),
        false => Err(format!(
            "it reaches elements {} to {} of argument {number}, which has {}",
            range.low, range.high, arg.len
        )),
    }
}

fn argument<'a>(access: &Access, mode: Mode, place: &Place<'a>) -> Checked<&'a Arg> {
    let arg =
        place.args.get(access.arg as usize).ok_or_else(|| format!("there is no argument {}", access.arg))?;
    match (arg.mode == mode, mode) {
        (true, _) => Ok(arg),
        (false, Mode::Read) => Err(format!("argument {} is only written", access.arg)),
        (false, Mode::Write) => Err(format!("argument {} is only read", access.arg)),
    }
}

fn bounded(x: Val, trap: Option<u32>, place: &Place<'_>, values: &Values) -> Checked {
    if !matches!(values.reg(x)?, ScalarType::I32 | ScalarType::I64) {
        return Err("only an integer can be bounded".to_owned());
    }
    match trap {
        Some(trap) if trap >= place.traps => Err(format!("the kernel has no trap {trap}")),
        _ => Ok(()),
    }
}

fn fold(op: FoldOp, x: Val, place: &Place<'_>, values: &Values) -> Checked {
    if place.along == 0 {
        return Err("there is nothing to fold along".to_owned());
    }
    let found = values.reg(x)?;
    let fits = match op {
        FoldOp::Sum | FoldOp::Max | FoldOp::Min | FoldOp::Prod => found != ScalarType::Bool,
        FoldOp::All | FoldOp::Any => found == ScalarType::Bool,
    };
    if fits { Ok(()) } else { Err(format!("{op:?} does not fold {found:?}")) }
}

fn call(f: ScalarFn, args: &[Val], values: &Values) -> Checked {
    if args.len() != f.arity() {
        return Err(format!("`{}` takes {} arguments and is given {}", f.name(), f.arity(), args.len()));
    }
    let regs = args.iter().map(|&arg| values.reg(arg)).collect::<Checked<Vec<ScalarType>>>()?;
    if f.takes(&regs) { Ok(()) } else { Err(format!("`{}` does not take {regs:?}", f.name())) }
}

/// Checks what a body writes: types, bounds, and that no two points share an element.
pub(super) fn stores(stores: &[Store], place: &Place<'_>, values: &Values) -> Result<(), Invalid> {
    if stores.is_empty() {
        return Err(Invalid::new("", "it writes nothing"));
    }
    let mut reached: Vec<(u32, Range)> = Vec::new();
    for (number, it) in stores.iter().enumerate() {
        let range = store(it, place, values).map_err(|what| Invalid::new(format!("store {number}"), what))?;
        let Some(range) = range else { continue };
        for &(arg, earlier) in &reached {
            if arg == it.access.arg && earlier.low <= range.high && range.low <= earlier.high {
                return Err(Invalid::new(format!("store {number}"), "it writes where an earlier one does"));
            }
        }
        reached.push((it.access.arg, range));
    }
    Ok(())
}

/// The elements it reaches; `None` where nothing runs.
fn store(it: &Store, place: &Place<'_>, values: &Values) -> Checked<Option<Range>> {
    let arg = argument(&it.access, Mode::Write, place)?;
    let Access { at, gathered, .. } = &it.access;
    reach(at, place, std::iter::empty())?;
    values.expect(it.value, ScalarType::of(arg.dtype))?;
    if !gathered.is_empty() {
        return Err("a store cannot be gathered".to_owned());
    }
    let (rows, along) = at.strides.split_at(place.sizes.len() - place.along);
    let per_row = along.iter().all(|&stride| stride == 0);
    if per_row && values.per_element[it.value.0 as usize] {
        return Err("a value per element is written once a row".to_owned());
    }
    let (sizes, at) = match per_row {
        true => (&place.sizes[..rows.len()], Affine { offset: at.offset, strides: rows.to_vec() }),
        false => (place.sizes, at.clone()),
    };
    if sizes.contains(&0) {
        return Ok(None);
    }
    if !affine::distinct(&at, sizes) {
        return Err("two points write one element".to_owned());
    }
    let range = affine::values(&at, &affine::coordinates(sizes));
    in_bounds(range, arg, it.access.arg)?;
    Ok(Some(range))
}
