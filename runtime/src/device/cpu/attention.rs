//! Attention: blocks of queries against blocks of keys, with scores that never leave the cache.
//!
//! For each block of queries the softmax is kept as the largest score so far, the sum of exponentials relative
//! to it and the weighted sum of values; each block of keys rescales them. Blocks follow from shapes alone.

use super::block_program::ArgSpec;
use super::buffer::{Arg, Report, Scratch};
use super::contract::WORTH;
use super::fold::{Fold, RowFold, fold};
use super::fuse::Fused;
use super::lanes::{LaneFn, avx2, avx2_version};
use super::operand::{Epilogue, Groups, Side, count};
use super::product::{Matrix, multiply};
use super::scalar;
use super::team::Team;
use std::ops::Range;
use std::slice;
use sx_artifact::kernel::{Attention, FoldOp, ScalarType};
use sx_artifact::maths::{exact::maximum, exp};
use sx_artifact::scalar::ScalarFn;

/// Queries of a block.
const QUERIES: u64 = 128;
/// Keys of a block.
const KEYS: u64 = 512;

/// Attention made ready.
pub(super) struct AttentionReady {
    batch: u64,
    t: u64,
    s: u64,
    d: u64,
    e: u64,
    causal: bool,
    zero_hidden_rows: bool,
    query: Side,
    key: Side,
    value: Side,
    score: Epilogue,
    epilogue: Epilogue,
    lanes: Lanes,
}

/// The loops over a row of scores.
struct Lanes {
    max: Fold,
    sum: Fold,
    /// The exponentials of a row's differences to a number.
    exp_sub: LaneFn,
    /// A row divided by a number.
    div: LaneFn,
}

impl Lanes {
    fn new() -> Option<Lanes> {
        Some(Lanes {
            max: fold(FoldOp::Max, ScalarType::F32)?,
            sum: fold(FoldOp::Sum, ScalarType::F32)?,
            exp_sub: Fused::ExpSub.lanes([true, false, false]),
            div: scalar::call(ScalarFn::Div, ScalarType::F32, [true, false, false])?,
        })
    }
}

/// Room for one block of queries.
struct Room {
    query: Scratch,
    key: Scratch,
    value: Scratch,
    /// Dot products, then exponentials.
    dots: Scratch,
    scores: Scratch,
    /// Values weighted by one block of keys, and by all so far.
    part: Scratch,
    total: Scratch,
    max: Vec<f32>,
    sum: Vec<f32>,
}

impl AttentionReady {
    /// Makes an attention ready, or says what has no meaning in it.
    pub(super) fn new(work: &Attention, args: &[ArgSpec]) -> Result<AttentionReady, String> {
        let batch = &work.batch[..];
        let (t, s, d, e) = (work.t, work.s, work.d, work.e);
        let (ts, ss, ds, es) = ([t], [s], [d], [e]);
        let scores: Groups<'_> = [batch, &ts, &ss];
        let results: Groups<'_> = [batch, &ts, &es];
        let keys = KEYS.min(s.max(1));
        Ok(AttentionReady {
            batch: count(batch),
            t,
            s,
            d,
            e,
            causal: work.causal,
            zero_hidden_rows: work.zero_hidden_rows,
            query: Side::new(&work.query, [batch, &ts, &ds], ScalarType::F32, args, d)?,
            key: Side::new(&work.key, [batch, &ss, &ds], ScalarType::F32, args, d)?,
            value: Side::new(&work.value, [batch, &ss, &es], ScalarType::F32, args, e)?,
            score: Epilogue::into_panel(&work.score, scores, args, (keys, keys < s || work.causal))?,
            epilogue: Epilogue::new(
                (&work.epilogue, &work.stores),
                results,
                ScalarType::F32,
                args,
                (e, false),
            )?,
            lanes: Lanes::new().ok_or("a softmax of f32 values")?,
        })
    }

