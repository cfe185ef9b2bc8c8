//! Loops over lanes: one scalar function applied to a block of values, compiled for AVX2 with FMA and for any machine.
//!
//! Every loop is plain Rust over slices that the compiler vectorises. A multiplication and an addition are fused only
//! where the maths library says so, and emulated where the machine has no such instruction, so both versions give the
//! same bits.

use std::slice;

/// Applies a function to `n` lanes: where the results go, up to three operands, `n`.
///
/// SAFETY of a call: each pointer is aligned for its lane type and valid for `n` lanes (an operand that is
/// the same for all lanes: for one), and the results overlap no operand.
pub(super) type LaneFn = unsafe fn(*mut u8, *const u8, *const u8, *const u8, usize);

/// A function of one argument.
pub(super) trait F1 {
    type A: Copy;
    type R: Copy + Default;
    /// Whether a lane costs enough that the last few lanes are computed as a whole vector.
    const HEAVY: bool;
    /// `FMA`: the loop around it is compiled for machines with fused multiply-add.
    fn at<const FMA: bool>(a: Self::A) -> Self::R;
}

/// A function of two arguments.
pub(super) trait F2 {
    type A: Copy;
    type R: Copy + Default;
    const HEAVY: bool;
    fn at(a: Self::A, b: Self::A) -> Self::R;
}

/// A function of three arguments, the first of a type of its own.
pub(super) trait F3 {
    type C: Copy;
    type A: Copy;
    type R: Copy;
    fn at(c: Self::C, a: Self::A, b: Self::A) -> Self::R;
}

/// Whether this machine runs the AVX2 versions, which use FMA as well.
pub(super) fn avx2() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    return false;
}

