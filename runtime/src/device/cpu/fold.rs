//! Folds, in one order that depends on the number of elements alone.
//!
//! The order, for `n` elements (any target that follows it gives the same bits):
//!
//! 1. Elements are cut into chunks of [`CHUNK`] = [`LANES`] x [`DEPTH`]; the last may be shorter.
//! 2. In a chunk, element `i` joins lane `i % LANES`, in order of `i`, starting from the identity.
//! 3. The lanes of a chunk are halved: lane `j` joins lane `j + 16`, then `j + 8`, `4`, `2`, `1`.
//! 4. The chunks are joined pairwise: `c` chunks are the first `p` joined with the rest, where `p` is the
//!    largest power of two below `c`, each part by the same rule. (A binary counter does this as they come.)
//!
//! It is the same whether a row lies along the lanes of the machine ([`RowFold`]) or across them
//! ([`ColumnFold`]), and wherever a row is cut for threads at a multiple of a power of two of chunks.

use super::lanes::{avx2, avx2_version};
use std::marker::PhantomData;
use std::slice;
use sx_artifact::kernel::{FoldOp, ScalarType};
use sx_artifact::maths::exact::{maximum, minimum};

/// Independent accumulators of a chunk.
pub(super) const LANES: usize = 32;
/// Elements that join one accumulator of a chunk.
pub(super) const DEPTH: usize = 16;
/// Elements of a chunk.
pub(super) const CHUNK: usize = LANES * DEPTH;

/// How two values combine, and what changes nothing.
pub(super) trait Join {
    type T: Copy;
    const IDENTITY: Self::T;
    fn join(a: Self::T, b: Self::T) -> Self::T;
}

struct Sum<T>(PhantomData<T>);
struct Max<T>(PhantomData<T>);
struct Min<T>(PhantomData<T>);
struct Prod<T>(PhantomData<T>);
struct All;
struct Any;

macro_rules! joins {
    ($($name:ty: $t:ty, $identity:expr, |$a:ident, $b:ident| $e:expr;)*) => {$(
        impl Join for $name {
            type T = $t;
            const IDENTITY: $t = $identity;
            #[inline(always)]
            fn join($a: $t, $b: $t) -> $t {
                $e
            }
        }
    )*};
}
joins! {
    Sum<f32>: f32, 0.0, |a, b| a + b;
    Max<f32>: f32, f32::NEG_INFINITY, |a, b| maximum(a, b);
    Min<f32>: f32, f32::INFINITY, |a, b| minimum(a, b);
    Prod<f32>: f32, 1.0, |a, b| a * b;
    Sum<i32>: i32, 0, |a, b| a.wrapping_add(b);
    Max<i32>: i32, i32::MIN, |a, b| a.max(b);
    Min<i32>: i32, i32::MAX, |a, b| a.min(b);
    Prod<i32>: i32, 1, |a, b| a.wrapping_mul(b);
    Sum<i64>: i64, 0, |a, b| a.wrapping_add(b);
    Max<i64>: i64, i64::MIN, |a, b| a.max(b);
    Min<i64>: i64, i64::MAX, |a, b| a.min(b);
    Prod<i64>: i64, 1, |a, b| a.wrapping_mul(b);
    All: u8, 1, |a, b| a & b;
    Any: u8, 0, |a, b| a | b;
}

/// The functions of one fold, over untyped memory.
#[derive(Clone, Copy)]
pub(super) struct Fold {
    /// Joins `n` elements in order to a row's state.
    pub(super) row_add: unsafe fn(&mut RowFold, *const u8, usize),
    /// Joins one finished part (of `2^k` chunks, the same `k` for all) to a row's state.
    pub(super) row_part: unsafe fn(&mut RowFold, *const u8),
    /// Writes a row's result.
    pub(super) row_finish: unsafe fn(&mut RowFold, *mut u8),
    /// Joins one element to each of `n` columns.
    pub(super) column_add: unsafe fn(&mut ColumnFold, *const u8, usize),
    /// Writes the results of `n` columns.
    pub(super) column_finish: unsafe fn(&mut ColumnFold, *mut u8, usize),
}

