//! Loads and stores that are not simply a pointer into a buffer: strided, converted, guarded, gathered.

use super::lanes::{avx2, avx2_version};
use super::scalar::bf16_bits;
use super::space::MAX_TILE;
use std::slice;
use sx_artifact::dtype::DType;
use sx_artifact::kernel::ScalarType;

/// An element as a buffer holds it, and as a lane holds it.
pub(super) trait Element: Copy {
    type Lane: Copy + Default;
    fn widen(self) -> Self::Lane;
    fn narrow(lane: Self::Lane) -> Self;
}

/// The upper half of an `f32`.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Half(u16);

impl Element for Half {
    type Lane = f32;
    #[inline(always)]
    fn widen(self) -> f32 {
        f32::from_bits((self.0 as u32) << 16)
    }
    #[inline(always)]
    fn narrow(lane: f32) -> Half {
        Half(bf16_bits(lane))
    }
}

macro_rules! plain_elements {
    ($($t:ty),*) => {$(
        impl Element for $t {
            type Lane = $t;
            #[inline(always)]
            fn widen(self) -> $t {
                self
            }
            #[inline(always)]
            fn narrow(lane: $t) -> $t {
                lane
            }
        }
    )*};
}
plain_elements!(f32, i32, i64, u8);

/// The points of a block: how many along each of its axes, and how far apart in memory.
pub(super) struct Grid {
    /// Sizes, outermost first; unused ones are 1.
    pub(super) sizes: [usize; MAX_TILE],
    /// Strides in elements.
    pub(super) strides: [i64; MAX_TILE],
}

impl Grid {
    /// The lowest and the highest element reached, relative to the first.
    pub(super) fn span(&self) -> (i64, i64) {
        let (mut low, mut high) = (0i64, 0i64);
        for i in 0..MAX_TILE {
            let reach = self.strides[i].saturating_mul(self.sizes[i] as i64 - 1);
            low += reach.min(0);
            high += reach.max(0);
        }
        (low, high)
    }

    /// Calls `f` with each innermost segment: its first lane, its first element.
    #[inline(always)]
    fn segments(&self, mut f: impl FnMut(usize, i64)) {
        let [a, b, c, d] = self.sizes;
        let [sa, sb, sc, _] = self.strides;
        let mut lane = 0;
        for i in 0..a as i64 {
            for j in 0..b as i64 {
                for k in 0..c as i64 {
                    f(lane, i * sa + j * sb + k * sc);
                    lane += d;
                }
            }
        }
    }
}

/// A computed index that follows the lanes, and its stride in elements.
#[derive(Clone, Copy)]
pub(super) struct LaneIndex {
    pub(super) values: *const u8,
    pub(super) reg: ScalarType,
    pub(super) stride: i64,
}

impl LaneIndex {
    /// SAFETY: `values` is valid for lane `i`.
    #[inline(always)]
    unsafe fn at(&self, i: usize) -> i64 {
        // SAFETY: by the contract.
        let value = unsafe {
            match self.reg {
                ScalarType::I64 => *(self.values as *const i64).add(i),
                _ => *(self.values as *const i32).add(i) as i64,
            }
        };
        value.wrapping_mul(self.stride)
    }
}

/// Loads a block: `(to, first element, grid)`.
///
/// SAFETY of a call: `to` is valid for the grid's lanes, the first element plus every offset of the grid is
/// within a buffer.
pub(super) type LoadFn = unsafe fn(*mut u8, *const u8, &Grid);
/// Stores a block: `(first element, from, grid)`; the contract is that of [`LoadFn`].
pub(super) type StoreFn = unsafe fn(*mut u8, *const u8, &Grid);

#[inline(always)]
unsafe fn load_base<E: Element>(to: *mut u8, first: *const u8, grid: &Grid) {
    let (to, first) = (to as *mut E::Lane, first as *const E);
    let n = grid.sizes[MAX_TILE - 1];
    let stride = grid.strides[MAX_TILE - 1];
    // SAFETY: by the contract of `LoadFn`.
    unsafe {
        if let ([1, 1, rows, _], [_, _, 1, _]) = (grid.sizes, grid.strides)
            && rows > 1
            && stride != 1
            && stride != 0
        {
            return load_crosswise::<E>(to, first, rows, n, stride);
        }
        grid.segments(|lane, at| {
            let to = slice::from_raw_parts_mut(to.add(lane), n);
            let from = first.offset(at as isize);
            match stride {
                0 => to.fill((*from).widen()),
                1 => {
                    for (to, from) in to.iter_mut().zip(slice::from_raw_parts(from, n)) {
                        *to = from.widen();
                    }
                }
                _ => {
                    for (i, to) in to.iter_mut().enumerate() {
                        *to = (*from.offset(i as isize * stride as isize)).widen();
                    }
                }
            }
        });
    }
}
avx2_version!(fn load_avx2 = load_base [E: Element] [E] (to: *mut u8, first: *const u8, grid: &Grid));

