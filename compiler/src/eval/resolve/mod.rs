//! What a file's names tell without running it: names that nothing defines, names that nothing uses, and values that
//! nothing uses. A file's forms are walked once it is loaded.
//!
//! Evaluation reports an unknown name where it meets one, which a function that nothing calls never does. The walk
//! knows which forms bind names and where those are in force, by [`Parts`]; a macro's call is walked as the code it
//! stands for. Whatever else is wrong with a form is left to evaluation.

mod discarded;
mod locals;
mod unused;

use super::machine::Machine;
use super::module::Binding;
use super::special::{Parts, Role, is_symbol, list_items};
use super::value::Name;
use crate::diag::{Severity, Span};
use crate::syntax::{Datum, Tree};
use locals::{Kind, Locals};
use std::collections::HashMap;
use unused::Uses;

/// How deeply macros may stand for macros before the walk leaves the rest to evaluation, which may stop a
/// macro that never ends by never reaching it.
const DEEPEST: usize = 64;
/// How many macro calls of a file are walked.
const MOST: usize = 10_000;

/// A walk over the forms of the running module.
struct Walk<'w, 'a> {
    machine: &'w mut Machine<'a>,
    locals: Locals,
    uses: Uses,
    /// Whether calling a function may have an effect, as far as it is known.
    effects: HashMap<usize, bool>,
    /// How many forms were searched for effects.
    searched: usize,
    /// How many macros the code stands in that is walked.
    depth: usize,
    /// How many macro calls were followed.
    count: usize,
    /// Whether unused values and names are the concern of this code's author.
    silent: bool,
}

impl Machine<'_> {
    /// Reports each unknown name of the running module that evaluation has not reported, and warns of what is not
    /// used. The definitions of the program's own file are for its graphs, those of other files for whoever imports
    /// them.
    pub(super) fn check_names(&mut self, trees: &[Tree], is_program: bool) {
        if self.exhausted() {
            return;
        }
        // Following macros is not the program's own work.
        let steps = self.steps;
        let mut walk = Walk {
            machine: self,
            locals: Locals::default(),
            uses: Uses::default(),
            effects: HashMap::new(),
            searched: 0,
            depth: 0,
            count: 0,
            silent: false,
        };
        for tree in trees {
            walk.at_top(tree);
        }
        walk.unused_definitions(trees, is_program);
        walk.unused_imports();
        self.steps = steps;
    }

    /// Whether a form that failed may have left names undefined that it should define.
    pub(super) fn may_define(&self, tree: &Tree) -> bool {
        let head = list_items(tree).and_then(<[Tree]>::first).and_then(symbol);
        head.is_some_and(|head| {
            let special = self.specials.get(head);
            special.is_some_and(|form| form.parts.at_top() || form.parts == Parts::Body { values: 0 })
                || head.starts_with("def")
                || matches!(self.binding(head), Some(Binding::Macro(_)))
        })
    }
}

impl Walk<'_, '_> {
    fn at_top(&mut self, tree: &Tree) {
        let Some([Tree { datum: Datum::Symbol(head), .. }, args @ ..]) = list_items(tree) else {
            return self.body_part(tree);
        };
        match self.machine.specials.get(head.as_str()).map(|special| special.parts) {
            Some(Parts::Body { values: 0 }) => args.iter().for_each(|form| self.at_top(form)),
            Some(parts) if parts.at_top() => {
                self.uses.definition = args.first().and_then(symbol).map(Name::from);
                self.special(parts, args);
                self.uses.definition = None;
            }
            Some(_) => self.body_part(tree),
            None => match self.expansion(head, args, tree.span) {
                Some(Some(code)) => self.inside_macro(|walk| walk.at_top(&code)),
                Some(None) => self.uses.all(args),
                None => self.body_part(tree),
            },
        }
    }

    fn inside_macro(&mut self, walk: impl FnOnce(&mut Self)) {
        let silent = std::mem::replace(&mut self.silent, true);
        self.depth += 1;
        walk(self);
        self.depth -= 1;
        self.silent = silent;
    }

    fn each(&mut self, trees: &[Tree]) {
        trees.iter().for_each(|tree| self.names(tree));
    }

    fn names(&mut self, tree: &Tree) {
        match &tree.datum {
            Datum::Symbol(name) => self.name(name, tree.span),
            Datum::Vector(items) => self.each(items),
            Datum::List(items) => {
                let [head, args @ ..] = &items[..] else { return };
                let Datum::Symbol(name) = &head.datum else { return self.each(items) };
                if let Some(special) = self.machine.specials.get(name.as_str()) {
                    return self.special(special.parts, args);
                }
                match self.expansion(name, args, tree.span) {
                    Some(Some(code)) => self.inside_macro(|walk| walk.names(&code)),
                    Some(None) => self.mentioned(args),
                    None if !self.locals.has(name) && self.is_form_elsewhere(name) => {
                        self.name(name, head.span);
                    }
                    None => self.each(items),
                }
            }
            _ => {}
        }
    }

