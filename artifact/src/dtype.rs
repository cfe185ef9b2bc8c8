//! Element types and their sizes: the one definition in the workspace.

use serde::{Deserialize, Serialize};
use std::fmt;

/// How an element of a tensor is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DType {
    /// IEEE binary32.
    F32,
    /// The upper half of a binary32. A storage type: arithmetic widens to f32 and rounds once when it stores.
    Bf16,
    /// Two's complement, 32 bits.
    I32,
    /// Two's complement, 64 bits.
    I64,
    /// One byte, 0 or 1.
    Bool,
}

impl DType {
    /// Every dtype there is.
    pub const ALL: [DType; 5] = [DType::F32, DType::Bf16, DType::I32, DType::I64, DType::Bool];

    /// The name in programs (after a colon), printed graphs and messages.
    pub fn name(self) -> &'static str {
        match self {
            DType::F32 => "f32",
            DType::Bf16 => "bf16",
            DType::I32 => "i32",
            DType::I64 => "i64",
            DType::Bool => "bool",
        }
    }

    /// The dtype called `name`, without a colon.
    pub fn from_name(name: &str) -> Option<DType> {
        DType::ALL.into_iter().find(|dtype| dtype.name() == name)
    }

    /// Bytes an element takes in a buffer, on every target.
    pub fn size(self) -> usize {
        match self {
            DType::F32 | DType::I32 => 4,
            DType::Bf16 => 2,
            DType::I64 => 8,
            DType::Bool => 1,
        }
    }

    /// True for `f32` and `bf16`.
    pub fn is_float(self) -> bool {
        matches!(self, DType::F32 | DType::Bf16)
    }

    /// True for `i32` and `i64`.
    pub fn is_int(self) -> bool {
        matches!(self, DType::I32 | DType::I64)
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
