//! What the whole-system tests share.

pub mod golden;
pub mod sample;
