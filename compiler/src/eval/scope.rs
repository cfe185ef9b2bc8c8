//! Names in force: lexical frames. What a file defines or imports is in `module`.

use super::bury::{Buried, bury};
use super::value::{Name, Slot, Value};
use std::cell::RefCell;
use std::rc::Rc;

/// A chain of frames, innermost first; empty at the top of a file.
#[derive(Clone, Default)]
pub(super) struct Env(Option<Rc<Frame>>);

struct Frame {
    names: Vec<(Name, Slot)>,
    parent: Env,
}

/// However long the chain, dropping it takes no stack.
impl Drop for Frame {
    fn drop(&mut self) {
        let slots = std::mem::take(&mut self.names).into_iter().map(|(_, slot)| Buried::Slot(slot));
        bury(slots.chain([Buried::Env(std::mem::take(&mut self.parent))]));
    }
}

impl Env {
    /// A frame with these variables in front of `self`.
    pub(super) fn with(&self, names: Vec<(Name, Value)>) -> Env {
        if names.is_empty() {
            return self.clone();
        }
        let names = names.into_iter().map(|(name, value)| (name, Rc::new(RefCell::new(value)))).collect();
        Env(Some(Rc::new(Frame { names, parent: self.clone() })))
    }

    /// Where `name` is held, if a frame has it.
    pub(super) fn slot(&self, name: &str) -> Option<Slot> {
        let mut env = self;
        while let Some(frame) = &env.0 {
            // The last of equal names wins: `let*` and parameters may rebind one.
            if let Some((_, slot)) = frame.names.iter().rev().find(|(n, _)| &**n == name) {
                return Some(slot.clone());
            }
            env = &frame.parent;
        }
        None
    }

    /// Every name in force, for suggestions.
    pub(super) fn names(&self) -> Vec<Name> {
        let mut names = Vec::new();
        let mut env = self;
        while let Some(frame) = &env.0 {
            names.extend(frame.names.iter().map(|(name, _)| name.clone()));
            env = &frame.parent;
        }
        names
    }
}
