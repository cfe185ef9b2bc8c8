//! What can fail at run time. Every message names the cause, the place and the next step.

use std::fmt;

/// A failure of the runtime.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// An element that the program may not use was reached (an index outside its axis, a false guard).
    Trap {
        /// Position in the program's `sites`.
        site: u32,
        /// The flat position of the element in the index operand.
        position: u64,
        /// The value that was refused.
        value: i64,
    },
    /// The device cannot do it: absent, too small, lost. Exit status 3.
    Device(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Trap { site, position, value } => {
                write!(f, "trap {site}: value {value} at position {position}")
            }
            Error::Device(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for Error {}
