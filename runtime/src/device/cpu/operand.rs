//! Operands of matrix products: used where they lie, or packed by their code.

use super::block_program::{ArgSpec, Nest, lane_size};
use super::buffer::{Arg, Buffer, Report};
use super::compile::{Source, compile};
use super::product::Matrix;
use super::space::Space;
use super::team::Team;
use std::ops::Range;
use sx_artifact::dtype::DType;
use sx_artifact::kernel::{Access, Affine, Body, Inst, Mode, Operand, ScalarType, Store, Val};

/// How many points axes have.
pub(super) fn count(sizes: &[u64]) -> u64 {
    sizes.iter().product()
}

/// The row-major strides of `sizes`, times `unit`.
fn dense(sizes: &[u64], unit: i64) -> Vec<i64> {
    let mut strides = vec![unit; sizes.len()];
    for i in (1..sizes.len()).rev() {
        strides[i - 1] = strides[i].saturating_mul(sizes[i] as i64);
    }
    strides
}

/// Three groups of coordinates: batch, rows, columns.
pub(super) type Groups<'a> = [&'a [u64]; 3];

/// The access to argument `arg` of a matrix whose rows are `pitch` apart, the same for each of the batch.
fn panel_access(arg: usize, [batch, rows, columns]: Groups<'_>, pitch: u64) -> Access {
    let strides = [vec![0; batch.len()], dense(rows, pitch as i64), dense(columns, 1)].concat();
    Access { arg: arg as u32, at: Affine { offset: 0, strides }, gathered: Vec::new() }
}

/// The arguments `args` and one more.
fn with(args: &[ArgSpec], dtype: DType, mode: Mode) -> Vec<ArgSpec> {
    args.iter().copied().chain([ArgSpec { dtype, len: u64::MAX, mode }]).collect()
}

/// The dtype of products of values of a type.
fn dtype_of(reg: ScalarType) -> Result<DType, String> {
    match reg {
        ScalarType::F32 => Ok(DType::F32),
        ScalarType::I32 => Ok(DType::I32),
        ScalarType::I64 => Ok(DType::I64),
        ScalarType::Bool => Err("a product of truth values".to_string()),
    }
}

/// A matrix for each of a batch, in an argument.
pub(super) struct Strided {
    arg: usize,
    offset: i64,
    /// The sizes and strides of the axes of the batch.
    batch: Vec<(u64, i64)>,
    row: i64,
    column: i64,
}

impl Strided {
    /// The `f32` elements that `access` reaches, if rows and columns have one stride each.
    pub(super) fn new(access: &Access, groups: Groups<'_>, args: &[ArgSpec]) -> Option<Strided> {
        let coordinates: usize = groups.iter().map(|group| group.len()).sum();
        let dtype = args.get(access.arg as usize)?.dtype;
        if dtype != DType::F32 || !access.gathered.is_empty() || access.at.strides.len() != coordinates {
            return None;
        }
        let space = Space::merged(&groups.map(<[u64]>::to_vec), &[&access.at]);
        let strides = space.strides(&access.at);
        Some(Strided {
            arg: access.arg as usize,
            offset: access.at.offset,
            batch: space.groups[0].clone().map(|a| (space.sizes[a], strides[a])).collect(),
            row: strides[space.only(1)?],
            column: strides[space.only(2)?],
        })
    }

    /// Whether the columns of a row are neighbours in memory.
    pub(super) fn is_dense_along_columns(&self) -> bool {
        self.column == 1
    }

    /// Whether all elements lie within the argument.
    pub(super) fn is_inside(&self, args: &[Arg], [rows, columns]: [u64; 2]) -> bool {
        let axes = self.batch.iter().copied().chain([(rows, self.row), (columns, self.column)]);
        let (mut low, mut high) = (self.offset, self.offset);
        for (size, stride) in axes {
            if size == 0 {
                return true;
            }
            let reach = stride.saturating_mul(size as i64 - 1);
            low = low.saturating_add(reach.min(0));
            high = high.saturating_add(reach.max(0));
        }
        low >= 0 && (high as u64) < args[self.arg].len
    }

