//! The maths library as text: the same generic code that the CPU runs, recorded once and spelled.

mod record;
mod wgsl;

pub use wgsl::{PREAMBLE, wgsl};
