//! The runtime library: artifact to answers.

pub mod device;
pub mod error;
