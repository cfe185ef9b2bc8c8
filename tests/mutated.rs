//! Programs changed at random are refused or run: see `sx_tests::mutated`. `make test-all` tries more of them.

use sx_tests::assert_none;
use sx_tests::mutated::case;

/// How many changed programs are tried; validation refuses most of them.
const CASES: u64 = 6000;

#[test]
fn what_validation_accepts_runs() {
    let (mut accepted, mut wrong) = (0, Vec::new());
    for seed in 0..CASES {
        match case(seed) {
            Ok(valid) => accepted += u64::from(valid),
            Err(why) => wrong.push(format!("seed {seed}: {why}")),
        }
    }
    assert_none(&wrong);
    assert!(accepted > CASES / 20, "only {accepted} programs were accepted");
}
