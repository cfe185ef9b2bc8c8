//! Programs changed at random are refused or run: see `sx_tests::mutated`. `make test-all` tries more of them.

use sx_tests::assert_none;
use sx_tests::mutated::case;

/// How many changed programs are tried, unless `SX_MUTATIONS` says; validation refuses most of them.
const CASES: u64 = 6000;

#[test]
fn what_validation_accepts_runs() {
    let cases = std::env::var("SX_MUTATIONS").ok().and_then(|count| count.parse().ok()).unwrap_or(CASES);
    let (mut accepted, mut wrong) = (0, Vec::new());
    for seed in 0..cases {
        match case(seed) {
            Ok(valid) => accepted += u64::from(valid),
            Err(why) => wrong.push(format!("seed {seed}: {why}")),
        }
    }
    assert_none(&wrong);
    assert!(accepted > cases / 20, "only {accepted} programs were accepted");
}
