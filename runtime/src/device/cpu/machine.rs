//! Runs a [`Nest`]: walks its rows and blocks and applies its operations to lanes.

use super::block_program::{Gathered, Linear, Nest, Op, Reach, Spot};
use super::buffer::{Arg, Report, Scratch, Trap};
use super::fold::{ColumnFold, RowFold};
use super::memory::{self, Grid, LaneIndex, Window};
use super::prefetch::prefetch;
use super::space::MAX_TILE;
use super::team::Team;
use std::ops::Range;
use sx_artifact::kernel::ScalarType;

/// Simple operations on lanes that are worth a thread.
const WORTH: u64 = 64 << 10;
/// Lanes of a part of a long row: a power of two of chunks, and whole blocks.
const PART: u64 = 64 << 10;
/// Parts of a long row whose results are held at once.
const AT_ONCE: u64 = 256;

/// The bounds of each axis.
type Bounds = Vec<Range<u64>>;

impl Nest {
    /// Runs the whole nest, on several threads where it is worth it.
    pub(super) fn run(&self, args: &[Arg], report: &Report, team: &mut Team) {
        let bounds: Bounds = self.space.sizes.iter().map(|&size| 0..size).collect();
        let rows = self.steps(&self.walk.rows, &bounds);
        let blocks = self.steps(&self.walk.blocks, &bounds);
        let along = self.space.count(&self.walk.blocks);
        let work =
            self.space.count(&self.walk.rows).saturating_mul(along.max(1)).saturating_mul(self.cost.max(1));
        let threads = team.threads() as u64;
        let tasks = if threads == 1 { 1 } else { (work / WORTH).clamp(1, threads * 4) };
        let split = self.folds.is_empty() && self.row_ops.len() == 2;
        let items = if split { rows * blocks } else { rows };
        if !split && rows < threads && along > PART && self.parts_are_whole() {
            let mut machine = Machine::new(self, args, report, bounds);
            for row in 0..rows {
                machine.long_row(row, blocks, team);
            }
            return;
        }
        let run = |task: u64| {
            let range = items * task / tasks..items * (task + 1) / tasks;
            if !range.is_empty() {
                Machine::new(self, args, report, bounds.clone()).items(range, if split { blocks } else { 1 });
            }
        };
        team.each(tasks, run);
    }

    /// Runs the part of the nest in which the flat position in each group is in its range, on this thread.
    pub(super) fn run_part(&self, args: &[Arg], report: &Report, ranges: &[Range<u64>]) {
        let mut whole: Vec<Bounds> = vec![Vec::new()];
        for (group, range) in ranges.iter().enumerate() {
            let boxes = self.space.boxes(group, range.clone());
            whole = whole
                .iter()
                .flat_map(|outer| {
                    boxes.iter().map(move |inner| [outer.as_slice(), inner.as_slice()].concat())
                })
                .collect();
        }
        let mut bounds = whole.into_iter();
        let Some(first) = bounds.next() else { return };
        let mut machine = Machine::new(self, args, report, first);
        machine.whole();
        for next in bounds {
            machine.bounds = next;
            machine.whole();
        }
    }

    /// Bytes that a machine of this nest works on.
    pub(super) fn working_bytes(&self) -> usize {
        self.singles_bytes() + self.registers + self.kept + self.walk.lanes() * 8
    }

    /// Bytes of single lanes, which come first.
    fn singles_bytes(&self) -> usize {
        (self.singles * 8).next_multiple_of(64)
    }

    /// How many steps a walk along `axes` takes.
    fn steps(&self, axes: &[usize], bounds: &Bounds) -> u64 {
        axes.iter().map(|&a| (bounds[a].end - bounds[a].start).div_ceil(self.walk.step[a])).product()
    }

    /// Whether rows can be cut for threads without a change to the order of any fold.
    fn parts_are_whole(&self) -> bool {
        let walk = &self.walk;
        !walk.columns && walk.blocks.len() == 1 && self.kept == 0 && PART.is_multiple_of(walk.lanes() as u64)
    }
}

