//! `sxc init`: a project that builds and runs.

use super::args::Init;
use super::{Exit, Failure, Terminal};
use crate::driver;

/// The files of a new project.
const PROJECT: [(&str, &str); 3] = [
    ("model.sx", include_str!("init/model.sx")),
    ("README.md", include_str!("init/README.md")),
    (".gitignore", "*.sxa\n"),
];

pub(super) fn run(args: &Init, terminal: &Terminal) -> Result<Exit, Failure> {
    let folder = &args.folder;
    if !driver::is_empty(folder)? {
        let message = format!("`{}` is not empty, and nothing in it may be overwritten", folder.display());
        return Err(Failure::new(Exit::Fault, message).help("name a folder that is new or empty"));
    }
    driver::folder(folder)?;
    for (name, text) in PROJECT {
        driver::write(&folder.join(name), text.as_bytes())?;
    }
    let model = folder.join("model.sx");
    terminal.note(&format!(
        "made {}\nnext: sxc build {} && sxrun run {} --input x=random",
        folder.display(),
        model.display(),
        model.with_extension("sxa").display()
    ));
    Ok(Exit::Done)
}
