//! What every reader of a body asks: which values an instruction uses, what it reaches, what is live, what depends
//! on what.

use super::{Access, Affine, Arg, Body, Const, Inst, ScalarType, Val};

impl Const {
    /// Its type.
    pub fn ty(self) -> ScalarType {
        match self {
            Const::F32(_) => ScalarType::F32,
            Const::I32(_) => ScalarType::I32,
            Const::I64(_) => ScalarType::I64,
            Const::Bool(_) => ScalarType::Bool,
        }
    }

    /// The 0 of a type, which a load gives where its guard is false.
    pub fn zero(ty: ScalarType) -> Const {
        match ty {
            ScalarType::F32 => Const::F32(0),
            ScalarType::I32 => Const::I32(0),
            ScalarType::I64 => Const::I64(0),
            ScalarType::Bool => Const::Bool(false),
        }
    }

    /// The value of an integer constant.
    pub fn integer(self) -> Option<i64> {
        match self {
            Const::I32(value) => Some(value.into()),
            Const::I64(value) => Some(value),
            Const::F32(_) | Const::Bool(_) => None,
        }
    }
}

impl Inst {
    /// The values it uses, in the order in which it names them.
    pub fn uses(&self) -> impl Iterator<Item = Val> + Clone + '_ {
        let (values, gathered, guard): (&[Val], &[(Val, i64)], Option<Val>) = match self {
            Inst::Const(_) | Inst::Index { .. } | Inst::Acc { .. } => (&[], &[], None),
            Inst::Load { access, guard } => (&[], &access.gathered, *guard),
            Inst::Call { args, .. } => (args, &[], None),
            Inst::Convert { x, .. }
            | Inst::RoundBf16 { x }
            | Inst::Bounded { x, .. }
            | Inst::Fold { x, .. } => (std::slice::from_ref(x), &[], None),
        };
        values.iter().copied().chain(gathered.iter().map(|&(value, _)| value)).chain(guard)
    }

    /// The values it uses, in the order of [`Inst::uses`], to be replaced.
    pub fn uses_mut(&mut self) -> impl Iterator<Item = &mut Val> {
        let (values, gathered, guard): (&mut [Val], &mut [(Val, i64)], Option<&mut Val>) = match self {
            Inst::Const(_) | Inst::Index { .. } | Inst::Acc { .. } => (&mut [], &mut [], None),
            Inst::Load { access, guard } => (&mut [], &mut access.gathered, guard.as_mut()),
            Inst::Call { args, .. } => (args, &mut [], None),
            Inst::Convert { x, .. }
            | Inst::RoundBf16 { x }
            | Inst::Bounded { x, .. }
            | Inst::Fold { x, .. } => (std::slice::from_mut(x), &mut [], None),
        };
        values.iter_mut().chain(gathered.iter_mut().map(|(value, _)| value)).chain(guard)
    }

    /// The same instruction with other operands.
    pub fn renamed(mut self, new: impl Fn(Val) -> Val) -> Inst {
        self.uses_mut().for_each(|value| *value = new(*value));
        self
    }

    /// What a load reads.
    pub fn access(&self) -> Option<&Access> {
        match self {
            Inst::Load { access, .. } => Some(access),
            Inst::Const(_)
            | Inst::Index { .. }
            | Inst::Acc { .. }
            | Inst::Call { .. }
            | Inst::Convert { .. }
            | Inst::RoundBf16 { .. }
            | Inst::Bounded { .. }
            | Inst::Fold { .. } => None,
        }
    }

    /// What a load reads, to be changed.
    pub fn access_mut(&mut self) -> Option<&mut Access> {
        match self {
            Inst::Load { access, .. } => Some(access),
            Inst::Const(_)
            | Inst::Index { .. }
            | Inst::Acc { .. }
            | Inst::Call { .. }
            | Inst::Convert { .. }
            | Inst::RoundBf16 { .. }
            | Inst::Bounded { .. }
            | Inst::Fold { .. } => None,
        }
    }

    /// The affine form in it: an index's, or a load's.
    pub fn affine(&self) -> Option<&Affine> {
        match self {
            Inst::Index { at, .. } => Some(at),
            Inst::Load { access, .. } => Some(&access.at),
            Inst::Const(_)
            | Inst::Acc { .. }
            | Inst::Call { .. }
            | Inst::Convert { .. }
            | Inst::RoundBf16 { .. }
            | Inst::Bounded { .. }
            | Inst::Fold { .. } => None,
        }
    }

    /// The affine form in it, to be changed.
    pub fn affine_mut(&mut self) -> Option<&mut Affine> {
        match self {
            Inst::Index { at, .. } => Some(at),
            Inst::Load { access, .. } => Some(&mut access.at),
            Inst::Const(_)
            | Inst::Acc { .. }
            | Inst::Call { .. }
            | Inst::Convert { .. }
            | Inst::RoundBf16 { .. }
            | Inst::Bounded { .. }
            | Inst::Fold { .. } => None,
        }
    }

    /// Whether it can stop the launch.
    pub fn traps(&self) -> bool {
        matches!(self, Inst::Bounded { trap: Some(_), .. })
    }

    /// Whether it reduces over the `along` coordinates.
    pub fn is_fold(&self) -> bool {
        matches!(self, Inst::Fold { .. })
    }

    /// Whether it is the accumulator.
    pub fn is_acc(&self) -> bool {
        matches!(self, Inst::Acc { .. })
    }

    /// The value of a constant.
    pub fn constant(&self) -> Option<Const> {
        if let Inst::Const(value) = self { Some(*value) } else { None }
    }

    /// The coordinates that its own affine form follows, as bits.
    fn follows(&self) -> u64 {
        self.affine().map_or(0, Affine::follows)
    }
}

