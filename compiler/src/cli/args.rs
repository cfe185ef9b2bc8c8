//! The table of commands and options.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{ArgAction, Args as Arguments, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::codegen::{FLOORS, Floor};

/// Compiles tensor programs ahead of time.
#[derive(Debug, Parser)]
#[command(name = "sxc", version, about, max_term_width = 100, propagate_version = true)]
#[command(
    after_help = "Example:\n  sxc init hello && sxc build hello/model.sx && sxrun run hello/model.sxa --input x=random"
)]
pub struct Args {
    /// What every command takes.
    #[command(flatten)]
    pub common: Common,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What every command takes.
#[derive(Debug, Arguments)]
pub struct Common {
    /// When to use colours
    #[arg(long, value_enum, default_value_t = Colour::Auto, global = true, value_name = "WHEN")]
    pub color: Colour,
    /// Print errors only
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Print progress: files read and written, timings
    #[arg(short, long, global = true)]
    pub verbose: bool,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Colour {
    /// On a terminal
    Auto,
    /// Also into a file or a pipe
    Always,
    /// Not at all
    Never,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Compile a program into one artifact
    #[command(
        after_help = "Example:\n  sxc build model.sx -o model.sxa --weights model.safetensors --dim b=8"
    )]
    Build(Build),
    /// Tell what is wrong with a program
    #[command(
        after_help = "Example:\n  sxc check model.sx --deny warnings\n  sxc check model.sx --fits webgpu"
    )]
    Check(Check),
    /// Print the graph of a program after a stage
    #[command(after_help = "Example:\n  sxc ir model.sx --graph classify --after fuse")]
    Ir(Ir),
    /// Run a graph on the reference interpreter
    #[command(after_help = "Example:\n  sxc eval model.sx classify --input x=random:7")]
    Eval(Eval),
    /// Write the generated code, a file a kernel
    #[command(after_help = "Example:\n  sxc emit model.sx --target wgsl -o kernels")]
    Emit(Emit),
    /// Lay out programs: indentation, line lengths, spaces; comments and meaning stay
    #[command(after_help = "Example:\n  sxc fmt model.sx\n  sxc fmt --check *.sx\n  sxc fmt - < model.sx")]
    Fmt(Fmt),
    /// Explain a diagnostic's code, or list all codes
    #[command(after_help = "Example:\n  sxc explain E-DIM-001")]
    Explain(Explain),
    /// Document an operation or a function, or list all
    #[command(after_help = "Example:\n  sxc doc softmax")]
    Doc(Doc),
    /// Start a project that builds and runs
    #[command(after_help = "Example:\n  sxc init hello")]
    Init(Init),
    /// Print a completion script for a shell
    #[command(
        after_help = "Example:\n  sxc completions bash > ~/.local/share/bash-completion/completions/sxc"
    )]
    Completions(Completions),
}

/// The program, and what is said about it on the command line.
#[derive(Debug, Arguments)]
pub struct Program {
    /// The source file; `-` is stdin
    #[arg(value_name = "FILE.sx")]
    pub file: PathBuf,
    /// A size by name, also over a `defaxis`; repeatable
    #[arg(long = "dim", value_name = "NAME=N", value_parser = dim)]
    pub dims: Vec<(String, u64)>,
    /// Make warnings errors
    #[arg(long, value_enum)]
    pub deny: Option<Deny>,
}

/// Which warnings are errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Deny {
    /// All of them
    Warnings,
}

/// What an artifact is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Target {
    /// The processor
    Cpu,
    /// GPUs, through Vulkan, Metal, DirectX or a browser
    Wgpu,
    /// NVIDIA GPUs: asked for, but not made yet
    #[value(hide = true)]
    Cuda,
}

/// A language that kernels are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Language {
    /// The WebGPU shading language
    Wgsl,
    /// The Metal shading language
    Msl,
    /// SPIR-V, as Vulkan takes it
    Spirv,
}

/// `sxc build`
#[derive(Debug, Arguments)]
pub struct Build {
    /// The program.
    #[command(flatten)]
    pub program: Program,
    /// The artifact; FILE.sxa if left out, `-` is stdout
    #[arg(short, long, value_name = "FILE.sxa")]
    pub output: Option<PathBuf>,
    /// Compile this graph alone; repeatable
    #[arg(long = "graph", value_name = "NAME")]
    pub graphs: Vec<String>,
    /// Targets, separated by commas; all of them if left out
    #[arg(long = "target", value_name = "TARGETS", value_enum, value_delimiter = ',')]
    pub targets: Vec<Target>,
    /// Compile `wgpu` code for devices that have at least this
    #[arg(long, value_name = "FLOOR", value_parser = floors(), default_value = FLOORS[0].name)]
    pub fits: Floor,
    /// Values for the program's parameters, by name; repeatable
    #[arg(long, value_name = "FILE.safetensors")]
    pub weights: Vec<PathBuf>,
    /// Leave the weights in a file beside the artifact
    #[arg(long)]
    pub external_weights: bool,
    /// Print what was built as one JSON document
    #[arg(long)]
    pub json: bool,
}

