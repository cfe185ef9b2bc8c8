//! Matrix products, panel by panel: operands where they lie or packed, the epilogue while a panel is near.

use super::block_program::ArgSpec;
use super::buffer::{Arg, Report, Scratch};
use super::operand::{Epilogue, Groups, Side, Strided, count, plain_store};
use super::product::{FEW, Matrix, STRIP, Wrapping, multiply, multiply_integers, part_of_row};
use super::team::Team;
use std::ops::Range;
use std::slice;
use sx_artifact::kernel::{Contraction, Inst, ScalarType};

/// Rows of a panel. Panels follow from shapes alone, since the order of a sum may depend on them.
const ROWS: u64 = 512;
/// Columns of a panel.
const COLUMNS: u64 = 512;
/// Below so many rows it is the columns that are cut for threads, into panels of `NARROW`.
const SHALLOW: u64 = 64;
const NARROW: u64 = 256;
/// Terms of a product of few rows that one task sums.
const TERMS: u64 = 128;
/// Elements of a right operand that are packed at once.
const PACKED: u64 = 4 << 20;
/// Multiplications that are worth a thread.
pub(super) const WORTH: u64 = 128 << 10;

/// Where results go.
enum Finish {
    /// Straight to an argument.
    Plain(Strided),
    /// Through code.
    Code(Box<Epilogue>),
}

/// A matrix product made ready.
pub(super) struct ContractionReady {
    reg: ScalarType,
    batch: u64,
    m: u64,
    n: u64,
    k: u64,
    lhs: Side,
    rhs: Side,
    finish: Finish,
    /// Whether the rows are few and the right operand is read as it lies in memory.
    few: bool,
    /// The sizes of a panel.
    rows: u64,
    columns: u64,
}

/// Rows and columns of a panel.
fn panel(m: u64, n: u64, k: u64, packed: bool) -> (u64, u64) {
    if m < SHALLOW {
        return (m, n.min(NARROW));
    }
    let rows = if m >= 2 * ROWS { ROWS } else { m.div_ceil(2).next_multiple_of(8) };
    let fits = if packed { (PACKED / k.max(1)).max(NARROW) / NARROW * NARROW } else { COLUMNS };
    (rows, n.min(COLUMNS).min(fits))
}

impl ContractionReady {
    /// Makes a product ready, or says what has no meaning in it.
    pub(super) fn new(work: &Contraction, args: &[ArgSpec]) -> Result<ContractionReady, String> {
        let reg = work.acc(args).ok_or("a product of values there are not")?;
        // A batch that the right operand does not follow is only more rows.
        let follows = |strides: &[i64]| strides[..work.batch.len()].iter().any(|&s| s != 0);
        let mut affines = work.rhs.body.insts.iter().filter_map(Inst::affine);
        let shared = !affines.any(|at| follows(&at.strides));
        let rows = if shared { [&work.batch[..], &work.m].concat() } else { work.m.clone() };
        let batch: &[u64] = if shared { &[] } else { &work.batch };
        let mut rhs = work.rhs.clone();
        if shared {
            drop_coordinates(&mut rhs.body.insts, work.batch.len());
        }
        let (b, m, n, k) = (count(batch), count(&rows), count(&work.n), count(&work.k));
        let (lhs_groups, rhs_groups): (Groups<'_>, Groups<'_>) =
            ([batch, &rows, &work.k], [batch, &work.k, &work.n]);
        let groups: Groups<'_> = [batch, &rows, &work.n];
        let lhs = Side::new(&work.lhs, lhs_groups, reg, args, k)?;
        let (_, width) = panel(m, n, k, true);
        let rhs = Side::new(&rhs, rhs_groups, reg, args, width)?;
        let few = match &rhs {
            Side::Strided(rhs) => rhs.is_dense_along_columns() && m <= FEW as u64 && k > 0,
            Side::Packed { .. } => false,
        };
        let (rows, columns) = if few { (m, STRIP as u64) } else { panel(m, n, k, rhs.is_packed()) };
        let finish = match plain_store(&work.epilogue, &work.stores, groups, args) {
            Some(to) if reg == ScalarType::F32 => Finish::Plain(to),
            _ => {
                let code = (&work.epilogue, &work.stores[..]);
                Finish::Code(Box::new(Epilogue::new(code, groups, reg, args, (columns, columns < n))?))
            }
        };
        Ok(ContractionReady { reg, batch: b, m, n, k, lhs, rhs, finish, few, rows, columns })
    }

