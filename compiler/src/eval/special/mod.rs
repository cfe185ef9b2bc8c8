//! The special forms: one table, each form a function from trees to a value.
//!
//! `table` has every form. Forms that name values are in `bind`, those that take one way of several in `choose`, loops
//! in `repeat`, those that set how what they hold is made in `settings`, and what stands only at the top of a file in
//! [`super::define`].

mod bind;
mod choose;
mod repeat;
mod settings;
mod table;

use super::machine::{Eval, Machine, Stop};
use super::quote::{quoted, size};
use super::scope::Env;
use crate::diag::Code;
use crate::syntax::{Datum, Tree};

/// How a form is evaluated: the whole form, what follows its head, the names in force.
type Run = fn(&mut Machine<'_>, &Tree, &[Tree], &Env) -> Eval;

/// A special form.
pub(super) struct Special {
    pub(super) name: &'static str,
    /// How it is written.
    pub(super) signature: &'static str,
    /// What it does, in one line.
    pub(super) summary: &'static str,
    /// A use with its value.
    pub(super) example: &'static str,
    /// Which of its parts are evaluated, and what they name.
    pub(super) parts: Parts,
    pub(super) run: Run,
}

/// What the parts of a form are: who walks code without running it reads this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parts {
    /// Each part is evaluated, and its value counts.
    Values,
    /// Parts whose values count, then a body.
    Body { values: usize },
    /// A datum.
    Datum,
    /// A datum in which marked parts are evaluated.
    Template,
    /// Bindings `(name value)`, then a body.
    Let { sequential: bool },
    /// Parameters, perhaps the types of the results, then a body; but for `lambda` a name before them.
    Function(Role),
    /// Clauses `(test body...)`.
    Clauses,
    /// A value, then clauses `(datum body...)`.
    Keys,
    /// Variables `(name start step)`, an end `(test result...)`, then a body.
    Loop,
    /// `(name value)`, then a body.
    Each,
    /// Names, a value, then a body.
    Several,
    /// A name that is bound already, and its new value.
    Assignment,
    /// Settings, then a body.
    Settings,
    /// A value, and a domain.
    Domain,
    /// A name, perhaps a text, and a value.
    Definition,
    /// A name and a size.
    Axis,
    /// A name and two ends.
    Range,
    /// A name and settings.
    Run,
    /// A module's name or a file's.
    Import,
}

/// What a function is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Lambda,
    Function,
    Graph,
    Macro,
}

impl Parts {
    /// Whether the form stands only at the top of a file.
    pub(super) fn at_top(self) -> bool {
        use Parts::*;
        match self {
            Function(role) => role != Role::Lambda,
            Definition | Axis | Range | Run | Import => true,
            Values
            | Body { .. }
            | Datum
            | Template
            | Let { .. }
            | Clauses
            | Keys
            | Loop
            | Each
            | Several
            | Assignment
            | Settings
            | Domain => false,
        }
    }
}

/// Every special form.
pub(super) fn all() -> impl Iterator<Item = &'static Special> {
    table::TABLE.iter()
}

fn misplaced(m: &mut Machine<'_>, form: &Tree, _: &[Tree], _: &Env) -> Eval {
    let name = list_items(form).and_then(|items| items.first());
    let name = name.map_or("this form".to_string(), |head| format!("`{}`", m.text(head.span)));
    let message = format!("{name} stands only at the top of a file");
    Err(m.fail(Code::FormPlace, form.span, message))
}

fn quote(m: &mut Machine<'_>, form: &Tree, args: &[Tree], _: &Env) -> Eval {
    match args {
        [datum] => {
            m.copied(size(datum), form.span)?;
            Ok(quoted(datum, false))
        }
        _ => Err(m.misshaped(form, "'x")),
    }
}

fn quasiquote(m: &mut Machine<'_>, form: &Tree, args: &[Tree], env: &Env) -> Eval {
    match args {
        [template] => {
            m.copied(size(template), form.span)?;
            m.quasi(template, 1, env)
        }
        _ => Err(m.misshaped(form, "`template")),
    }
}

fn progn(m: &mut Machine<'_>, _: &Tree, args: &[Tree], env: &Env) -> Eval {
    m.eval_body(args, env)
}

impl Machine<'_> {
    /// A form that is not written as it must be.
    pub(super) fn misshaped(&mut self, form: &Tree, shape: &str) -> Stop {
        self.fail(Code::FormShape, form.span, format!("this form is written `{shape}`"))
    }
}

/// The items of a list; `nil` is an empty one.
pub(super) fn list_items(tree: &Tree) -> Option<&[Tree]> {
    match &tree.datum {
        Datum::List(items) => Some(items),
        Datum::Nil => Some(&[]),
        _ => None,
    }
}

pub(super) fn is_symbol(tree: &Tree, name: &str) -> bool {
    matches!(&tree.datum, Datum::Symbol(symbol) if symbol == name)
}