/// A block whose rows lie along memory though its columns are the lanes: read row by row.
///
/// SAFETY: that of [`LoadFn`].
#[inline(always)]
unsafe fn load_crosswise<E: Element>(to: *mut E::Lane, first: *const E, rows: usize, n: usize, stride: i64) {
    for j in 0..n {
        // SAFETY: by the contract.
        unsafe {
            let from = slice::from_raw_parts(first.offset(j as isize * stride as isize), rows);
            for (i, from) in from.iter().enumerate() {
                *to.add(i * n + j) = from.widen();
            }
        }
    }
}

#[inline(always)]
unsafe fn store_base<E: Element>(first: *mut u8, from: *const u8, grid: &Grid) {
    let (first, from) = (first as *mut E, from as *const E::Lane);
    let n = grid.sizes[MAX_TILE - 1];
    let stride = grid.strides[MAX_TILE - 1];
    // SAFETY: by the contract of `StoreFn`.
    unsafe {
        grid.segments(|lane, at| {
            let from = slice::from_raw_parts(from.add(lane), n);
            let to = first.offset(at as isize);
            if stride == 1 {
                for (to, from) in slice::from_raw_parts_mut(to, n).iter_mut().zip(from) {
                    *to = E::narrow(*from);
                }
            } else {
                for (i, from) in from.iter().enumerate() {
                    *to.offset(i as isize * stride as isize) = E::narrow(*from);
                }
            }
        });
    }
}
avx2_version!(fn store_avx2 = store_base [E: Element] [E] (first: *mut u8, from: *const u8, grid: &Grid));

/// The load of a dtype.
pub(super) fn load(dtype: DType) -> LoadFn {
    match (dtype, avx2()) {
        (DType::F32, true) => load_avx2::<f32>,
        (DType::Bf16, true) => load_avx2::<Half>,
        (DType::I32, true) => load_avx2::<i32>,
        (DType::I64, true) => load_avx2::<i64>,
        (DType::Bool, true) => load_avx2::<u8>,
        (DType::F32, false) => load_base::<f32>,
        (DType::Bf16, false) => load_base::<Half>,
        (DType::I32, false) => load_base::<i32>,
        (DType::I64, false) => load_base::<i64>,
        (DType::Bool, false) => load_base::<u8>,
    }
}

/// The store of a dtype.
pub(super) fn store(dtype: DType) -> StoreFn {
    match (dtype, avx2()) {
        (DType::F32, true) => store_avx2::<f32>,
        (DType::Bf16, true) => store_avx2::<Half>,
        (DType::I32, true) => store_avx2::<i32>,
        (DType::I64, true) => store_avx2::<i64>,
        (DType::Bool, true) => store_avx2::<u8>,
        (DType::F32, false) => store_base::<f32>,
        (DType::Bf16, false) => store_base::<Half>,
        (DType::I32, false) => store_base::<i32>,
        (DType::I64, false) => store_base::<i64>,
        (DType::Bool, false) => store_base::<u8>,
    }
}

/// Where a guarded or gathered load reads: all of a buffer, and the first element's position in it.
pub(super) struct Window {
    pub(super) buffer: *const u8,
    pub(super) len: u64,
    pub(super) first: i64,
}

/// Loads lane by lane: `(to, window, grid, guard, indices)`. A lane that its guard hides is 0; false where a
/// lane that it does not hide lies outside of the buffer.
///
/// SAFETY of a call: `to` is valid for the grid's lanes, the guard and the indices too, the window's buffer
/// for its length.
pub(super) type GatherFn = unsafe fn(*mut u8, &Window, &Grid, Option<*const u8>, &[LaneIndex]) -> bool;

unsafe fn gather_lanes<E: Element>(
    to: *mut u8,
    window: &Window,
    grid: &Grid,
    guard: Option<*const u8>,
    indices: &[LaneIndex],
) -> bool {
    let (to, buffer) = (to as *mut E::Lane, window.buffer as *const E);
    let n = grid.sizes[MAX_TILE - 1];
    let stride = grid.strides[MAX_TILE - 1];
    let mut inside = true;
    grid.segments(|lane, at| {
        let first = window.first.wrapping_add(at);
        let last = first.wrapping_add(stride.wrapping_mul(n as i64 - 1));
        // SAFETY: the lanes of the segment are the grid's; every element read has been compared with `len`.
        unsafe {
            let to = slice::from_raw_parts_mut(to.add(lane), n);
            let shown = guard.map(|guard| slice::from_raw_parts(guard.add(lane), n));
            let whole = |at: i64| at >= 0 && (at as u64) < window.len;
            // Parts of a concatenation are hidden segment by segment.
            if shown.is_some_and(|shown| !shown.contains(&1)) {
                to.fill(E::Lane::default());
                return;
            }
            if indices.is_empty()
                && stride == 1
                && shown.is_none_or(|s| !s.contains(&0))
                && whole(first)
                && whole(last)
            {
                let from = slice::from_raw_parts(buffer.offset(first as isize), n);
                for (to, from) in to.iter_mut().zip(from) {
                    *to = from.widen();
                }
                return;
            }
            for (i, to) in to.iter_mut().enumerate() {
                *to = E::Lane::default();
                if shown.is_some_and(|shown| shown[i] == 0) {
                    continue;
                }
                let mut at = first.wrapping_add(stride.wrapping_mul(i as i64));
                for index in indices {
                    at = at.wrapping_add(index.at(lane + i));
                }
                if whole(at) {
                    *to = (*buffer.offset(at as isize)).widen();
                } else {
                    inside = false;
                }
            }
        }
    });
    inside
}

