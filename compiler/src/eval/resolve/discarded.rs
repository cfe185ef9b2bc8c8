//! Warnings about values that nothing uses: forms of a body before its last one that have no effect.

use super::{Walk, symbol};
use crate::diag::{Code, Diagnostic};
use crate::eval::module::Binding;
use crate::eval::special::Parts;
use crate::eval::value::{Function, Value};
use crate::syntax::{Datum, Tree};
use std::rc::Rc;

/// Functions that are called for what they do.
const EFFECTS: [&str; 2] = ["error", "assert"];
/// Functions that call the functions they are given.
const CALLERS: [&str; 5] = ["map", "filter", "reduce", "apply", "funcall"];
/// How many forms of a file are searched for effects; the rest count as if they had one.
const MOST: usize = 1_000_000;

impl Walk<'_, '_> {
    /// The names in forms of which the last one gives the value.
    pub(super) fn body(&mut self, trees: &[Tree]) {
        let mut rest = trees;
        while let [first, others @ ..] = rest {
            if !others.is_empty() && !self.silent && !self.has_effect(first) {
                let skipped = self.infix(rest);
                if skipped == 0 {
                    self.discarded(first, others.first());
                }
                for tree in &rest[..skipped.max(1)] {
                    self.quietly(tree);
                }
                rest = &rest[skipped.max(1)..];
                continue;
            }
            self.names(first);
            rest = others;
        }
    }

    /// The names in a form whose value counts for nothing.
    pub(super) fn body_part(&mut self, tree: &Tree) {
        if self.silent || self.has_effect(tree) {
            return self.names(tree);
        }
        self.discarded(tree, None);
        self.quietly(tree);
    }

    /// The names in a form of which a warning was given.
    fn quietly(&mut self, tree: &Tree) {
        let silent = std::mem::replace(&mut self.silent, true);
        self.names(tree);
        self.silent = silent;
    }

    /// Warns of `a * b`, as other languages write it: how many forms that takes together, or 0.
    fn infix(&mut self, trees: &[Tree]) -> usize {
        let [a, operator, b, ..] = trees else { return 0 };
        let is_operator = |name: &str| {
            let sign = !name.contains(|c: char| c.is_alphanumeric() || c == '%');
            sign && matches!(self.machine.binding(name), Some(Binding::Value(Value::Function(_))))
        };
        if !symbol(operator).is_some_and(is_operator) {
            return 0;
        }
        let texts = [a, operator, b].map(|tree| self.machine.text(tree.span));
        let [x, f, y] = &texts;
        let message = format!("`{x} {f} {y}` is three forms here, and the first two count for nothing");
        let diagnostic = Diagnostic::new(Code::UnusedValue, a.span.to(b.span), message);
        self.machine.warnings.push(diagnostic.help(format!("the function comes first: `({f} {x} {y})`")));
        2
    }

    fn discarded(&mut self, tree: &Tree, next: Option<&Tree>) {
        let subscript = next.filter(|next| {
            let adjacent = next.span.file == tree.span.file && next.span.start == tree.span.end;
            adjacent && symbol(tree).is_some() && matches!(next.datum, Datum::Vector(_))
        });
        let text = self.machine.text(tree.span);
        let diagnostic = match subscript {
            Some(next) => {
                let place = self.machine.text(next.span);
                let message = format!("`{text}{place}` is two forms here, and the first counts for nothing");
                let help = format!(
                    "`(slice {text} axis start stop)` takes a part of a tensor, `(index {text} ids)` rows by \
                     integers, `(nth n {text})` an element of a list"
                );
                Diagnostic::new(Code::UnusedValue, tree.span.to(next.span), message).help(help)
            }
            None => {
                let message = format!("the value of `{text}` is not used");
                let help = "use it, or remove the form: of several forms only the last gives the value";
                Diagnostic::new(Code::UnusedValue, tree.span, message).help(help)
            }
        };
        self.machine.warnings.push(diagnostic);
    }

    /// Whether evaluating a form may do more than give a value. What is not known counts as an effect.
    fn has_effect(&mut self, tree: &Tree) -> bool {
        self.searched += 1;
        if self.searched > MOST {
            return true;
        }
        match &tree.datum {
            Datum::Symbol(name) => !self.locals.has(name) && self.reaches_effect(name, false),
            Datum::Vector(items) => items.iter().any(|item| self.has_effect(item)),
            Datum::List(items) => {
                let [head, args @ ..] = &items[..] else { return false };
                if let Datum::Symbol(name) = &head.datum {
                    match self.machine.specials.get(name.as_str()).map(|special| special.parts) {
                        Some(Parts::Datum) => return false,
                        Some(Parts::Assignment) => return true,
                        Some(parts) if parts.at_top() => return true,
                        Some(_) => {}
                        None if self.locals.has(name) || self.reaches_effect(name, true) => return true,
                        None => {}
                    }
                }
                let parts = if matches!(head.datum, Datum::Symbol(_)) { args } else { &items[..] };
                parts.iter().any(|part| self.has_effect(part))
            }
            _ => false,
        }
    }

    /// Whether what a name at the top of a file stands for may have an effect when it is called.
    fn reaches_effect(&mut self, name: &str, called: bool) -> bool {
        match self.machine.binding(name) {
            None => called,
            Some(Binding::Macro(_)) | Some(Binding::Value(Value::Poisoned)) => true,
            Some(Binding::Value(Value::Function(function))) => self.call_has_effect(&function, name),
            Some(Binding::Value(_)) => false,
        }
    }

    fn call_has_effect(&mut self, function: &Rc<Function>, name: &str) -> bool {
        let closure = match &**function {
            Function::Builtin(_) => return EFFECTS.contains(&name) || CALLERS.contains(&name),
            Function::Closure(closure) | Function::Graph(closure) => closure,
        };
        if self.machine.sources.is_library(closure.lambda.span.file) {
            return false;
        }
        let key = Rc::as_ptr(&closure.lambda) as usize;
        if let Some(known) = self.effects.get(&key) {
            return *known;
        }
        self.effects.insert(key, false);
        let module = std::mem::replace(&mut self.machine.module, closure.module);
        let locals = std::mem::take(&mut self.locals);
        let found = closure.lambda.body.iter().any(|tree| self.has_effect(tree));
        self.locals = locals;
        self.machine.module = module;
        self.effects.insert(key, found);
        found
    }
}
