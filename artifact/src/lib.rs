//! The contract between the machine that compiles and the machine that runs.
//!
//! Data sits here and nothing else of ours is used: element types, host tensors, the scalar functions that
//! kernels are made of, kernels as loops, programs as steps over buffers, and the container that holds them.
//!
//! Read in this order: [`dtype`], [`tensor`], [`scalar`], [`maths`], [`kernel`], [`program`], [`wgpu`],
//! [`validate`]; then the container: [`manifest`], [`write`](mod@write), [`read`]. [`tensor_file`] is for both
//! machines' command lines.

#![deny(unsafe_code)]

pub mod dtype;
pub mod kernel;
pub mod maths;
pub mod pages;
pub mod program;
pub mod scalar;
pub mod tensor;
pub mod validate;
pub mod wgpu;

pub mod atomic;
pub mod error;
mod layout;
pub mod manifest;
pub mod mapped;
pub mod read;
pub mod tensor_file;
pub mod write;
