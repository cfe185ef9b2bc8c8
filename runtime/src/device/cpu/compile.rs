//! From a body to a [`Nest`]: in which phase each value is computed, and where it is kept. Done once, when a
//! program is prepared.

use super::analyse::{self, Values};
use super::block_program::{ArgSpec, Nest, Op, Place, Spot, lane_size};
use super::fuse::{Fusion, fusions};
use super::place::class;
use super::prefetch::add_prefetches;
use super::space::{Space, Walk};
use sx_artifact::kernel::{Affine, Body, Inst, Store, Val};

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
    let regs = body.types(source.args);
    let live = body.live(source.stores.iter().map(|store| store.value));
    let affines: Vec<&Affine> = analyse::affines(&body, &live, source.stores).collect();
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
pub(super) struct Compiler<'a> {
    pub(super) source: &'a Source<'a>,
    pub(super) body: Body,
    pub(super) values: Values,
    /// What each instruction becomes, where it is fused with some that it uses.
    pub(super) fused: Vec<Option<Fusion>>,
    /// The values each instruction uses, those of its fusion if there is one.
    operands: Vec<Vec<Val>>,
    pub(super) nest: Nest,
    /// Where each value is now.
    pub(super) places: Vec<Option<Place>>,
    /// Values that a row keeps for later phases, with the region of each.
    pub(super) kept: Vec<Option<usize>>,
    /// Registers of blocks that are free again, by lane size.
    pub(super) free: [Vec<Place>; 3],
    /// In the operations being made: how often each value is still used, and whether its register is then free.
    pub(super) uses: Vec<usize>,
    pub(super) passing: Vec<bool>,
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

impl<'a> Compiler<'a> {
    fn new(source: &'a Source<'a>, body: Body, values: Values, space: Space, walk: Walk) -> Compiler<'a> {
        let count = body.insts.len();
        let fused = fusions(&body, &values.regs, &values.live);
        let operands = body.insts.iter().zip(&fused).map(|(inst, fused)| match fused {
            Some(fusion) => fusion.args.clone(),
            None => inst.uses().collect(),
        });
        let operands = operands.collect();
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
            fused,
            operands,
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
        add_prefetches(&mut self.nest);
        Ok(self.nest)
    }
    /// The values that computing `v` uses.
    pub(super) fn operands(&self, v: usize) -> &[Val] {
        &self.operands[v]
    }

    pub(super) fn phase(&self, v: Val) -> usize {
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
        let folds = self
            .body
            .insts
            .iter()
            .enumerate()
            .filter(|(fold, inst)| inst.is_fold() && self.values.live[*fold]);
        let folds = folds.flat_map(|(fold, inst)| inst.uses().map(move |x| (fold, x)));
        let folds = folds.filter(|&(_, x)| self.phase(x) == phase);
        let folds = folds.map(|(fold, x)| End::Fold { fold, x: x.0 as usize });
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
        for used in needed.iter().flat_map(|&v| &self.operands[v]) {
            self.uses[used.0 as usize] += 1;
        }
        ends.iter().for_each(|end| self.uses[end.x()] += 1);
    }

    /// Makes the kept values that a phase uses or computes point at the block's part.
    fn point_at_kept(&mut self, needed: &[usize], ends: &[End], ops: &mut Vec<Op>) {
        let mut used = vec![false; self.body.insts.len()];
        for &v in needed {
            used[v] = true;
            self.operands(v).iter().for_each(|v| used[v.0 as usize] = true);
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
    pub(super) fn used(&mut self, v: usize) {
        self.uses[v] = self.uses[v].saturating_sub(1);
        if self.uses[v] == 0 && self.passing[v] {
            self.passing[v] = false;
            if let Some(place) = self.places[v] {
                self.free[class(lane_size(self.values.regs[v]))].push(place);
            }
        }
    }
}
