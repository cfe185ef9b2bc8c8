//! What is known of a body before it is compiled: which axes each value follows, and in which phase it is computed.

use super::space::{Pattern, Space, Walk};
use sx_artifact::kernel::{Access, Affine, Body, Inst, ScalarType, Store, Val};

pub(super) fn affines<'a>(
    body: &'a Body,
    live: &'a [bool],
    stores: &'a [Store],
) -> impl Iterator<Item = &'a Affine> {
    let loaded = body.insts.iter().zip(live).filter(|(_, live)| **live).filter_map(|(inst, _)| inst.affine());
    loaded.chain(stores.iter().map(|store| &store.access.at))
}

pub(super) fn axes_mask(axes: impl IntoIterator<Item = usize>) -> u64 {
    axes.into_iter().fold(0, |mask, axis| mask | 1 << axis)
}

pub(super) fn followed(strides: &[i64]) -> u64 {
    axes_mask((0..strides.len()).filter(|&a| strides[a] != 0))
}

/// The axes that each value follows, as bits; a fold's result follows none of the reduced ones.
pub(super) fn dependence(body: &Body, space: &Space, along: u64) -> Vec<u64> {
    let mut depends: Vec<u64> = Vec::with_capacity(body.insts.len());
    for inst in &body.insts {
        let own = inst.affine().map_or(0, |at| followed(&space.strides(at)));
        let mask = inst.uses().fold(own, |mask, v| mask | depends[v.0 as usize]);
        depends.push(if inst.is_fold() { mask & !along } else { mask });
    }
    depends
}

pub(super) fn patterns(
    body: &Body,
    live: &[bool],
    stores: &[Store],
    space: &Space,
    depends: &[u64],
) -> Vec<Pattern> {
    let loads = body.insts.iter().zip(live).filter(|(_, live)| **live).filter_map(|(inst, _)| match inst {
        Inst::Load { access, guard } => Some((access, guard.is_some())),
        _ => None,
    });
    loads
        .chain(stores.iter().map(|store| (&store.access, false)))
        .map(|(access, guarded)| Pattern {
            strides: space.strides(&access.at),
            gathered: access.gathered.iter().fold(0, |mask, (v, _)| mask | depends[v.0 as usize] | 1 << 63),
            guarded,
        })
        .collect()
}

/// A store, with what is known of it.
pub(super) struct Stored {
    pub(super) value: Val,
    pub(super) access: Access,
    /// Made for each block rather than for each row.
    pub(super) block: bool,
    /// Writes an element for each lane.
    pub(super) many: bool,
}

/// What is known of each value.
pub(super) struct Values {
    pub(super) regs: Vec<ScalarType>,
    pub(super) live: Vec<bool>,
    pub(super) depends: Vec<u64>,
    /// Computed for each block rather than for each row.
    pub(super) block: Vec<bool>,
    /// Differs from lane to lane.
    pub(super) many: Vec<bool>,
    /// The first phase in which it can be computed.
    pub(super) phase: Vec<usize>,
    /// How many phases there are.
    pub(super) phases: usize,
    pub(super) stores: Vec<Stored>,
}

impl Values {
    /// What `walk` makes of each value of `body`.
    pub(super) fn new(
        body: &Body,
        (regs, live, depends): (Vec<ScalarType>, Vec<bool>, Vec<u64>),
        space: &Space,
        walk: &Walk,
        stores: &[Store],
    ) -> Values {
        let (blocks, tile) = (axes_mask(walk.blocks.iter().copied()), axes_mask(walk.tile.iter().copied()));
        let block: Vec<bool> = depends.iter().map(|d| d & blocks != 0).collect();
        let many = depends.iter().map(|d| d & tile != 0).collect();
        let mut phase: Vec<usize> = Vec::with_capacity(body.insts.len());
        let mut phases = 0;
        for (v, inst) in body.insts.iter().enumerate() {
            let ready = inst.uses().map(|v| phase[v.0 as usize]).max().unwrap_or(0);
            let folds = inst.is_fold();
            phase.push(ready + folds as usize);
            let traps = block[v] && inst.traps();
            if live[v] && (folds || traps) {
                phases = phases.max(ready + 1);
            }
        }
        let stores: Vec<Stored> = stores
            .iter()
            .map(|store| {
                let value = store.value;
                let follows = followed(&space.strides(&store.access.at)) | depends[value.0 as usize];
                Stored {
                    value,
                    access: store.access.clone(),
                    block: follows & blocks != 0,
                    many: follows & tile != 0,
                }
            })
            .collect();
        for store in stores.iter().filter(|store| store.block) {
            phases = phases.max(phase[store.value.0 as usize] + 1);
        }
        Values { regs, live, depends, block, many, phase, phases, stores }
    }
}