/// A thread's registers and position.
struct Machine<'a> {
    nest: &'a Nest,
    args: &'a [Arg],
    report: &'a Report,
    /// Keeps alive what the places lead to.
    _memory: Scratch,
    /// Where each place's lanes are.
    places: Vec<*mut u8>,
    /// Where rows keep values.
    kept: *mut u8,
    /// Where an access outside of its buffer ends up.
    sink: *mut u8,
    bounds: Bounds,
    coordinates: Vec<i64>,
    /// The sizes of the current block, as a grid has them.
    tile: [usize; MAX_TILE],
    lanes: usize,
    /// The current block's position in its row.
    block: usize,
    rows: Vec<RowFold>,
    columns: Vec<ColumnFold>,
}

/// A machine that threads fork while it rests: each works in memory of its own, which goes back to that thread's.
struct Parent<'m, 'a>(&'m Machine<'a>);

// SAFETY: the machine is only read, by `fork`; the arguments it leads to may be shared.
unsafe impl Sync for Parent<'_, '_> {}

impl<'a> Parent<'_, 'a> {
    fn fork(&self) -> Machine<'a> {
        self.0.fork()
    }
}

impl<'a> Machine<'a> {
    fn new(nest: &'a Nest, args: &'a [Arg], report: &'a Report, bounds: Bounds) -> Machine<'a> {
        let singles = nest.singles_bytes();
        let full = nest.walk.lanes();
        let mut memory = Scratch::new();
        memory.reserve(nest.working_bytes());
        let start = memory.as_mut_ptr();
        // SAFETY: all offsets lie within the bytes reserved.
        let at = |offset: usize| unsafe { start.add(offset) };
        let sink = at(singles + nest.registers + nest.kept);
        let places = nest.spots.iter().map(|spot| match *spot {
            Spot::Single(number) => at(number * 8),
            Spot::Register(offset) => at(singles + offset),
            Spot::Pointed => sink,
        });
        let places = places.collect();
        for &(number, bits) in &nest.constants {
            // SAFETY: single lanes have 8 aligned bytes each.
            unsafe { *(at(number * 8) as *mut u64) = bits };
        }
        let columns = nest.walk.columns;
        let state =
            |f: &super::block_program::FoldSlot| ColumnFold::new(if f.many { full } else { 1 }, f.size);
        Machine {
            nest,
            args,
            report,
            places,
            kept: at(singles + nest.registers),
            sink,
            _memory: memory,
            coordinates: bounds.iter().map(|b| b.start as i64).collect(),
            bounds,
            tile: [1; MAX_TILE],
            lanes: 1,
            block: 0,
            rows: if columns { Vec::new() } else { nest.folds.iter().map(|_| RowFold::new()).collect() },
            columns: if columns { nest.folds.iter().map(state).collect() } else { Vec::new() },
        }
    }

    /// Runs all rows within the bounds.
    fn whole(&mut self) {
        self.items(0..self.nest.steps(&self.nest.walk.rows, &self.bounds), 1);
    }

    /// Runs `items`: rows if `blocks` is 1, else blocks, of which each row has so many.
    fn items(&mut self, items: Range<u64>, blocks: u64) {
        let nest = self.nest;
        let all = nest.steps(&nest.walk.blocks, &self.bounds);
        let mut item = items.start;
        self.seek(&nest.walk.rows, item / blocks);
        while item < items.end {
            let row = item / blocks;
            let range = match blocks {
                1 => 0..all,
                _ => item % blocks..blocks.min(items.end - row * blocks),
            };
            item = if blocks == 1 { item + 1 } else { row * blocks + range.end };
            self.row(range);
            self.advance(&nest.walk.rows);
        }
    }

    /// Runs the current row, or a range of its blocks.
    fn row(&mut self, blocks: Range<u64>) {
        let nest = self.nest;
        self.operations(&nest.row_ops[0]);
        for (phase, ops) in nest.block_ops.iter().enumerate() {
            self.blocks(phase, ops, blocks.clone());
            self.finish(phase);
            self.operations(&nest.row_ops[phase + 1]);
        }
    }

    /// Runs blocks of the current row in a phase.
    fn blocks(&mut self, phase: usize, ops: &[Op], blocks: Range<u64>) {
        let nest = self.nest;
        for (i, _) in nest.folds.iter().enumerate().filter(|(_, slot)| slot.phase == phase) {
            match nest.walk.columns {
                true => self.columns[i].reset(),
                false => self.rows[i].reset(),
            }
        }
        if blocks.is_empty() {
            return;
        }
        self.seek(&nest.walk.blocks, blocks.start);
        for block in blocks {
            self.block = block as usize;
            self.operations(ops);
            self.advance(&nest.walk.blocks);
        }
    }

    /// Writes the results of a phase's folds.
    fn finish(&mut self, phase: usize) {
        for (i, slot) in self.nest.folds.iter().enumerate().filter(|(_, slot)| slot.phase == phase) {
            let to = self.places[slot.to as usize];
            // SAFETY: a fold's place holds its type, for all lanes where there is a result for each.
            unsafe {
                match self.nest.walk.columns {
                    true => {
                        let n = if slot.many { self.lanes } else { 1 };
                        (slot.fold.column_finish)(&mut self.columns[i], to, n);
                    }
                    false => (slot.fold.row_finish)(&mut self.rows[i], to),
                }
            }
        }
    }

    /// Runs one row with its blocks on several threads.
    fn long_row(&mut self, row: u64, blocks: u64, team: &mut Team) {
        let nest = self.nest;
        self.seek(&nest.walk.rows, row);
        self.operations(&nest.row_ops[0]);
        let part = PART / nest.walk.lanes() as u64;
        for (phase, ops) in nest.block_ops.iter().enumerate() {
            let folds = || nest.folds.iter().enumerate().filter(move |(_, slot)| slot.phase == phase);
            folds().for_each(|(i, _)| self.rows[i].reset());
            let parts = blocks.div_ceil(part);
            for first in (0..parts).step_by(AT_ONCE as usize) {
                let row = Parent(self);
                let results = team.map(AT_ONCE.min(parts - first), |i| {
                    let mut machine = row.fork();
                    let begin = (first + i) * part;
                    machine.blocks(phase, ops, begin..blocks.min(begin + part));
                    machine.results(phase)
                });
                for (i, slot) in folds() {
                    for (_, value) in results.iter().flatten().filter(|(fold, _)| *fold == i) {
                        // SAFETY: the bits of a value of the fold's type, 8 bytes at most.
                        unsafe { (slot.fold.row_part)(&mut self.rows[i], (value as *const u64).cast()) };
                    }
                }
            }
            self.finish(phase);
            self.operations(&nest.row_ops[phase + 1]);
        }
    }

    /// A machine at the same place with the same row values.
    fn fork(&self) -> Machine<'a> {
        let mut fork = Machine::new(self.nest, self.args, self.report, self.bounds.clone());
        fork.coordinates.clone_from(&self.coordinates);
        for (place, spot) in self.nest.spots.iter().enumerate() {
            match spot {
                // SAFETY: both are single lanes of 8 bytes.
                Spot::Single(_) => unsafe {
                    fork.places[place].copy_from_nonoverlapping(self.places[place], 8)
                },
                Spot::Pointed => fork.places[place] = self.places[place],
                Spot::Register(_) => {}
            }
        }
        fork
    }

