//! Maps and reductions.
//!
//! A map is one loop over its elements. A reduction takes its rows one at a time, by an invocation or by a
//! workgroup, in phases: what the first folds need, the folds, what the next need, …, then the stores.

use super::body::Spell;
use super::code::{Code, coordinates, names, open_count, open_flat, open_grouped};
use super::header::{Header, Pack, pack};
use super::lanes::{self, Together};
use super::part::Part;
use super::scalar;
use super::text::Text;
use super::values::{Repr, Values, operands};
use sx_artifact::kernel::{FoldOp, Inst, Loop, Store, Val};
use sx_artifact::wgpu::When;

/// Instructions up to which a map's few elements may be unrolled.
const SMALL: usize = 12;

/// Invocations that share a row on a GPU.
const SHARED: u32 = 256;

/// The dispatch of a part that is a loop.
pub(super) fn code(part: &Part, l: &Loop, when: When) -> Result<Code, String> {
    if l.along.is_empty() {
        return match lanes::split(l) {
            Some(split) => map_fours(part, &split, when),
            None => map(part, l, when),
        };
    }
    let length: u64 = l.along.iter().product();
    let shared = when == When::Gpu && length >= 32;
    let workgroup = match when {
        When::Gpu if shared => SHARED.min(length.next_power_of_two() as u32).max(32),
        When::Gpu => 64,
        _ if length >= 64 => 8,
        _ => 64,
    };
    match lanes::split(l).filter(|_| !shared) {
        Some(split) => Rows::new(part, &split, workgroup, shared, true)?.code(),
        None => Rows::new(part, l, workgroup, shared, false)?.code(),
    }
}

/// Workgroups of 64 invocations that take `units` one at a time.
fn map_groups(units: u64, when: When) -> u64 {
    if when == When::Gpu { units.div_ceil(64) } else { units.div_ceil(512).min(256) }
}

/// A map whose last axis is in fours.
fn map_fours(part: &Part, l: &Loop, when: When) -> Result<Code, String> {
    let packs: Vec<Pack> = l.stores.iter().map(|store| pack(&part.kernel, store, &l.dims)).collect();
    let values = Values::new(&l.body, &part.kernel.args, &l.dims, l.dims.len());
    let outer = l.dims.len() - 1;
    let mut header = Header::new(&part.kernel, &l.stores, &packs);
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
    Ok(Code::new(&header, &part.sources, t, 64, map_groups(units, when)))
}

/// What is stored once an element, four elements at a time.
struct Fours<'a> {
    l: &'a Loop,
    together: &'a Together,
    header: &'a Header<'a>,
}

