//! Files, for both machines: artifacts opened and written, and tensors as people give and take them.
//!
//! `sx-artifact` says what the bytes mean; here they come from files and go to files. [`artifact`] opens by mapping;
//! [`atomic`] writes what is there whole or not at all. [`tensors`] reads and writes `.npy`, `.npz` and
//! `.safetensors`, literals of command lines, and prints. Without the feature `tensors` artifacts are opened and
//! nothing else.

#![deny(unsafe_code)]

pub mod artifact;
#[cfg(feature = "tensors")]
pub mod atomic;
pub mod error;
pub mod mapped;
pub mod memory;
#[cfg(feature = "tensors")]
pub mod suggest;
#[cfg(feature = "tensors")]
pub mod tensors;

pub use error::FileError;
