//! Reductions over rows: the loop over the rows, and a row's phases.

use super::fold::{bytes, kept, tag};
use super::gathered;
use super::vectorize::Fours;
use crate::codegen::wgsl::body::Spell;
use crate::codegen::wgsl::code::{Dispatched, coordinates, names, open_count, open_flat, open_grouped};
use crate::codegen::wgsl::header::{Header, Pack, pack};
use crate::codegen::wgsl::lanes::Together;
use crate::codegen::wgsl::split_bindings::Part;
use crate::codegen::wgsl::text::Text;
use crate::codegen::wgsl::values::Values;
use sx_artifact::kernel::{Loop, Store};

/// Opens the loop over the elements of a unit, and gives how many blocks were opened.
fn open_unit(t: &mut Text, header: &Header<'_>, packs: &[Pack], each: u32, name: &str, count: u64) -> usize {
    if each == 1 {
        t.line(format!("let {name} = unit;"));
        return 0;
    }
    header.open(t, &packs.iter().copied().enumerate().collect::<Vec<_>>());
    open_count(t, &format!("j_{name}"), each as u64);
    t.line(format!("let {name} = unit * {each}u + j_{name};"));
    t.line(format!("if ({name} >= {count}u) {{"));
    t.line("break;");
    t.line("}");
    1
}

