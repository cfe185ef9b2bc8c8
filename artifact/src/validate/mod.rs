//! Whether a program that came from a file can be run: every index in range, every body well typed, no access
//! outside its buffer, nothing read before it is written, and sizes that arithmetic holds.
//!
//! Devices rely on it: what [`Program::validate`] accepts can be executed without a further test, by these
//! rules of [`crate::kernel`]:
//!
//! - a guarded load does not read where its guard is false. Where the guard is true the access is in bounds:
//!   either it always is, or the guard is a comparison of coordinates (or several, joined by `and`) that
//!   proves it;
//! - an index that has passed `Bounded` lies in `0..size`. With a trap the target tests it; without one the
//!   compiler has proven it, which a file cannot show: the target clamps it;
//! - the points that one store writes are distinct, and different stores to one argument do not overlap;
//! - a written buffer is bound to one argument only.

mod body;
mod code;
mod kernel;
mod program;

use crate::program::Program;
use std::fmt;

/// A value that passed validation; only validation makes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Valid<T>(T);

impl<T> std::ops::Deref for Valid<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// Why a program cannot be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    place: String,
    what: String,
}

impl Invalid {
    fn new(place: impl Into<String>, what: impl Into<String>) -> Invalid {
        Invalid { place: place.into(), what: what.into() }
    }

    /// The same in a larger place.
    fn within(self, outer: &str) -> Invalid {
        let place = match (outer.is_empty(), self.place.is_empty()) {
            (true, _) => self.place,
            (false, true) => outer.to_owned(),
            (false, false) => format!("{outer}, {}", self.place),
        };
        Invalid { place, ..self }
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

impl std::error::Error for Invalid {}

impl Program {
    /// Whether it can be run. See [`crate::validate`] for what holds of a program that passed.
    pub fn validate(&self) -> Result<(), Invalid> {
        program::check(self)
    }
}

/// The most coordinates that a body has.
const MAX_RANK: usize = 64;
/// The most points that one kernel visits, and the most bytes that a program's buffers have together: beyond
/// any machine, and far from what 64 bits hold.
const MAX_POINTS: u64 = 1 << 52;
/// The most arguments of a kernel.
const MAX_ARGS: usize = 1 << 12;
/// The most launches and copies of one call, those in loops counted as often as they run.
const MAX_STEPS: u64 = 1 << 32;
/// How deep loops of steps nest.
const MAX_NESTING: usize = 4;
