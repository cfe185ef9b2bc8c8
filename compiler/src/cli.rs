//! The commands of `sxc`: what may be asked, and the way from a request to an exit status.
//!
//! [`args`] is the table of commands and options. Each command is a file below; what it prints goes through
//! [`Terminal`], and files are read and written by [`crate::driver`].

pub mod args;
mod build;
mod check;
mod doc;
mod emit;
mod eval;
mod explain;
mod fmt;
mod init;
mod ir;
mod terminal;

use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::process::ExitCode;
use std::sync::Mutex;

use clap::builder::PossibleValuesParser;
use clap::{CommandFactory, Parser};

use crate::diag::Code;
use crate::eval::documented;
pub use crate::failure::{Exit, Failure};
use args::{Args, Command};
pub use terminal::Terminal;

/// Runs the command that the process's arguments name.
pub fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(answer) => {
            // Help and the version are answers too. Nobody is left to tell if they cannot be printed.
            _ = answer.print();
            return if answer.use_stderr() { Exit::Usage } else { Exit::Done }.into();
        }
    };
    let terminal = Terminal::new(&args.common);
    guarded(&terminal, || run(&args.command, &terminal)).into()
}

fn run(command: &Command, terminal: &Terminal) -> Result<Exit, Failure> {
    match command {
        Command::Build(args) => build::run(args, terminal),
        Command::Check(args) => check::run(args, terminal),
        Command::Ir(args) => ir::run(args, terminal),
        Command::Eval(args) => eval::run(args, terminal),
        Command::Emit(args) => emit::run(args, terminal),
        Command::Fmt(args) => fmt::run(args, terminal),
        Command::Explain(args) => explain::run(args, terminal),
        Command::Doc(args) => doc::run(args, terminal),
        Command::Init(args) => init::run(args, terminal),
        Command::Completions(args) => {
            let mut script = Vec::new();
            clap_complete::generate(args.shell, &mut completed(), "sxc", &mut script);
            terminal.bytes(&script)?;
            Ok(Exit::Done)
        }
    }
}

/// The commands with what may stand as an argument, for shells: names that `doc` knows, codes that `explain` does.
fn completed() -> clap::Command {
    // Signs would have to be quoted, in each shell in its own way.
    let plain = |name: &String| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    let names = documented().into_iter().map(|doc| doc.name).filter(plain).map(|name| &*name.leak());
    let names = PossibleValuesParser::new(names.collect::<Vec<_>>());
    let codes = PossibleValuesParser::new(Code::ALL.iter().map(|code| code.as_str()));
    Args::command()
        .mut_subcommand("doc", |doc| doc.mut_arg("name", |arg| arg.value_parser(names)))
        .mut_subcommand("explain", |explain| explain.mut_arg("code", |arg| arg.value_parser(codes)))
}

/// Runs `command`. A panic is a mistake of ours, and is told as one.
fn guarded(terminal: &Terminal, command: impl FnOnce() -> Result<Exit, Failure>) -> Exit {
    static PANIC: Mutex<Option<String>> = Mutex::new(None);
    let remember = |info: &PanicHookInfo<'_>| {
        let words = info.payload_as_str().unwrap_or("no message").to_owned();
        let place = info.location().map(|place| format!(" ({}:{})", place.file(), place.line()));
        if let Ok(mut kept) = PANIC.lock() {
            kept.get_or_insert(words + &place.unwrap_or_default());
        }
    };
    std::panic::set_hook(Box::new(remember));
    match catch_unwind(AssertUnwindSafe(command)) {
        Ok(Ok(exit)) => exit,
        Ok(Err(failure)) => {
            terminal.failure(&failure);
            failure.exit
        }
        Err(_) => {
            let words = PANIC.lock().ok().and_then(|mut kept| kept.take()).unwrap_or_default();
            let failure =
                Failure::new(Exit::Fault, format!("this is a bug in sxc, not in your program: {words}"));
            terminal.failure(
                &failure.help("report it with the command line and the smallest program that shows it"),
            );
            Exit::Fault
        }
    }
}