    fn is_form_elsewhere(&self, name: &str) -> bool {
        self.machine.binding(name).is_none() && self.machine.form_elsewhere(name).is_some()
    }

    fn name(&mut self, name: &str, span: Span) {
        if self.locals.mark(name) || self.machine.specials.contains_key(name) {
            return;
        }
        self.uses.name(name);
        if self.machine.binding(name).is_none() {
            let known = self.locals.names();
            self.machine.unknown(name, span, known);
        }
    }

    /// Every symbol in these trees may be the use of a name.
    fn mentioned(&mut self, trees: &[Tree]) {
        let mut names = Vec::new();
        trees.iter().for_each(|tree| symbols(tree, &mut names));
        for (name, _) in names {
            if !self.locals.mark(name) {
                self.uses.name(name);
            }
        }
    }

    /// The code that a call of a macro stands for: `None` where `name` is no macro, `Some(None)` where the code
    /// is not known here.
    fn expansion(&mut self, name: &str, args: &[Tree], site: Span) -> Option<Option<Tree>> {
        if self.locals.has(name) {
            return None;
        }
        let Some(Binding::Macro(closure)) = self.machine.binding(name) else { return None };
        self.uses.name(name);
        self.count += 1;
        if self.depth >= DEEPEST || self.count > MOST {
            return Some(None);
        }
        // Whether this call is ever made is not known: what is wrong with it is told when it is.
        let told = std::mem::take(self.machine.sink);
        let code = self.machine.expand(&closure, args, site);
        let fine = self.machine.sink.count(Severity::Error) == 0;
        *self.machine.sink = told;
        Some(code.ok().filter(|_| fine))
    }

    /// The names in a special form: each binds and evaluates parts of its own.
    fn special(&mut self, parts: Parts, args: &[Tree]) {
        let depth = self.locals.depth();
        match (parts, args) {
            (Parts::Values, args) => self.each(args),
            (Parts::Body { values }, args) => {
                let (values, body) = args.split_at(values.min(args.len()));
                self.each(values);
                self.body(body);
            }
            (Parts::Template, [template]) => self.template(template, 1),
            (Parts::Let { sequential }, [bindings, body @ ..]) => self.bindings(sequential, bindings, body),
            (Parts::Function(Role::Lambda), function) => self.function(Role::Lambda, function),
            (Parts::Function(role), [_, function @ ..]) => self.function(role, function),
            (Parts::Clauses, clauses) => {
                for (test, body) in clauses.iter().filter_map(clause) {
                    if !is_symbol(test, "else") {
                        self.names(test);
                    }
                    self.body(body);
                }
            }
            (Parts::Keys, [subject, clauses @ ..]) => {
                self.names(subject);
                for (_, body) in clauses.iter().filter_map(clause) {
                    self.body(body);
                }
            }
            (Parts::Loop, [variables, rest @ ..]) => self.repeated(variables, rest),
            (Parts::Each, [head, body @ ..]) => {
                let Some((name, values)) = named(head) else { return };
                self.each(values);
                self.locals.bind(name, head.span, Kind::Other);
                body.iter().for_each(|tree| self.body_part(tree));
            }
            (Parts::Several, [names, values, body @ ..]) => {
                self.names(values);
                for tree in list_items(names).unwrap_or(&[]) {
                    self.variable(tree);
                }
                self.body(body);
            }
            (Parts::Assignment, [name, value @ ..]) => {
                if let Some(word) = symbol(name)
                    && !self.locals.has(word)
                {
                    self.names(name);
                }
                self.each(value);
            }
            (Parts::Settings, [settings, body @ ..]) => {
                self.mentioned(std::slice::from_ref(settings));
                self.body(body);
            }
            (Parts::Domain, [value, domain @ ..]) => {
                self.names(value);
                self.mentioned(domain);
            }
            (Parts::Definition, [_, value @ ..]) => self.each(value),
            (Parts::Axis | Parts::Range | Parts::Run, [_, settings @ ..]) => self.mentioned(settings),
            _ => {}
        }
        self.end(depth);
    }

    /// Ends the bindings made since there were `depth` of them.
    fn end(&mut self, depth: usize) {
        for local in self.locals.leave(depth) {
            self.unused_local(&local);
        }
    }

    /// `(name value)`, or `name`: the name.
    fn variable(&mut self, binding: &Tree) {
        let Some((name, _)) = named(binding) else { return };
        let place = list_items(binding).and_then(<[Tree]>::first).unwrap_or(binding).span;
        let kind = if self.silent { Kind::Other } else { Kind::Variable };
        self.locals.bind(name, place, kind);
    }

    fn bindings(&mut self, sequential: bool, bindings: &Tree, body: &[Tree]) {
        let Some(bindings) = list_items(bindings) else { return };
        let siblings = self.machine.siblings.len();
        for binding in bindings {
            let Some((name, values)) = named(binding) else { continue };
            self.each(values);
            match sequential {
                true => self.variable(binding),
                false => self.machine.siblings.push((self.machine.calls.len(), name.into())),
            }
        }
        self.machine.siblings.truncate(siblings);
        if !sequential {
            bindings.iter().for_each(|binding| self.variable(binding));
        }
        self.body(body);
    }