    /// The matrix of batch `at`, from the row and column that are given on.
    ///
    /// SAFETY: `is_inside` holds, and so do the bounds.
    pub(super) unsafe fn matrix(&self, args: &[Arg], mut at: u64, row: u64, column: u64) -> Matrix {
        let mut first = self.offset + self.row * row as i64 + self.column * column as i64;
        for &(size, stride) in self.batch.iter().rev() {
            first += (at % size) as i64 * stride;
            at /= size;
        }
        // SAFETY: by the contract.
        let start = unsafe { (args[self.arg].start as *mut f32).offset(first as isize) };
        Matrix { start, row: self.row, column: self.column }
    }
}

/// Where an operand's elements come from.
pub(super) enum Side {
    /// Straight from an argument.
    Strided(Strided),
    /// From code, which writes them to a further argument in rows that are `pitch` apart.
    Packed {
        /// The code.
        nest: Box<Nest>,
        /// Elements from row to row.
        pitch: u64,
        /// Bytes of an element.
        bytes: usize,
    },
}

impl Side {
    /// The operand; where it is packed, at most `pitch` columns are at once.
    pub(super) fn new(
        operand: &Operand,
        groups: Groups<'_>,
        reg: ScalarType,
        args: &[ArgSpec],
        pitch: u64,
    ) -> Result<Side, String> {
        let traps = operand.body.insts.iter().any(Inst::traps);
        if let Some(Inst::Load { access, guard: None }) = operand.body.insts.get(operand.value.0 as usize)
            && let (false, ScalarType::F32, Some(strided)) = (traps, reg, Strided::new(access, groups, args))
        {
            return Ok(Side::Strided(strided));
        }
        let access = panel_access(args.len(), groups, pitch);
        let nest = compile(&Source {
            groups: &groups.map(<[u64]>::to_vec),
            split: &[true, true, true],
            along: false,
            body: &operand.body,
            stores: &[Store { value: operand.value, access }],
            args: &with(args, dtype_of(reg)?, Mode::Write),
        })?;
        Ok(Side::Packed { nest: Box::new(nest), pitch, bytes: lane_size(reg) })
    }

    /// Bytes that a thread works on to have `rows` rows of the operand.
    pub(super) fn working_bytes(&self, rows: u64) -> usize {
        match self {
            Side::Strided(_) => 0,
            Side::Packed { nest, pitch, bytes } => {
                rows.saturating_mul(*pitch) as usize * bytes + nest.working_bytes()
            }
        }
    }

    /// Whether the operand has to be packed.
    pub(super) fn is_packed(&self) -> bool {
        matches!(self, Side::Packed { .. })
    }

    /// Whether all elements lie within their argument; packed ones are compared one by one.
    pub(super) fn is_inside(&self, args: &[Arg], sizes: [u64; 2]) -> bool {
        match self {
            Side::Strided(strided) => strided.is_inside(args, sizes),
            Side::Packed { .. } => true,
        }
    }