/// The fold of `op` over values of type `reg`, or `None` where it has no meaning.
pub(super) fn fold(op: FoldOp, reg: ScalarType) -> Option<Fold> {
    use FoldOp::{All as AllOp, Any as AnyOp, Max as MaxOp, Min as MinOp, Prod as ProdOp, Sum as SumOp};
    Some(match (op, reg) {
        (SumOp, ScalarType::F32) => functions::<Sum<f32>>(),
        (SumOp, ScalarType::I32) => functions::<Sum<i32>>(),
        (SumOp, ScalarType::I64) => functions::<Sum<i64>>(),
        (MaxOp, ScalarType::F32) => functions::<Max<f32>>(),
        (MaxOp, ScalarType::I32) => functions::<Max<i32>>(),
        (MaxOp, ScalarType::I64) => functions::<Max<i64>>(),
        (MinOp, ScalarType::F32) => functions::<Min<f32>>(),
        (MinOp, ScalarType::I32) => functions::<Min<i32>>(),
        (MinOp, ScalarType::I64) => functions::<Min<i64>>(),
        (ProdOp, ScalarType::F32) => functions::<Prod<f32>>(),
        (ProdOp, ScalarType::I32) => functions::<Prod<i32>>(),
        (ProdOp, ScalarType::I64) => functions::<Prod<i64>>(),
        (AllOp, ScalarType::Bool) | (MinOp, ScalarType::Bool) => functions::<All>(),
        (AnyOp, ScalarType::Bool) | (MaxOp, ScalarType::Bool) => functions::<Any>(),
        (SumOp | ProdOp, ScalarType::Bool)
        | (AllOp | AnyOp, ScalarType::F32 | ScalarType::I32 | ScalarType::I64) => return None,
    })
}

fn functions<J: Join>() -> Fold {
    let vector = avx2();
    Fold {
        row_add: if vector { row_add_avx2::<J> } else { row_add_base::<J> },
        row_part: row_part::<J>,
        row_finish: row_finish::<J>,
        column_add: if vector { column_add_avx2::<J> } else { column_add_base::<J> },
        column_finish: column_finish::<J>,
    }
}

/// Room for the finished parts of any row: one for each power of two of chunks.
const LEVELS: usize = 64;

/// The state of a fold whose elements come in order, many at a time.
#[repr(C, align(64))]
pub(super) struct RowFold {
    /// `LANES` values of the fold's type.
    lanes: [u64; LANES],
    /// Elements in the current chunk.
    position: usize,
    /// Finished parts so far.
    parts: u64,
    /// The values of finished subtrees, one for each bit of `parts`, largest first.
    stack: [u64; LEVELS],
    height: usize,
}

impl RowFold {
    /// A state that `reset` has yet to be called on.
    pub(super) fn new() -> RowFold {
        RowFold { lanes: [0; LANES], position: 0, parts: 0, stack: [0; LEVELS], height: 0 }
    }

    /// Forgets all elements.
    pub(super) fn reset(&mut self) {
        self.position = 0;
        self.parts = 0;
        self.height = 0;
    }

    fn lanes<T>(&mut self) -> &mut [T; LANES] {
        const { assert!(size_of::<T>() <= 8 && align_of::<T>() <= 8) };
        // SAFETY: plain numbers of at most 8 bytes, in room for as many of 8 bytes, aligned to 64.
        unsafe { &mut *(self.lanes.as_mut_ptr() as *mut [T; LANES]) }
    }

    fn entry<T>(&mut self, level: usize) -> &mut T {
        const { assert!(size_of::<T>() <= 8 && align_of::<T>() <= 8) };
        // SAFETY: a plain number of at most 8 bytes, in room for 8.
        unsafe { &mut *(&mut self.stack[level] as *mut u64 as *mut T) }
    }

    /// Adds a finished part as a binary counter adds one.
    fn push<J: Join>(&mut self, mut value: J::T) {
        let mut carry = self.parts;
        while carry & 1 == 1 {
            self.height -= 1;
            let level = self.height;
            value = J::join(*self.entry::<J::T>(level), value);
            carry >>= 1;
        }
        let level = self.height;
        *self.entry(level) = value;
        self.height += 1;
        self.parts += 1;
    }
}

