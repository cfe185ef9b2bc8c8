//! Where values are put: single lanes, registers of a block, or straight where they are stored.

use super::block_program::{Op, Place, Spot, lane_size};
use super::compile::Compiler;
use super::lanes;

/// Registers are shared among lanes of one size: its position.
pub(super) fn class(size: usize) -> usize {
    match size {
        1 => 0,
        4 => 1,
        _ => 2,
    }
}

impl Compiler<'_> {
    pub(super) fn new_place(&mut self, spot: Spot) -> Place {
        self.nest.spots.push(spot);
        (self.nest.spots.len() - 1) as Place
    }

    pub(super) fn new_single(&mut self) -> Place {
        self.nest.singles += 1;
        self.new_place(Spot::Single(self.nest.singles - 1))
    }

    pub(super) fn new_register(&mut self, size: usize) -> Place {
        let offset = self.nest.registers;
        self.nest.registers += (self.nest.walk.lanes() * size).next_multiple_of(64);
        self.new_place(Spot::Register(offset))
    }

    /// A register that is free at once for what comes after the current operation.
    pub(super) fn borrow_register(&mut self, size: usize) -> Place {
        self.free[class(size)].pop().unwrap_or_else(|| self.new_register(size))
    }

    /// Where the value `v` is put.
    pub(super) fn place_for(
        &mut self,
        v: usize,
        direct: Option<usize>,
        ops: &mut Vec<Op>,
    ) -> Result<Place, String> {
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

    pub(super) fn place(&self, v: usize) -> Result<Place, String> {
        self.places[v].ok_or_else(|| format!("value {v} is used before it is computed"))
    }

    /// The place of `v` as lanes, repeated over them if it is single. The second result is a register to free.
    pub(super) fn spread(&mut self, v: usize, ops: &mut Vec<Op>) -> Result<(Place, Option<Place>), String> {
        let from = self.place(v)?;
        if self.values.many[v] {
            return Ok((from, None));
        }
        let size = lane_size(self.values.regs[v]);
        let to = self.borrow_register(size);
        ops.push(Op::Lanes { f: lanes::splat(size), to, from: [from; 3], many: true });
        Ok((to, Some(to)))
    }

    pub(super) fn release(&mut self, place: Option<Place>, size: usize) {
        self.free[class(size)].extend(place);
    }
}
