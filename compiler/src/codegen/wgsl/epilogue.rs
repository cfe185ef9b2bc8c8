//! How products and attention end: an epilogue of each result, and the stores of what it gives.

use super::body::Spell;
use super::header::{Header, Pack, pack, per_word};
use super::split_bindings::Part;
use super::text::Text;
use super::values::Values;
use sx_artifact::kernel::{Body, Store};

/// The epilogue of a kernel, and the header that its stores shape.
pub(super) struct Epilogue<'a> {
    pub(super) header: Header<'a>,
    values: Values<'a>,
    stores: &'a [Store],
    packs: Vec<Pack>,
}

impl<'a> Epilogue<'a> {
    /// Results have coordinates of these sizes, of which an invocation takes `columns` along the last axis, whose
    /// axes together have `width` places.
    pub(super) fn new(
        part: &'a Part,
        body: &'a Body,
        stores: &'a [Store],
        sizes: &[u64],
        width: u64,
        columns: u64,
    ) -> Epilogue<'a> {
        let packs: Vec<Pack> =
            stores.iter().map(|store| packed(part, store, sizes, width, columns)).collect();
        Epilogue {
            header: Header::new(part, stores, &packs),
            values: Values::new(body, &part.kernel.args, sizes, 0),
            stores,
            packs,
        }
    }

    /// Opens what the stores of an invocation's columns gather.
    pub(super) fn open(&self, t: &mut Text) {
        self.header.open(t, &self.packs.iter().copied().enumerate().collect::<Vec<_>>());
    }

    /// Writes the epilogue of the result `acc`, whose coordinates `place` names, and its stores.
    pub(super) fn write(
        &self,
        t: &mut Text,
        acc: &str,
        place: impl FnOnce(&mut Spell<'_>),
    ) -> Result<(), String> {
        let mut spell = Spell::new(&self.values, &self.header, "");
        place(&mut spell);
        spell.acc(acc);
        spell.outer(t, &self.values.cone(self.stores.iter().map(|store| store.value), true))?;
        for (i, store) in self.stores.iter().enumerate() {
            self.header.store(t, &spell, i, store, self.packs[i], "false");
        }
        Ok(())
    }
}

/// How a store packs: words are whole only if an invocation's columns are.
fn packed(part: &Part, store: &Store, sizes: &[u64], width: u64, columns: u64) -> Pack {
    let in_word = per_word(part.kernel.args[store.access.arg as usize].dtype) as u64;
    match pack(&part.kernel, store, sizes) {
        Pack::Gathered(each) if !width.is_multiple_of(in_word) || columns < in_word => Pack::Atomic(each),
        other => other,
    }
}
