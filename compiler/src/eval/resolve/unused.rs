//! Warnings about names that nothing uses. A name that begins with `_` says that it is meant.

use super::locals::{Kind, Local};
use super::{Walk, symbol, symbols};
use crate::diag::{Code, Diagnostic, Span};
use crate::eval::special::{Parts, Role, list_items};
use crate::eval::value::Name;
use crate::syntax::{Datum, Tree};
use std::collections::{HashMap, HashSet};

/// Which names defined at the top of files are used, and by which definition.
#[derive(Default)]
pub(super) struct Uses {
    /// The definition that is walked.
    pub(super) definition: Option<Name>,
    /// What each definition uses, and under `None` what the other forms at the top use.
    by: HashMap<Option<Name>, HashSet<Name>>,
}

impl Uses {
    pub(super) fn name(&mut self, name: &str) {
        let names = self.by.entry(self.definition.clone()).or_default();
        if !names.contains(name) {
            names.insert(name.into());
        }
    }

    /// Every symbol in these trees.
    pub(super) fn all(&mut self, trees: &[Tree]) {
        let mut names = Vec::new();
        trees.iter().for_each(|tree| symbols(tree, &mut names));
        names.into_iter().for_each(|(name, _)| self.name(name));
    }

    /// What is used by the forms at the top, by `roots`, and by what these use in turn.
    fn reached(&self, roots: impl Iterator<Item = Name>) -> HashSet<Name> {
        let mut reached: HashSet<Name> = roots.collect();
        let mut waiting: Vec<Option<Name>> = reached.iter().cloned().map(Some).chain([None]).collect();
        while let Some(user) = waiting.pop() {
            for name in self.by.get(&user).into_iter().flatten() {
                if reached.insert(name.clone()) {
                    waiting.push(Some(name.clone()));
                }
            }
        }
        reached
    }

    fn has(&self, name: &str) -> bool {
        self.by.values().any(|names| names.contains(name))
    }
}

/// Whether the name itself says that it need not be used.
fn meant(name: &str) -> bool {
    name.starts_with('_')
}

impl Walk<'_, '_> {
    /// Warns of a name that ends without a use.
    pub(super) fn unused_local(&mut self, local: &Local) {
        if local.used || meant(&local.name) {
            return;
        }
        let name = &local.name;
        let (code, what) = match local.kind {
            Kind::Input => (Code::UnusedInput, "input"),
            Kind::Variable => (Code::UnusedName, "variable"),
            Kind::MacroParameter => (Code::UnusedName, "macro parameter"),
            Kind::Other => return,
        };
        let diagnostic = Diagnostic::new(code, local.span, format!("the {what} `{name}` is never used"));
        let help = format!("remove it, or call it `_{name}` if that is intended");
        self.machine.warnings.push(diagnostic.help(help));
    }

    /// Warns of definitions that no graph reaches; those of a file without a graph are for whoever imports it.
    pub(super) fn unused_definitions(&mut self, trees: &[Tree], is_program: bool) {
        let mut defined = Vec::new();
        trees.iter().for_each(|tree| self.defined(tree, &mut defined));
        let is_program = is_program && defined.iter().any(|(parts, ..)| is_graph(*parts));
        let outside = |parts: Parts, name: &str| {
            is_graph(parts) || parts == Parts::Run || (!is_program && !name.starts_with('%'))
        };
        let roots = defined.iter().filter(|(parts, name, _)| outside(*parts, name));
        let reached = self.uses.reached(roots.map(|(_, name, _)| name.clone()));
        for (_, name, span) in defined {
            if !reached.contains(&name) && !meant(&name) {
                let message = format!("the definition `{name}` is never used");
                let help = format!("remove it, or call it `_{name}` if that is intended");
                self.machine.warnings.push(Diagnostic::new(Code::UnusedName, span, message).help(help));
            }
        }
    }

    /// What a form at the top of the file defines.
    fn defined(&self, tree: &Tree, defined: &mut Vec<(Parts, Name, Span)>) {
        let Some([Tree { datum: Datum::Symbol(head), .. }, args @ ..]) = list_items(tree) else { return };
        let Some(parts) = self.machine.specials.get(head.as_str()).map(|special| special.parts) else {
            return;
        };
        match (parts, args.first()) {
            (Parts::Body { values: 0 }, _) => args.iter().for_each(|form| self.defined(form, defined)),
            (Parts::Import, _) => {}
            (parts, Some(name)) if parts.at_top() => {
                defined.extend(symbol(name).map(|word| (parts, word.into(), name.span)));
            }
            _ => {}
        }
    }

    /// Warns of imports of which no name is used.
    pub(super) fn unused_imports(&mut self) {
        let machine = &mut *self.machine;
        let module = &machine.modules[machine.module];
        let unused = |(id, _): &&(usize, Span)| {
            let mut names = machine.brought(*id);
            !names.any(|name| !module.defined.contains_key(name) && self.uses.has(name))
        };
        let warnings: Vec<Diagnostic> = module
            .imports()
            .filter(unused)
            .map(|(id, span)| {
                let path = &machine.modules[*id].path;
                let message = format!("nothing that `{path}` defines is used here");
                Diagnostic::new(Code::UnusedImport, *span, message).help("remove the import")
            })
            .collect();
        machine.warnings.extend(warnings);
    }
}

fn is_graph(parts: Parts) -> bool {
    parts == Parts::Function(Role::Graph)
}