    /// Bytes that a thread works on at most: a block of queries, one of keys, and what is between them.
    pub(super) fn working_bytes(&self) -> usize {
        let (rows, keys) = (QUERIES.min(self.t), KEYS.min(self.s.max(1)));
        let panels = rows.saturating_mul(2 * keys + 2 * self.e) as usize * 4;
        let operands = [(&self.query, rows), (&self.key, keys), (&self.value, keys)];
        let operands = operands.into_iter().map(|(side, rows)| side.working_bytes(rows));
        let code = self.score.working_bytes().max(self.epilogue.working_bytes());
        operands.fold(panels + code, usize::saturating_add)
    }

    /// Runs the attention.
    pub(super) fn run(&self, args: &[Arg], report: &Report, team: &mut Team) {
        if self.batch * self.t * self.e == 0 {
            return;
        }
        let inside = self.query.is_inside(args, [self.t, self.d])
            && self.key.is_inside(args, [self.s, self.d])
            && self.value.is_inside(args, [self.s, self.e]);
        if !inside {
            return report.outside();
        }
        let work = self.batch * self.t * self.s.max(1) * (self.d + self.e);
        let mut alone = Team::alone();
        let team = if work < WORTH { &mut alone } else { team };
        let blocks = self.t.div_ceil(QUERIES);
        team.each(self.batch * blocks, |task| {
            let first = task % blocks * QUERIES;
            self.block(args, report, task / blocks, first..self.t.min(first + QUERIES));
        });
    }

    /// The keys that any of these queries sees.
    fn seen(&self, queries: &Range<u64>) -> u64 {
        match self.causal {
            true => (queries.end + self.s).saturating_sub(self.t).min(self.s),
            false => self.s,
        }
    }

    /// Runs one block of queries.
    fn block(&self, args: &[Arg], report: &Report, at: u64, queries: Range<u64>) {
        let rows = (queries.end - queries.start) as usize;
        let width = self.e as usize;
        let new = Scratch::new;
        let mut room = Room {
            query: new(),
            key: new(),
            value: new(),
            dots: new(),
            scores: new(),
            part: new(),
            total: new(),
            max: vec![f32::NEG_INFINITY; rows],
            sum: vec![0.0; rows],
        };
        let pitch = KEYS.min(self.s.max(1)) as usize;
        room.dots.reserve(rows * pitch * 4);
        room.scores.reserve(rows * pitch * 4);
        room.part.reserve(rows * width * 4);
        room.total.reserve(rows * width * 4);
        // SAFETY: as many elements as reserved, on memory that is always initialised.
        unsafe { slice::from_raw_parts_mut(room.total.as_mut_ptr() as *mut f32, rows * width) }.fill(0.0);
        // SAFETY: all lies inside.
        let query = unsafe {
            self.query.matrix((args, report), at, [queries.clone(), 0..self.d], &mut room.query, None)
        };
        let seen = self.seen(&queries);
        let mut first = 0;
        while first < seen {
            let keys = first..seen.min(first + KEYS);
            first = keys.end;
            self.keys((args, report), at, (&queries, query), keys, &mut room);
        }
        for i in 0..rows {
            // Only the sum of a query that sees nothing is 0: its 0 is divided by 0, unless it shall stay 0.
            if self.zero_hidden_rows && room.sum[i] == 0.0 {
                room.sum[i] = 1.0;
            }
            // SAFETY: row `i` of both, `width` elements.
            unsafe {
                let from = (room.total.as_mut_ptr() as *mut f32).add(i * width);
                let to = (room.part.as_mut_ptr() as *mut f32).add(i * width);
                let sum = &room.sum[i] as *const f32;
                (self.lanes.div)(to.cast(), from.cast(), sum.cast(), sum.cast(), width);
            }
        }
        self.epilogue.run((args, report), at, [queries, 0..self.e], &[room.part.as_mut_ptr()]);
    }

