//! What `--input`, `--inputs` and `--output` say of a call: both commands read them here.

use super::{Error, Kind, Rounding, Value, Want, kind, names, npz, save};
use crate::suggest::{nearest, nearest_key, some_of};
use std::path::{Path, PathBuf};
use sx_artifact::tensor::Tensor;

/// Why options make no call, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Whether the command line is at fault whatever the graph is.
    pub usage: bool,
    /// The cause.
    pub message: String,
    /// The next step; empty where the cause says it.
    pub help: String,
}

/// An input of a graph.
pub struct Port<'a> {
    /// What it takes.
    pub want: Want<'a>,
    /// It with its dtype, shape and domain, for people.
    pub described: String,
}

/// Where inputs come from.
pub struct Given<'a> {
    /// Each `NAME=VALUE`.
    pub values: &'a [String],
    /// A file with inputs by their names, over which the values stand.
    pub file: Option<&'a Path>,
    /// Whether values may be rounded.
    pub rounding: Rounding,
    /// What an input has that nothing names; without it such an input is missing.
    pub otherwise: Option<Value>,
}

/// A tensor for each port, in their order.
pub fn inputs(ports: &[Port<'_>], given: &Given<'_>) -> Result<Vec<(String, Tensor)>, Mistake> {
    let (values, unused) = values(ports, given)?;
    let mut loaded = Vec::with_capacity(ports.len());
    let mut missing = Vec::new();
    for (port, value) in ports.iter().zip(values) {
        match value.or_else(|| given.otherwise.clone()) {
            Some(value) => loaded.push((port.want.name.to_owned(), value.load(&port.want, given.rounding)?)),
            None => missing.push(port),
        }
    }
    if missing.is_empty() { Ok(loaded) } else { Err(without(&missing, &unused)) }
}

/// What is said of each port, and the names in the file that no port has.
fn values(ports: &[Port<'_>], given: &Given<'_>) -> Result<(Vec<Option<Value>>, Vec<String>), Mistake> {
    let mut values: Vec<Option<Value>> = vec![None; ports.len()];
    let place = |name: &str| ports.iter().position(|port| port.want.name == name);
    let mut unused = Vec::new();
    if let Some(path) = given.file {
        // A file may serve several graphs: what this one does not take is left alone.
        for name in names(path)? {
            match place(&name) {
                Some(at) => values[at] = Some(Value::File { path: path.to_owned(), key: Some(name) }),
                None => unused.push(name),
            }
        }
    }
    let mut seen = Vec::new();
    for text in given.values {
        let Some((name, value)) = text.split_once('=') else {
            return Err(Mistake {
                usage: true,
                message: format!("`--input {text}` names no value"),
                help: "write `--input NAME=VALUE`, such as `--input x=random`".to_owned(),
            });
        };
        let all = || ports.iter().map(|port| port.want.name);
        let at = place(name).ok_or_else(|| unknown("input", "takes", name, all()))?;
        if seen.contains(&at) {
            return Err(Mistake::of(format!("the input `{name}` is given twice"), "leave one out"));
        }
        seen.push(at);
        values[at] = Some(Value::parse(value)?);
    }
    Ok((values, unused))
}

/// Inputs that nothing names, with what a file has instead.
fn without(missing: &[&Port<'_>], unused: &[String]) -> Mistake {
    let keys = || unused.iter().map(String::as_str);
    let described = missing.iter().map(|port| match nearest_key(port.want.name, keys()) {
        Some(near) => format!("{} (the file has `{near}`)", port.described),
        None => port.described.clone(),
    });
    let message = format!("these inputs are missing: {}", described.collect::<Vec<_>>().join(", "));
    match unused {
        [] => Mistake::of(message, "give each with `--input NAME=VALUE`, or all with `--inputs FILE.npz`"),
        unused => {
            let names = some_of(unused.iter().map(String::as_str));
            let help = format!(
                "the file's {names} are no inputs: give them the names of inputs, or give each input with `--input \
                 NAME=VALUE`"
            );
            Mistake::of(message, &help)
        }
    }
}

/// A name that no input or output has.
fn unknown<'n>(what: &str, verb: &str, name: &str, all: impl Iterator<Item = &'n str> + Clone) -> Mistake {
    let near = nearest(name, all.clone());
    let all: Vec<String> = all.map(|name| format!("`{name}`")).collect();
    let has = if all.is_empty() { "none".to_owned() } else { all.join(", ") };
    let message = format!("there is no {what} `{name}`; the graph {verb} {has}");
    Mistake::of(message, &near.map_or(String::new(), |near| format!("did you mean `{near}`?")))
}

/// A file and the outputs that go there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Save {
    /// The file.
    pub path: PathBuf,
    /// The outputs' names.
    pub names: Vec<String>,
}

/// Where the outputs `all` go: `FILE.npz` takes all of them, `NAME=FILE.npy` one. What could not be written is refused
/// here, before anything runs.
pub fn saves(texts: &[String], all: &[&str]) -> Result<Vec<Save>, Mistake> {
    let mut saves: Vec<Save> = Vec::with_capacity(texts.len());
    for text in texts {
        let save = match text.split_once('=') {
            Some((name, path)) if all.contains(&name) => {
                Save { path: path.into(), names: vec![name.to_owned()] }
            }
            // A path may have the sign in it, and the name of an output has no folders.
            Some((name, _)) if !name.contains('/') && !Path::new(text).exists() => {
                return Err(unknown("output", "gives", name, all.iter().copied()));
            }
            _ => Save { path: text.into(), names: all.iter().map(|name| (*name).to_owned()).collect() },
        };
        if saves.iter().any(|earlier| earlier.path == save.path) {
            let message = format!(
                "`{}` is to be written twice, and the second time would overwrite the first",
                save.path.display()
            );
            let help = "give each output a file, or save all in one `.npz`".to_owned();
            return Err(Mistake { usage: true, message, help });
        }
        can_take(&save)?;
        saves.push(save);
    }
    Ok(saves)
}

fn can_take(save: &Save) -> Result<(), Error> {
    match (kind(&save.path)?, save.names.len()) {
        (Kind::Npz, _) => npz::check_names(&save.path, save.names.iter().map(String::as_str)),
        (Kind::Npy, 2..) => Err(super::one_only(&save.path, save.names.len())),
        _ => Ok(()),
    }
}

impl Save {
    /// Whether it takes the output `name`.
    pub fn has(&self, name: &str) -> bool {
        self.names.iter().any(|saved| saved == name)
    }

    /// Writes its part of `outputs`.
    pub fn write(&self, outputs: &[(&str, &Tensor)]) -> Result<(), Error> {
        let own: Vec<(&str, &Tensor)> = outputs.iter().copied().filter(|(name, _)| self.has(name)).collect();
        save(&self.path, &own)
    }
}

impl Mistake {
    fn of(message: String, help: &str) -> Mistake {
        Mistake { usage: false, message, help: help.to_owned() }
    }
}

impl From<Error> for Mistake {
    fn from(error: Error) -> Mistake {
        Mistake::of(error.to_string(), "")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_go_to_files_that_can_take_them() {
        let saves = |texts: &[&str]| {
            let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
            saves(&texts, &["y", "z"])
        };
        let two = saves(&["y=a.npy", "all.npz"]).expect("two files");
        assert_eq!((two[0].names.len(), two[1].names.len()), (1, 2));
        for (texts, part) in [
            (&["y=a.npy", "z=a.npy"][..], "written twice"),
            (&["x=a.npy"], "there is no output `x`; the graph gives `y`, `z`"),
            (&["a.npy"], "holds one tensor and there are 2"),
            (&["a.txt"], "tensors are kept in"),
        ] {
            let mistake = saves(texts).expect_err("it is refused");
            assert!(mistake.message.contains(part), "{mistake:?}");
        }
    }
}