    /// Bytes that a thread works on at most: parts of the operands, and what is summed.
    pub(super) fn working_bytes(&self) -> usize {
        let (rows, k) = (self.rows.min(self.m), self.k);
        let operands = self.lhs.working_bytes(rows).saturating_add(self.rhs.working_bytes(k));
        let sums = match (&self.finish, self.few) {
            (_, true) => {
                let tasks = self.batch * self.n.div_ceil(STRIP as u64) * k.div_ceil(TERMS);
                tasks as usize * STRIP * self.m as usize * 4
            }
            (Finish::Plain(_), false) => 0,
            (Finish::Code(_), false) => (rows * self.columns) as usize * 8,
        };
        let code = match &self.finish {
            Finish::Plain(_) => 0,
            Finish::Code(epilogue) => epilogue.working_bytes(),
        };
        operands.saturating_add(sums).saturating_add(code)
    }

    /// Runs the product.
    pub(super) fn run(&self, args: &[Arg], report: &Report, team: &mut Team) {
        if self.batch * self.m * self.n == 0 {
            return;
        }
        let plain = match &self.finish {
            Finish::Plain(to) => Some(to),
            Finish::Code(_) => None,
        };
        let inside = self.lhs.is_inside(args, [self.m, self.k])
            && self.rhs.is_inside(args, [self.k, self.n])
            && plain.is_none_or(|to| to.is_inside(args, [self.m, self.n]));
        if !inside {
            return report.outside();
        }
        let work = self.batch.saturating_mul(self.m).saturating_mul(self.n).saturating_mul(self.k.max(1));
        let mut alone = Team::alone();
        let team = if work < WORTH { &mut alone } else { team };
        match &self.rhs {
            Side::Strided(rhs) if self.few => self.few(args, report, team, rhs),
            _ => self.panels(args, report, team),
        }
    }

    /// Runs a product of few rows: the right operand is read once, as it lies in memory, part by part; the sums of the
    /// parts are added in order.
    fn few(&self, args: &[Arg], report: &Report, team: &mut Team, rhs: &Strided) {
        let call = (args, report);
        let (m, strips, parts) = (self.m as usize, self.n.div_ceil(STRIP as u64), self.k.div_ceil(TERMS));
        let mut sums = Scratch::new();
        let (row, strip) = (STRIP, STRIP * m);
        sums.reserve((self.batch * strips * parts) as usize * strip * 4);
        let sums = Matrix { start: sums.as_mut_ptr().cast(), row: row as i64, column: 1 };
        let width = |j: u64| (STRIP as u64).min(self.n - j * STRIP as u64) as usize;
        team.each(self.batch * strips * parts, |task| {
            let (at, j, part) = (task / (strips * parts), task / parts % strips, task % parts);
            let terms = part * TERMS..self.k.min((part + 1) * TERMS);
            let mut left = Scratch::new();
            // SAFETY: all lies inside; each task has sums of its own.
            unsafe {
                let lhs = self.lhs.matrix(call, at, [0..self.m, terms.clone()], &mut left, None);
                let rows = rhs.matrix(args, at, terms.start, j * STRIP as u64);
                for i in 0..m {
                    let x = lhs.row(i, (terms.end - terms.start) as usize);
                    let to = sums.start().add(task as usize * strip + i * row);
                    part_of_row(slice::from_raw_parts_mut(to, width(j)), &x, rows);
                }
            }
        });
        team.each(self.batch * strips, |task| {
            let (at, j) = (task / strips, task % strips);
            // SAFETY: as above; the parts of a strip follow one another.
            unsafe {
                let first = sums.start().add((task * parts) as usize * strip);
                for part in 1..parts as usize {
                    for i in 0..m {
                        let more = slice::from_raw_parts(first.add(part * strip + i * row), width(j));
                        let to = slice::from_raw_parts_mut(first.add(i * row), width(j));
                        for c in 0..width(j) {
                            to[c] += more[c];
                        }
                    }
                }
                let columns = j * STRIP as u64..j * STRIP as u64 + width(j) as u64;
                self.finish_few(call, at, columns, first);
            }
        });
    }

    /// Stores a strip of a product of few rows, or runs the epilogue over it.
    ///
    /// SAFETY: `sums` has `m` rows of [`STRIP`] elements, and all lies inside.
    unsafe fn finish_few(&self, call: (&[Arg], &Report), at: u64, columns: Range<u64>, sums: *mut f32) {
        match &self.finish {
            Finish::Plain(to) => {
                for i in 0..self.m as isize {
                    // SAFETY: by the contract.
                    unsafe {
                        let to = to.matrix(call.0, at, i as u64, columns.start);
                        for c in 0..(columns.end - columns.start) as isize {
                            *to.start.offset(c * to.column as isize) = *sums.offset(i * STRIP as isize + c);
                        }
                    }
                }
            }
            Finish::Code(epilogue) => {
                epilogue.run(call, at, [0..self.m, columns], &[sums as *mut u8]);
            }
        }
    }

