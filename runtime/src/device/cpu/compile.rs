//! From a body to a [`Nest`]: in which phase each value is computed, and where it is kept. Done once, when a
//! program is prepared.

use super::analyse::{self, Values, operands};
use super::fold::fold;
use super::lanes;
use super::memory;
use super::scalar;
use super::space::{MAX_TILE, Space, Walk};
use super::tape::{ArgSpec, FoldSlot, Gathered, Linear, Nest, Op, Place, Reach, Spot, lane_size};
use sx_artifact::dtype::DType;
use sx_artifact::kernel::{Access, Affine, Body, Const, Inst, Mode, Reg, Store, Val};
use sx_artifact::scalar::ScalarFn;

/// A row keeps values for a later phase in at most this many bytes; beyond, they are computed again.
const KEEP: u64 = 256 << 10;

/// What is compiled.
pub(super) struct Source<'a> {
    /// The sizes of the coordinates, group by group.
    pub(super) groups: &'a [Vec<u64>],
    /// Which groups a run may be restricted to a part of.
    pub(super) split: &'a [bool],
    /// Whether the last group is reduced.
    pub(super) along: bool,
    pub(super) body: &'a Body,
    pub(super) stores: &'a [Store],
    pub(super) args: &'a [ArgSpec],
}

/// Compiles, or says what has no meaning.
pub(super) fn compile(source: &Source<'_>) -> Result<Nest, String> {
    let body = source.body.clone();
    let regs = analyse::registers(&body, source.args)?;
    if source.stores.iter().any(|store| store.value.0 as usize >= regs.len()) {
        return Err("a store of a value there is not".to_string());
    }
    let live = analyse::live(&body, source.stores);
    let affines: Vec<&Affine> = analyse::affines(&body, &live, source.stores).collect();
    let coordinates: usize = source.groups.iter().map(Vec::len).sum();
    if affines.iter().any(|at| at.strides.len() != coordinates) || coordinates > 60 {
        return Err(format!("an access has other coordinates than the kernel's {coordinates}"));
    }
    let space = Space::merged(source.groups, &affines);
    let along = match space.groups.last() {
        Some(last) if source.along => analyse::axes_mask(last.clone()),
        _ => 0,
    };
    let depends = analyse::dependence(&body, &space, along);
    let patterns = analyse::patterns(&body, &live, source.stores, &space, &depends);
    let walk = if source.along { Walk::reduction(&space, &patterns) } else { Walk::map(&space, &patterns) };
    let values = Values::new(&body, (regs, live, depends), &space, &walk, source.stores);
    Compiler::new(source, body, values, space, walk).run()
}

/// Compiles one body.
struct Compiler<'a> {
    source: &'a Source<'a>,
    body: Body,
    values: Values,
    nest: Nest,
    /// Where each value is now.
    places: Vec<Option<Place>>,
    /// Values that a row keeps for later phases, with the region of each.
    kept: Vec<Option<usize>>,
    /// Registers of blocks that are free again, by lane size.
    free: [Vec<Place>; 3],
    /// In the operations being made: how often each value is still used, and whether its register is then free.
    uses: Vec<usize>,
    passing: Vec<bool>,
}

/// What becomes of a block value: its position among the stores or instructions, and the value.
enum End {
    Store { at: usize, x: usize },
    Fold { fold: usize, x: usize },
}

impl End {
    fn x(&self) -> usize {
        match *self {
            End::Store { x, .. } | End::Fold { x, .. } => x,
        }
    }
}

fn class(size: usize) -> usize {
    match size {
        1 => 0,
        4 => 1,
        _ => 2,
    }
}

