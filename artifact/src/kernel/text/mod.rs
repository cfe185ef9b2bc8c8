//! Kernels as text, both ways: what is printed reads back as the same kernel, to the bit.
//!
//! ```text
//! kernel scale
//!   traps 1
//!   #0 read f32[12]
//!   #1 read i64[3]
//!   #2 write f32[12]
//!   for [3, 4]
//!     v0 = #1[c0]
//!     v1 = v0 below 3 or trap 0
//!     v2 = #0[c1 + 4*v1]
//!     v3 = 2.0
//!     v4 = * v2 v3
//!     store #2[4*c0 + c1] = v4
//! ```
//!
//! `#0` is an argument, `c0` a coordinate and `v0` a value. `traps` is left out where there is none. A loop is
//! `for [rows] along [reduced]`; a matrix product is `contract batch [] m [2] n [4] k [3]`, with the sections `lhs`,
//! `rhs` and `epilogue`; attention is `attention batch [2] t 3 s 4 d 5 e 6`, with `causal` or `zero-hidden-rows` where
//! that holds, and the sections `query`, `key`, `value`, `score` and `epilogue`. An operand ends with `give v0`.
//! Instructions are written:
//!
//! | text | instruction |
//! | --- | --- |
//! | `1.5`, `NaN`, `NaN(0xffc00001)`, `2i32`, `2i64`, `true` | constant |
//! | `i64 4*c0 + c1 + 7` | index |
//! | `#0[c0 + 4*v1] if v2` | load, with or without a guard |
//! | `acc f32` | accumulator |
//! | `+ v0 v1` | scalar function, by its name |
//! | `i32 v0`, `bf16 v0` | conversion, rounding to bf16 |
//! | `v0 below 3 or trap 0`, `v0 below 3` | bounded index |
//! | `sum v0` | fold |

mod print;
mod read;

pub use self::print::print;
pub use self::read::{ReadError, read};

use super::{FoldOp, ScalarType};

/// The folds by name.
const FOLDS: [(&str, FoldOp); 6] = [
    ("sum", FoldOp::Sum),
    ("max", FoldOp::Max),
    ("min", FoldOp::Min),
    ("prod", FoldOp::Prod),
    ("all", FoldOp::All),
    ("any", FoldOp::Any),
];

/// The types by name.
const TYPES: [(&str, ScalarType); 4] = [
    ("f32", ScalarType::F32),
    ("i32", ScalarType::I32),
    ("i64", ScalarType::I64),
    ("bool", ScalarType::Bool),
];

#[cfg(test)]
mod tests;
