//! Matrix products over plain strided memory.

use super::lanes::{avx2, avx2_version};
use std::slice;

/// A matrix in memory: where it starts, and how far apart rows and columns are, in elements.
#[derive(Clone, Copy)]
pub(super) struct Matrix {
    pub(super) start: *mut f32,
    pub(super) row: i64,
    pub(super) column: i64,
}

impl Matrix {
    /// Where it starts. (A closure that took the field alone could not go to another thread.)
    pub(super) fn start(&self) -> *mut f32 {
        self.start
    }

    /// Rows as columns.
    fn transposed(self) -> Matrix {
        Matrix { row: self.column, column: self.row, ..self }
    }

    /// The same of `rows` rows, the last one first.
    fn last_row_first(self, rows: usize) -> Matrix {
        let start = self.start.wrapping_offset((rows as isize - 1) * self.row as isize);
        Matrix { start, row: -self.row, ..self }
    }

    /// The same of `columns` columns, the last one first.
    fn last_column_first(self, columns: usize) -> Matrix {
        self.transposed().last_row_first(columns).transposed()
    }

    /// The first `k` elements of row `i`.
    ///
    /// SAFETY: they are valid.
    pub(super) unsafe fn row(&self, i: usize, k: usize) -> Vec<f32> {
        let at = |p: usize| i as isize * self.row as isize + p as isize * self.column as isize;
        // SAFETY: by the contract.
        (0..k).map(|p| unsafe { *self.start.offset(at(p)) }).collect()
    }
}

// SAFETY: a matrix is a part of an argument or of scratch memory, of which threads write different parts.
unsafe impl Send for Matrix {}
// SAFETY: as above.
unsafe impl Sync for Matrix {}

/// Products of few rows are computed by streaming the right operand once.
pub(super) const FEW: usize = 4;

/// `to = lhs * rhs`, with `m` rows, `n` columns and `k` terms.
///
/// SAFETY: the matrices are valid for these sizes and `to` overlaps neither operand.
pub(super) unsafe fn multiply(to: Matrix, lhs: Matrix, rhs: Matrix, [m, n, k]: [usize; 3]) {
    // SAFETY: by the contract.
    unsafe {
        if m == 0 || n == 0 {
            return;
        }
        if m <= FEW && k > 0 && to.column == 1 && (rhs.column == 1 || rhs.row == 1) {
            return few_rows(to, lhs, rhs, [m, n, k]);
        }
        if k == 0 {
            for i in 0..m as isize {
                for j in 0..n as isize {
                    *to.start.offset(i * to.row as isize + j * to.column as isize) = 0.0;
                }
            }
            return;
        }
        blocked(to, lhs, rhs, [m, n, k]);
    }
}

/// A product of many rows. The crate's blocks want columns of the result that are nearer together than its rows are
/// apart, and strides that are not negative; all three matrices are turned until they are so.
///
/// SAFETY: that of [`multiply`]; no size is 0.
unsafe fn blocked(to: Matrix, lhs: Matrix, rhs: Matrix, [m, n, k]: [usize; 3]) {
    let (mut to, mut lhs, mut rhs, [m, n]) = match to.column.abs() < to.row.abs() {
        true => (to.transposed(), rhs.transposed(), lhs.transposed(), [n, m]),
        false => (to, lhs, rhs, [m, n]),
    };
    if to.row < 0 {
        (to, lhs) = (to.last_row_first(m), lhs.last_row_first(m));
    }
    if to.column < 0 {
        (to, rhs) = (to.last_column_first(n), rhs.last_column_first(n));
    }
    if lhs.column < 0 {
        (lhs, rhs) = (lhs.last_column_first(k), rhs.last_row_first(k));
    }
    let strides = |matrix: Matrix| (matrix.column as isize, matrix.row as isize);
    let ((to_cs, to_rs), (lhs_cs, lhs_rs), (rhs_cs, rhs_rs)) = (strides(to), strides(lhs), strides(rhs));
    let gemm = gemm_f32::gemm::f32::get_gemm_fn();
    let (to, lhs, rhs) = (to.start, lhs.start, rhs.start);
    let (add, times, threads) = (0.0, 1.0, gemm_common::Parallelism::None);
    // SAFETY: by the contract; the elements are the same from whichever end they are counted.
    unsafe {
        gemm(
            m, n, k, to, to_cs, to_rs, false, lhs, lhs_cs, lhs_rs, rhs, rhs_cs, rhs_rs, add, times, false,
            false, false, threads,
        );
    }
}

