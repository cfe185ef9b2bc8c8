//! `sxc emit`: the generated code of a target, a file a kernel.

use super::args::{Emit, Language};
use super::check::{self, Loaded};
use super::{Exit, Failure, Terminal};
use crate::compile::{self, Target};
use crate::driver;

pub(super) fn run(args: &Emit, terminal: &Terminal) -> Result<Exit, Failure> {
    let ending = match args.target {
        Language::Wgsl => ".wgsl",
        Language::Msl => ".metal",
        Language::Spirv => ".spv",
    };
    let Loaded { module, sources } = check::loaded(&args.program, &args.graphs, terminal)?;
    let compiled = compile::compile(&module, &sources, &[Target::Wgpu])
        .map_err(|refused| check::refused(refused, &sources, terminal))?;
    driver::folder(&args.output)?;
    let mut count = 0;
    for (entry, bytes) in compiled.entries.iter().filter(|(entry, _)| entry.ends_with(ending)) {
        // `kernels/TARGET/GRAPH/KERNEL.wgsl` goes to `GRAPH/KERNEL.wgsl`.
        let name = entry.splitn(3, '/').last().unwrap_or(entry);
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
