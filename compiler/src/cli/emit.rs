//! `sxc emit`: the generated code of a target, a file a kernel. Artifacts hold the WGSL; what naga makes of it in other
//! languages is for reading.

use super::args::{Emit, Language};
use super::check::{self, Loaded};
use super::{Exit, Failure, Terminal};
use crate::codegen::FLOORS;
use crate::codegen::wgsl::translate;
use crate::{compile, driver};
use std::borrow::Cow;
use sx_artifact::code::Target;

pub(super) fn run(args: &Emit, terminal: &Terminal) -> Result<Exit, Failure> {
    let Loaded { module, sources } = check::loaded(&args.program, &args.graphs, terminal)?;
    let compiled = compile::compile(&module, &sources, &[Target::Wgpu], &FLOORS[0])
        .map_err(|refused| check::refused(refused, &sources, terminal))?;
    driver::folder(&args.output)?;
    let mut count = 0;
    for (entry, wgsl) in compiled.entries() {
        // `kernels/wgsl/GRAPH/KERNEL.wgsl` goes to `GRAPH/KERNEL.wgsl`.
        let Some(name) = entry.strip_prefix("kernels/wgsl/") else { continue };
        let (ending, bytes) = in_language(wgsl, args.target);
        let path = args.output.join(name).with_extension(ending);
        if let Some(folder) = path.parent() {
            driver::folder(folder)?;
        }
        driver::write(&path, &bytes?)?;
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

/// How files of a language end, and a kernel in that language.
fn in_language(wgsl: &[u8], language: Language) -> (&'static str, Result<Cow<'_, [u8]>, Failure>) {
    let checked = || translate::check(&String::from_utf8_lossy(wgsl));
    let (ending, bytes) = match language {
        Language::Wgsl => ("wgsl", Ok(Cow::Borrowed(wgsl))),
        Language::Msl => ("metal", checked().and_then(|it| it.msl()).map(|text| text.into_bytes().into())),
        Language::Spirv => ("spv", checked().and_then(|it| it.spirv()).map(Cow::Owned)),
    };
    (ending, bytes.map_err(|why| Failure::new(Exit::Fault, format!("a kernel has no such form: {why}"))))
}