impl Fours<'_> {
    /// Computes `wanted` for four neighbours, which `lane` counts, and stores what comes of it.
    fn write(
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

fn map(part: &Part, l: &Loop, when: When) -> Result<Code, String> {
    let packs: Vec<Pack> = l.stores.iter().map(|store| pack(&part.kernel, store, &l.dims)).collect();
    let header = Header::new(&part.kernel, &l.stores, &packs);
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
    Ok(Code::new(&header, &part.sources, t, 64, map_groups(units, when)))
}

/// How many elements an invocation takes at a time so that it writes whole words.
fn gathered(packs: &[Pack]) -> u32 {
    packs.iter().map(|pack| if let Pack::Gathered(n) = pack { *n } else { 1 }).max().unwrap_or(1)
}

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
struct Rows<'a> {
    part: &'a Part,
    l: &'a Loop,
    values: Values<'a>,
    header: Header<'a>,
    /// Stores once a row and stores once an element, with their place among all.
    once: Vec<(usize, &'a Store, Pack)>,
    each: Vec<(usize, &'a Store, Pack)>,
    /// For each value how many folds lie one behind the other before it.
    ranks: Vec<u32>,
    length: u64,
    workgroup: u32,
    /// Whether the invocations of a workgroup share a row.
    shared: bool,
    /// What is reached four elements at a time, if rows are split so.
    together: Option<Together>,
}

impl<'a> Rows<'a> {
    fn new(
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
        let mut header = Header::new(&part.kernel, &l.stores, &packs);
        let inner = (1 << sizes.len()) - (1 << rows);
        let together = split.then(|| Together::new(l, &values, &mut header, &packs, inner));
        let mut ranks: Vec<u32> = vec![];
        for inst in &l.body.insts {
            let most = operands(inst).iter().map(|val| ranks[val.0 as usize]).max().unwrap_or(0);
            ranks.push(most + matches!(inst, Inst::Fold { .. }) as u32);
        }
        Ok(Rows { part, l, values, header, once, each, ranks, length, workgroup, shared, together })
    }

    fn code(&self) -> Result<Code, String> {
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
        let mut code = Code::new(&self.header, &self.part.sources, t, self.workgroup, groups);
        if self.shared {
            code.workgroup_bytes = reprs.iter().map(|repr| self.workgroup * bytes(*repr)).sum();
        }
        Ok(code)
    }

    fn fold_reprs(&self) -> Vec<Repr> {
        let folds = self.folds(None);
        let mut reprs: Vec<Repr> = folds.iter().map(|(val, _, _)| self.values.repr(*val)).collect();
        reprs.sort();
        reprs.dedup();
        reprs
    }

    /// The folds that stores need, those of one rank or all.
    fn folds(&self, rank: Option<u32>) -> Vec<(Val, FoldOp, Val)> {
        let wanted = self.values.cone(self.l.stores.iter().map(|store| store.value), true);
        let of = |i: usize| match self.values.insts[i] {
            Inst::Fold { op, x } if wanted[i] && rank.is_none_or(|rank| self.ranks[i] == rank) => {
                Some((Val(i as u32), op, x))
            }
            _ => None,
        };
        (0..wanted.len()).filter_map(of).collect()
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

    /// True if a fold adds so many numbers that it must do so in pairs.
    fn pairwise(&self, val: Val, op: FoldOp) -> bool {
        let each = if self.shared { self.length.div_ceil(self.workgroup as u64) } else { self.length };
        op == FoldOp::Sum && self.values.repr(val) == Repr::F32 && each > 16
    }

    /// One pass over a row (or an invocation's share of it) for some folds.
    fn accumulate(
        &self,
        t: &mut Text,
        spell: &Spell<'_>,
        folds: &[(Val, FoldOp, Val)],
        a: &[String],
    ) -> Result<(), String> {
        for &(val, op, _) in folds {
            let (v, repr) = (val.0, self.values.repr(val));
            t.line(format!("var acc{v} = {};", scalar::fold_identity(op, repr)));
            if self.pairwise(val, op) {
                let levels = 64 - (self.length / 8).leading_zeros() + 1;
                t.line(format!("var sums{v}: array<f32, {levels}>;"));
            }
        }
        let paired: Vec<u32> =
            folds.iter().filter(|(val, op, _)| self.pairwise(*val, *op)).map(|f| f.0.0).collect();
        let phase = folds[0].0.0;
        let count = format!("count{phase}");
        if !paired.is_empty() {
            t.line(format!("var {count} = 0u;"));
        }
        let open = self.open_along(t, a, 1);
        let wanted = self.values.cone(folds.iter().map(|(_, _, x)| *x), false);
        let lane = a.last().filter(|_| self.together.is_some());
        if let Some(lane) = lane {
            spell.fours(t, &wanted);
            lanes::open(t, lane, self.l);
        }
        spell.inner(t, &wanted)?;
        for &(val, op, x) in folds {
            let repr = self.values.repr(val);
            let acc = format!("acc{}", val.0);
            let combined = scalar::fold_combine(op, repr, &acc, &spell.value(x, repr));
            t.line(format!("{acc} = {combined};"));
        }
        if lane.is_some() {
            t.close(1);
        }
        if !paired.is_empty() {
            // Fours are never but a part of the eight that are added in order.
            t.line(format!("{count} += {}u;", if lane.is_some() { lanes::LANES } else { 1 }));
            t.line(format!("if (({count} & 7u) == 0u) {{"));
            for v in &paired {
                t.line(format!("var level{v} = 0u;"));
                t.line(format!("for (var n = ({count} >> 3u) - 1u; (n & 1u) == 1u; n >>= 1u) {{"));
                t.line(format!("acc{v} = sums{v}[level{v}] + acc{v};"));
                t.line(format!("level{v} += 1u;"));
                t.line("}");
                t.line(format!("sums{v}[level{v}] = acc{v};"));
                t.line(format!("acc{v} = 0.0f;"));
            }
            t.line("}");
        }
        t.close(open);
        for v in paired {
            t.line(format!("var up{v} = 0u;"));
            t.line(format!("for (var n = {count} >> 3u; n != 0u; n >>= 1u) {{"));
            t.line("if ((n & 1u) == 1u) {");
            t.line(format!("acc{v} = sums{v}[up{v}] + acc{v};"));
            t.line("}");
            t.line(format!("up{v} += 1u;"));
            t.line("}");
        }
        Ok(())
    }

    /// Opens the loop over a row, by `each` elements at a time, and gives how many blocks were opened.
    /// In it `l` is the position in the row. The loop over four neighbours is left to be opened.
    fn open_along(&self, t: &mut Text, a: &[String], each: u32) -> usize {
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

    /// Gives a fold's value its name: what the invocation has, or what all of the workgroup's give together.
    fn finish(&self, t: &mut Text, spell: &Spell<'_>, val: Val, op: FoldOp) {
        let (name, acc, repr) = (spell.name(val), format!("acc{}", val.0), self.values.repr(val));
        if !self.shared {
            return t.line(format!("let {name} = {acc};"));
        }
        let all = format!("shared_{}", tag(repr));
        let put = |x: &str| if repr == Repr::Bool { format!("select(0u, 1u, {x})") } else { x.to_owned() };
        let get = |at: &str| {
            if repr == Repr::Bool { format!("({all}[{at}] != 0u)") } else { format!("{all}[{at}]") }
        };
        t.line(format!("{all}[lane] = {};", put(&acc)));
        t.line("workgroupBarrier();");
        t.line(format!("for (var half = {}u; half > 0u; half >>= 1u) {{", self.workgroup / 2));
        t.line("if (lane < half) {");
        t.line(format!("let ours = {};", get("lane")));
        t.line(format!("let theirs = {};", get("lane + half")));
        t.line(format!("{all}[lane] = {};", put(&scalar::fold_combine(op, repr, "ours", "theirs"))));
        t.line("}");
        t.line("workgroupBarrier();");
        t.line("}");
        t.line(format!("let {name} = {};", get("0")));
        t.line("workgroupBarrier();");
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

fn tag(repr: Repr) -> &'static str {
    match repr {
        Repr::F32 => "f",
        Repr::I32 => "i",
        Repr::Wide => "w",
        Repr::Bool => "b",
    }
}

fn kept(repr: Repr) -> &'static str {
    if repr == Repr::Bool { "u32" } else { repr.ty() }
}

fn bytes(repr: Repr) -> u32 {
    if repr == Repr::Wide { 8 } else { 4 }
}
