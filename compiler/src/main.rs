//! `sxc`: arguments in, exit code out, nothing else.

use std::process::ExitCode;

fn main() -> ExitCode {
    sx_compiler::cli::main()
}
