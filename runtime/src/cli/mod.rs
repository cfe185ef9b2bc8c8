//! The commands of `sxrun`. Results go to stdout, everything else to stderr.

mod bench;
mod calls;
mod ceiling;
mod devices;
mod inspect;
mod json;
mod run;

use clap::{CommandFactory, Parser, Subcommand, ValueEnum};
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use sx_files::tensors::{self, call};
use sx_runtime::Error;

/// Run artifacts that `sxc` has built.
#[derive(Parser)]
#[command(
    name = "sxrun",
    version,
    max_term_width = 100,
    subcommand_required = true,
    arg_required_else_help = true
)]
#[command(after_help = "Example:\n  sxrun run add.sxa --input 'x=3:f32=1 2 3' --input y=random")]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// When to colour messages.
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto)]
    color: Color,
    /// Say only what goes wrong.
    #[arg(short, long, global = true)]
    quiet: bool,
    /// Say more: the device, how long the parts took.
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    verbose: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Run a graph and print or save what it gives.
    #[command(after_help = run::EXAMPLE)]
    Run(run::Args),
    /// List the devices of this machine, and whether an artifact fits them.
    #[command(after_help = devices::EXAMPLE)]
    Devices(devices::Args),
    /// Show what an artifact holds and what it needs.
    #[command(after_help = inspect::EXAMPLE)]
    Inspect(inspect::Args),
    /// Measure a graph: cold start, warm runs, and how near they come to what the device can do.
    #[command(after_help = bench::EXAMPLE)]
    Bench(bench::Args),
    /// Print a script that completes commands and options.
    #[command(after_help = "Example:\n  sxrun completions bash > /etc/bash_completion.d/sxrun")]
    Completions {
        /// The shell.
        #[arg(value_enum)]
        shell: Shell,
    },
}

#[derive(Clone, Copy, ValueEnum)]
enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Clone, Copy, ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
}

/// How much is said on stderr.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Loudness {
    Quiet,
    Normal,
    Verbose,
}

/// Where a command writes, and how much it says beside.
struct Terminal {
    loudness: Loudness,
}

impl Terminal {
    /// Writes a result to stdout.
    fn result(&self, text: &str) -> Result<(), Failure> {
        let mut out = anstream::stdout().lock();
        out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Failure::Stdout)
    }

    /// Says something that is worth knowing, unless `-q` is given.
    fn note(&self, text: &str) {
        if self.loudness >= Loudness::Normal {
            say(text);
        }
    }

    /// Says something that `-v` asks for.
    fn detail(&self, text: &str) {
        if self.loudness >= Loudness::Verbose {
            say(text);
        }
    }

    /// Whether a progress line may be drawn.
    fn shows_progress(&self) -> bool {
        self.loudness >= Loudness::Normal && io::stderr().is_terminal()
    }
}

/// A message for people. That stderr is gone is no reason to stop.
fn say(text: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{text}");
}

/// Why a command ends without its result.
enum Failure {
    /// The runtime refused.
    Runtime(Error),
    /// A tensor cannot be read, written, or given to an input.
    Tensor(tensors::Error),
    /// The options make no call.
    Call(call::Mistake),
    /// The command line makes no sense.
    Usage(String),
    /// Stdout takes no more.
    Stdout(io::Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Runtime(error)
    }
}

impl From<call::Mistake> for Failure {
    fn from(mistake: call::Mistake) -> Failure {
        Failure::Call(mistake)
    }
}

impl From<tensors::Error> for Failure {
    fn from(error: tensors::Error) -> Failure {
        Failure::Tensor(error)
    }
}

/// Reads the command line, does what it says, and tells how it went.
pub(crate) fn main() -> ExitCode {
    let cli = Cli::parse();
    match cli.color {
        Color::Auto => anstream::ColorChoice::Auto,
        Color::Always => anstream::ColorChoice::Always,
        Color::Never => anstream::ColorChoice::Never,
    }
    .write_global();
    let loudness = match (cli.quiet, cli.verbose) {
        (true, _) => Loudness::Quiet,
        (_, true) => Loudness::Verbose,
        _ => Loudness::Normal,
    };
    let terminal = Terminal { loudness };
    if let Err(failure) = start_threads() {
        return report(&failure);
    }
    let done = match cli.command {
        Command::Run(args) => run::run(&args, &terminal),
        Command::Devices(args) => devices::run(&args, &terminal),
        Command::Inspect(args) => inspect::run(&args, &terminal),
        Command::Bench(args) => bench::run(&args, &terminal),
        Command::Completions { shell } => completions(shell, &terminal),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => report(&failure),
    }
}

/// Starts the threads that kernels share. A library that finds none panics; here it is told.
fn start_threads() -> Result<(), Failure> {
    rayon::ThreadPoolBuilder::new().build_global().map_err(|error| {
        Failure::Runtime(Error::Device(format!(
            "there is no room for the threads that work is shared among: {error}; set `RAYON_NUM_THREADS` to fewer"
        )))
    })
}

/// What the command line offers where the runtime has refused.
fn advice(error: &Error) -> String {
    match error {
        Error::MissingInputs { .. } => {
            "; give each with `--input NAME=VALUE`, or all with `--inputs FILE.npz`".to_owned()
        }
        Error::NoDevice { .. } => "; build it with `--target cpu` to run it on the processor".to_owned(),
        Error::Target { target, .. } => {
            format!("; build it with `--target {target}`, or choose another device with `--device`")
        }
        _ => String::new(),
    }
}

fn report(failure: &Failure) -> ExitCode {
    let (message, status) = match failure {
        Failure::Runtime(error) => (error.to_string() + &advice(error), error.exit_status()),
        Failure::Tensor(error) => (error.to_string(), 1),
        Failure::Call(call::Mistake { usage, message, help }) => {
            let help = if help.is_empty() { String::new() } else { format!("; {help}") };
            (message.clone() + &help, if *usage { 2 } else { 1 })
        }
        Failure::Usage(message) => (message.clone(), 2),
        // Whoever read the output has seen enough (`sxrun … | head`).
        Failure::Stdout(error) if error.kind() == io::ErrorKind::BrokenPipe => return ExitCode::SUCCESS,
        Failure::Stdout(error) => {
            (format!("the output cannot be written: {error}; save it to another place with `--output`"), 1)
        }
    };
    let (bold, plain) = ("\x1b[1;31m", "\x1b[0m");
    say(&format!("{bold}error{plain}: {message}"));
    ExitCode::from(status)
}

fn completions(shell: Shell, terminal: &Terminal) -> Result<(), Failure> {
    let shell = match shell {
        Shell::Bash => clap_complete::Shell::Bash,
        Shell::Zsh => clap_complete::Shell::Zsh,
        Shell::Fish => clap_complete::Shell::Fish,
    };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "sxrun", &mut script);
    terminal.result(&String::from_utf8_lossy(&script))
}
