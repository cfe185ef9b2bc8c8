//! The only module that reads and writes files: sources, imports, weights, artifacts, projects.
//!
//! What the commands compute is pure; what they compute it from comes through here, and every failure says
//! which file, why, and what to do.

pub mod weights;

use std::io::{ErrorKind, Read};
use std::path::Path;

use crate::diag::{Severity, Sink, Sources};
use crate::eval::{self, EvalOptions, Loader, Module};
use crate::failure::{Exit, Failure};
use crate::ir::Type;

/// A program after its evaluation, with what there is to say about it.
pub struct Checked {
    /// Every text that was read.
    pub sources: Sources,
    /// Every diagnostic.
    pub sink: Sink,
    /// The graphs; `None` where there are errors.
    pub module: Option<Module>,
}

/// Reads and evaluates a program; of its graphs those in `graphs`, all where that is empty.
/// `dims` are sizes by name, from the command line.
pub fn check(file: &Path, dims: &[(String, u64)], graphs: &[String]) -> Result<Checked, Failure> {
    let text = source(file)?;
    let (mut sources, mut sink) = (Sources::default(), Sink::default());
    let root = sources.add(name(file), text);
    let options = EvalOptions { dims: dims.to_vec(), graphs: graphs.to_vec(), ..EvalOptions::default() };
    let module = eval::evaluate(&mut sources, &mut sink, root, &mut Files, &options);
    let module = module.filter(|_| sink.count(Severity::Error) == 0);
    Ok(Checked { sources, sink, module })
}

/// Imports come from the file system, relative to the working directory.
pub struct Files;

impl Loader for Files {
    fn load(&mut self, path: &str) -> Result<String, String> {
        if !path.ends_with(".sx") {
            return Err("its name does not end in `.sx`".to_owned());
        }
        text_of(Path::new(path))
    }
}

/// The text of a program that has something in it; `-` is what stands on stdin.
pub fn source(path: &Path) -> Result<String, Failure> {
    let text = if is_stdin(path) { stdin()? } else { text(path)? };
    if text.trim().is_empty() {
        let failure = Failure::new(Exit::Fault, format!("`{}` is empty", path.display()));
        return Err(failure.help("`sxc init DIR` makes a project with a program to start from"));
    }
    Ok(text)
}

/// Whether a path stands for stdin, or for stdout where something is written.
pub fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// The name that a source has in messages and in artifacts.
pub fn name(path: &Path) -> String {
    if is_stdin(path) { "stdin".to_owned() } else { path.display().to_string() }
}

/// The text of a file.
pub fn text(path: &Path) -> Result<String, Failure> {
    text_of(path).map_err(|reason| {
        let failure = Failure::new(Exit::Fault, format!("`{}` cannot be read: {reason}", path.display()));
        match std::fs::metadata(path) {
            Ok(known) if known.is_dir() => failure.help("name a file in it, such as `model.sx`"),
            Ok(known) if !known.is_file() => {
                failure.help("give what it holds on stdin, with `-` as the file")
            }
            _ => failure,
        }
    })
}

/// The text that stands on stdin.
pub fn stdin() -> Result<String, Failure> {
    text_from(std::io::stdin().lock())
        .map_err(|reason| Failure::new(Exit::Fault, format!("stdin cannot be read: {reason}")))
}

/// Writes a file, whole or not at all.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let written = sx_files::atomic::write(path, bytes.len() as u64, |out| out.write_all(bytes));
    written.map_err(|error| {
        let message = format!("`{}` cannot be written: {}", path.display(), reason(&error));
        Failure::new(Exit::Fault, message).help("nothing was changed")
    })
}

/// Which of `precious` writing to `path` would destroy.
pub fn destroys<'p>(path: &Path, precious: impl IntoIterator<Item = &'p Path>) -> Option<&'p Path> {
    let there = std::fs::canonicalize(path).ok()?;
    precious.into_iter().find(|file| std::fs::canonicalize(file).is_ok_and(|file| file == there))
}

/// How many bytes a file has.
pub fn size(path: &Path) -> Result<u64, Failure> {
    std::fs::metadata(path).map(|known| known.len()).map_err(|error| {
        Failure::new(Exit::Fault, format!("`{}` cannot be read: {}", path.display(), reason(&error)))
    })
}

/// Whether the system would give the memory for the largest of some values. It is asked, and nothing is used.
pub fn can_hold<'t>(types: impl IntoIterator<Item = &'t Type>) -> bool {
    let bytes = |ty: &Type| ty.count().saturating_mul(ty.dtype.size() as u64);
    let most = types.into_iter().map(bytes).max().unwrap_or(0);
    usize::try_from(most).is_ok_and(|most| Vec::<u8>::new().try_reserve_exact(most).is_ok())
}

/// Makes a folder and those above it.
pub fn folder(path: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(path).map_err(|error| {
        let message = format!("the folder `{}` cannot be made: {}", path.display(), reason(&error));
        Failure::new(Exit::Fault, message)
    })
}

/// Whether a folder has nothing in it; one that is not there has nothing.
pub fn is_empty(path: &Path) -> Result<bool, Failure> {
    match std::fs::read_dir(path) {
        Ok(mut entries) => Ok(entries.next().is_none()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(true),
        Err(error) => {
            let message = format!("`{}` cannot be used: {}", path.display(), reason(&error));
            Err(Failure::new(Exit::Fault, message).help("name a folder that is new or empty"))
        }
    }
}

/// The longest source that is read: no person writes as much, and what is read takes a multiple of it in memory.
const LONGEST: u64 = 1 << 24;

fn text_of(path: &Path) -> Result<String, String> {
    let known = std::fs::metadata(path).map_err(|error| reason(&error))?;
    if known.is_dir() {
        return Err("it is a folder".to_owned());
    }
    if !known.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    if known.len() > LONGEST {
        return Err(too_long());
    }
    text_from(std::fs::File::open(path).map_err(|error| reason(&error))?)
}

/// The text of a file or stream, which need not have an end.
fn text_from(stream: impl Read) -> Result<String, String> {
    let mut bytes = Vec::new();
    stream.take(LONGEST + 1).read_to_end(&mut bytes).map_err(|error| reason(&error))?;
    if bytes.len() as u64 > LONGEST {
        return Err(too_long());
    }
    utf8(bytes)
}

fn too_long() -> String {
    format!("it has more than {} MiB, the most that a source may have", LONGEST >> 20)
}

fn utf8(bytes: Vec<u8>) -> Result<String, String> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
        format!("it is not UTF-8 text: line {line} has the byte 0x{:02x}", error.as_bytes()[at])
    })
}

/// Why the system refused, in plain words where there are some.
fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        ErrorKind::PermissionDenied => "permission is denied".to_owned(),
        ErrorKind::StorageFull => "the disk is full".to_owned(),
        ErrorKind::NotADirectory => "a part of its path is not a folder".to_owned(),
        _ => error.to_string(),
    }
}
