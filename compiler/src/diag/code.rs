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

            /// The page that explains it: what it means, a program that shows it, the corrected program.
            pub fn page(self) -> &'static str {
                match self {
                    $(Code::$variant => include_str!(concat!("../../../docs/errors/", $code, ".md")),)*
                }
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
    NameUnknown "E-NAME-001" "a name that nothing defines",
    NameTwice "E-NAME-002" "a name defined twice in one file",
    NameForm "E-NAME-003" "the name of a special form used as an ordinary one",
    NameImports "E-NAME-004" "a name that two imports bring",
    FormShape "E-FORM-001" "a special form that is not written as it must be",
    FormPlace "E-FORM-002" "a form that stands only at the top of a file",
    CallCount "E-CALL-001" "too few or too many arguments",
    CallKeyword "E-CALL-002" "a keyword argument that does not fit",
    CallValue "E-CALL-003" "a call of something that is not a function",
    TypeKind "E-TYPE-001" "a value of the wrong kind",
    TypeRange "E-TYPE-002" "a value of the right kind that is out of range",
    EvalSteps "E-EVAL-001" "more steps than the limit",
    EvalDepth "E-EVAL-002" "deeper nesting than the limit",
    EvalError "E-EVAL-003" "the program called `error`",
    EvalAssert "E-EVAL-004" "an `assert` that does not hold",
    EvalNumber "E-EVAL-005" "arithmetic without a result",
    EvalMacro "E-EVAL-006" "a macro that gives something other than code",
    ModMissing "E-MOD-001" "an import that cannot be read",
    ModCycle "E-MOD-002" "files that import each other",
    ModName "E-MOD-003" "an import that names no module",
    GraphOpen "E-GRAPH-001" "a size of a graph that is left open",
    GraphDim "E-GRAPH-002" "a `--dim` that fits nothing",
    GraphOutput "E-GRAPH-003" "a result that cannot be a graph's output",
    GraphInput "E-GRAPH-004" "a graph's parameter that cannot be an input",
    GraphName "E-GRAPH-005" "a name that is no graph of this file",
    FitBuffer "E-FIT-001" "a buffer larger than a device allows",
    FitKernel "E-FIT-002" "a kernel that needs more than a device has",
    ParamShape "E-PARAM-001" "one parameter with two shapes or dtypes",
    ParamValue "E-PARAM-003" "parameters without a value",
    UnusedValue "W-FORM-001" "a value that nothing uses",
    UnusedInput "W-GRAPH-001" "an input that its graph does not use",
    UnusedImport "W-MOD-001" "an import of which nothing is used",
    UnusedName "W-NAME-001" "a name that nothing uses",
    ParamForm "E-PARAM-002" "a parameter that is not declared as it must be",
}

impl Code {
    /// Codes that begin with `W` are warnings.
    pub fn severity(self) -> Severity {
        if self.as_str().starts_with('W') { Severity::Warning } else { Severity::Error }
    }
}
