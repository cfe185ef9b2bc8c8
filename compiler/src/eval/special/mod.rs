//! The special forms: one table, each form a function from trees to a value.
//!
//! Forms that name values are in `bind`, those that take one way of several in `choose`, loops in `repeat`, and those
//! that set how what they hold is made in `settings`.

mod bind;
mod choose;
mod repeat;
mod settings;

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
    pub(super) run: Run,
}

/// Every special form.
pub(super) fn all() -> impl Iterator<Item = &'static Special> {
    TABLE.iter().chain(&super::define::TABLE)
}

macro_rules! special {
    ($name:literal $signature:literal $summary:literal $example:literal $run:path) => {
        super::special::Special {
            name: $name,
            signature: $signature,
            summary: $summary,
            example: $example,
            run: $run,
        }
    };
}
pub(super) use special;

static TABLE: [Special; 23] = [
    special!("quote" "'x" "the datum itself, not evaluated" "'(a b) ; => (a b)" quote),
    special!("quasiquote" "`template" "a datum with the values of `,x` and `,@xs` in it" "`(a ,(+ 1 2)) ; => (a 3)" quasiquote),
    special!("let" "(let ((name value)...) body...)" "names values, all at once" "(let ((x 2) (y 3)) (* x y)) ; => 6" bind::let_parallel),
    special!("let*" "(let* ((name value)...) body...)" "names values one after the other" "(let* ((x 2) (y (+ x 1))) (* x y)) ; => 6" bind::let_sequential),
    special!("lambda" "(lambda (params...) body...)" "a function" "((lambda (x) (* x x)) 3) ; => 9" bind::lambda),
    special!("if" "(if test then &optional else)" "one of two values, by an ordinary truth value; nil without the second" "(if (< 1 2) :yes :no) ; => :yes" choose::if_form),
    special!("cond" "(cond (test body...)... (else body...))" "the first clause whose test is true" "(cond ((< 2 1) :a) (else :b)) ; => :b" choose::cond),
    special!("when" "(when test body...)" "the body's value if the test is true, else nil" "(when true 1) ; => 1" choose::when),
    special!("unless" "(unless test body...)" "the body's value if the test is false, else nil" "(unless false 1) ; => 1" choose::unless),
    special!("and" "(and x...)" "the first false value or the last; elementwise from the first tensor on" "(and true false) ; => false" choose::and),
    special!("or" "(or x...)" "the first true value or the last; elementwise from the first tensor on" "(or false 2) ; => 2" choose::or),
    special!("case" "(case x (key body...)... (else body...))" "the clause whose key, or one of whose list of keys, equals the value" "(case 2 (1 :one) ((2 3) :more)) ; => :more" choose::case),
    special!("do" "(do ((name start step)...) (end result...) body...)" "repeats the body, stepping the names together, until the end is true" "(do ((i 0 (+ i 1))) ((= i 3) i)) ; => 3" repeat::do_loop),
    special!("progn" "(progn body...)" "evaluates in order; the value of the last" "(progn 1 2) ; => 2" progn),
    special!("dotimes" "(dotimes (name count) body...)" "repeats the body with the name from 0 up" "(let ((s 0)) (dotimes (i 4) (set! s (+ s i))) s) ; => 6" repeat::dotimes),
    special!("dolist" "(dolist (name list) body...)" "repeats the body for each element" "(let ((s 0)) (dolist (x '(1 2)) (set! s (+ s x))) s) ; => 3" repeat::dolist),
    special!("set!" "(set! name value)" "gives a variable of an enclosing form a new value" "(let ((x 1)) (set! x 2) x) ; => 2" bind::set),
    special!("multiple-value-bind" "(multiple-value-bind (name...) values body...)" "names several values" "(multiple-value-bind (a b) (values 1 2) (+ a b)) ; => 3" bind::multiple_value_bind),
    special!("with-numerics" "(with-numerics (:precision :bf16) body...)" "sets how the operations of the body round" "(with-numerics (:precision :bf16) 1) ; => 1" settings::with_numerics),
    special!("scope" "(scope \"encoder\" body...)" "puts `encoder.` before the name of every `param` that is made while the body runs, in functions it calls too; scopes nest" "(scope \"encoder\" (param \"w\" [4]))" settings::scope),
    special!("import" "(import sx/nn)" "brings a module's names into this file; also `(import \"file.sx\")`" "(import sx/nn)" super::define::import),
    special!("as" "(as x DOMAIN)" "asserts that a tensor's values are of a domain" "(as x Unit)" super::convert::as_form),
    special!("to" "(to x DOMAIN)" "converts a tensor to a domain" "(to mask Binary)" super::convert::to_form),
];

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
