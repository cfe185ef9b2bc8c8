//! Names that nothing defines, in code whether it is run or not: a file's forms are walked once it is loaded.
//!
//! Evaluation reports an unknown name where it meets one, which a function that nothing calls never does. The
//! walk knows only which forms bind names and where they are evaluated; a macro's call is walked as the code
//! it stands for. What is wrong with a form beside its names is left to evaluation.

use super::machine::Machine;
use super::module::Binding;
use super::scope::Env;
use super::special::{is_symbol, list_items};
use super::value::{Name, Value};
use crate::diag::{Severity, Span};
use crate::syntax::{Datum, Tree};

/// How deeply macros may stand for macros before the walk leaves the rest to evaluation, which may stop a
/// macro that never ends by never reaching it.
const DEEPEST: usize = 64;
/// How many macro calls of a file are walked.
const MOST: usize = 10_000;

/// A walk over the forms of the running module.
struct Walk<'w, 'a> {
    machine: &'w mut Machine<'a>,
    /// How many macros the code stands in that is walked.
    depth: usize,
    /// How many macro calls were followed.
    count: usize,
}

impl Machine<'_> {
    /// Reports each unknown name of the running module that evaluation has not reported.
    pub(super) fn check_names(&mut self, trees: &[Tree]) {
        if self.exhausted() {
            return;
        }
        // Following macros is not the program's own work.
        let steps = self.steps;
        let mut walk = Walk { machine: self, depth: 0, count: 0 };
        trees.iter().for_each(|tree| walk.at_top(tree));
        self.steps = steps;
    }

    /// Whether a form that failed may have left names undefined that it should define.
    pub(super) fn may_define(&self, tree: &Tree) -> bool {
        let head = list_items(tree).and_then(<[Tree]>::first).and_then(symbol);
        head.is_some_and(|head| {
            head.starts_with("def")
                || matches!(head, "import" | "progn")
                || matches!(self.binding(head), Some(Binding::Macro(_)))
        })
    }
}

impl Walk<'_, '_> {
    fn at_top(&mut self, tree: &Tree) {
        let Some([Tree { datum: Datum::Symbol(head), .. }, args @ ..]) = list_items(tree) else {
            return self.names(tree, &Env::default());
        };
        match (head.as_str(), args) {
            ("def", [_, value @ ..]) => self.each(value, &Env::default()),
            ("defun" | "defgraph" | "defmacro", [_, function @ ..]) => {
                self.function(function, &Env::default());
            }
            ("import" | "defaxis" | "defdomain" | "defrun", _) => {}
            ("progn", forms) => forms.iter().for_each(|form| self.at_top(form)),
            _ => match self.expansion(head, args, tree.span, &Env::default()) {
                Some(Some(code)) => {
                    self.depth += 1;
                    self.at_top(&code);
                    self.depth -= 1;
                }
                Some(None) => {}
                None => self.names(tree, &Env::default()),
            },
        }
    }

    fn each(&mut self, trees: &[Tree], env: &Env) {
        trees.iter().for_each(|tree| self.names(tree, env));
    }

    fn names(&mut self, tree: &Tree, env: &Env) {
        match &tree.datum {
            Datum::Symbol(name) if !self.is_known(name, env) => {
                self.machine.unknown(name, tree.span, env);
            }
            Datum::Vector(items) => self.each(items, env),
            Datum::List(items) => {
                let [head, args @ ..] = items.as_slice() else { return };
                let Datum::Symbol(name) = &head.datum else { return self.each(items, env) };
                if self.machine.specials.contains_key(name.as_str()) {
                    return self.special(name, args, env);
                }
                match self.expansion(name, args, tree.span, env) {
                    Some(Some(code)) => {
                        self.depth += 1;
                        self.names(&code, env);
                        self.depth -= 1;
                    }
                    Some(None) => {}
                    None => self.each(items, env),
                }
            }
            _ => {}
        }
    }

    fn is_known(&self, name: &str, env: &Env) -> bool {
        let machine = &self.machine;
        machine.specials.contains_key(name) || env.slot(name).is_some() || machine.binding(name).is_some()
    }

