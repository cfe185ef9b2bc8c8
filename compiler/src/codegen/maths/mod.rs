//! The maths library as text: the same generic code that the CPU runs, recorded once and spelled.

mod record;
mod wgsl;

pub(super) use record::Float;
pub(super) use wgsl::{PREAMBLE, of_one, of_two};