/// Step 3 of the order.
#[inline(always)]
fn halve<J: Join>(lanes: &[J::T; LANES]) -> J::T {
    let mut lanes = *lanes;
    for half in [16, 8, 4, 2, 1] {
        for j in 0..half {
            lanes[j] = J::join(lanes[j], lanes[j + half]);
        }
    }
    lanes[0]
}

/// SAFETY: `x` is valid for `n` values of the fold's type.
#[inline(always)]
unsafe fn row_add_base<J: Join>(state: &mut RowFold, x: *const u8, n: usize) {
    // SAFETY: by the contract.
    let mut rest = unsafe { slice::from_raw_parts(x as *const J::T, n) };
    while !rest.is_empty() {
        if state.position == 0 {
            *state.lanes() = [J::IDENTITY; LANES];
        }
        let (piece, after) = rest.split_at(rest.len().min(CHUNK - state.position));
        let into = state.position % LANES;
        let mut lanes = *state.lanes::<J::T>();
        if into == 0 {
            join_whole::<J>(&mut lanes, piece);
        } else {
            for (i, &x) in piece.iter().enumerate() {
                let lane = &mut lanes[(into + i) % LANES];
                *lane = J::join(*lane, x);
            }
        }
        *state.lanes() = lanes;
        state.position += piece.len();
        if state.position == CHUNK {
            state.push::<J>(halve::<J>(&lanes));
            state.position = 0;
        }
        rest = after;
    }
}
avx2_version!(fn row_add_avx2 = row_add_base [J: Join] [J] (state: &mut RowFold, x: *const u8, n: usize));

/// Joins a piece that starts at lane 0.
#[inline(always)]
fn join_whole<J: Join>(lanes: &mut [J::T; LANES], piece: &[J::T]) {
    let mut groups = piece.chunks_exact(LANES);
    for group in &mut groups {
        for j in 0..LANES {
            lanes[j] = J::join(lanes[j], group[j]);
        }
    }
    for (lane, &x) in lanes.iter_mut().zip(groups.remainder()) {
        *lane = J::join(*lane, x);
    }
}

/// SAFETY: `value` is valid for one value of the fold's type.
unsafe fn row_part<J: Join>(state: &mut RowFold, value: *const u8) {
    // SAFETY: by the contract.
    state.push::<J>(unsafe { *(value as *const J::T) });
}

/// SAFETY: `out` is valid for one value of the fold's type.
unsafe fn row_finish<J: Join>(state: &mut RowFold, out: *mut u8) {
    if state.position > 0 {
        let last = halve::<J>(state.lanes());
        state.push::<J>(last);
        state.position = 0;
    }
    let mut result = J::IDENTITY;
    for level in (0..state.height).rev() {
        let part = *state.entry::<J::T>(level);
        result = if level + 1 == state.height { part } else { J::join(part, result) };
    }
    // SAFETY: by the contract.
    unsafe { *(out as *mut J::T) = result };
}

/// The state of a fold of many columns at once, to each of which elements come one at a time.
pub(super) struct ColumnFold {
    /// Columns there is room for.
    width: usize,
    /// Bytes of a value.
    size: usize,
    /// `LANES` rows of `width` values.
    lanes: Vec<u64>,
    position: usize,
    parts: u64,
    /// Rows of `width` values, as in [`RowFold`].
    stack: Vec<Vec<u64>>,
    height: usize,
}

impl ColumnFold {
    /// A state for `width` columns of values of `size` bytes.
    pub(super) fn new(width: usize, size: usize) -> ColumnFold {
        let words = (width * size).div_ceil(8);
        let lanes = vec![0; words * LANES];
        ColumnFold {
            width: words * 8 / size,
            size,
            lanes,
            position: 0,
            parts: 0,
            stack: Vec::new(),
            height: 0,
        }
    }

