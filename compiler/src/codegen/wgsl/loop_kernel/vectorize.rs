//! What is stored once an element, four elements at a time.

use crate::codegen::wgsl::body::Spell;
use crate::codegen::wgsl::header::{Header, Pack};
use crate::codegen::wgsl::lanes::{self, Together};
use crate::codegen::wgsl::text::Text;
use sx_artifact::kernel::{Loop, Store};

/// What is stored once an element, four elements at a time.
pub(super) struct Fours<'a> {
    pub(super) l: &'a Loop,
    pub(super) together: &'a Together,
    pub(super) header: &'a Header<'a>,
}

impl Fours<'_> {
    /// Computes `wanted` for four neighbours, which `lane` counts, and stores what comes of it.
    pub(super) fn write(
        &self,
        t: &mut Text,
        spell: &Spell<'_>,
        lane: &str,
        wanted: &[bool],
        stores: &[(usize, &Store, Pack)],
    ) -> Result<(), String> {
        let four: Vec<(usize, &Store)> =
            stores.iter().filter(|s| self.together.stores[s.0]).map(|&(i, store, _)| (i, store)).collect();
        let packs: Vec<(usize, Pack)> = stores.iter().map(|&(i, _, pack)| (i, pack)).collect();
        self.header.open(t, &packs);
        lanes::open_stores(t, self.header, &four);
        spell.fours(t, wanted);
        lanes::open(t, lane, self.l);
        spell.inner(t, wanted)?;
        for &(i, store, pack) in stores {
            if self.together.stores[i] {
                let dtype = self.header.kernel.args[store.access.arg as usize].dtype;
                t.line(format!("stored{i}[{lane}] = {};", spell.bits(store.value, dtype)));
            } else {
                self.header.store(t, spell, i, store, pack, "false");
            }
        }
        t.close(1);
        lanes::close_stores(t, self.header, spell, &four);
        Ok(())
    }
}
