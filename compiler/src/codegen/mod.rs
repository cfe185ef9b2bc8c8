//! How kernels are spelled for each target.

pub mod maths;