    /// These rows and columns of batch `at` as a matrix; `scratch` takes it if it is packed, by all
    /// of a team if there is one.
    ///
    /// SAFETY: `is_inside` holds, and so do the bounds.
    pub(super) unsafe fn matrix(
        &self,
        (args, report): (&[Arg], &Report),
        at: u64,
        [rows, columns]: [Range<u64>; 2],
        scratch: &mut Buffer,
        team: Option<&mut Team>,
    ) -> Matrix {
        match self {
            // SAFETY: by the contract.
            Side::Strided(strided) => unsafe { strided.matrix(args, at, rows.start, columns.start) },
            Side::Packed { nest, pitch, bytes } => {
                let elements = (rows.end - rows.start) * pitch;
                scratch.reserve(elements as usize * bytes);
                let start = scratch.as_mut_ptr();
                let shift = -((rows.start * pitch + columns.start) as i64);
                let args: Vec<Arg> =
                    args.iter().copied().chain([Arg { start, len: elements, shift }]).collect();
                let run =
                    |rows: Range<u64>| nest.run_part(&args, report, &[at..at + 1, rows, columns.clone()]);
                let size = rows.end - rows.start;
                match team {
                    Some(team) => {
                        let parts = (team.threads() as u64 * 4).min(size / 16).max(1);
                        team.each(parts, |i| {
                            run(rows.start + size * i / parts..rows.start + size * (i + 1) / parts);
                        });
                    }
                    None => run(rows),
                }
                Matrix { start: start.cast(), row: *pitch as i64, column: 1 }
            }
        }
    }
}

/// Code over the accumulators of a panel.
pub(super) struct Epilogue {
    nest: Nest,
    pitch: u64,
}

impl Epilogue {
    /// The epilogue over panels whose rows are `pitch` apart; `split` says whether columns are cut.
    pub(super) fn new(
        (body, stores): (&Body, &[Store]),
        groups: Groups<'_>,
        reg: ScalarType,
        args: &[ArgSpec],
        (pitch, split): (u64, bool),
    ) -> Result<Epilogue, String> {
        let access = panel_access(args.len(), groups, pitch);
        let load = |inst: &Inst| match inst {
            Inst::Acc { .. } => Inst::Load { access: access.clone(), guard: None },
            other => other.clone(),
        };
        let nest = compile(&Source {
            groups: &groups.map(<[u64]>::to_vec),
            split: &[true, true, split],
            along: false,
            body: &Body { insts: body.insts.iter().map(load).collect() },
            stores,
            args: &with(args, dtype_of(reg)?, Mode::Read),
        })?;
        Ok(Epilogue { nest, pitch })
    }

    /// The code that turns an accumulator into `value`, written in the same layout to one more argument.
    pub(super) fn into_panel(
        operand: &Operand,
        groups: Groups<'_>,
        args: &[ArgSpec],
        (pitch, split): (u64, bool),
    ) -> Result<Epilogue, String> {
        let store = Store { value: operand.value, access: panel_access(args.len(), groups, pitch) };
        let args = with(args, DType::F32, Mode::Write);
        Epilogue::new((&operand.body, &[store]), groups, ScalarType::F32, &args, (pitch, split))
    }

    /// Bytes that a thread works on beside the panels.
    pub(super) fn working_bytes(&self) -> usize {
        self.nest.working_bytes()
    }

    /// Runs over the accumulators of these rows and columns of batch `at`, which `panels` hold from their
    /// start on: the last is read, one before it is written.
    pub(super) fn run(
        &self,
        (args, report): (&[Arg], &Report),
        at: u64,
        [rows, columns]: [Range<u64>; 2],
        panels: &[*mut u8],
    ) {
        let shift = -((rows.start * self.pitch + columns.start) as i64);
        let len = (rows.end - rows.start) * self.pitch;
        let panels = panels.iter().map(|&start| Arg { start, len, shift });
        let args: Vec<Arg> = args.iter().copied().chain(panels).collect();
        self.nest.run_part(&args, report, &[at..at + 1, rows, columns]);
    }
}

/// Where an epilogue that only stores the accumulator puts it.
pub(super) fn plain_store(
    body: &Body,
    stores: &[Store],
    groups: Groups<'_>,
    args: &[ArgSpec],
) -> Option<Strided> {
    let [Store { value: Val(value), access }] = stores else { return None };
    let plain = matches!(body.insts.get(*value as usize), Some(Inst::Acc { reg: ScalarType::F32 }));
    let traps = body.insts.iter().any(Inst::traps);
    if plain && !traps { Strided::new(access, groups, args) } else { None }
}
