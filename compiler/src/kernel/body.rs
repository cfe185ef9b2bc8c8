//! Builds bodies: each instruction once, with the register type of each value at hand.

use super::index::{Idx, Space};
use std::collections::HashMap;
use sx_artifact::dtype::DType;
use sx_artifact::kernel::{Access, Affine, Body, Const, Inst, ScalarType, Val};
use sx_artifact::scalar::ScalarFn;

/// Straight-line code under construction. Strides are kept for all coordinates of the space and reduced to
/// those of the finished body by [`BodyBuilder::finish`].
#[derive(Clone, Debug, Default)]
pub struct BodyBuilder {
    insts: Vec<Inst>,
    /// How many of them are loads.
    loads: usize,
    regs: Vec<ScalarType>,
    known: HashMap<Inst, Val>,
}

impl BodyBuilder {
    /// The value of an instruction, defined once however often it is asked for.
    pub fn inst(&mut self, inst: Inst, reg: ScalarType) -> Val {
        if let Some(&val) = self.known.get(&inst) {
            return val;
        }
        let val = Val(self.insts.len() as u32);
        self.loads += usize::from(matches!(inst, Inst::Load { .. }));
        self.insts.push(inst.clone());
        self.regs.push(reg);
        self.known.insert(inst, val);
        val
    }

    /// The register type of a value.
    pub fn reg(&self, val: Val) -> ScalarType {
        self.regs[val.0 as usize]
    }

    /// How many instructions there are.
    pub fn len(&self) -> usize {
        self.insts.len()
    }

    /// True if there is no instruction.
    pub fn is_empty(&self) -> bool {
        self.insts.is_empty()
    }

    /// How many loads there are.
    pub fn loads(&self) -> usize {
        self.loads
    }

    /// A constant.
    pub fn constant(&mut self, value: Const) -> Val {
        self.inst(Inst::Const(value), value.ty())
    }

    /// A scalar function.
    pub fn call(&mut self, f: ScalarFn, args: Vec<Val>) -> Val {
        let regs: Vec<ScalarType> = args.iter().map(|&arg| self.reg(arg)).collect();
        let reg = f.gives(&regs).expect("a call has its arguments");
        self.inst(Inst::Call { f, args }, reg)
    }

    /// An integer made of coordinates; a gathered part is added.
    pub fn index(&mut self, idx: &Idx, reg: ScalarType, space: &Space) -> Val {
        let mut sum = self.inst(Inst::Index { at: idx.affine(space.len()), reg }, reg);
        for (value, factor) in idx.gathered() {
            let value = self.convert(value, reg);
            let factor = match reg {
                ScalarType::I32 => Const::I32(factor as i32),
                ScalarType::I64 | ScalarType::F32 | ScalarType::Bool => Const::I64(factor),
            };
            let factor = self.constant(factor);
            let scaled = self.call(ScalarFn::Mul, vec![value, factor]);
            sum = self.call(ScalarFn::Add, vec![sum, scaled]);
        }
        sum
    }

    /// `x` converted to `to`, unless it is that already.
    pub fn convert(&mut self, x: Val, to: ScalarType) -> Val {
        if self.reg(x) == to { x } else { self.inst(Inst::Convert { to, x }, to) }
    }

    /// `x` rounded as storing it in `dtype` would.
    pub fn rounded(&mut self, x: Val, dtype: DType) -> Val {
        match dtype {
            DType::Bf16 => self.inst(Inst::RoundBf16 { x }, ScalarType::F32),
            DType::F32 | DType::I32 | DType::I64 | DType::Bool => x,
        }
    }

    /// An element of argument `arg`, which has `dtype` elements, at a flat position.
    pub fn load(&mut self, arg: u32, dtype: DType, flat: &Idx, guard: Option<Val>, space: &Space) -> Val {
        let access = Access { arg, at: flat.affine(space.len()), gathered: flat.gathered() };
        self.inst(Inst::Load { access, guard }, ScalarType::of(dtype))
    }

    /// The coordinates that the code depends on.
    pub fn uses_coord(&self, coord: u32) -> bool {
        let used = |at: &Affine| at.strides.get(coord as usize).is_some_and(|&s| s != 0);
        self.insts.iter().filter_map(Inst::affine).any(used)
    }

    /// Whether a value depends on any of `coords`, through loads and indices.
    pub fn depends_on(&self, val: Val, coords: &[u32]) -> bool {
        let mut depends = vec![false; val.0 as usize + 1];
        for at in 0..depends.len() {
            let inst = &self.insts[at];
            let own = |affine: &Affine| {
                coords.iter().any(|&c| affine.strides.get(c as usize).is_some_and(|&stride| stride != 0))
            };
            let inherits = |operand: Val| !inst.is_fold() && depends[operand.0 as usize];
            let found = inst.affine().is_some_and(own) || inst.uses().any(inherits);
            depends[at] = found;
        }
        depends[val.0 as usize]
    }

    /// The finished body: what `keep` needs, with strides for `coords` in that order. Gives the new number of
    /// each of `keep`.
    pub fn finish(&self, keep: &[Val], coords: &[u32]) -> (Body, Vec<Val>) {
        let mut body = Body { insts: self.insts.clone() };
        let renamed = body.retain(&body.used_by(keep.iter().copied()));
        for affine in body.insts.iter_mut().filter_map(Inst::affine_mut) {
            *affine = affine.select(coords);
        }
        (body, keep.iter().map(|val| renamed[val.0 as usize]).collect())
    }
}
