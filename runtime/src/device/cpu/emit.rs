//! From an instruction to operations on lanes.

use super::block_program::{ArgSpec, FoldSlot, Gathered, Linear, Op, Place, Reach, Spot, lane_size};
use super::compile::Compiler;
use super::fold::fold;
use super::fuse::Fusion;
use super::keep::call_weight;
use super::lanes;
use super::memory;
use super::scalar;
use super::space::MAX_TILE;
use sx_artifact::dtype::DType;
use sx_artifact::kernel::{Access, Affine, Const, Inst, Mode, ScalarType, Val};
use sx_artifact::scalar::ScalarFn;

impl Compiler<'_> {
    /// Joins a fold's operand to it.
    pub(super) fn join(&mut self, fold: usize, x: usize, ops: &mut Vec<Op>) -> Result<(), String> {
        let size = lane_size(self.values.regs[x]);
        // Across lanes each fold has one element a step; along them, one for each lane.
        let columns = self.nest.walk.columns;
        let (place, extra) = if columns { (self.place(x)?, None) } else { self.spread(x, ops)? };
        let slot = self.fold_slot(fold)?;
        ops.push(Op::Fold { fold: slot, x: place, many: !columns || self.values.many[x] });
        self.release(extra, size);
        self.nest.cost += 1;
        Ok(())
    }

    /// The fold that the instruction `v` is, with a place for its result.
    pub(super) fn fold_slot(&mut self, v: usize) -> Result<usize, String> {
        let Inst::Fold { op, x } = self.body.insts[v] else { return Err("a fold is expected".to_string()) };
        let reg = self.values.regs[v];
        let fold = fold(op, reg).ok_or_else(|| format!("there is no {op:?} of {reg:?} values"))?;
        let to = if self.values.many[v] { self.new_register(lane_size(reg)) } else { self.new_single() };
        self.places[v] = Some(to);
        let many = self.values.many[v];
        self.nest.folds.push(FoldSlot { fold, phase: self.phase(x), to, size: lane_size(reg), many });
        Ok(self.nest.folds.len() - 1)
    }

    /// Emits what store `at` does.
    pub(super) fn store(&mut self, at: usize, ops: &mut Vec<Op>) -> Result<(), String> {
        let (value, access) =
            (self.values.stores[at].value.0 as usize, self.values.stores[at].access.clone());
        let many = self.values.stores[at].many;
        if self.values.many[value] && !many {
            return Err("a value of many elements is stored at one".to_string());
        }
        let (reg, size) = (self.values.regs[value], lane_size(self.values.regs[value]));
        let dtype = self.arg(&access, Mode::Write)?.dtype;
        if ScalarType::of(dtype) != reg {
            return Err(format!("a value of type {reg:?} is stored as {dtype}"));
        }
        if self.pointed(&access, many) {
            let from = self.place(value)?;
            let to = self.point(&access, many, ops)?;
            let f = if many && !self.values.many[value] { lanes::splat(size) } else { lanes::copy(size) };
            ops.push(Op::Lanes { f, to, from: [from; 3], many });
        } else {
            let (from, extra) = if many { self.spread(value, ops)? } else { (self.place(value)?, None) };
            let reach = self.reach(&access)?;
            ops.push(Op::Store { f: memory::store(dtype), from, reach, many });
            self.release(extra, size);
        }
        self.nest.cost += 1;
        Ok(())
    }

    /// Emits the computation of `v`; `direct` is a store that takes its results as they are made.
    pub(super) fn value(&mut self, v: usize, direct: Option<usize>, ops: &mut Vec<Op>) -> Result<(), String> {
        let many = self.values.many[v];
        let reg = self.values.regs[v];
        let inst = self.body.insts[v].clone();
        match &inst {
            Inst::Const(constant) => self.constant(v, *constant),
            Inst::Index { at, reg } => {
                let to = self.place_for(v, direct, ops)?;
                let linear = self.linear(at);
                ops.push(Op::Index { to, linear, reg: *reg, many });
                self.places[v] = Some(to);
            }
            Inst::Load { access, guard } => self.load(v, access, *guard, direct, ops)?,
            Inst::Acc { .. } => return Err("an accumulator outside of an epilogue".to_string()),
            Inst::Call { f, args } => match self.fused[v].clone() {
                Some(fusion) => self.fusion(v, &fusion, direct, ops)?,
                None => self.call(v, *f, args, direct, ops)?,
            },
            Inst::Convert { to, x } => {
                let f = scalar::convert(self.values.regs[x.0 as usize], *to);
                self.unary(v, f, *x, direct, ops)?;
            }
            Inst::RoundBf16 { x } => self.unary(v, scalar::round_bf16(), *x, direct, ops)?,
            Inst::Bounded { x, size, trap, .. } => {
                let from = self.place(x.0 as usize)?;
                let to = self.place_for(v, direct, ops)?;
                let linear = self.position(v);
                ops.push(Op::Bounded { to, x: from, reg, size: *size, trap: *trap, linear, many });
                self.places[v] = Some(to);
            }
            // Its place was made where its operand joined it.
            Inst::Fold { .. } => return self.place(v).map(|_| ()),
        }
        if many {
            self.nest.cost += match &inst {
                Inst::Call { f, .. } => {
                    self.fused[v].as_ref().map_or(call_weight(*f), |fusion| fusion.function.weight())
                }
                Inst::Const(_) => 0,
                _ => 1,
            };
        }
        if self.values.block[v] {
            for used in self.operands(v).to_vec() {
                self.used(used.0 as usize);
            }
        }
        Ok(())
    }

    pub(super) fn constant(&mut self, v: usize, constant: Const) {
        let bits = match constant {
            Const::F32(bits) => bits as u64,
            Const::I32(value) => value as u32 as u64,
            Const::I64(value) => value as u64,
            Const::Bool(value) => value as u64,
        };
        self.nest.constants.push((self.nest.singles, bits));
        self.places[v] = Some(self.new_single());
    }

    pub(super) fn unary(
        &mut self,
        v: usize,
        f: lanes::LaneFn,
        x: Val,
        direct: Option<usize>,
        ops: &mut Vec<Op>,
    ) -> Result<(), String> {
        let from = self.place(x.0 as usize)?;
        let to = self.place_for(v, direct, ops)?;
        ops.push(Op::Lanes { f, to, from: [from; 3], many: self.values.many[v] });
        self.places[v] = Some(to);
        Ok(())
    }

    /// Where up to three operands are, and whether each varies over lanes.
    fn from(&self, args: &[Val]) -> Result<([Place; 3], [bool; 3]), String> {
        let mut from = [self.place(args[0].0 as usize)?; 3];
        let mut many = [false; 3];
        for (i, arg) in args.iter().enumerate() {
            from[i] = self.place(arg.0 as usize)?;
            many[i] = self.values.many[arg.0 as usize];
        }
        Ok((from, many))
    }

    fn fusion(
        &mut self,
        v: usize,
        fusion: &Fusion,
        direct: Option<usize>,
        ops: &mut Vec<Op>,
    ) -> Result<(), String> {
        let (from, many) = self.from(&fusion.args)?;
        let to = self.place_for(v, direct, ops)?;
        let f = fusion.function.lanes(many);
        ops.push(Op::Lanes { f, to, from, many: self.values.many[v] });
        self.places[v] = Some(to);
        Ok(())
    }

    pub(super) fn call(
        &mut self,
        v: usize,
        f: ScalarFn,
        args: &[Val],
        direct: Option<usize>,
        ops: &mut Vec<Op>,
    ) -> Result<(), String> {
        let regs: Vec<ScalarType> = args.iter().map(|a| self.values.regs[a.0 as usize]).collect();
        let (typed, of) = if f == ScalarFn::Where { (&regs[1..], regs[1]) } else { (&regs[..], regs[0]) };
        if typed.iter().any(|&reg| reg != of) || (f == ScalarFn::Where && regs[0] != ScalarType::Bool) {
            return Err(format!("`{}` of {regs:?} values", f.name()));
        }
        let (from, many) = self.from(args)?;
        let lane_fn =
            scalar::call(f, of, many).ok_or_else(|| format!("`{}` has no meaning on {of:?}", f.name()))?;
        let to = self.place_for(v, direct, ops)?;
        ops.push(Op::Lanes { f: lane_fn, to, from, many: self.values.many[v] });
        self.places[v] = Some(to);
        Ok(())
    }

    pub(super) fn load(
        &mut self,
        v: usize,
        access: &Access,
        guard: Option<Val>,
        direct: Option<usize>,
        ops: &mut Vec<Op>,
    ) -> Result<(), String> {
        let many = self.values.many[v];
        let dtype = self.arg(access, Mode::Read)?.dtype;
        if guard.is_none() && self.kept[v].is_none() && self.pointed(access, many) {
            self.places[v] = Some(self.point(access, many, ops)?);
            return Ok(());
        }
        let mut extra = None;
        let guard = match guard {
            Some(guard) if many => {
                let (place, spread) = self.spread(guard.0 as usize, ops)?;
                extra = spread;
                Some(place)
            }
            Some(guard) => Some(self.place(guard.0 as usize)?),
            None => None,
        };
        let reach = self.reach(access)?;
        let to = self.place_for(v, direct, ops)?;
        if guard.is_none() && self.nest.reaches[reach].lanes.is_empty() {
            ops.push(Op::Load { f: memory::load(dtype), to, reach, many });
        } else {
            ops.push(Op::Gather { f: memory::gather(dtype), to, reach, guard, many });
        }
        self.release(extra, 1);
        self.places[v] = Some(to);
        Ok(())
    }

    pub(super) fn arg(&self, access: &Access, mode: Mode) -> Result<ArgSpec, String> {
        let arg = self.source.args.get(access.arg as usize).copied();
        let arg = arg.ok_or("an access to an argument there is not")?;
        if arg.mode == mode { Ok(arg) } else { Err("an argument is read and written".to_string()) }
    }

    /// A place that an operation points at the elements of `access`.
    pub(super) fn point(&mut self, access: &Access, many: bool, ops: &mut Vec<Op>) -> Result<Place, String> {
        let reach = self.reach(access)?;
        let to = self.new_place(Spot::Pointed);
        ops.push(Op::Point { to, reach, many });
        Ok(to)
    }

    /// Whether the lanes of an access lie in memory as they do in a register.
    pub(super) fn pointed(&self, access: &Access, many: bool) -> bool {
        let Some(arg) = self.source.args.get(access.arg as usize) else { return false };
        if arg.dtype == DType::Bf16 || access.gathered.iter().any(|(v, _)| self.values.many[v.0 as usize]) {
            return false;
        }
        !many || self.contiguous(&self.nest.space.strides(&access.at))
    }

    pub(super) fn contiguous(&self, strides: &[i64]) -> bool {
        let (space, walk) = (&self.nest.space, &self.nest.walk);
        let mut expected = 1;
        for (i, &axis) in walk.tile.iter().enumerate().rev() {
            if walk.step[axis] > 1 && strides[axis] != expected {
                return false;
            }
            let group = space.groups.iter().position(|group| group.contains(&axis));
            let whole = walk.step[axis] == space.sizes[axis] && !group.is_some_and(|g| self.source.split[g]);
            if i > 0 && !whole && walk.tile[..i].iter().any(|&outer| walk.step[outer] > 1) {
                return false;
            }
            expected *= walk.step[axis] as i64;
        }
        true
    }

    pub(super) fn tile_strides(&self, strides: &[i64]) -> [i64; MAX_TILE] {
        let tile = &self.nest.walk.tile;
        let mut found = [0; MAX_TILE];
        for (i, &axis) in tile.iter().enumerate() {
            found[MAX_TILE - tile.len() + i] = strides[axis];
        }
        found
    }

    pub(super) fn reach(&mut self, access: &Access) -> Result<usize, String> {
        let strides = self.nest.space.strides(&access.at);
        let mut reach = Reach {
            arg: access.arg as usize,
            size: self.source.args[access.arg as usize].dtype.size(),
            offset: access.at.offset,
            axes: followed(&strides),
            tile: self.tile_strides(&strides),
            single: Vec::new(),
            lanes: Vec::new(),
        };
        for &(v, stride) in &access.gathered {
            let v = v.0 as usize;
            let gathered = Gathered { place: self.place(v)?, reg: self.values.regs[v], stride };
            if !matches!(gathered.reg, ScalarType::I32 | ScalarType::I64) {
                return Err("a computed index is no integer".to_string());
            }
            if self.values.many[v] { reach.lanes.push(gathered) } else { reach.single.push(gathered) }
        }
        self.nest.reaches.push(reach);
        Ok(self.nest.reaches.len() - 1)
    }

    pub(super) fn linear(&mut self, at: &Affine) -> usize {
        let strides = self.nest.space.strides(at);
        let linear =
            Linear { offset: at.offset, axes: followed(&strides), tile: self.tile_strides(&strides) };
        self.nest.linears.push(linear);
        self.nest.linears.len() - 1
    }

    /// The position that a trap at `v` reports: row-major over all coordinates, 0 along those that `v` does not
    /// follow, since it is there that the trap comes first.
    pub(super) fn position(&mut self, v: usize) -> usize {
        let sizes = &self.nest.space.sizes;
        let mut strides = vec![0; sizes.len()];
        let mut factor = 1i64;
        for axis in (0..sizes.len()).rev() {
            if self.values.depends[v] & (1 << axis) != 0 {
                strides[axis] = factor;
            }
            factor = factor.saturating_mul(sizes[axis] as i64);
        }
        let linear = Linear { offset: 0, axes: followed(&strides), tile: self.tile_strides(&strides) };
        self.nest.linears.push(linear);
        self.nest.linears.len() - 1
    }
}

fn followed(strides: &[i64]) -> Vec<(usize, i64)> {
    strides.iter().copied().enumerate().filter(|&(_, stride)| stride != 0).collect()
}
