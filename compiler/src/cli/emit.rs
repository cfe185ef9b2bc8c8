//! `sxc emit`: the generated code of a target, a file a kernel.

use super::args::{self, Emit};
use super::check::{self, Loaded};
use super::{Exit, Failure, Terminal};
use crate::codegen::FLOORS;
use crate::{compile, driver};
use sx_artifact::code::{Language, Target};

pub(super) fn run(args: &Emit, terminal: &Terminal) -> Result<Exit, Failure> {
    let language = match args.target {
        args::Language::Wgsl => Language::Wgsl,
        args::Language::Msl => Language::Msl,
        args::Language::Spirv => Language::Spirv,
    };
    let folder = format!("kernels/{}/", language.folder());
    let Loaded { module, sources } = check::loaded(&args.program, &args.graphs, terminal)?;
    let compiled = compile::compile(&module, &sources, &[Target::Wgpu], &FLOORS[0])
        .map_err(|refused| check::refused(refused, &sources, terminal))?;
    driver::folder(&args.output)?;
    let mut count = 0;
    for (entry, bytes) in compiled.entries() {
        // `kernels/LANGUAGE/GRAPH/KERNEL.wgsl` goes to `GRAPH/KERNEL.wgsl`.
        let Some(name) = entry.strip_prefix(&folder) else { continue };
        let path = args.output.join(name);
        if let Some(folder) = path.parent() {
            driver::folder(folder)?;
        }
        driver::write(&path, bytes)?;
        terminal.detail(&format!("wrote {}", path.display()));
        count += 1;
    }
    terminal.note(&format!(
        "wrote {} to {}",
        super::terminal::counted(count, "kernel"),
        args.output.display()
    ));
    Ok(Exit::Done)
}
