//! From kernels to the code of each target.

pub mod wgsl;
