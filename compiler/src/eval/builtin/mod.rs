//! The built-in functions: tables by theme, and how a call meets one.

pub(super) mod arguments;
mod composite;
mod contract;
mod einsum;
mod elementwise;
pub(super) mod lists;
mod model;
mod movement;
mod numbers;
mod reduce;
mod source;
mod text;

use super::lambda::{are, count_text};
use super::machine::{Eval, Machine};
use super::special;
use super::value::{Name, Value};
use crate::diag::{Code, Span};
use std::collections::HashSet;
use std::sync::LazyLock;
use sx_artifact::scalar::ScalarFn;

/// A function of the language that is written in Rust.
#[derive(Debug)]
pub(super) struct Builtin {
    pub(super) name: &'static str,
    /// How a call is written.
    pub(super) signature: &'static str,
    /// What it gives, in one line. Of an operation that is what it does beside the operation, whose own words `ops` has.
    pub(super) summary: &'static str,
    /// A call and its value; of an operation one of ordinary values, or nothing.
    pub(super) example: &'static str,
    /// How many positional arguments it takes.
    pub(super) least: usize,
    pub(super) most: Option<usize>,
    /// Its keywords.
    pub(super) keys: &'static [&'static str],
    pub(super) run: fn(&mut Machine<'_>, &Call) -> Eval,
}

/// An argument with the place where it is written.
#[derive(Clone, Debug)]
pub(super) struct Arg {
    pub(super) value: Value,
    pub(super) span: Span,
}

/// A call of a builtin.
pub(super) struct Call {
    pub(super) callee: &'static str,
    pub(super) span: Span,
    pub(super) args: Vec<Arg>,
    pub(super) keys: Vec<(Name, Arg)>,
}

impl Call {
    /// The value of a keyword, if it is given and not nil.
    pub(super) fn key(&self, name: &str) -> Option<&Arg> {
        let found = self.keys.iter().find(|(key, _)| **key == *name);
        found.map(|(_, arg)| arg).filter(|arg| !matches!(arg.value, Value::Nil))
    }

    /// Whether an argument is a tensor.
    pub(super) fn has_tensor(&self) -> bool {
        self.args.iter().any(|arg| matches!(arg.value, Value::Tensor(_)))
    }
}

/// The builtins that are written by hand, by theme.
pub(super) static TABLES: [(&str, &[Builtin]); 11] = [
    ("Elementwise", &elementwise::TABLE),
    ("Elementwise", &numbers::table::TABLE),
    ("Reductions", &reduce::TABLE),
    ("Products", &contract::TABLE),
    ("Products", &composite::TABLE),
    ("Products", &einsum::TABLE),
    ("Movement", &movement::TABLE),
    ("Sources", &source::TABLE),
    ("Sources", &model::TABLE),
    ("Lists", &lists::table::TABLE),
    ("Text", &text::TABLE),
];

fn by_hand() -> impl Iterator<Item = &'static Builtin> {
    TABLES.iter().flat_map(|(_, table)| *table)
}

/// The scalar functions that are called by their names and treated as their records say.
static BY_RECORD: LazyLock<Vec<Builtin>> = LazyLock::new(|| {
    let taken: HashSet<&str> = by_hand().map(|b| b.name).chain(special::all().map(|s| s.name)).collect();
    let rest = ScalarFn::ALL.iter().filter(|f| !taken.contains(f.name()));
    rest.map(|&f| elementwise::by_record(f)).collect()
});

/// Every builtin.
pub(super) fn all() -> impl Iterator<Item = &'static Builtin> {
    by_hand().chain(BY_RECORD.iter())
}

impl Machine<'_> {
    /// Counts the parts of the arguments as steps: for what walks them.
    fn measure_args(&mut self, call: &Call) -> Eval<()> {
        call.args.iter().try_for_each(|arg| self.measure(&arg.value, arg.span))
    }

    /// Calls a builtin: separates keywords from positional arguments and counts both.
    pub(super) fn call_builtin(&mut self, builtin: &'static Builtin, args: Vec<Arg>, span: Span) -> Eval {
        if args.iter().any(|arg| arg.value.is_poisoned()) {
            return Ok(Value::Poisoned);
        }
        let mut args = args;
        let mut keys = Vec::new();
        if !builtin.keys.is_empty() {
            let later = args.iter().skip(builtin.least);
            if let Some(at) = later.into_iter().position(|arg| matches!(arg.value, Value::Keyword(_))) {
                let rest = args.split_off(builtin.least + at);
                keys = self.key_arguments(builtin.name, builtin.keys, rest)?;
            }
        }
        let given = args.len();
        if given < builtin.least || builtin.most.is_some_and(|most| given > most) {
            let count = count_text(builtin.least, builtin.most);
            let message = format!("`{}` takes {count}, and {} given here", builtin.name, are(given));
            let diagnostic = crate::diag::Diagnostic::new(Code::CallCount, span, message);
            return Err(self.report(diagnostic.note(format!("it is called as `{}`", builtin.signature))));
        }
        let call = Call { callee: builtin.name, span, args, keys };
        (builtin.run)(self, &call)
    }
}