    /// The bits of the results of a phase's folds, by fold.
    fn results(&mut self, phase: usize) -> Vec<(usize, u64)> {
        let folds = self.nest.folds.iter().enumerate().filter(|(_, slot)| slot.phase == phase);
        folds
            .map(|(i, slot)| {
                let mut value = 0u64;
                // SAFETY: a value of the fold's type has 8 bytes at most.
                unsafe { (slot.fold.row_finish)(&mut self.rows[i], (&mut value as *mut u64).cast()) };
                (i, value)
            })
            .collect()
    }

    /// Goes to step `index` along `axes`.
    fn seek(&mut self, axes: &[usize], mut index: u64) {
        for &axis in axes.iter().rev() {
            let step = self.nest.walk.step[axis];
            let count = (self.bounds[axis].end - self.bounds[axis].start).div_ceil(step).max(1);
            self.coordinates[axis] = (self.bounds[axis].start + index % count * step) as i64;
            index /= count;
        }
        self.measure();
    }

    /// Goes one step along `axes`.
    fn advance(&mut self, axes: &[usize]) {
        for &axis in axes.iter().rev() {
            self.coordinates[axis] += self.nest.walk.step[axis] as i64;
            if self.coordinates[axis] < self.bounds[axis].end as i64 {
                break;
            }
            self.coordinates[axis] = self.bounds[axis].start as i64;
        }
        self.measure();
    }