    fn repeated(&mut self, variables: &Tree, rest: &[Tree]) {
        let variables = list_items(variables).unwrap_or(&[]);
        let all: Vec<(&str, &[Tree], Span)> = variables
            .iter()
            .filter_map(|tree| named(tree).map(|(name, values)| (name, values, tree.span)))
            .collect();
        for (_, values, _) in &all {
            self.each(&values[..values.len().min(1)]);
        }
        for (name, _, span) in &all {
            self.locals.bind(name, *span, Kind::Other);
        }
        for (_, values, _) in &all {
            self.each(values.get(1..).unwrap_or(&[]));
        }
        let (end, body) = rest.split_at(rest.len().min(1));
        for (test, result) in end.iter().filter_map(clause) {
            self.names(test);
            self.body(result);
        }
        body.iter().for_each(|tree| self.body_part(tree));
    }

    /// The names in `(params…) (-> TYPE…)? "text"? body…`. Every symbol in a parameter's type may be a name that the
    /// call binds, or one that is defined.
    fn function(&mut self, role: Role, trees: &[Tree]) {
        let Some((params, body)) = trees.split_first() else { return };
        let mut kind = match role {
            Role::Graph => Kind::Input,
            Role::Macro => Kind::MacroParameter,
            Role::Function | Role::Lambda => Kind::Other,
        };
        if self.silent {
            kind = Kind::Other;
        }
        let mut required = true;
        let Some(params) = list_items(params) else { return };
        for param in params {
            if symbol(param).is_some_and(|name| name.starts_with('&')) {
                required = false;
                continue;
            }
            let (typed, default) = match list_items(param) {
                Some([typed, default @ ..]) if !required => (typed, default),
                _ => (param, &[] as &[Tree]),
            };
            self.each(default);
            let parts = list_items(typed).unwrap_or(std::slice::from_ref(typed));
            let Some((name, types)) = parts.split_first() else { continue };
            self.sizes(types);
            if let Some(word) = symbol(name) {
                self.locals.bind(word, name.span, kind);
            }
        }
        let (mut body, mut result) = (body, None);
        if let Some([arrow, types @ ..]) = body.first().and_then(list_items)
            && is_symbol(arrow, "->")
        {
            (result, body) = (Some(types), &body[1..]);
        }
        if body.first().is_some_and(|first| is_symbol(first, "->")) {
            // It has been reported, and the body begins somewhere behind it.
            return;
        }
        if body.len() > 1 && matches!(body[0].datum, Datum::Str(_)) {
            body = &body[1..];
        }
        self.mentioned(result.unwrap_or(&[]));
        self.body(body);
    }

    /// The names in types: each may be one that is defined, and one that the call binds.
    fn sizes(&mut self, types: &[Tree]) {
        self.mentioned(types);
        let mut names = Vec::new();
        types.iter().for_each(|tree| symbols(tree, &mut names));
        for (name, span) in names {
            if !self.locals.has(name) {
                self.locals.bind(name, span, Kind::Other);
            }
        }
    }

    /// The names in what a quasiquote evaluates; the rest may become code that uses what is defined.
    fn template(&mut self, tree: &Tree, level: usize) {
        let (Datum::List(items) | Datum::Vector(items)) = &tree.datum else {
            return self.uses.all(std::slice::from_ref(tree));
        };
        let mark = items.first().and_then(symbol);
        match (mark, &items[..]) {
            (Some("unquote" | "unquote-splicing"), [_, inner]) if level == 1 => self.names(inner),
            (Some("unquote" | "unquote-splicing"), [_, inner]) => self.template(inner, level - 1),
            (Some("quasiquote"), [_, inner]) => self.template(inner, level + 1),
            (_, items) => items.iter().for_each(|item| self.template(item, level)),
        }
    }
}

fn symbol(tree: &Tree) -> Option<&str> {
    match &tree.datum {
        Datum::Symbol(name) => Some(name),
        _ => None,
    }
}

/// `(first rest…)`
fn clause(tree: &Tree) -> Option<(&Tree, &[Tree])> {
    list_items(tree).and_then(<[Tree]>::split_first)
}

/// `(name value…)` or `name`
fn named(tree: &Tree) -> Option<(&str, &[Tree])> {
    match list_items(tree) {
        Some([name, values @ ..]) => Some((symbol(name)?, values)),
        Some([]) => None,
        None => Some((symbol(tree)?, &[])),
    }
}

/// Every symbol in a tree.
fn symbols<'t>(tree: &'t Tree, names: &mut Vec<(&'t str, Span)>) {
    match &tree.datum {
        Datum::Symbol(name) => names.push((name, tree.span)),
        Datum::List(items) | Datum::Vector(items) => items.iter().for_each(|item| symbols(item, names)),
        _ => {}
    }
}
