//! A kernel made ready to be launched.

use super::attention::AttentionReady;
use super::block_program::{ArgSpec, Nest};
use super::buffer::{Arg, Report};
use super::compile::{Source, compile};
use super::contract::ContractionReady;
use super::split::split;
use super::team::Team;
use sx_artifact::kernel::{Inst, Kernel, KernelKind, Loop};

/// A kernel made ready.
pub(super) enum Ready {
    /// A map or reductions, in pieces that write different elements.
    Loop(Vec<Nest>),
    /// A matrix product.
    Contraction(Box<ContractionReady>),
    /// Attention.
    Attention(Box<AttentionReady>),
}

impl Ready {
    /// Makes a kernel ready, or says what has no meaning in it.
    pub(super) fn new(kernel: &Kernel) -> Result<Ready, String> {
        let args = &kernel.args[..];
        Ok(match &kernel.kind {
            KernelKind::Loop(work) => {
                let pieces = split(work, &work.body.types(args));
                Ready::Loop(pieces.iter().map(|piece| ready_loop(piece, args)).collect::<Result<_, _>>()?)
            }
            KernelKind::Contraction(work) => Ready::Contraction(Box::new(ContractionReady::new(work, args)?)),
            KernelKind::Attention(work) => Ready::Attention(Box::new(AttentionReady::new(work, args)?)),
        })
    }

    /// Bytes that a thread works on at most while it runs the kernel, beside its buffers.
    pub(super) fn working_bytes(&self) -> usize {
        match self {
            // A row that is cut for threads is held by the calling one, which works on a part of it, too.
            Ready::Loop(nests) => 2 * nests.iter().map(Nest::working_bytes).max().unwrap_or(0),
            Ready::Contraction(work) => work.working_bytes(),
            Ready::Attention(work) => work.working_bytes(),
        }
    }

    /// Runs the kernel on its buffers.
    pub(super) fn run(&self, args: &[Arg], report: &Report, team: &mut Team) {
        match self {
            Ready::Loop(nests) => nests.iter().for_each(|nest| nest.run(args, report, team)),
            Ready::Contraction(work) => work.run(args, report, team),
            Ready::Attention(work) => work.run(args, report, team),
        }
    }
}

fn ready_loop(work: &Loop, args: &[ArgSpec]) -> Result<Nest, String> {
    let folds = work.body.insts.iter().any(Inst::is_fold);
    let along = folds || !work.along.is_empty();
    let groups = if along { vec![work.dims.clone(), work.along.clone()] } else { vec![work.dims.clone()] };
    compile(&Source {
        groups: &groups,
        split: &[false, false],
        along,
        body: &work.body,
        stores: &work.stores,
        args,
    })
}
