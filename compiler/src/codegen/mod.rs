//! From kernels to the code of each target.

pub mod maths;
pub mod wgsl;
