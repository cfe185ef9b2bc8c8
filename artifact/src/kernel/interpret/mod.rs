//! What a kernel means, on host tensors: each instruction over all points at once.
//!
//! The only interpreter of kernels, slow and plain. Every device's way of running one is compared with it, and it is
//! compared with the reference of the graph that a kernel came from. Scalar functions are those of [`crate::maths`],
//! to the bit; sums and products of floats are accumulated in f64 and rounded once, where a device adds in the order
//! of its own that the book bounds.

mod column;
mod fold;
mod scalar;

use self::column::{Column, at_each, expanded, filled};
use super::affine::row_major;
use super::section::Section;
use super::{Access, Attention, Contraction, Inst, Kernel, KernelKind, Loop, Mode, Store, Val};
use crate::tensor::{Data, Tensor};
use half::bf16;

/// An index that was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trap {
    /// Which trap of the kernel.
    pub trap: u32,
    /// Where: row-major over the coordinates of the body, 0 along those that the index does not follow.
    pub position: u64,
    /// The index.
    pub value: i64,
    /// What it should have been below.
    pub size: u64,
}

/// Why a kernel gives no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// An index was refused: the first by position, then by number.
    Trap(Trap),
    /// The kernel writes only a part of an argument.
    Unwritten {
        /// The argument.
        arg: u32,
        /// The first element that stays unwritten.
        element: u64,
    },
}

/// Runs a valid kernel: `reads` are the tensors of its read arguments, in order, of which it takes the elements as
/// they lie, whatever their shape. Gives the written arguments, in order and flat.
///
/// Panics on a kernel that [`crate::validate`] refuses.
pub fn run(kernel: &Kernel, reads: &[&Tensor]) -> Result<Vec<Tensor>, Stop> {
    let args = kernel.args.iter().zip(0..).filter(|(arg, _)| arg.mode == Mode::Write);
    let zeros = args.clone().map(|(arg, _)| column::zeros_of(arg.dtype, arg.len as usize));
    let written = execute(kernel, reads, zeros.collect()).map_err(Stop::Trap)?;
    let results = written.into_iter().zip(args).map(|((data, written), (arg, number))| {
        match written.iter().position(|written| !written) {
            Some(element) => Err(Stop::Unwritten { arg: number, element: element as u64 }),
            None => Ok(Tensor::new(&[arg.len], data)),
        }
    });
    results.collect()
}

/// Runs a valid kernel onto the written arguments as they are before: what it does not write stays.
///
/// Panics on a kernel that [`crate::validate`] refuses.
pub fn run_onto(kernel: &Kernel, reads: &[&Tensor], writes: Vec<Data>) -> Result<Vec<Data>, Trap> {
    Ok(execute(kernel, reads, writes)?.into_iter().map(|(data, _)| data).collect())
}

/// The written arguments, and which of their elements are.
fn execute(kernel: &Kernel, reads: &[&Tensor], writes: Vec<Data>) -> Result<Vec<(Data, Vec<bool>)>, Trap> {
    let writes = writes.into_iter().map(|data| {
        let none = vec![false; data.len()];
        (data, none)
    });
    let mut machine = Machine { reads, writes: writes.collect(), traps: Vec::new() };
    match &kernel.kind {
        KernelKind::Loop(it) => machine.run_loop(it),
        KernelKind::Contraction(it) => machine.contraction(it, kernel),
        KernelKind::Attention(it) => machine.attention(it),
    }
    match machine.traps.iter().min_by_key(|trap| (trap.position, trap.trap)) {
        Some(&first) => Err(first),
        None => Ok(machine.writes),
    }
}

struct Machine<'a> {
    reads: &'a [&'a Tensor],
    /// What is written, and which elements of it are.
    writes: Vec<(Data, Vec<bool>)>,
    traps: Vec<Trap>,
}

/// The values of a section: each either once a row, or once a point.
struct Values {
    columns: Vec<Column>,
    per_element: Vec<bool>,
    rows: usize,
    along: usize,
}

