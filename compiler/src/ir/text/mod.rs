//! Graphs as text, both ways.
//!
//! ```text
//! graph "classify" (%0)
//!   axes V=#0
//!   %0 = input "x"  [8 784] f32 Unit
//!   %1 = param "w1"  [784 V=128] f32 Real
//!   %2 = matmul %0 %1  [8 V=128] f32 Real ; classify.sx:3
//!   return "out" %2
//! ```
//!
//! A line is a node: its number, the operation, its operands (`%3.1` is the second result of `%3`), its
//! attributes, two spaces, the types of its results with dimensions, dtype and domain. An axis is written with
//! its name, and `axes` gives the identity behind each name, a number that is no size. A composite is followed by its region, one level in. What follows
//! a semicolon is where the node came from and is not read back; neither is a constant of more than
//! 64 elements, which is shown by a digest.

mod print;
mod read;

pub use print::{name, print};
pub use read::{ReadError, read};
