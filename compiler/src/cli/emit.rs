//! `sxc emit`: the generated code of a target, a file a kernel.

use super::args::{Emit, Language};
use super::{Exit, Failure, Terminal, check};
use crate::compile::{self, Target};
use crate::driver;

pub(super) fn run(args: &Emit, terminal: &Terminal) -> Result<Exit, Failure> {
    let ending = match args.target {
        Language::Wgsl => ".wgsl",
        Language::Msl => ".msl",
        Language::Spirv => ".spv",
    };
    let checked = driver::check(&args.program.file, &args.program.dims, &args.graphs)?;
    terminal.diagnostics(&checked.sink, &checked.sources);
    let module = checked.module.ok_or_else(Failure::told)?;
    super::has_graphs(&module, &args.program)?;
    let compiled = compile::compile(&module, &checked.sources, &[Target::Wgpu])
        .map_err(|refused| check::refused(refused, &checked.sources, terminal))?;
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
