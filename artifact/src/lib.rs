//! The contract between the machine that compiles and the machine that runs.
//!
//! Data sits here and nothing else of ours is used: element types, host tensors, the scalar functions that
//! kernels are made of, kernels as loops, programs as steps over buffers, and the container that holds them.
//! Nothing here opens a file, starts a thread or asks the system: bytes come in and bytes go out, so that it
//! compiles for any target, WebAssembly among them. `sx-files` has the files.
//!
//! Read in this order: [`dtype`], [`tensor`], [`scalar`], [`maths`], [`kernel`], [`program`], [`check`],
//! [`code`], [`validate`]; then the container: [`layout`], [`manifest`], [`write`](mod@write), [`read`].

#![forbid(unsafe_code)]

pub mod check;
pub mod code;
pub mod dtype;
pub mod kernel;
pub mod maths;
pub mod program;
pub mod scalar;
pub mod tensor;
pub mod validate;

pub mod error;
pub mod layout;
pub mod manifest;
pub mod read;
pub mod write;
