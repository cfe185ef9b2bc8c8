//! Folds: accumulated over a row in pairs where rounding asks for it, and finished by a workgroup together.

use super::rows::Rows;
use crate::codegen::wgsl::body::Spell;
use crate::codegen::wgsl::lanes;
use crate::codegen::wgsl::scalar;
use crate::codegen::wgsl::text::Text;
use crate::codegen::wgsl::values::Repr;
use sx_artifact::kernel::{FoldOp, Val};

impl Rows<'_> {
    pub(super) fn fold_reprs(&self) -> Vec<Repr> {
        let folds = self.folds(None);
        let mut reprs: Vec<Repr> = folds.iter().map(|(val, _, _)| self.values.repr(*val)).collect();
        reprs.sort();
        reprs.dedup();
        reprs
    }

    /// The folds that stores need, those of one rank or all.
    pub(super) fn folds(&self, rank: Option<u32>) -> Vec<(Val, FoldOp, Val)> {
        let wanted = self.values.cone(self.l.stores.iter().map(|store| store.value), true);
        let of = |i: usize| {
            let val = Val(i as u32);
            let (op, x) = self.values.fold(val)?;
            (wanted[i] && rank.is_none_or(|rank| self.ranks[i] == rank)).then_some((val, op, x))
        };
        (0..wanted.len()).filter_map(of).collect()
    }

    /// True if a fold adds so many numbers that it must do so in pairs.
    fn pairwise(&self, val: Val, op: FoldOp) -> bool {
        let each = if self.shared { self.length.div_ceil(self.workgroup as u64) } else { self.length };
        op == FoldOp::Sum && self.values.repr(val) == Repr::F32 && each > 16
    }

    /// One pass over a row (or an invocation's share of it) for some folds.
    pub(super) fn accumulate(
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
            carry(t, &paired, &count);
        }
        t.close(open);
        add_carried(t, &paired, &count);
        Ok(())
    }

    /// Gives a fold's value its name: what the invocation has, or what all of the workgroup's give together.
    pub(super) fn finish(&self, t: &mut Text, spell: &Spell<'_>, val: Val, op: FoldOp) {
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
}

pub(super) fn tag(repr: Repr) -> &'static str {
    match repr {
        Repr::F32 => "f",
        Repr::I32 => "i",
        Repr::Wide => "w",
        Repr::Bool => "b",
    }
}

pub(super) fn kept(repr: Repr) -> &'static str {
    if repr == Repr::Bool { "u32" } else { repr.ty() }
}

pub(super) fn bytes(repr: Repr) -> u32 {
    if repr == Repr::Wide { 8 } else { 4 }
}

/// Each eighth element: what was added meanwhile is carried up the levels that are full.
fn carry(t: &mut Text, paired: &[u32], count: &str) {
    t.line(format!("if (({count} & 7u) == 0u) {{"));
    for v in paired {
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

/// After a row: what the levels still hold is added.
fn add_carried(t: &mut Text, paired: &[u32], count: &str) {
    for v in paired {
        t.line(format!("var up{v} = 0u;"));
        t.line(format!("for (var n = {count} >> 3u; n != 0u; n >>= 1u) {{"));
        t.line("if ((n & 1u) == 1u) {");
        t.line(format!("acc{v} = sums{v}[up{v}] + acc{v};"));
        t.line("}");
        t.line(format!("up{v} += 1u;"));
        t.line("}");
    }
}