/// `sxc check`
#[derive(Debug, Arguments)]
pub struct Check {
    /// The program.
    #[command(flatten)]
    pub program: Program,
    /// Also tell which buffers and kernels exceed what every device of a kind has
    #[arg(long, value_name = "FLOOR", value_parser = floors())]
    pub fits: Option<Floor>,
    /// Print a line of JSON for each diagnostic
    #[arg(long)]
    pub json: bool,
}

/// The stages that a graph goes through, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Stage {
    /// As it was written
    Trace,
    /// With the places where bf16 is stored
    Precision,
    /// With less work that means the same
    Simplify,
    /// As kernels
    Fuse,
    /// As launches over buffers
    Plan,
}

/// `sxc ir`
#[derive(Debug, Arguments)]
pub struct Ir {
    /// The program.
    #[command(flatten)]
    pub program: Program,
    /// Print this graph alone; repeatable
    #[arg(long = "graph", value_name = "NAME")]
    pub graphs: Vec<String>,
    /// The stage to print
    #[arg(long, value_enum, default_value_t = Stage::Trace, value_name = "STAGE")]
    pub after: Stage,
    /// Print a drawing in the language of Graphviz
    #[arg(long)]
    pub dot: bool,
    /// Print one JSON document
    #[arg(long, conflicts_with = "dot")]
    pub json: bool,
}

/// `sxc eval`
#[derive(Debug, Arguments)]
pub struct Eval {
    /// The program.
    #[command(flatten)]
    pub program: Program,
    /// The graph; may be left out where there is one
    #[arg(value_name = "GRAPH")]
    pub graph: Option<String>,
    /// An input: a number, `@file.npy`, `@file.npz:key`, `@file.safetensors:key`, `2x3:f32=1 2 3 4 5 6`,
    /// `random` or `random:SEED`; repeatable
    #[arg(short, long, value_name = "NAME=VALUE")]
    pub input: Vec<String>,
    /// A `.npz` or `.safetensors` file with inputs by their names
    #[arg(long, value_name = "FILE")]
    pub inputs: Option<PathBuf>,
    /// Round values that an input's dtype cannot hold (f64 to f32, f32 to bf16) instead of refusing them
    #[arg(long)]
    pub round_inputs: bool,
    /// Save instead of printing: every output in FILE.npz or FILE.safetensors, or one as NAME=FILE.npy; repeatable
    #[arg(short, long = "output", value_name = "FILE | NAME=FILE")]
    pub outputs: Vec<String>,
    /// Values for the program's parameters, by name; repeatable
    #[arg(long, value_name = "FILE.safetensors")]
    pub weights: Vec<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// `sxc emit`
#[derive(Debug, Arguments)]
pub struct Emit {
    /// The program.
    #[command(flatten)]
    pub program: Program,
    /// The language of the code
    #[arg(long, value_enum)]
    pub target: Language,
    /// The folder for the files, made if it is not there
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// Write the kernels of this graph alone; repeatable
    #[arg(long = "graph", value_name = "NAME")]
    pub graphs: Vec<String>,
}

/// `sxc fmt`
#[derive(Debug, Arguments)]
pub struct Fmt {
    /// The files to lay out in place; `-` lays out stdin to stdout
    #[arg(value_name = "FILE.sx", required = true)]
    pub files: Vec<PathBuf>,
    /// Change nothing; exit 1 and name the files that would change
    #[arg(long, action = ArgAction::SetTrue)]
    pub check: bool,
}

/// `sxc explain`
#[derive(Debug, Arguments)]
pub struct Explain {
    /// The code, as a diagnostic prints it
    #[arg(value_name = "CODE")]
    pub code: Option<String>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// `sxc doc`
#[derive(Debug, Arguments)]
pub struct Doc {
    /// The name, as a program writes it
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// `sxc init`
#[derive(Debug, Arguments)]
pub struct Init {
    /// The folder: new, or empty
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}

/// `sxc completions`
#[derive(Debug, Arguments)]
pub struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub shell: Shell,
}

/// The floors by name.
fn floors() -> impl TypedValueParser<Value = Floor> {
    let names = FLOORS.iter().map(|floor| PossibleValue::new(floor.name).help(floor.summary));
    PossibleValuesParser::new(names)
        .try_map(|name| FLOORS.into_iter().find(|floor| floor.name == name).ok_or("no such floor"))
}

/// `NAME=N`
fn dim(text: &str) -> Result<(String, u64), String> {
    let wanted = "a size is given as NAME=N, such as b=8";
    let (name, size) = text.split_once('=').ok_or(wanted)?;
    if name.is_empty() {
        return Err(wanted.to_owned());
    }
    let size = size.parse().map_err(|_| format!("`{size}` is not a size; {wanted}"))?;
    Ok((name.to_owned(), size))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_table_is_sound_and_every_command_has_an_example() {
        let mut command = Args::command();
        command.clone().debug_assert();
        for sub in command.get_subcommands_mut() {
            let help = sub.render_long_help().to_string();
            assert!(help.contains("Example:\n  sxc "), "{help}");
        }
    }

    #[test]
    fn sizes_are_names_with_numbers() {
        assert_eq!(dim("b=8"), Ok(("b".to_owned(), 8)));
        for wrong in ["b", "=8", "b=", "b=-1", "b=1.5", "b=99999999999999999999"] {
            assert!(dim(wrong).is_err(), "{wrong}");
        }
    }
}
