//! `sxrun`: arguments in, exit code out, nothing else.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