/// The guarded or gathered load of a dtype.
pub(super) fn gather(dtype: DType) -> GatherFn {
    match dtype {
        DType::F32 => gather_lanes::<f32>,
        DType::Bf16 => gather_lanes::<Half>,
        DType::I32 => gather_lanes::<i32>,
        DType::I64 => gather_lanes::<i64>,
        DType::Bool => gather_lanes::<u8>,
    }
}

/// Writes `first` plus the grid's offsets as integers.
///
/// SAFETY: `to` is valid for the grid's lanes of `reg`, `I32` or `I64`.
pub(super) unsafe fn iota(to: *mut u8, first: i64, grid: &Grid, reg: ScalarType) {
    let n = grid.sizes[MAX_TILE - 1];
    let stride = grid.strides[MAX_TILE - 1];
    grid.segments(|lane, at| {
        let mut value = first.wrapping_add(at);
        // SAFETY: by the contract.
        unsafe {
            match reg {
                ScalarType::I64 => {
                    for to in slice::from_raw_parts_mut((to as *mut i64).add(lane), n) {
                        *to = value;
                        value = value.wrapping_add(stride);
                    }
                }
                _ => {
                    for to in slice::from_raw_parts_mut((to as *mut i32).add(lane), n) {
                        *to = value as i32;
                        value = value.wrapping_add(stride);
                    }
                }
            }
        }
    });
}

/// Copies `n` indices to `to`, 0 for those outside of `0..size`; the first such lane and its value.
///
/// SAFETY: `to` and `x` are valid for `n` lanes of `reg`, `I32` or `I64`.
pub(super) unsafe fn bounded(
    to: *mut u8,
    x: *const u8,
    n: usize,
    size: u64,
    reg: ScalarType,
) -> Option<(usize, i64)> {
    // SAFETY: by the contract.
    unsafe {
        match reg {
            ScalarType::I64 => bounded_lanes(
                slice::from_raw_parts_mut(to as *mut i64, n),
                slice::from_raw_parts(x as *const i64, n),
                size,
            ),
            _ => bounded_lanes(
                slice::from_raw_parts_mut(to as *mut i32, n),
                slice::from_raw_parts(x as *const i32, n),
                size,
            ),
        }
    }
}

fn bounded_lanes<T: Copy + Default + Into<i64>>(to: &mut [T], x: &[T], size: u64) -> Option<(usize, i64)> {
    let mut all = true;
    for (to, &x) in to.iter_mut().zip(x) {
        // A negative index is a huge unsigned one.
        let inside = (x.into() as u64) < size.min(i64::MAX as u64 + 1);
        *to = if inside { x } else { T::default() };
        all &= inside;
    }
    if all {
        return None;
    }
    x.iter().map(|&x| x.into()).enumerate().find(|&(_, x)| x as u64 >= size.min(i64::MAX as u64 + 1))
}

/// Copies `n` indices to `to`, brought into `0..size`.
///
/// SAFETY: `to` and `x` are valid for `n` lanes of `reg`, `I32` or `I64`.
pub(super) unsafe fn clamped(to: *mut u8, x: *const u8, n: usize, size: u64, reg: ScalarType) {
    let last = i64::try_from(size).unwrap_or(i64::MAX).saturating_sub(1).max(0);
    // SAFETY: by the contract.
    unsafe {
        match reg {
            ScalarType::I64 => {
                let x = slice::from_raw_parts(x as *const i64, n);
                for (to, x) in slice::from_raw_parts_mut(to as *mut i64, n).iter_mut().zip(x) {
                    *to = (*x).clamp(0, last);
                }
            }
            _ => {
                let last = i32::try_from(last).unwrap_or(i32::MAX);
                let x = slice::from_raw_parts(x as *const i32, n);
                for (to, x) in slice::from_raw_parts_mut(to as *mut i32, n).iter_mut().zip(x) {
                    *to = (*x).clamp(0, last);
                }
            }
        }
    }
}