/// SAFETY: that of [`multiply`]; columns of `to`, and columns or rows of `rhs`, are neighbours; `m <= FEW`.
unsafe fn few_rows(to: Matrix, lhs: Matrix, rhs: Matrix, [m, n, k]: [usize; 3]) {
    // SAFETY: within `lhs`.
    let packed: Vec<f32> = (0..m).flat_map(|i| unsafe { lhs.row(i, k) }).collect();
    // SAFETY: the rows of `to` are valid for `n` elements each and do not overlap.
    let mut rows: Vec<&mut [f32]> = (0..m)
        .map(|i| unsafe { slice::from_raw_parts_mut(to.start.offset(i as isize * to.row as isize), n) })
        .collect();
    // SAFETY: by the contract; the AVX2 versions run only where AVX2 was found.
    unsafe {
        match (rhs.column == 1, avx2()) {
            (true, true) => by_rows_avx2(&mut rows, &packed, rhs, k),
            (true, false) => by_rows(&mut rows, &packed, rhs, k),
            (false, true) => by_columns_avx2(&mut rows, &packed, rhs, k),
            (false, false) => by_columns(&mut rows, &packed, rhs, k),
        }
    }
}

/// Terms that are added to a sum in one pass over it.
const UNROLL: usize = 8;
/// Columns whose sums stay in the nearest cache.
pub(super) const STRIP: usize = 2048;

/// Adds multiples of the rows of `rhs`.
///
/// SAFETY: rows of `rhs` are valid for as many elements as those of `to`.
#[inline(always)]
unsafe fn by_rows(to: &mut [&mut [f32]], lhs: &[f32], rhs: Matrix, k: usize) {
    let n = to[0].len();
    for first in (0..n).step_by(STRIP) {
        let width = STRIP.min(n - first);
        for (to, x) in to.iter_mut().zip(lhs.chunks_exact(k)) {
            let to = &mut to[first..first + width];
            to.fill(0.0);
            // SAFETY: `first + width <= n`.
            unsafe { add_rows(to, x, rhs.start.add(first), rhs.row as isize) };
        }
    }
}
avx2_version!(fn by_rows_avx2 = by_rows [] [] (to: &mut [&mut [f32]], lhs: &[f32], rhs: Matrix, k: usize));

/// Adds `x[p]` times row `p` of a matrix whose rows start `pitch` apart to `to`.
///
/// SAFETY: each of as many rows as `x` has elements is valid for as many elements as `to` has.
#[inline(always)]
unsafe fn add_rows(to: &mut [f32], x: &[f32], rows: *const f32, pitch: isize) {
    let n = to.len();
    // SAFETY: by the contract.
    let row = |p: usize| unsafe { slice::from_raw_parts(rows.offset(p as isize * pitch), n) };
    let whole = x.len() / UNROLL * UNROLL;
    for p in (0..whole).step_by(UNROLL) {
        let r: [&[f32]; UNROLL] =
            [row(p), row(p + 1), row(p + 2), row(p + 3), row(p + 4), row(p + 5), row(p + 6), row(p + 7)];
        let [a, b, c, d, e, f, g, h] = r;
        let x = &x[p..p + UNROLL];
        for i in 0..n {
            to[i] += ((x[0] * a[i] + x[1] * b[i]) + (x[2] * c[i] + x[3] * d[i]))
                + ((x[4] * e[i] + x[5] * f[i]) + (x[6] * g[i] + x[7] * h[i]));
        }
    }
    for p in whole..x.len() {
        let (x, row) = (x[p], row(p));
        for i in 0..n {
            to[i] += x * row[i];
        }
    }
}
avx2_version!(fn add_rows_avx2 = add_rows [] [] (to: &mut [f32], x: &[f32], rows: *const f32, pitch: isize));

