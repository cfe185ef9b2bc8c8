//! The maths library's bounds on this machine.
//!
//! `SX_SCAN=1 cargo test --release --workspace --test system maths:: -- --nocapture` goes through every argument that
//! matters, which takes minutes, and prints what the table in `docs/numerics.md` says.

#![allow(clippy::print_stdout, reason = "a scan is run for what it prints")]

use std::thread;
use sx_artifact::maths::{binary_f32, unary_f32};
use sx_artifact::scalar::ScalarFn;
use sx_tests::maths::special::{self, SPECIAL};
use sx_tests::maths::{Sample, Worst, functions, meaning};

/// The library's function, of one argument or of two.
fn library(f: ScalarFn) -> impl Fn(f32, f32) -> f32 + Sync {
    let (one, two) = (unary_f32(f), binary_f32(f));
    move |x, y| match (one, two) {
        (Some(one), _) => one(x),
        (None, Some(two)) => two(x, y),
        (None, None) => panic!("{} is not in the library", f.name()),
    }
}

/// The largest distance over a sample, which every core takes a share of.
fn worst(f: ScalarFn, sample: Sample) -> Worst {
    let cores = thread::available_parallelism().map_or(1, usize::from) as u64;
    let share = |core: u64| {
        let (count, compute) = (sample.len(f), library(f));
        let mut worst = Worst::default();
        for at in count * core / cores..count * (core + 1) / cores {
            let (x, y) = sample.at(f, at);
            worst.see((x, y), compute(x, y), meaning(f, f64::from(x), f64::from(y)));
        }
        worst
    };
    thread::scope(|scope| {
        let shares: Vec<_> = (0..cores).map(|core| scope.spawn(move || share(core))).collect();
        let found = shares.into_iter().map(|share| share.join().expect("a share that ends"));
        found.fold(Worst::default(), Worst::or)
    })
}

#[test]
fn functions_keep_their_bounds() {
    let full = std::env::var_os("SX_SCAN").is_some();
    let sample = if full { Sample::FULL } else { Sample::QUICK };
    let mut wrong = vec![];
    for f in functions() {
        let worst = worst(f, sample);
        println!("{}: {:.2} ulp over {} at {:e}", f.name(), worst.ulps, sample.len(f), worst.at.0);
        wrong.extend(worst.complaint(f));
    }
    sx_tests::assert_none(&wrong);
}

#[test]
fn special_values_are_the_promised_ones() {
    let of = |&special: &(ScalarFn, f32, f32, f32)| {
        special::complaint(special, library(special.0)(special.1, special.2))
    };
    let wrong: Vec<String> = SPECIAL.iter().filter_map(of).collect();
    sx_tests::assert_none(&wrong);
}

#[test]
fn the_meaning_of_erf_is_right() {
    // From mpmath with 40 digits.
    let known = [
        (1e-8, 1.128_379_167_095_512_6e-08),
        (0.25, 0.276_326_390_168_236_96),
        (0.9, 0.796_908_212_422_832_2),
        (1.5, 0.966_105_146_475_310_8),
        (2.75, 0.999_899_378_077_880_3),
        (2.999, 0.999_977_769_831_400_2),
        (3.001, 0.999_978_048_339_082_2),
        (3.9, 0.999_999_965_207_751_4),
        (5.0, 0.999_999_999_998_462_6),
    ];
    for (x, want) in known {
        let got = meaning(ScalarFn::Erf, x, 0.0);
        assert!((got - want).abs() <= 1e-12 * want, "erf {x}: {got}");
    }
}