/// Reductions over rows.
pub(super) struct Rows<'a> {
    part: &'a Part,
    pub(super) l: &'a Loop,
    pub(super) values: Values<'a>,
    header: Header<'a>,
    /// Stores once a row and stores once an element, with their place among all.
    once: Vec<(usize, &'a Store, Pack)>,
    each: Vec<(usize, &'a Store, Pack)>,
    /// For each value how many folds lie one behind the other before it.
    pub(super) ranks: Vec<u32>,
    pub(super) length: u64,
    pub(super) workgroup: u32,
    /// Whether the invocations of a workgroup share a row.
    pub(super) shared: bool,
    /// What is reached four elements at a time, if rows are split so.
    pub(super) together: Option<Together>,
}

impl<'a> Rows<'a> {
    pub(super) fn new(
        part: &'a Part,
        l: &'a Loop,
        workgroup: u32,
        shared: bool,
        split: bool,
    ) -> Result<Rows<'a>, String> {
        let rows = l.dims.len();
        let sizes: Vec<u64> = l.dims.iter().chain(&l.along).copied().collect();
        let length: u64 = l.along.iter().product();
        let values = Values::new(&l.body, &part.kernel.args, &sizes, rows);
        let mut once = vec![];
        let mut each = vec![];
        let mut packs = vec![];
        for (i, store) in l.stores.iter().enumerate() {
            let strides = &store.access.at.strides[rows..];
            let element = strides.iter().zip(&l.along).any(|(&s, &n)| s != 0 && n > 1);
            let mut how = pack(&part.kernel, store, if element { &sizes } else { &l.dims });
            // A word must not reach into the next row, which another invocation writes.
            if let Pack::Gathered(n) = how
                && element
                && !length.is_multiple_of(n as u64)
            {
                how = Pack::Atomic(n);
            }
            packs.push(how);
            if element { each.push((i, store, how)) } else { once.push((i, store, how)) }
        }
        let mut header = Header::new(part, &l.stores, &packs);
        let inner = (1 << sizes.len()) - (1 << rows);
        let together = split.then(|| Together::new(l, &values, &mut header, &packs, inner));
        let mut ranks: Vec<u32> = vec![];
        for inst in &l.body.insts {
            let most = inst.uses().map(|val| ranks[val.0 as usize]).max().unwrap_or(0);
            ranks.push(most + u32::from(inst.is_fold()));
        }
        Ok(Rows { part, l, values, header, once, each, ranks, length, workgroup, shared, together })
    }

    pub(super) fn code(&self) -> Result<Dispatched, String> {
        let rows: u64 = self.l.dims.iter().product();
        let packs: Vec<Pack> = self.once.iter().map(|(_, _, pack)| *pack).collect();
        let each = gathered(&packs);
        let units = rows.div_ceil(each as u64);
        let mut t = Text::default();
        let reprs = self.fold_reprs();
        if self.shared {
            for repr in &reprs {
                t.line(format!(
                    "var<workgroup> shared_{}: array<{}, {}>;",
                    tag(*repr),
                    kept(*repr),
                    self.workgroup
                ));
            }
            open_grouped(&mut t, self.workgroup);
            t.line(format!("for (var unit = group.x; unit < {units}u; unit += groups.x) {{"));
        } else {
            open_flat(&mut t, self.workgroup);
            t.line(format!(
                "for (var unit = id.x; unit < {units}u; unit += groups.x * {}u) {{",
                self.workgroup
            ));
        }
        if each > 1 {
            for (i, _, _) in self.once.iter().filter(|(_, _, pack)| matches!(pack, Pack::Gathered(_))) {
                t.line(format!("var word{i} = 0u;"));
            }
        }
        let open = open_unit(&mut t, &self.header, &[], each, "row", rows);
        self.row(&mut t, rows)?;
        t.close(open + 2);
        let groups = if self.shared { units } else { units.div_ceil(self.workgroup as u64).min(1024) };
        let mut code = Dispatched::new(&self.header, self.part, t, self.workgroup, groups);
        if self.shared {
            code.workgroup_bytes = reprs.iter().map(|repr| self.workgroup * bytes(*repr)).sum();
        }
        Ok(code)
    }

    fn row(&self, t: &mut Text, rows: u64) -> Result<(), String> {
        let (d, a) = (names("d", self.l.dims.len()), names("r", self.l.along.len()));
        coordinates(t, "row", &d, &self.l.dims);
        let mut spell = Spell::new(&self.values, &self.header, "");
        spell.coords(&d, &self.l.dims, false);
        spell.coords(&a, &self.l.along, true);
        if let (Some(together), Some(lane)) = (&self.together, a.last()) {
            spell.together(lane, &together.loads);
        }
        let wanted = self.values.cone(self.l.stores.iter().map(|store| store.value), true);
        let phases = self.folds(None).iter().map(|(val, _, _)| self.ranks[val.0 as usize]).max().unwrap_or(0);
        for phase in 0..=phases {
            let now: Vec<bool> =
                wanted.iter().zip(&self.ranks).map(|(&w, &rank)| w && rank <= phase).collect();
            spell.outer(t, &now)?;
            let folds = self.folds(Some(phase + 1));
            if folds.is_empty() {
                continue;
            }
            self.accumulate(t, &spell, &folds, &a)?;
            for (val, op, _) in folds {
                self.finish(t, &spell, val, op);
                spell.define(val);
            }
        }
        if self.shared && !self.once.is_empty() {
            t.line("if (lane == 0u) {");
        }
        for &(i, store, pack) in &self.once {
            self.header.store(t, &spell, i, store, pack, &format!("row == {}u", rows.max(1) - 1));
        }
        if self.shared && !self.once.is_empty() {
            t.line("}");
        }
        self.elements(t, &spell, &a)
    }

    /// Opens the loop over a row, by `each` elements at a time, and gives how many blocks were opened.
    /// In it `l` is the position in the row. The loop over four neighbours is left to be opened.
    pub(super) fn open_along(&self, t: &mut Text, a: &[String], each: u32) -> usize {
        let (length, w) = (self.length, self.workgroup);
        if self.shared {
            if each == 1 {
                t.line(format!("for (var l = lane; l < {length}u; l += {w}u) {{"));
                coordinates(t, "l", a, &self.l.along);
                return 1;
            }
            t.line(format!("for (var some = lane; some < {}u; some += {w}u) {{", length / each as u64));
            open_count(t, "j", each as u64);
            t.line(format!("let l = some * {each}u + j;"));
            coordinates(t, "l", a, &self.l.along);
            return 2;
        }
        let open = a.len() - self.together.is_some() as usize;
        for (name, size) in a.iter().zip(&self.l.along).take(open) {
            open_count(t, name, *size);
        }
        open
    }

    /// The last pass: what is stored once an element.
    fn elements(&self, t: &mut Text, spell: &Spell<'_>, a: &[String]) -> Result<(), String> {
        if self.each.is_empty() {
            return Ok(());
        }
        let packs: Vec<Pack> = self.each.iter().map(|(_, _, pack)| *pack).collect();
        let each = gathered(&packs);
        if let (Some(together), Some(lane)) = (&self.together, a.last()) {
            let open = self.open_along(t, a, each);
            let wanted = self.values.cone(self.each.iter().map(|(_, store, _)| store.value), false);
            let fours = Fours { l: self.l, together, header: &self.header };
            fours.write(t, spell, lane, &wanted, &self.each)?;
            t.close(open);
            return Ok(());
        }
        for (i, _, _) in self.each.iter().filter(|(_, _, pack)| matches!(pack, Pack::Gathered(_))) {
            t.line(format!("var word{i} = 0u;"));
        }
        let open = self.open_along(t, a, each);
        spell.inner(t, &self.values.cone(self.each.iter().map(|(_, store, _)| store.value), false))?;
        for &(i, store, pack) in &self.each {
            self.header.store(t, spell, i, store, pack, "false");
        }
        t.close(open);
        Ok(())
    }
}