/// Makes `$avx2` the AVX2 version of the always inlined `$plain`.
macro_rules! avx2_version {
    ($(#[$doc:meta])* fn $avx2:ident = $plain:ident [$($generics:tt)*] [$($names:tt)*] ($($arg:ident: $t:ty),*)) => {
        $(#[$doc])*
        #[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma"))]
        #[allow(unused_unsafe, reason = "the plain version may be safe")]
        unsafe fn $avx2<$($generics)*>($($arg: $t),*) {
            // SAFETY: the caller upholds the contract of the plain version.
            unsafe { $plain::<$($names)*>($($arg),*) }
        }
    };
}
pub(super) use avx2_version;

/// Lanes computed at once where a function is heavy.
const WIDE: usize = 8;

#[inline(always)]
fn each1<F: F1, const FMA: bool>(d: &mut [F::R], a: &[F::A]) {
    for (d, a) in d.iter_mut().zip(a) {
        *d = F::at::<FMA>(*a);
    }
}
avx2_version!(fn each1_avx2 = each1 [F: F1] [F, true] (d: &mut [F::R], a: &[F::A]));

/// How the two operands of a function vary over lanes.
const VV: u8 = 0;
const VS: u8 = 1;
const SV: u8 = 2;

#[inline(always)]
fn each2<F: F2, const HOW: u8>(d: &mut [F::R], a: &[F::A], b: &[F::A]) {
    match HOW {
        VS => {
            let b = b[0];
            for (d, a) in d.iter_mut().zip(a) {
                *d = F::at(*a, b);
            }
        }
        SV => {
            let a = a[0];
            for (d, b) in d.iter_mut().zip(b) {
                *d = F::at(a, *b);
            }
        }
        _ => {
            for ((d, a), b) in d.iter_mut().zip(a).zip(b) {
                *d = F::at(*a, *b);
            }
        }
    }
}
avx2_version!(fn each2_avx2 = each2 [F: F2, const HOW: u8] [F, HOW] (d: &mut [F::R], a: &[F::A], b: &[F::A]));

/// An operand is one element where its flag says so, else as long as `d`.
#[inline(always)]
fn each3<F: F3, const SC: bool, const SA: bool, const SB: bool>(
    d: &mut [F::R],
    c: &[F::C],
    a: &[F::A],
    b: &[F::A],
) {
    let n = d.len();
    let (c0, a0, b0) = (c[0], a[0], b[0]);
    // Of the same length, as the compiler has to see.
    let c = &c[..if SC { 1 } else { n }];
    let a = &a[..if SA { 1 } else { n }];
    let b = &b[..if SB { 1 } else { n }];
    for i in 0..n {
        d[i] = F::at(if SC { c0 } else { c[i] }, if SA { a0 } else { a[i] }, if SB { b0 } else { b[i] });
    }
}
avx2_version!(fn each3_avx2 = each3 [F: F3, const SC: bool, const SA: bool, const SB: bool] [F, SC, SA, SB]
    (d: &mut [F::R], c: &[F::C], a: &[F::A], b: &[F::A]));

/// The tail of `all`, padded to a whole vector with its first element.
///
/// SAFETY: `all` is valid for `n` elements, `0 < n - from <= WIDE`.
unsafe fn padded<T: Copy>(all: *const T, from: usize, n: usize) -> [T; WIDE] {
    // SAFETY: `from < n`.
    let mut wide = [unsafe { *all.add(from) }; WIDE];
    for (i, lane) in wide.iter_mut().enumerate().take(n - from) {
        // SAFETY: `from + i < n`.
        *lane = unsafe { *all.add(from + i) };
    }
    wide
}

unsafe fn run1<F: F1, const AVX2: bool>(d: *mut u8, a: *const u8, _: *const u8, _: *const u8, n: usize) {
    let run = |d: &mut [F::R], a: &[F::A]| {
        // SAFETY: chosen only where AVX2 was found.
        if AVX2 { unsafe { each1_avx2::<F>(d, a) } } else { each1::<F, false>(d, a) }
    };
    let (d, a) = (d as *mut F::R, a as *const F::A);
    let main = if F::HEAVY && AVX2 { n & !(WIDE - 1) } else { n };
    // SAFETY: by the contract of `LaneFn`.
    unsafe {
        run(slice::from_raw_parts_mut(d, main), slice::from_raw_parts(a, main));
        if main < n {
            let a = padded(a, main, n);
            let mut wide = [F::R::default(); WIDE];
            run(&mut wide, &a);
            d.add(main).copy_from_nonoverlapping(wide.as_ptr(), n - main);
        }
    }
}

unsafe fn run2<F: F2, const HOW: u8, const AVX2: bool>(
    d: *mut u8,
    a: *const u8,
    b: *const u8,
    _: *const u8,
    n: usize,
) {
    let run = |d: &mut [F::R], a: &[F::A], b: &[F::A]| {
        // SAFETY: chosen only where AVX2 was found.
        if AVX2 { unsafe { each2_avx2::<F, HOW>(d, a, b) } } else { each2::<F, HOW>(d, a, b) }
    };
    let (d, a, b) = (d as *mut F::R, a as *const F::A, b as *const F::A);
    let main = if F::HEAVY && AVX2 { n & !(WIDE - 1) } else { n };
    let length = |scalar: bool, n: usize| if scalar { 1 } else { n };
    // SAFETY: by the contract of `LaneFn`.
    unsafe {
        run(
            slice::from_raw_parts_mut(d, main),
            slice::from_raw_parts(a, length(HOW == SV, main)),
            slice::from_raw_parts(b, length(HOW == VS, main)),
        );
        if main < n {
            let a = if HOW == SV { [*a; WIDE] } else { padded(a, main, n) };
            let b = if HOW == VS { [*b; WIDE] } else { padded(b, main, n) };
            let mut wide = [F::R::default(); WIDE];
            run(&mut wide, &a, &b);
            d.add(main).copy_from_nonoverlapping(wide.as_ptr(), n - main);
        }
    }
}

unsafe fn run3<F: F3, const SC: bool, const SA: bool, const SB: bool, const AVX2: bool>(
    d: *mut u8,
    c: *const u8,
    a: *const u8,
    b: *const u8,
    n: usize,
) {
    if n == 0 {
        return;
    }
    let length = |single: bool| if single { 1 } else { n };
    // SAFETY: by the contract of `LaneFn`; the AVX2 version is chosen only where AVX2 was found.
    unsafe {
        let d = slice::from_raw_parts_mut(d as *mut F::R, n);
        let c = slice::from_raw_parts(c as *const F::C, length(SC));
        let a = slice::from_raw_parts(a as *const F::A, length(SA));
        let b = slice::from_raw_parts(b as *const F::A, length(SB));
        if AVX2 { each3_avx2::<F, SC, SA, SB>(d, c, a, b) } else { each3::<F, SC, SA, SB>(d, c, a, b) }
    }
}

/// The loop of a function of one argument.
pub(super) fn unary<F: F1>() -> LaneFn {
    if avx2() { run1::<F, true> } else { run1::<F, false> }
}

/// The loop of a function of two arguments, where each either varies over lanes or is the same for all.
pub(super) fn binary<F: F2>(many: [bool; 3]) -> LaneFn {
    match (many[0], many[1], avx2()) {
        (true, false, true) => run2::<F, VS, true>,
        (true, false, false) => run2::<F, VS, false>,
        (false, true, true) => run2::<F, SV, true>,
        (false, true, false) => run2::<F, SV, false>,
        (_, _, true) => run2::<F, VV, true>,
        (_, _, false) => run2::<F, VV, false>,
    }
}

/// The loop of a function of three arguments, where each either varies over lanes or is the same for all.
pub(super) fn ternary<F: F3>(many: [bool; 3]) -> LaneFn {
    /// Chooses by the machine, once the flags are known.
    fn chosen<F: F3, const SC: bool, const SA: bool, const SB: bool>() -> LaneFn {
        if avx2() { run3::<F, SC, SA, SB, true> } else { run3::<F, SC, SA, SB, false> }
    }
    match many {
        // Where all are the same there is one lane.
        [true, true, true] | [false, false, false] => chosen::<F, false, false, false>(),
        [true, true, false] => chosen::<F, false, false, true>(),
        [true, false, true] => chosen::<F, false, true, false>(),
        [true, false, false] => chosen::<F, false, true, true>(),
        [false, true, true] => chosen::<F, true, false, false>(),
        [false, true, false] => chosen::<F, true, false, true>(),
        [false, false, true] => chosen::<F, true, true, false>(),
    }
}

unsafe fn splat_lanes<T: Copy>(d: *mut u8, a: *const u8, _: *const u8, _: *const u8, n: usize) {
    // SAFETY: by the contract of `LaneFn`.
    unsafe { slice::from_raw_parts_mut(d as *mut T, n).fill(*(a as *const T)) }
}

unsafe fn copy_lanes<T: Copy>(d: *mut u8, a: *const u8, _: *const u8, _: *const u8, n: usize) {
    // SAFETY: by the contract of `LaneFn`.
    unsafe { (d as *mut T).copy_from_nonoverlapping(a as *const T, n) }
}

/// Repeats one value of `size` bytes over all lanes.
pub(super) fn splat(size: usize) -> LaneFn {
    match size {
        1 => splat_lanes::<u8>,
        4 => splat_lanes::<u32>,
        _ => splat_lanes::<u64>,
    }
}

/// Copies lanes of `size` bytes.
pub(super) fn copy(size: usize) -> LaneFn {
    match size {
        1 => copy_lanes::<u8>,
        4 => copy_lanes::<u32>,
        _ => copy_lanes::<u64>,
    }
}