    /// Runs the product panel by panel.
    fn panels(&self, args: &[Arg], report: &Report, team: &mut Team) {
        let (down, across) = (self.m.div_ceil(self.rows), self.n.div_ceil(self.columns));
        let part = |i: u64, size: u64, all: u64| i * size..all.min((i + 1) * size);
        if self.rhs.is_packed() && down > 1 {
            // Each part of the right operand is packed once, by all threads.
            let mut scratch = Scratch::new();
            for at in 0..self.batch {
                for j in 0..across {
                    let columns = part(j, self.columns, self.n);
                    // SAFETY: all lies inside.
                    let rhs = unsafe {
                        let part = [0..self.k, columns.clone()];
                        self.rhs.matrix((args, report), at, part, &mut scratch, Some(&mut *team))
                    };
                    team.each(down, |i| {
                        self.panel(
                            args,
                            report,
                            at,
                            [part(i, self.rows, self.m), columns.clone()],
                            Some(rhs),
                        );
                    });
                }
            }
            return;
        }
        team.each(self.batch * across * down, |task| {
            let (at, rest) = (task / (across * down), task % (across * down));
            let (j, i) = (rest / down, rest % down);
            let place = [part(i, self.rows, self.m), part(j, self.columns, self.n)];
            self.panel(args, report, at, place, None);
        });
    }

    /// Runs one panel; the right operand's part is packed here unless it is given.
    fn panel(&self, args: &[Arg], report: &Report, at: u64, place: [Range<u64>; 2], rhs: Option<Matrix>) {
        let [rows, columns] = place.clone();
        let (mut left, mut right) = (Scratch::new(), Scratch::new());
        let call = (args, report);
        // SAFETY: all lies inside; scratch panels are made as large as they are used.
        unsafe {
            let lhs = self.lhs.matrix(call, at, [rows.clone(), 0..self.k], &mut left, None);
            let rhs = rhs
                .unwrap_or_else(|| self.rhs.matrix(call, at, [0..self.k, columns.clone()], &mut right, None));
            let sizes =
                [(rows.end - rows.start) as usize, (columns.end - columns.start) as usize, self.k as usize];
            match &self.finish {
                Finish::Plain(to) => {
                    multiply(to.matrix(args, at, rows.start, columns.start), lhs, rhs, sizes);
                }
                Finish::Code(epilogue) => {
                    let mut sums = Scratch::new();
                    sums.reserve(sizes[0] * self.columns as usize * 8);
                    let to = sums.as_mut_ptr();
                    match self.reg {
                        ScalarType::F32 => {
                            let to = Matrix { start: to.cast(), row: self.columns as i64, column: 1 };
                            multiply(to, lhs, rhs, sizes);
                        }
                        ScalarType::I32 => integers::<i32>(to, lhs, rhs, sizes, self.columns as usize),
                        _ => integers::<i64>(to, lhs, rhs, sizes, self.columns as usize),
                    }
                    epilogue.run(call, at, place, &[to]);
                }
            }
        }
    }
}

/// SAFETY: `to` has `m` rows of `pitch` elements, `lhs` is dense and `m` by `k`, `rhs` has `k` rows of `pitch`.
unsafe fn integers<T: Wrapping>(to: *mut u8, lhs: Matrix, rhs: Matrix, [m, n, k]: [usize; 3], pitch: usize) {
    // SAFETY: by the contract.
    unsafe {
        let to = slice::from_raw_parts_mut(to as *mut T, m * pitch);
        let lhs = slice::from_raw_parts(lhs.start as *const T, m * k);
        let rhs = slice::from_raw_parts(rhs.start as *const T, k * pitch);
        multiply_integers(to, lhs, rhs, [n, k, pitch]);
    }
}

/// Takes the first `n` coordinates, which no instruction follows, from a body.
fn drop_coordinates(insts: &mut [Inst], n: usize) {
    insts.iter_mut().filter_map(Inst::affine_mut).for_each(|at| drop(at.strides.drain(..n)));
}

const _: () = assert!(FEW < SHALLOW as usize, "products of few rows are cut along their columns");
