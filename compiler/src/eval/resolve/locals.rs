//! The names that the code around a form binds, and whether anything uses them.

use crate::diag::Span;
use crate::eval::value::Name;
use std::collections::HashMap;

/// A name that the code around a form binds.
pub(super) struct Local {
    pub(super) name: Name,
    pub(super) span: Span,
    pub(super) kind: Kind,
    pub(super) used: bool,
}

/// What binds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A graph's parameter.
    Input,
    /// A `let`, or a form like it.
    Variable,
    /// A macro's parameter.
    MacroParameter,
    /// What need not be used: a function's parameter, a loop's counter, the sizes that a type names, and whatever a
    /// macro wrote.
    Other,
}

/// The names in force, innermost last.
#[derive(Default)]
pub(super) struct Locals {
    stack: Vec<Local>,
    by_name: HashMap<Name, Vec<usize>>,
}

impl Locals {
    /// Binds a name until [`Locals::leave`].
    pub(super) fn bind(&mut self, name: &str, span: Span, kind: Kind) {
        let name = Name::from(name);
        self.by_name.entry(name.clone()).or_default().push(self.stack.len());
        self.stack.push(Local { name, span, kind, used: false });
    }

    /// How many there are, for [`Locals::leave`].
    pub(super) fn depth(&self) -> usize {
        self.stack.len()
    }

    /// Ends the bindings made since there were `depth` of them.
    pub(super) fn leave(&mut self, depth: usize) -> Vec<Local> {
        let ended = self.stack.split_off(depth);
        for local in &ended {
            if let Some(places) = self.by_name.get_mut(&local.name) {
                places.pop();
            }
        }
        ended
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.by_name.get(name).is_some_and(|places| !places.is_empty())
    }

    /// Marks the innermost binding of a name as used; false where there is none.
    pub(super) fn mark(&mut self, name: &str) -> bool {
        let place = self.by_name.get(name).and_then(|places| places.last());
        place.map(|place| self.stack[*place].used = true).is_some()
    }

    /// Every name in force, for suggestions.
    pub(super) fn names(&self) -> Vec<Name> {
        self.stack.iter().map(|local| local.name.clone()).collect()
    }
}
