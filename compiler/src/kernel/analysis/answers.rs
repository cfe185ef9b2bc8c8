//! What the lowering of a root has asked of an analysis, so that its result is kept while the answers are the same.

use super::Analysis;
use crate::ir::NodeId;
use std::cell::{Cell, RefCell};

/// What the lowering of a root has asked: as long as the answers stay the same, so does its result.
#[derive(Default)]
pub(super) struct Asked {
    /// The round of questions, and for each node the last round in which each question was asked.
    round: Cell<u32>,
    last: Vec<[Cell<u32>; 2]>,
    stored: RefCell<Vec<NodeId>>,
    costs: RefCell<Vec<NodeId>>,
}

/// The answers that a lowering relied on.
pub struct Answers {
    stored: Vec<(NodeId, bool)>,
    costs: Vec<(NodeId, u32)>,
}

impl Asked {
    /// Nothing was asked yet of a graph of so many nodes.
    pub(super) fn of(nodes: usize) -> Asked {
        Asked { last: vec![Default::default(); nodes], ..Asked::default() }
    }

    /// It was asked whether a node is stored.
    pub(super) fn about_storing(&self, id: NodeId) {
        self.note(id, 0, &self.stored);
    }

    /// It was asked what a node costs.
    pub(super) fn about_cost(&self, id: NodeId) {
        self.note(id, 1, &self.costs);
    }

    fn note(&self, id: NodeId, question: usize, list: &RefCell<Vec<NodeId>>) {
        if self.last[id.0 as usize][question].replace(self.round.get()) != self.round.get() {
            list.borrow_mut().push(id);
        }
    }
}

impl Analysis<'_> {
    /// Forgets what was asked.
    pub fn listen(&self) {
        self.asked.round.set(self.asked.round.get() + 1);
        self.asked.stored.borrow_mut().clear();
        self.asked.costs.borrow_mut().clear();
    }

    /// What was asked since [`Self::listen`], with the answers.
    pub fn answers(&self) -> Answers {
        let stored = self.asked.stored.borrow().iter().map(|&id| (id, self.stores(id))).collect();
        let costs = self.asked.costs.borrow().iter().map(|&id| (id, self.cost_of(id))).collect();
        Answers { stored, costs }
    }

    /// Whether the same questions have the same answers here.
    pub fn agrees(&self, answers: &Answers) -> bool {
        answers.stored.iter().all(|&(id, stored)| self.stores(id) == stored)
            && answers.costs.iter().all(|&(id, cost)| self.cost_of(id) == cost)
    }
}
