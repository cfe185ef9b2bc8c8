//! From kernels to the code of each target.

mod maths;
pub mod wgsl;