impl Body {
    /// The instruction that defines a value. Panics where there is none: a body from a file is validated first.
    pub fn inst(&self, value: Val) -> &Inst {
        &self.insts[value.0 as usize]
    }

    /// Adds an instruction; gives the value it defines.
    pub fn push(&mut self, inst: Inst) -> Val {
        self.insts.push(inst);
        Val(self.insts.len() as u32 - 1)
    }

    /// The type of each value, or `None` where an instruction names an argument or value that is not there.
    pub fn checked_types(&self, args: &[Arg]) -> Option<Vec<ScalarType>> {
        let mut types = Vec::with_capacity(self.insts.len());
        for inst in &self.insts {
            types.push(inst.reg(args, &types)?);
        }
        Some(types)
    }

    /// The type of each value, in order. Panics on a body that names an argument or value that is not there:
    /// a body from a file is validated before this is asked.
    pub fn types(&self, args: &[Arg]) -> Vec<ScalarType> {
        self.checked_types(args).expect("a validated body names only what is there")
    }

    /// Which values are `roots`, may stop the launch, or are used by such.
    pub fn live(&self, roots: impl IntoIterator<Item = Val>) -> Vec<bool> {
        let traps = self.insts.iter().enumerate().filter(|(_, inst)| inst.traps());
        self.used_by(traps.map(|(at, _)| Val(at as u32)).chain(roots))
    }

    /// Which values are `roots` or used by such.
    pub fn used_by(&self, roots: impl IntoIterator<Item = Val>) -> Vec<bool> {
        let mut live = vec![false; self.insts.len()];
        roots.into_iter().for_each(|root| live[root.0 as usize] = true);
        for at in (0..live.len()).rev() {
            if live[at] {
                self.insts[at].uses().for_each(|used| live[used.0 as usize] = true);
            }
        }
        live
    }

    /// Drops the values for which `keep` is false; no kept one may use them. Gives what each kept value is now, and
    /// `Val(u32::MAX)` for the others.
    pub fn retain(&mut self, keep: &[bool]) -> Vec<Val> {
        let mut renamed = vec![Val(u32::MAX); self.insts.len()];
        let mut kept = Vec::new();
        for (at, inst) in std::mem::take(&mut self.insts).into_iter().enumerate().filter(|(at, _)| keep[*at])
        {
            renamed[at] = Val(kept.len() as u32);
            kept.push(inst.renamed(|value| renamed[value.0 as usize]));
        }
        self.insts = kept;
        renamed
    }

    /// The coordinates that each value depends on, one bit each, loads, indices and guards included; a fold's result
    /// depends on none of those from `rows` on, which it reduces. Coordinates beyond the 64th share the last bit.
    pub fn dependence(&self, rows: usize) -> Vec<u64> {
        let row_bits = if rows < 64 { (1 << rows) - 1 } else { u64::MAX };
        let mut depends: Vec<u64> = Vec::with_capacity(self.insts.len());
        for inst in &self.insts {
            let used = inst.uses().fold(inst.follows(), |bits, value| bits | depends[value.0 as usize]);
            depends.push(if inst.is_fold() { used & row_bits } else { used });
        }
        depends
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::text;

    fn body() -> Body {
        let kernel = text::read(
            "kernel k
               traps 1
               #0 read f32[12]
               #1 read i64[3]
               #2 write f32[3]
               for [3] along [4]
                 v0 = #1[c0]
                 v1 = v0 below 3 or trap 0
                 v2 = i64 c1
                 v3 = 2i64
                 v4 = < v2 v3
                 v5 = #0[c1 + 4*v1] if v4
                 v6 = sum v5
                 v7 = exp v5
                 store #2[c0] = v6",
        )
        .expect("a kernel");
        kernel.sections()[0].body.clone()
    }

    #[test]
    fn operands_are_named_in_one_order() {
        let mut body = body();
        let uses: Vec<Vec<u32>> = body.insts.iter().map(|inst| inst.uses().map(|v| v.0).collect()).collect();
        assert_eq!(
            uses,
            [vec![], vec![0], vec![], vec![], vec![2, 3], vec![1, 4], vec![5], vec![5]] as [Vec<u32>; 8]
        );
        for (inst, uses) in body.insts.iter_mut().zip(uses) {
            assert_eq!(inst.uses_mut().map(|v| v.0).collect::<Vec<_>>(), uses);
        }
    }

    #[test]
    fn a_fold_depends_on_rows_alone() {
        assert_eq!(body().dependence(1), [0b01, 0b01, 0b10, 0, 0b10, 0b11, 0b01, 0b11]);
    }

    #[test]
    fn what_nobody_needs_is_dropped_and_traps_stay() {
        let mut body = body();
        let live = body.live([Val(4)]);
        assert_eq!(live, [true, true, true, true, true, false, false, false]);
        let live = body.live([Val(7)]);
        assert_eq!(live, [true, true, true, true, true, true, false, true]);
        let renamed = body.retain(&live);
        assert_eq!((renamed[7], body.insts.len()), (Val(6), 7));
        assert_eq!(body.inst(Val(6)).uses().collect::<Vec<_>>(), [Val(5)]);
    }
}