    /// Takes in one block of keys.
    fn keys(
        &self,
        call: (&[Arg], &Report),
        at: u64,
        (queries, query): (&Range<u64>, Matrix),
        keys: Range<u64>,
        room: &mut Room,
    ) {
        let (rows, n, width) =
            ((queries.end - queries.start) as usize, (keys.end - keys.start) as usize, self.e);
        let (pitch, keys_start) = (KEYS.min(self.s.max(1)) as usize, keys.start);
        let panel =
            |start: *mut u8, pitch: usize| Matrix { start: start.cast(), row: pitch as i64, column: 1 };
        let (dots, scores) = (room.dots.as_mut_ptr(), room.scores.as_mut_ptr());
        // SAFETY: all lies inside; the panels have room for `rows` rows.
        let value = unsafe {
            let key = self.key.matrix(call, at, [keys.clone(), 0..self.d], &mut room.key, None);
            let key = Matrix { start: key.start, row: key.column, column: key.row };
            multiply(panel(dots, pitch), query, key, [rows, n, self.d as usize]);
            self.value.matrix(call, at, [keys.clone(), 0..self.e], &mut room.value, None)
        };
        self.score.run(call, at, [queries.clone(), keys], &[scores, dots]);
        let (total, part, width) = (room.total.as_mut_ptr(), room.part.as_mut_ptr(), width as usize);
        let mut scales = Vec::with_capacity(rows);
        for i in 0..rows {
            // SAFETY: row `i` of each panel.
            unsafe {
                let (score, exp) = (scores.add(i * pitch * 4), dots.add(i * pitch * 4));
                scales.push(self.softmax(score, exp, n, &mut room.max[i], &mut room.sum[i]));
            }
        }
        let first = keys_start == 0;
        let to = if first { total } else { part };
        // SAFETY: all panels have room for `rows` rows, and do not overlap.
        unsafe {
            multiply(panel(to, width), panel(dots, pitch), value, [rows, width, n]);
            if !first {
                let total = slice::from_raw_parts_mut(total as *mut f32, rows * width);
                let part = slice::from_raw_parts(part as *const f32, rows * width);
                for ((total, part), scale) in total.chunks_mut(width).zip(part.chunks(width)).zip(scales) {
                    if avx2() { rescale_avx2(total, part, scale) } else { rescale(total, part, scale) }
                }
            }
        }
    }

    /// Turns `n` scores into exponentials relative to the largest score so far; what earlier sums are to be
    /// multiplied with.
    ///
    /// SAFETY: `scores` and `to` are valid for `n` elements and do not overlap.
    unsafe fn softmax(&self, scores: *mut u8, to: *mut u8, n: usize, max: &mut f32, sum: &mut f32) -> f32 {
        let mut state = RowFold::new();
        let mut folded = |fold: &Fold, x: *const u8| -> f32 {
            let mut result = 0f32;
            state.reset();
            // SAFETY: `x` is valid for `n` elements.
            unsafe {
                (fold.row_add)(&mut state, x, n);
                (fold.row_finish)(&mut state, (&mut result as *mut f32).cast());
            }
            result
        };
        let largest = maximum(*max, folded(&self.lanes.max, scores));
        // Where all scores are -inf so far, exponentials relative to 0 are 0.
        let base = if largest == f32::NEG_INFINITY { 0.0 } else { largest };
        let number = (&base as *const f32).cast();
        // SAFETY: by the contract; the number is one lane.
        unsafe { (self.lanes.exp_sub)(to, scores, number, number, n) };
        let scale = exp(*max - base);
        *sum = *sum * scale + folded(&self.lanes.sum, to);
        *max = largest;
        scale
    }
}

/// Adds a part to a total that is relative to another number.
#[inline(always)]
fn rescale(total: &mut [f32], part: &[f32], scale: f32) {
    for (total, part) in total.iter_mut().zip(part) {
        *total = *total * scale + *part;
    }
}
avx2_version!(fn rescale_avx2 = rescale [] [] (total: &mut [f32], part: &[f32], scale: f32));