impl Values {
    /// A value at every point.
    fn at_points(&self, value: Val) -> Column {
        let at = value.0 as usize;
        match self.per_element[at] {
            true => self.columns[at].clone(),
            false => expanded(&self.columns[at], self.along),
        }
    }

    /// A value once a row, or at every point.
    fn at(&self, value: Val, per_element: bool) -> Column {
        if per_element { self.at_points(value) } else { self.columns[value.0 as usize].clone() }
    }
}

impl Machine<'_> {
    fn run_loop(&mut self, it: &Loop) {
        self.section(&it.section(), None);
    }

    fn contraction(&mut self, it: &Contraction, kernel: &Kernel) {
        let [lhs, rhs, epilogue] = it.sections(&kernel.args);
        let (lhs, rhs) = (self.operand(&lhs, None), self.operand(&rhs, None));
        let count = |sizes: &[u64]| sizes.iter().product::<u64>() as usize;
        let acc = fold::product(&lhs, &rhs, [count(&it.batch), count(&it.m), count(&it.n), count(&it.k)]);
        self.section(&epilogue, Some(acc));
    }

    fn attention(&mut self, it: &Attention) {
        let [query, key, value, score, epilogue] = it.sections();
        let [query, key, value] = [&query, &key, &value].map(|section| self.operand(section, None));
        let batch = it.batch.iter().product::<u64>() as usize;
        let (t, s, d, e) = (it.t as usize, it.s as usize, it.d as usize, it.e as usize);
        let dots = fold::product(&query, &column::transposed(&key, batch, s, d), [batch, t, s, d]);
        let scores = self.operand(&score, Some(dots));
        let weights = fold::softmax(&scores, s, it.zero_hidden_rows);
        let acc = fold::product(&weights, &value, [batch, t, e, s]);
        self.section(&epilogue, Some(acc));
    }

    /// The value that a section gives, at every point.
    fn operand(&mut self, section: &Section<'_>, acc: Option<Column>) -> Column {
        let values = self.section(section, acc);
        values.at_points(section.result.expect("an operand has a result"))
    }

    /// Runs a section and its stores.
    fn section(&mut self, section: &Section<'_>, acc: Option<Column>) -> Values {
        let rows = section.rows();
        let depends = section.body.dependence(rows);
        let along_bits = if rows < 64 { !((1u64 << rows) - 1) } else { 0 };
        let count = |sizes: &[u64]| sizes.iter().product::<u64>() as usize;
        let mut values = Values {
            columns: Vec::with_capacity(depends.len()),
            per_element: depends.iter().map(|bits| bits & along_bits != 0).collect(),
            rows: count(&section.sizes[..rows]),
            along: count(&section.sizes[rows..]),
        };
        for (at, inst) in section.body.insts.iter().enumerate() {
            let per_element = values.per_element[at];
            let sizes = if per_element { &section.sizes[..] } else { &section.sizes[..rows] };
            let value = self.value(inst, &values, per_element, sizes, acc.as_ref());
            if let Inst::Bounded { x, size, trap: Some(trap) } = inst {
                let x = values.at(*x, per_element);
                self.traps.extend(refused(&x, *size, *trap, &section.sizes, sizes.len(), depends[at]));
            }
            values.columns.push(value);
        }
        section.stores.iter().for_each(|store| self.store(store, &values, section));
        values
    }

    fn value(
        &self,
        inst: &Inst,
        values: &Values,
        per_element: bool,
        sizes: &[u64],
        acc: Option<&Column>,
    ) -> Column {
        match inst {
            Inst::Const(value) => filled(*value, sizes.iter().product::<u64>() as usize),
            Inst::Index { at, reg } => scalar::convert(&Data::I64(at.over(sizes)), *reg),
            Inst::Load { access, guard } => {
                let guard = guard.map(|guard| values.at(guard, per_element));
                self.load(access, guard.as_ref(), values, per_element, sizes)
            }
            Inst::Acc { .. } => acc.expect("an accumulator is handed to an epilogue").clone(),
            Inst::Call { f, args } => {
                scalar::call(*f, &args.iter().map(|&arg| values.at(arg, per_element)).collect::<Vec<_>>())
            }
            Inst::Convert { to, x } => scalar::convert(&values.at(*x, per_element), *to),
            Inst::RoundBf16 { x } => scalar::rounded_to_bf16(&values.at(*x, per_element)),
            Inst::Bounded { x, size, trap } => bounded(&values.at(*x, per_element), *size, trap.is_some()),
            Inst::Fold { op, x } => fold::fold(*op, &values.at_points(*x), values.rows, values.along),
        }
    }

    fn load(
        &self,
        access: &Access,
        guard: Option<&Column>,
        values: &Values,
        per_element: bool,
        sizes: &[u64],
    ) -> Column {
        let mut at = access.at.over(sizes);
        for &(index, stride) in &access.gathered {
            let indices = column::integers(&values.at(index, per_element));
            at.iter_mut().zip(indices).for_each(|(at, index)| *at += index * stride);
        }
        let shown = |i: usize| guard.is_none_or(|guard| column::truth(guard, i));
        let at: Vec<Option<usize>> =
            at.iter().enumerate().map(|(i, &at)| shown(i).then_some(at as usize)).collect();
        match self.reads[access.arg as usize].data() {
            Data::F32(from) => Data::F32(at_each(from, &at)),
            Data::Bf16(from) => Data::F32(at_each(from, &at).into_iter().map(bf16::to_f32).collect()),
            Data::I32(from) => Data::I32(at_each(from, &at)),
            Data::I64(from) => Data::I64(at_each(from, &at)),
            Data::Bool(from) => Data::Bool(at_each(from, &at)),
        }
    }

    fn store(&mut self, store: &Store, values: &Values, section: &Section<'_>) {
        let rows = section.rows();
        let per_element = store.access.at.strides[rows..].iter().any(|&stride| stride != 0);
        let sizes = if per_element { &section.sizes[..] } else { &section.sizes[..rows] };
        let value = values.at(store.value, per_element);
        let (to, written) = &mut self.writes[store.access.arg as usize - self.reads.len()];
        let places = store.access.at.over(sizes);
        places.iter().for_each(|&place| written[place as usize] = true);
        column::scatter(to, &value, &places);
    }
}

