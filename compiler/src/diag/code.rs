//! Every diagnostic code, once.

use super::Severity;

macro_rules! codes {
    ($($variant:ident $code:literal $summary:literal,)*) => {
        /// A diagnostic's code. `docs/errors/CODE.md` explains it; `sxc explain CODE` prints that page.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Code {
            $(#[doc = $summary] $variant,)*
        }

        impl Code {
            /// Every code there is.
            pub const ALL: &'static [Code] = &[$(Code::$variant,)*];

            /// The code as printed.
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$variant => $code,)* }
            }

            /// When it is given, in one line.
            pub fn summary(self) -> &'static str {
                match self { $(Code::$variant => $summary,)* }
            }
        }
    };
}

codes! {
    ReadOpen "E-READ-001" "a bracket that is never closed",
    ReadClose "E-READ-002" "a bracket that closes nothing, or one of another kind",
    ReadCut "E-READ-003" "a string or a comment that is never closed",
    ReadEscape "E-READ-004" "an escape in a string that names no character",
    ReadNumber "E-READ-005" "a word that looks like a number and is none",
    ReadLetter "E-READ-006" "a character that begins no datum",
    ReadDepth "E-READ-007" "brackets nested too deeply",
    ReadMark "E-READ-008" "a quote mark with nothing to quote",
    DimShape "E-DIM-001" "shapes do not fit",
    DimDtype "E-DIM-002" "dtypes differ, or a keyword is not a dtype",
    DimTensor "E-DIM-003" "a tensor was expected",
    FlowIf "E-FLOW-001" "`if` on a tensor",
    FlowGraph "E-FLOW-002" "a tensor from another graph",
    FlowNoGraph "E-FLOW-003" "a tensor operation with no graph being traced",
    DomainFit "E0501" "a value does not fit the domain that is wanted",
    DomainType "E0503" "a type that makes no sense",
    DomainMask "E0505" "arithmetic on a mask",
    DomainEdge "E0506" "a function is asked for a value it does not have",
    DomainIndex "E0507" "an index into another axis",
}

impl Code {
    /// Codes that begin with `W` are warnings.
    pub fn severity(self) -> Severity {
        if self.as_str().starts_with('W') { Severity::Warning } else { Severity::Error }
    }
}