impl<'a> Compiler<'a> {
    fn new(source: &'a Source<'a>, body: Body, values: Values, space: Space, walk: Walk) -> Compiler<'a> {
        let count = body.insts.len();
        let nest = Nest {
            space,
            walk,
            spots: Vec::new(),
            constants: Vec::new(),
            singles: 0,
            registers: 0,
            kept: 0,
            reaches: Vec::new(),
            linears: Vec::new(),
            row_ops: Vec::new(),
            block_ops: Vec::new(),
            folds: Vec::new(),
            cost: 0,
        };
        Compiler {
            source,
            body,
            values,
            nest,
            places: vec![None; count],
            kept: vec![None; count],
            free: Default::default(),
            uses: vec![0; count],
            passing: vec![false; count],
        }
    }

    fn run(mut self) -> Result<Nest, String> {
        let needed = self.choose_kept();
        for (phase, needed) in needed.iter().enumerate() {
            let ops = self.row(phase)?;
            self.nest.row_ops.push(ops);
            let ops = self.block(phase, needed)?;
            self.nest.block_ops.push(ops);
        }
        let ops = self.row(self.values.phases)?;
        self.nest.row_ops.push(ops);
        Ok(self.nest)
    }

    /// The block values that each phase computes, after deciding which of them a row keeps.
    fn choose_kept(&mut self) -> Vec<Vec<usize>> {
        let phases = self.values.phases;
        let mut first = vec![usize::MAX; self.body.insts.len()];
        for phase in 0..phases {
            for v in self.needed(phase, &vec![false; first.len()]) {
                first[v] = first[v].min(phase);
            }
        }
        let along: u64 = self.values_along();
        let mut keep = vec![false; first.len()];
        let mut bytes = 0;
        for phase in 1..phases {
            let mut again = self.needed(phase, &keep);
            // From the last value on, so that what a kept value needs is not kept for its sake.
            while let Some(v) = again.pop() {
                let size = along.saturating_mul(lane_size(self.values.regs[v]) as u64);
                if first[v] < phase && self.values.many[v] && self.weight(v) >= 2 && bytes + size <= KEEP {
                    keep[v] = true;
                    bytes += size;
                    again = self.needed(phase, &keep).into_iter().filter(|&w| w < v).collect();
                }
            }
        }
        for v in (0..keep.len()).filter(|&v| keep[v]) {
            self.kept[v] = Some(self.nest.kept);
            let size = along as usize * lane_size(self.values.regs[v]);
            self.nest.kept += size.next_multiple_of(64);
        }
        (0..phases)
            .map(|phase| {
                let before: Vec<bool> = (0..keep.len()).map(|v| keep[v] && first[v] < phase).collect();
                self.needed(phase, &before)
            })
            .collect()
    }

    /// The lanes of all blocks of a row.
    fn values_along(&self) -> u64 {
        let walk = &self.nest.walk;
        let blocks: u64 =
            walk.blocks.iter().map(|&a| self.nest.space.sizes[a].div_ceil(walk.step[a])).product();
        blocks.saturating_mul(walk.lanes() as u64)
    }

    /// The block values that a phase needs, but for those that are `known` and what only these need.
    fn needed(&self, phase: usize, known: &[bool]) -> Vec<usize> {
        let mut wanted = vec![false; self.body.insts.len()];
        let mut want = |v: Val| {
            let v = v.0 as usize;
            wanted[v] |= self.values.block[v] && !known[v];
        };
        self.values
            .stores
            .iter()
            .filter(|s| s.block && self.phase(s.value) == phase)
            .for_each(|s| want(s.value));
        for (v, inst) in self.body.insts.iter().enumerate().filter(|&(v, _)| self.values.live[v]) {
            match inst {
                Inst::Fold { x, .. } if self.phase(*x) == phase => want(*x),
                Inst::Bounded { trap: Some(_), .. } if self.values.phase[v] == phase => want(Val(v as u32)),
                _ => {}
            }
        }
        for v in (0..wanted.len()).rev() {
            if wanted[v] && !matches!(self.body.insts[v], Inst::Fold { .. }) {
                for used in operands(&self.body.insts[v]) {
                    let used = used.0 as usize;
                    wanted[used] |= self.values.block[used] && !known[used];
                }
            }
        }
        (0..wanted.len()).filter(|&v| wanted[v]).collect()
    }

    /// Roughly how many simple operations computing a block value again costs a lane.
    fn weight(&self, v: usize) -> u64 {
        let mut seen = vec![false; v + 1];
        let mut stack = vec![v];
        let mut sum = 0;
        while let Some(v) = stack.pop() {
            if !self.values.many[v] || !self.values.block[v] || std::mem::replace(&mut seen[v], true) {
                continue;
            }
            sum += match &self.body.insts[v] {
                Inst::Load { access, guard } => {
                    if guard.is_none() && self.pointed(access, true) {
                        0
                    } else {
                        2
                    }
                }
                Inst::Call { f, .. } => call_weight(*f),
                _ => 1,
            };
            stack.extend(operands(&self.body.insts[v]).iter().map(|v| v.0 as usize));
        }
        sum
    }

    fn phase(&self, v: Val) -> usize {
        self.values.phase[v.0 as usize]
    }

    /// The operations on values of a row that stand between two phases.
    fn row(&mut self, phase: usize) -> Result<Vec<Op>, String> {
        let mut ops = Vec::new();
        for v in 0..self.body.insts.len() {
            let here = self.values.live[v] && !self.values.block[v] && self.values.phase[v] == phase;
            if here {
                self.value(v, None, &mut ops)?;
            }
        }
        for at in 0..self.values.stores.len() {
            let store = &self.values.stores[at];
            if !store.block && self.phase(store.value) == phase {
                self.store(at, &mut ops)?;
            }
        }
        Ok(ops)
    }

    /// The operations on a block in a phase, which computes the values of `needed`.
    fn block(&mut self, phase: usize, needed: &[usize]) -> Result<Vec<Op>, String> {
        let mut ops = Vec::new();
        let ends = self.ends(phase);
        self.count_uses(needed, &ends);
        self.point_at_kept(needed, &ends, &mut ops);
        for &v in needed {
            let direct = ends.iter().find_map(|end| match *end {
                End::Store { at, x } if x == v && self.takes_results(v, at) => Some(at),
                _ => None,
            });
            self.value(v, direct, &mut ops)?;
            for end in ends.iter().filter(|end| end.x() == v) {
                self.end(end, direct, &mut ops)?;
                self.used(v);
            }
        }
        // Of values of the row, and of those kept from an earlier phase.
        for end in ends.iter().filter(|end| !needed.contains(&end.x())) {
            self.end(end, None, &mut ops)?;
        }
        Ok(ops)
    }

    /// What becomes of block values in a phase.
    fn ends(&self, phase: usize) -> Vec<End> {
        let stores =
            self.values.stores.iter().enumerate().filter(|(_, s)| s.block && self.phase(s.value) == phase);
        let stores = stores.map(|(at, store)| End::Store { at, x: store.value.0 as usize });
        let folds = self.body.insts.iter().enumerate().filter_map(|(fold, inst)| match inst {
            Inst::Fold { x, .. } if self.values.live[fold] && self.phase(*x) == phase => {
                Some(End::Fold { fold, x: x.0 as usize })
            }
            _ => None,
        });
        stores.chain(folds).collect()
    }

    /// Emits an end, unless it is the store that has taken its value's results directly.
    fn end(&mut self, end: &End, direct: Option<usize>, ops: &mut Vec<Op>) -> Result<(), String> {
        match *end {
            End::Store { at, .. } if Some(at) == direct => Ok(()),
            End::Store { at, .. } => self.store(at, ops),
            End::Fold { fold, x } => self.join(fold, x, ops),
        }
    }

    /// Counts how often each value of a phase is used in it.
    fn count_uses(&mut self, needed: &[usize], ends: &[End]) {
        self.uses.fill(0);
        for used in needed.iter().flat_map(|&v| operands(&self.body.insts[v])) {
            self.uses[used.0 as usize] += 1;
        }
        ends.iter().for_each(|end| self.uses[end.x()] += 1);
    }

    /// Makes the kept values that a phase uses or computes point at the block's part.
    fn point_at_kept(&mut self, needed: &[usize], ends: &[End], ops: &mut Vec<Op>) {
        let mut used = vec![false; self.body.insts.len()];
        for &v in needed {
            used[v] = true;
            operands(&self.body.insts[v]).iter().for_each(|v| used[v.0 as usize] = true);
        }
        ends.iter().for_each(|end| used[end.x()] = true);
        for v in (0..used.len()).filter(|&v| used[v]) {
            if let Some(offset) = self.kept[v] {
                let to = self.places[v].unwrap_or_else(|| self.new_place(Spot::Pointed));
                self.places[v] = Some(to);
                self.passing[v] = false;
                ops.push(Op::Keep { to, offset, size: lane_size(self.values.regs[v]) });
            }
        }
    }

    /// Whether the results of `v` can go straight to where store `at` puts them.
    fn takes_results(&self, v: usize, at: usize) -> bool {
        let store = &self.values.stores[at];
        let computed = self.kept[v].is_none()
            && match &self.body.insts[v] {
                Inst::Call { .. } | Inst::Convert { .. } | Inst::RoundBf16 { .. } => true,
                Inst::Load { access, guard } => guard.is_some() || !self.pointed(access, self.values.many[v]),
                Inst::Index { .. } | Inst::Bounded { .. } => true,
                Inst::Const(_) | Inst::Acc { .. } | Inst::Fold { .. } => false,
            };
        computed && self.values.many[v] == store.many && self.pointed(&store.access, store.many)
    }

    /// One use of a value is over; its register is free after the last.
    fn used(&mut self, v: usize) {
        self.uses[v] = self.uses[v].saturating_sub(1);
        if self.uses[v] == 0 && self.passing[v] {
            self.passing[v] = false;
            if let Some(place) = self.places[v] {
                self.free[class(lane_size(self.values.regs[v]))].push(place);
            }
        }
    }

    fn new_place(&mut self, spot: Spot) -> Place {
        self.nest.spots.push(spot);
        (self.nest.spots.len() - 1) as Place
    }

    fn new_single(&mut self) -> Place {
        self.nest.singles += 1;
        self.new_place(Spot::Single(self.nest.singles - 1))
    }

    fn new_register(&mut self, size: usize) -> Place {
        let offset = self.nest.registers;
        self.nest.registers += (self.nest.walk.lanes() * size).next_multiple_of(64);
        self.new_place(Spot::Register(offset))
    }

    /// A register that is free at once for what comes after the current operation.
    fn borrow_register(&mut self, size: usize) -> Place {
        self.free[class(size)].pop().unwrap_or_else(|| self.new_register(size))
    }

    /// Where the value `v` is put.
    fn place_for(&mut self, v: usize, direct: Option<usize>, ops: &mut Vec<Op>) -> Result<Place, String> {
        if self.kept[v].is_some() {
            return self.place(v);
        }
        if let Some(at) = direct {
            let access = self.values.stores[at].access.clone();
            return self.point(&access, self.values.many[v], ops);
        }
        let size = lane_size(self.values.regs[v]);
        if !self.values.many[v] {
            return Ok(self.new_single());
        }
        if !self.values.block[v] {
            return Ok(self.new_register(size));
        }
        self.passing[v] = true;
        Ok(self.borrow_register(size))
    }

    fn place(&self, v: usize) -> Result<Place, String> {
        self.places[v].ok_or_else(|| format!("value {v} is used before it is computed"))
    }

    /// The place of `v` as lanes, repeated over them if it is single. The second result is a register to free.
    fn spread(&mut self, v: usize, ops: &mut Vec<Op>) -> Result<(Place, Option<Place>), String> {
        let from = self.place(v)?;
        if self.values.many[v] {
            return Ok((from, None));
        }
        let size = lane_size(self.values.regs[v]);
        let to = self.borrow_register(size);
        ops.push(Op::Lanes { f: lanes::splat(size), to, from: [from; 3], many: true });
        Ok((to, Some(to)))
    }

    fn release(&mut self, place: Option<Place>, size: usize) {
        self.free[class(size)].extend(place);
    }

    /// Joins a fold's operand to it.
    fn join(&mut self, fold: usize, x: usize, ops: &mut Vec<Op>) -> Result<(), String> {
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
    fn fold_slot(&mut self, v: usize) -> Result<usize, String> {
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
    fn store(&mut self, at: usize, ops: &mut Vec<Op>) -> Result<(), String> {
        let (value, access) =
            (self.values.stores[at].value.0 as usize, self.values.stores[at].access.clone());
        let many = self.values.stores[at].many;
        if self.values.many[value] && !many {
            return Err("a value of many elements is stored at one".to_string());
        }
        let (reg, size) = (self.values.regs[value], lane_size(self.values.regs[value]));
        let dtype = self.arg(&access, Mode::Write)?.dtype;
        if Reg::of(dtype) != reg {
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
    fn value(&mut self, v: usize, direct: Option<usize>, ops: &mut Vec<Op>) -> Result<(), String> {
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
            Inst::Call { f, args } => self.call(v, *f, args, direct, ops)?,
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
                Inst::Call { f, .. } => call_weight(*f),
                Inst::Const(_) => 0,
                _ => 1,
            };
        }
        if self.values.block[v] {
            operands(&inst).iter().for_each(|used| self.used(used.0 as usize));
        }
        Ok(())
    }

    fn constant(&mut self, v: usize, constant: Const) {
        let bits = match constant {
            Const::F32(bits) => bits as u64,
            Const::I32(value) => value as u32 as u64,
            Const::I64(value) => value as u64,
            Const::Bool(value) => value as u64,
        };
        self.nest.constants.push((self.nest.singles, bits));
        self.places[v] = Some(self.new_single());
    }

    fn unary(
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

    fn call(
        &mut self,
        v: usize,
        f: ScalarFn,
        args: &[Val],
        direct: Option<usize>,
        ops: &mut Vec<Op>,
    ) -> Result<(), String> {
        let regs: Vec<Reg> = args.iter().map(|a| self.values.regs[a.0 as usize]).collect();
        let (typed, of) = if f == ScalarFn::Where { (&regs[1..], regs[1]) } else { (&regs[..], regs[0]) };
        if typed.iter().any(|&reg| reg != of) || (f == ScalarFn::Where && regs[0] != Reg::Bool) {
            return Err(format!("`{}` of {regs:?} values", f.name()));
        }
        let mut from = [self.place(args[0].0 as usize)?; 3];
        let mut many = [false; 3];
        let mut extra = None;
        for (i, arg) in args.iter().enumerate() {
            let arg = arg.0 as usize;
            many[i] = self.values.many[arg];
            from[i] = self.place(arg)?;
            if i == 0 && f == ScalarFn::Where && self.values.many[v] && !many[0] {
                (from[0], extra) = self.spread(arg, ops)?;
                many[0] = true;
            }
        }
        let lane_fn =
            scalar::call(f, of, many).ok_or_else(|| format!("`{}` has no meaning on {of:?}", f.name()))?;
        let to = self.place_for(v, direct, ops)?;
        ops.push(Op::Lanes { f: lane_fn, to, from, many: self.values.many[v] });
        self.release(extra, 1);
        self.places[v] = Some(to);
        Ok(())
    }

    fn load(
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

    fn arg(&self, access: &Access, mode: Mode) -> Result<ArgSpec, String> {
        let arg = self.source.args.get(access.arg as usize).copied();
        let arg = arg.ok_or("an access to an argument there is not")?;
        if arg.mode == mode { Ok(arg) } else { Err("an argument is read and written".to_string()) }
    }

    /// A place that an operation points at the elements of `access`.
    fn point(&mut self, access: &Access, many: bool, ops: &mut Vec<Op>) -> Result<Place, String> {
        let reach = self.reach(access)?;
        let to = self.new_place(Spot::Pointed);
        ops.push(Op::Point { to, reach, many });
        Ok(to)
    }

    /// Whether the lanes of an access lie in memory as they do in a register.
    fn pointed(&self, access: &Access, many: bool) -> bool {
        let Some(arg) = self.source.args.get(access.arg as usize) else { return false };
        if arg.dtype == DType::Bf16 || access.gathered.iter().any(|(v, _)| self.values.many[v.0 as usize]) {
            return false;
        }
        !many || self.contiguous(&self.nest.space.strides(&access.at))
    }

    fn contiguous(&self, strides: &[i64]) -> bool {
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

    fn tile_strides(&self, strides: &[i64]) -> [i64; MAX_TILE] {
        let tile = &self.nest.walk.tile;
        let mut found = [0; MAX_TILE];
        for (i, &axis) in tile.iter().enumerate() {
            found[MAX_TILE - tile.len() + i] = strides[axis];
        }
        found
    }

    fn reach(&mut self, access: &Access) -> Result<usize, String> {
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
            if !matches!(gathered.reg, Reg::I32 | Reg::I64) {
                return Err("a computed index is no integer".to_string());
            }
            if self.values.many[v] { reach.lanes.push(gathered) } else { reach.single.push(gathered) }
        }
        self.nest.reaches.push(reach);
        Ok(self.nest.reaches.len() - 1)
    }

    fn linear(&mut self, at: &Affine) -> usize {
        let strides = self.nest.space.strides(at);
        let linear =
            Linear { offset: at.offset, axes: followed(&strides), tile: self.tile_strides(&strides) };
        self.nest.linears.push(linear);
        self.nest.linears.len() - 1
    }

    /// The position that a trap at `v` reports: row-major over all coordinates, 0 along those that `v` does not
    /// follow, since it is there that the trap comes first.
    fn position(&mut self, v: usize) -> usize {
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

/// Roughly how many simple operations a function costs.
fn call_weight(f: ScalarFn) -> u64 {
    use ScalarFn::*;
    match f {
        Add | Sub | Mul | Maximum | Minimum | Eq | Ne | Lt | Le | Gt | Ge | And | Or | Not | Where | Neg
        | Abs | Floor | Ceil | Round => 1,
        Div | Sqrt | Rsqrt => 4,
        Mod | Pow | Atan2 | Exp | Log | Expm1 | Log1p | Sin | Cos | Tanh | Asin | Acos | Erf => 16,
    }
}