    /// Sets the sizes of the current block.
    fn measure(&mut self) {
        let walk = &self.nest.walk;
        self.lanes = 1;
        for (i, &axis) in walk.tile.iter().enumerate() {
            let left = self.bounds[axis].end as i64 - self.coordinates[axis];
            let size = left.clamp(1, walk.step[axis] as i64) as usize;
            self.tile[MAX_TILE - walk.tile.len() + i] = size;
            self.lanes *= size;
        }
    }

    fn grid(&self, strides: [i64; MAX_TILE], many: bool) -> Grid {
        Grid { sizes: if many { self.tile } else { [1; MAX_TILE] }, strides }
    }

    /// The first element that an access reaches.
    fn first(&self, reach: &Reach) -> i64 {
        let mut at = self.args[reach.arg].shift.wrapping_add(reach.offset);
        for &(axis, stride) in &reach.axes {
            at = at.wrapping_add(stride.wrapping_mul(self.coordinates[axis]));
        }
        for gathered in &reach.single {
            at = at.wrapping_add(self.single(gathered).wrapping_mul(gathered.stride));
        }
        at
    }

    fn single(&self, gathered: &Gathered) -> i64 {
        let place = self.places[gathered.place as usize];
        // SAFETY: the place holds a lane of that type.
        unsafe {
            match gathered.reg {
                ScalarType::I64 => *(place as *const i64),
                _ => *(place as *const i32) as i64,
            }
        }
    }

    fn linear(&self, linear: &Linear) -> i64 {
        linear.axes.iter().fold(linear.offset, |sum, &(axis, stride)| {
            sum.wrapping_add(stride.wrapping_mul(self.coordinates[axis]))
        })
    }

    /// Where the elements of an access start, if all of them lie within its buffer.
    fn inside(&self, reach: &Reach, grid: &Grid) -> Option<*mut u8> {
        let arg = &self.args[reach.arg];
        let first = self.first(reach);
        let (low, high) = grid.span();
        let fits = first.checked_add(low)? >= 0 && (first.checked_add(high)? as u64) < arg.len;
        if !fits {
            self.report.outside();
            return None;
        }
        // SAFETY: within the buffer, as just checked.
        Some(unsafe { arg.start.add(first as usize * reach.size) })
    }

    /// Applies operations to the current block or row.
    fn operations(&mut self, ops: &[Op]) {
        for op in ops {
            self.operation(op);
        }
    }

