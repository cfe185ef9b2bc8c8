//! What this machine can do: a streaming copy, the GEMM crate, and a fused loop written by hand.

use rayon::prelude::*;
use sx_artifact::maths;
use sx_runtime::device::pages::{self, prefer_large};

/// Elements a task takes: small enough to share, large enough not to show.
const CHUNK: usize = 1 << 16;

/// KernelKind that can be timed again and again.
pub(crate) enum Ceiling {
    /// Every byte read once and written once.
    Copy { from: Vec<f32>, to: Vec<f32> },
    /// `[m, k]` times `[k, n]`, all row-major.
    Gemm { sizes: [usize; 3], lhs: Vec<f32>, rhs: Vec<f32>, out: Vec<f32> },
    /// `tanh(1.3 x + 0.2) * sigmoid(0.7 x)` in one pass, with the library's own functions.
    Map { from: Vec<f32>, to: Vec<f32> },
}

/// Values that are neither constant nor subnormal.
fn filled(len: usize) -> Vec<f32> {
    let mut values = zeros(len);
    values.iter_mut().enumerate().for_each(|(i, x)| *x = (i % 1013) as f32 * 0.004 - 2.0);
    values
}

/// In large pages, as sx has its tensors.
fn zeros(len: usize) -> Vec<f32> {
    let mut zeros = vec![0.0; len];
    prefer_large(&mut zeros);
    zeros
}

impl Ceiling {
    pub(crate) fn copy(bytes: usize) -> Ceiling {
        // Half of the bytes are read, half are written.
        let len = bytes / 8;
        Ceiling::Copy { from: filled(len), to: zeros(len) }
    }

    pub(crate) fn gemm(sizes: [usize; 3]) -> Ceiling {
        let [m, n, k] = sizes;
        Ceiling::Gemm { sizes, lhs: filled(m * k), rhs: filled(k * n), out: zeros(m * n) }
    }

    pub(crate) fn map(len: usize) -> Ceiling {
        Ceiling::Map { from: filled(len), to: zeros(len) }
    }

    pub(crate) fn run(&mut self) {
        match self {
            Ceiling::Copy { from, to } => {
                to.par_chunks_mut(CHUNK).zip(from.par_chunks(CHUNK)).for_each(|(to, from)| {
                    pages::copy(bytemuck::cast_slice_mut(to), bytemuck::cast_slice(from));
                });
            }
            Ceiling::Gemm { sizes, lhs, rhs, out } => multiply(*sizes, lhs, rhs, out),
            Ceiling::Map { from, to } => {
                let arch = pulp::Arch::new();
                to.par_chunks_mut(CHUNK).zip(from.par_chunks(CHUNK)).for_each(|(to, from)| {
                    // Compiled once for each instruction set there may be; the loop inside vectorises.
                    arch.dispatch(
                        #[inline(always)]
                        || fused(from, to),
                    );
                });
            }
        }
    }
}

#[inline(always)]
fn fused(from: &[f32], to: &mut [f32]) {
    for (x, y) in from.iter().zip(to) {
        *y = maths::tanh(1.3 * x + 0.2) * (1.0 / (1.0 + maths::exp(-(0.7 * x))));
    }
}

fn multiply([m, n, k]: [usize; 3], lhs: &[f32], rhs: &[f32], out: &mut [f32]) {
    assert!(lhs.len() == m * k && rhs.len() == k * n && out.len() == m * n, "operands of the stated sizes");
    let (n_stride, k_stride) = (n as isize, k as isize);
    // SAFETY: the three slices have exactly the elements that these sizes and row-major strides reach, and `out`
    // is borrowed mutably, so it overlaps neither operand.
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            out.as_mut_ptr(),
            1,
            n_stride,
            false,
            lhs.as_ptr(),
            1,
            k_stride,
            rhs.as_ptr(),
            1,
            n_stride,
            0.0f32,
            1.0f32,
            false,
            false,
            false,
            gemm::Parallelism::Rayon(0),
        );
    }
}