/// The indices of `x` outside of `0..size`, of which `follows` says the coordinates that they follow.
fn refused(x: &Column, size: u64, trap: u32, sizes: &[u64], rank: usize, follows: u64) -> Vec<Trap> {
    let inside = |value: i64| u64::try_from(value).is_ok_and(|value| value < size);
    let own = &sizes[..rank];
    let strides = row_major(sizes);
    let indices = column::integers(x).into_iter().enumerate().filter(|&(_, value)| !inside(value));
    let position = |mut flat: u64| {
        let mut position = 0;
        for coord in (0..own.len()).rev() {
            let at = flat % own[coord];
            flat /= own[coord];
            position += if follows >> coord & 1 == 1 { at * strides[coord] as u64 } else { 0 };
        }
        position
    };
    indices.map(|(flat, value)| Trap { trap, position: position(flat as u64), value, size }).collect()
}

/// An index in `0..size`: 0 where one outside of it stops the launch, the nearest where none does.
fn bounded(x: &Column, size: u64, traps: bool) -> Column {
    let last = i64::try_from(size).unwrap_or(i64::MAX).saturating_sub(1).max(0);
    let inside = |value: i64| (0..=last).contains(&value) && size > 0;
    match x {
        Data::I32(values) => {
            let last = i32::try_from(last).unwrap_or(i32::MAX);
            let one = |&value: &i32| match (inside(value.into()), traps) {
                (true, _) => value,
                (false, true) => 0,
                (false, false) => value.clamp(0, last),
            };
            Data::I32(values.iter().map(one).collect())
        }
        other => {
            let one = |value: i64| match (inside(value), traps) {
                (true, _) => value,
                (false, true) => 0,
                (false, false) => value.clamp(0, last),
            };
            Data::I64(column::integers(other).into_iter().map(one).collect())
        }
    }
}

#[cfg(test)]
mod tests;