/// `to = x * rows` for one part of the terms of a product of few rows.
///
/// SAFETY: that of [`add_rows`].
pub(super) unsafe fn part_of_row(to: &mut [f32], x: &[f32], rows: Matrix) {
    to.fill(0.0);
    // SAFETY: by the contract; the AVX2 version runs only where AVX2 was found.
    unsafe {
        if avx2() {
            add_rows_avx2(to, x, rows.start, rows.row as isize);
        } else {
            add_rows(to, x, rows.start, rows.row as isize);
        }
    }
}

/// Independent sums of a dot product.
const SUMS: usize = 32;

/// Dot products with the columns of `rhs`, each of which lies in one piece.
///
/// SAFETY: columns of `rhs` are valid for `k` elements.
#[inline(always)]
unsafe fn by_columns(to: &mut [&mut [f32]], lhs: &[f32], rhs: Matrix, k: usize) {
    let n = to[0].len();
    for j in 0..n {
        // SAFETY: `j < n`.
        let column = unsafe { slice::from_raw_parts(rhs.start.offset(j as isize * rhs.column as isize), k) };
        for (to, x) in to.iter_mut().zip(lhs.chunks_exact(k)) {
            to[j] = dot(x, column);
        }
    }
}
avx2_version!(fn by_columns_avx2 = by_columns [] [] (to: &mut [&mut [f32]], lhs: &[f32], rhs: Matrix, k: usize));

#[inline(always)]
fn dot(x: &[f32], y: &[f32]) -> f32 {
    let mut sums = [0f32; SUMS];
    let whole = x.len() / SUMS * SUMS;
    for first in (0..whole).step_by(SUMS) {
        let (x, y) = (&x[first..first + SUMS], &y[first..first + SUMS]);
        for i in 0..SUMS {
            sums[i] += x[i] * y[i];
        }
    }
    for i in whole..x.len() {
        sums[i - whole] += x[i] * y[i];
    }
    for half in [16, 8, 4, 2, 1] {
        for i in 0..half {
            sums[i] += sums[i + half];
        }
    }
    sums[0]
}

/// An integer that wraps.
pub(super) trait Wrapping: Copy {
    const ZERO: Self;
    fn add_product(self, a: Self, b: Self) -> Self;
}

impl Wrapping for i32 {
    const ZERO: i32 = 0;
    #[inline(always)]
    fn add_product(self, a: i32, b: i32) -> i32 {
        self.wrapping_add(a.wrapping_mul(b))
    }
}

impl Wrapping for i64 {
    const ZERO: i64 = 0;
    #[inline(always)]
    fn add_product(self, a: i64, b: i64) -> i64 {
        self.wrapping_add(a.wrapping_mul(b))
    }
}

/// `to = lhs * rhs` for rows of integers: `n` columns and `k` terms, rows `pitch` apart in `to` and `rhs`, `k`
/// apart in `lhs`.
pub(super) fn multiply_integers<T: Wrapping>(to: &mut [T], lhs: &[T], rhs: &[T], [n, k, pitch]: [usize; 3]) {
    to.fill(T::ZERO);
    if n == 0 || k == 0 {
        return;
    }
    // Rows of `rhs` that stay in cache while all rows of `to` take them in.
    let strip = ((32 << 10) / n).max(1);
    for first in (0..k).step_by(strip) {
        let terms = first..k.min(first + strip);
        for (to, lhs) in to.chunks_mut(pitch).zip(lhs.chunks_exact(k)) {
            for p in terms.clone() {
                let x = lhs[p];
                for (to, y) in to[..n].iter_mut().zip(&rhs[p * pitch..][..n]) {
                    *to = to.add_product(x, *y);
                }
            }
        }
    }
}