    /// Forgets all elements.
    pub(super) fn reset(&mut self) {
        self.position = 0;
        self.parts = 0;
        self.height = 0;
    }

    fn lanes<T>(&mut self) -> &mut [T] {
        assert!(size_of::<T>() == self.size && align_of::<T>() <= 8, "a fold keeps its type");
        // SAFETY: plain numbers in room for as many bytes.
        unsafe {
            slice::from_raw_parts_mut(self.lanes.as_mut_ptr() as *mut T, self.lanes.len() * 8 / self.size)
        }
    }

    /// Steps 3 and 4 for the current chunk of all columns.
    fn close<J: Join>(&mut self, n: usize) {
        let (width, used) = (self.width, self.position.min(LANES));
        let lanes = self.lanes::<J::T>();
        for half in [16, 8, 4, 2, 1] {
            // A lane that no element has joined holds the identity, which changes nothing.
            for j in 0..half.min(used.saturating_sub(half)) {
                let (low, high) = lanes.split_at_mut((j + half) * width);
                for (a, b) in low[j * width..][..n].iter_mut().zip(&high[..n]) {
                    *a = J::join(*a, *b);
                }
            }
        }
        self.push::<J>(n);
        self.position = 0;
    }

    fn push<J: Join>(&mut self, n: usize) {
        let mut carry = self.parts;
        while carry & 1 == 1 {
            self.height -= 1;
            let part = std::mem::take(&mut self.stack[self.height]);
            for (a, b) in self.lanes::<J::T>()[..n].iter_mut().zip(typed::<J::T>(&part)) {
                *a = J::join(*b, *a);
            }
            self.stack[self.height] = part;
            carry >>= 1;
        }
        if self.height == self.stack.len() {
            self.stack.push(Vec::new());
        }
        let words = (n * self.size).div_ceil(8);
        let level = &mut self.stack[self.height];
        level.clear();
        level.extend_from_slice(&self.lanes[..words]);
        self.height += 1;
        self.parts += 1;
    }
}

/// Words as plain numbers.
fn typed<T>(words: &[u64]) -> &[T] {
    const { assert!(align_of::<T>() <= 8) };
    // SAFETY: plain numbers in room for as many bytes.
    unsafe { slice::from_raw_parts(words.as_ptr() as *const T, words.len() * 8 / size_of::<T>()) }
}

/// SAFETY: `x` is valid for `n` values of the fold's type; `n` is the same until the state is reset.
#[inline(always)]
unsafe fn column_add_base<J: Join>(state: &mut ColumnFold, x: *const u8, n: usize) {
    // SAFETY: by the contract.
    let x = unsafe { slice::from_raw_parts(x as *const J::T, n) };
    let (row, first) = (state.position % LANES, state.position < LANES);
    let width = state.width;
    let lane = &mut state.lanes::<J::T>()[row * width..][..n];
    if first {
        for (lane, x) in lane.iter_mut().zip(x) {
            *lane = J::join(J::IDENTITY, *x);
        }
    } else {
        for (lane, x) in lane.iter_mut().zip(x) {
            *lane = J::join(*lane, *x);
        }
    }
    state.position += 1;
    if state.position == CHUNK {
        state.close::<J>(n);
    }
}
avx2_version!(fn column_add_avx2 = column_add_base [J: Join] [J] (state: &mut ColumnFold, x: *const u8, n: usize));

/// SAFETY: `out` is valid for `n` values of the fold's type.
unsafe fn column_finish<J: Join>(state: &mut ColumnFold, out: *mut u8, n: usize) {
    // SAFETY: by the contract.
    let out = unsafe { slice::from_raw_parts_mut(out as *mut J::T, n) };
    if state.position > 0 {
        state.close::<J>(n);
    }
    out.fill(J::IDENTITY);
    for level in (0..state.height).rev() {
        let part = typed::<J::T>(&state.stack[level]);
        if level + 1 == state.height {
            out.copy_from_slice(&part[..n]);
        } else {
            for (out, part) in out.iter_mut().zip(part) {
                *out = J::join(*part, *out);
            }
        }
    }
}