    #[inline(always)]
    fn operation(&mut self, op: &Op) {
        let nest = self.nest;
        let n = |many: bool| if many { self.lanes } else { 1 };
        // SAFETY (of each call below): places hold lanes of the types their operations were chosen for, as many
        // as a full block has (or one); pointed places have been checked by `inside`; results have places of
        // their own.
        match *op {
            Op::Lanes { f, to, from, many } => {
                let at = |i: usize| self.places[from[i] as usize];
                let (a, b, c) = (at(0), at(1), at(2));
                // SAFETY: as above.
                unsafe { f(self.places[to as usize], a, b, c, n(many)) }
            }
            Op::Point { to, reach, many } => {
                let reach = &nest.reaches[reach];
                let at = self.inside(reach, &self.grid(reach.tile, many));
                self.places[to as usize] = at.unwrap_or(self.sink);
            }
            Op::Keep { to, offset, size } => {
                let offset = offset + self.block * nest.walk.lanes() * size;
                // SAFETY: a row's blocks have room for what they keep.
                self.places[to as usize] = unsafe { self.kept.add(offset) };
            }
            Op::Prefetch { reach, far, lines } => {
                let reach = &nest.reaches[reach];
                let at = self.first(reach).wrapping_add(far).wrapping_mul(reach.size as i64);
                prefetch(self.args[reach.arg].start.wrapping_offset(at as isize), lines);
            }
            Op::Load { f, to, reach, many } => {
                let reach = &nest.reaches[reach];
                let grid = self.grid(reach.tile, many);
                if let Some(at) = self.inside(reach, &grid) {
                    // SAFETY: as above.
                    unsafe { f(self.places[to as usize], at, &grid) }
                }
            }
            Op::Store { f, from, reach, many } => {
                let reach = &nest.reaches[reach];
                let grid = self.grid(reach.tile, many);
                if let Some(at) = self.inside(reach, &grid) {
                    // SAFETY: as above.
                    unsafe { f(at, self.places[from as usize], &grid) }
                }
            }
            Op::Gather { f, to, reach, guard, many } => {
                let reach = &nest.reaches[reach];
                let arg = &self.args[reach.arg];
                let window = Window { buffer: arg.start, len: arg.len, first: self.first(reach) };
                let index = |g: &Gathered| LaneIndex {
                    values: self.places[g.place as usize],
                    reg: g.reg,
                    stride: g.stride,
                };
                let indices: Vec<LaneIndex> = reach.lanes.iter().map(index).collect();
                let guard = guard.map(|guard| self.places[guard as usize] as *const u8);
                let grid = self.grid(reach.tile, many);
                // SAFETY: as above; the window's buffer is the argument's.
                if !unsafe { f(self.places[to as usize], &window, &grid, guard, &indices) } {
                    self.report.outside();
                }
            }
            Op::Index { to, linear, reg, many } => {
                let linear = &nest.linears[linear];
                let grid = self.grid(linear.tile, many);
                // SAFETY: as above.
                unsafe { memory::iota(self.places[to as usize], self.linear(linear), &grid, reg) }
            }
            Op::Bounded { to, x, reg, size, trap: None, many, .. } => {
                // SAFETY: as above.
                unsafe {
                    memory::clamped(self.places[to as usize], self.places[x as usize], n(many), size, reg)
                }
            }
            Op::Bounded { to, x, reg, size, trap: Some(trap), linear, many } => {
                let (to, x) = (self.places[to as usize], self.places[x as usize]);
                // SAFETY: as above.
                if let Some((lane, value)) = unsafe { memory::bounded(to, x, n(many), size, reg) } {
                    let position = self.position(&nest.linears[linear], lane);
                    self.report.trapped(Trap { trap, position, value });
                }
            }
            Op::Fold { fold, x, many } => {
                let functions = &nest.folds[fold].fold;
                let (x, n) = (self.places[x as usize], n(many));
                // SAFETY: as above.
                unsafe {
                    match nest.walk.columns {
                        true => (functions.column_add)(&mut self.columns[fold], x, n),
                        false => (functions.row_add)(&mut self.rows[fold], x, n),
                    }
                }
            }
        }
    }

    /// What a trap at a lane of the current block reports.
    #[cold]
    fn position(&self, linear: &Linear, mut lane: usize) -> u64 {
        let mut position = self.linear(linear);
        for (size, stride) in self.tile.iter().zip(&linear.tile).rev() {
            position += stride * (lane % size) as i64;
            lane /= size;
        }
        position as u64
    }
}