    /// The code that a call of a macro stands for: `None` where `name` is no macro, `Some(None)` where the code
    /// is not known here.
    fn expansion(&mut self, name: &str, args: &[Tree], site: Span, env: &Env) -> Option<Option<Tree>> {
        if env.slot(name).is_some() {
            return None;
        }
        let Some(Binding::Macro(closure)) = self.machine.binding(name) else { return None };
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
    fn special(&mut self, form: &str, args: &[Tree], env: &Env) {
        match (form, args) {
            ("quote" | "import", _) => {}
            ("quasiquote", [template]) => self.template(template, 1, env),
            ("let" | "let*", [bindings, body @ ..]) => {
                let mut inner = env.clone();
                for binding in list_items(bindings).unwrap_or(&[]) {
                    let Some((name, values)) = named(binding) else { continue };
                    let outer = if form == "let" { env } else { &inner };
                    self.each(values, outer);
                    inner = bound(&inner, [name]);
                }
                self.each(body, &inner);
            }
            ("lambda", function) => self.function(function, env),
            ("cond", clauses) => {
                for clause in clauses.iter().filter_map(list_items) {
                    let otherwise = clause.first().is_some_and(|test| is_symbol(test, "else"));
                    self.each(&clause[usize::from(otherwise)..], env);
                }
            }
            ("case", [subject, clauses @ ..]) => {
                self.names(subject, env);
                for clause in clauses.iter().filter_map(list_items) {
                    self.each(clause.get(1..).unwrap_or(&[]), env);
                }
            }
            ("do", [variables, rest @ ..]) => {
                let variables = list_items(variables).unwrap_or(&[]);
                let all: Vec<(&str, &[Tree])> = variables.iter().filter_map(named).collect();
                let inner = bound(env, all.iter().map(|(name, _)| *name));
                for (_, values) in &all {
                    let (start, step) = values.split_at(values.len().min(1));
                    self.each(start, env);
                    self.each(step, &inner);
                }
                let (end, body) = rest.split_at(rest.len().min(1));
                end.iter().filter_map(list_items).for_each(|end| self.each(end, &inner));
                self.each(body, &inner);
            }
            ("dotimes" | "dolist", [head, body @ ..]) => {
                let Some((name, values)) = named(head) else { return };
                self.each(values, env);
                self.each(body, &bound(env, [name]));
            }
            ("multiple-value-bind", [names, values, body @ ..]) => {
                self.names(values, env);
                let names = list_items(names).unwrap_or(&[]).iter().filter_map(symbol);
                self.each(body, &bound(env, names));
            }
            ("with-numerics", [_, body @ ..]) => self.each(body, env),
            ("as" | "to", [value, ..]) => self.names(value, env),
            // What stands only at the top of a file is reported where it is evaluated.
            (form, _) if form.starts_with("def") => {}
            (_, args) => self.each(args, env),
        }
    }

    /// The names in `(params…) (-> TYPE…)? body…`. Every symbol in a parameter's type may be a name that the
    /// call binds.
    fn function(&mut self, trees: &[Tree], env: &Env) {
        let Some((params, body)) = trees.split_first() else { return };
        let params = list_items(params).unwrap_or(&[]);
        let is_mark = |param: &Tree| symbol(param).is_some_and(|name| name.starts_with('&'));
        let (required, others) = params.split_at(params.iter().position(is_mark).unwrap_or(params.len()));
        let mut names = Vec::new();
        required.iter().for_each(|param| symbols(param, &mut names));
        let mut defaults = Vec::new();
        for param in others {
            match list_items(param) {
                Some([typed, rest @ ..]) => {
                    symbols(typed, &mut names);
                    defaults.extend(rest);
                }
                _ => symbols(param, &mut names),
            }
        }
        let inner = bound(env, names);
        defaults.into_iter().for_each(|default| self.names(default, &inner));
        let typed = body.first().and_then(list_items).and_then(<[Tree]>::first);
        let result = typed.is_some_and(|arrow| is_symbol(arrow, "->"));
        self.each(&body[usize::from(result)..], &inner);
    }

    /// The names in what a quasiquote evaluates.
    fn template(&mut self, tree: &Tree, level: usize, env: &Env) {
        let (Datum::List(items) | Datum::Vector(items)) = &tree.datum else { return };
        let mark = items.first().and_then(symbol);
        match (mark, items.as_slice()) {
            (Some("unquote" | "unquote-splicing"), [_, inner]) if level == 1 => {
                self.names(inner, env);
            }
            (Some("unquote" | "unquote-splicing"), [_, inner]) => self.template(inner, level - 1, env),
            (Some("quasiquote"), [_, inner]) => self.template(inner, level + 1, env),
            (_, items) => items.iter().for_each(|item| self.template(item, level, env)),
        }
    }
}

fn symbol(tree: &Tree) -> Option<&str> {
    match &tree.datum {
        Datum::Symbol(name) => Some(name),
        _ => None,
    }
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
fn symbols<'t>(tree: &'t Tree, names: &mut Vec<&'t str>) {
    match &tree.datum {
        Datum::Symbol(name) => names.push(name),
        Datum::List(items) | Datum::Vector(items) => items.iter().for_each(|item| symbols(item, names)),
        _ => {}
    }
}

/// `env` with these names in front.
fn bound<'n>(env: &Env, names: impl IntoIterator<Item = &'n str>) -> Env {
    env.with(names.into_iter().map(|name| (Name::from(name), Value::Nil)).collect())
}
