//! Maps: one loop over the elements.

use super::gathered;
use super::vectorize::Fours;
use crate::codegen::wgsl::body::Spell;
use crate::codegen::wgsl::code::{Dispatched, coordinates, names, open_count, open_flat};
use crate::codegen::wgsl::header::{Header, Pack, pack};
use crate::codegen::wgsl::lanes::Together;
use crate::codegen::wgsl::split_bindings::Part;
use crate::codegen::wgsl::text::Text;
use crate::codegen::wgsl::values::Values;
use sx_artifact::code::wgpu::When;
use sx_artifact::kernel::Loop;

/// Instructions up to which a map's few elements may be unrolled.
const SMALL: usize = 12;

/// Workgroups of 64 invocations that take `units` one at a time.
fn map_groups(units: u64, when: When) -> u64 {
    if when == When::Gpu { units.div_ceil(64) } else { units.div_ceil(512).min(256) }
}

/// A map whose last axis is in fours.
pub(super) fn fours(part: &Part, l: &Loop, when: When) -> Result<Dispatched, String> {
    let packs: Vec<Pack> = l.stores.iter().map(|store| pack(&part.kernel, store, &l.dims)).collect();
    let values = Values::new(&l.body, &part.kernel.args, &l.dims, l.dims.len());
    let outer = l.dims.len() - 1;
    let mut header = Header::new(part, &l.stores, &packs);
    let together = Together::new(l, &values, &mut header, &packs, 1 << outer);
    let units: u64 = l.dims[..outer].iter().product();
    let coords = names("d", outer);
    let mut t = Text::default();
    open_flat(&mut t, 64);
    t.line(format!("for (var unit = id.x; unit < {units}u; unit += groups.x * 64u) {{"));
    coordinates(&mut t, "unit", &coords, &l.dims[..outer]);
    let mut spell = Spell::new(&values, &header, "");
    spell.coords(&coords, &l.dims[..outer], false);
    spell.coords(&["j".to_owned()], &l.dims[outer..], true);
    spell.together("j", &together.loads);
    let wanted = values.cone(l.stores.iter().map(|store| store.value), true);
    spell.outer(&mut t, &wanted)?;
    let stores: Vec<_> = l.stores.iter().enumerate().zip(&packs).map(|((i, s), p)| (i, s, *p)).collect();
    Fours { l, together: &together, header: &header }.write(&mut t, &spell, "j", &wanted, &stores)?;
    t.close(2);
    Ok(Dispatched::new(&header, part, t, 64, map_groups(units, when)))
}

/// A map whose elements are taken one at a time.
pub(super) fn plain(part: &Part, l: &Loop, when: When) -> Result<Dispatched, String> {
    let packs: Vec<Pack> = l.stores.iter().map(|store| pack(&part.kernel, store, &l.dims)).collect();
    let header = Header::new(part, &l.stores, &packs);
    let values = Values::new(&l.body, &part.kernel.args, &l.dims, l.dims.len());
    let count: u64 = l.dims.iter().product();
    let each = gathered(&packs).max(4);
    let units = count.div_ceil(each as u64);
    let coords = names("d", l.dims.len());
    let mut t = Text::default();
    open_flat(&mut t, 64);
    t.line(format!("for (var unit = id.x; unit < {units}u; unit += groups.x * 64u) {{"));
    header.open(&mut t, &packs.iter().copied().enumerate().collect::<Vec<_>>());
    if part.kernel.args.len() <= 3 && l.body.insts.len() <= SMALL {
        t.line(format!("for (var j = 0u; j < {each}u; j++) {{"));
    } else {
        open_count(&mut t, "j", each as u64);
    }
    t.line(format!("let e = unit * {each}u + j;"));
    if !count.is_multiple_of(each as u64) {
        t.line(format!("if (e >= {count}u) {{"));
        t.line("break;");
        t.line("}");
    }
    coordinates(&mut t, "e", &coords, &l.dims);
    let mut spell = Spell::new(&values, &header, "");
    spell.coords(&coords, &l.dims, false);
    spell.outer(&mut t, &values.cone(l.stores.iter().map(|store| store.value), true))?;
    for (i, store) in l.stores.iter().enumerate() {
        header.store(&mut t, &spell, i, store, packs[i], &format!("e == {}u", count.max(1) - 1));
    }
    t.close(3);
    Ok(Dispatched::new(&header, part, t, 64, map_groups(units, when)))
}
