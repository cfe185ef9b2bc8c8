//! Products over strides of every sign and order.

use super::Random;
use crate::device::cpu::product::{Matrix, multiply};
use sx_artifact::dtype::DType;
use sx_artifact::tensor::Data;

/// A matrix within `data`, with rows or columns together, each from its first or its last.
fn placed(data: &mut [f32], [rows, columns]: [usize; 2], way: u64) -> Matrix {
    let (mut row, mut column) = if way & 1 == 0 { (columns as i64, 1) } else { (1, rows as i64) };
    let mut first = 0;
    if way & 2 != 0 {
        first += row * (rows as i64 - 1);
        row = -row;
    }
    if way & 4 != 0 {
        first += column * (columns as i64 - 1);
        column = -column;
    }
    Matrix { start: data.as_mut_ptr().wrapping_offset(first as isize), row, column }
}

fn element(matrix: Matrix, i: usize, j: usize) -> f32 {
    // SAFETY: the caller names an element of the matrix.
    unsafe { *matrix.start.offset(i as isize * matrix.row as isize + j as isize * matrix.column as isize) }
}

#[test]
fn products_do_not_depend_on_how_matrices_lie() {
    let mut random = Random(11);
    for ways in 0..8 * 8 * 8u64 {
        let [m, n, k] = [0; 3].map(|_| 1 + random.below(23) as usize);
        let mut room = |rows: usize, columns: usize| match random.data(DType::F32, rows * columns) {
            Data::F32(values) => values,
            _ => Vec::new(),
        };
        let (mut a, mut b, mut c) = (room(m, k), room(k, n), vec![f32::NAN; m * n]);
        let (lhs, rhs) = (placed(&mut a, [m, k], ways % 8), placed(&mut b, [k, n], ways / 8 % 8));
        let to = placed(&mut c, [m, n], ways / 64);
        // SAFETY: the matrices lie within their vectors.
        unsafe { multiply(to, lhs, rhs, [m, n, k]) };
        for i in 0..m {
            for j in 0..n {
                let sum: f64 =
                    (0..k).map(|p| f64::from(element(lhs, i, p)) * f64::from(element(rhs, p, j))).sum();
                let found = element(to, i, j);
                assert!(
                    (f64::from(found) - sum).abs() < 1e-4,
                    "{ways}: {m}x{k}x{n} at {i}, {j}: {found} {sum}"
                );
            }
        }
    }
}
