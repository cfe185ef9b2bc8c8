//! The long test run: `make test-all`.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it tells what it does")]

use std::process::ExitCode;
use sx_tests::long::{Options, run};

fn main() -> ExitCode {
    let options = match Options::from_words(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::from(2);
        }
    };
    match run(&options) {
        Ok(report) if report.failures.is_empty() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}
