//! Text to trees and back.
//!
//! `lex` finds the tokens (and `number` which of them are numbers), [`fn@read`] makes trees of them, [`fn@print`]
//! writes a tree on one line, and [`fn@format`] lays a whole text out again without changing what it says.

pub mod format;
mod lex;
mod number;
mod page;
pub mod print;
pub mod read;

pub use format::format;
pub use print::print;
pub use read::read;

use crate::diag::Span;
use std::rc::Rc;

/// A datum with its place. Copies share what lists and vectors hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    /// What it is.
    pub datum: Datum,
    /// Where it stands.
    pub span: Span,
}

/// What a tree is.
#[derive(Clone, Debug, PartialEq)]
pub enum Datum {
    /// `( … )`
    List(Rc<[Tree]>),
    /// `[ … ]`
    Vector(Rc<[Tree]>),
    /// `"…"`, unescaped
    Str(String),
    /// `:name`, without the colon
    Keyword(String),
    /// A name.
    Symbol(String),
    /// An integer.
    Int(i64),
    /// A float; `inf`, `-inf` and `nan` among them.
    Float(f64),
    /// `true` or `false`
    Bool(bool),
    /// `nil`
    Nil,
}
