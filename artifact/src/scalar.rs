//! The scalar functions: the vocabulary that graphs, kernels and targets share.
//!
//! A function's meaning (dtypes, domain, value, tolerance) is its record in the compiler's `ops/scalar/`;
//! its spelling is one arm a target. This file only lists the names.

use serde::{Deserialize, Serialize};

macro_rules! scalar_functions {
    ($($variant:ident $name:literal $arity:literal,)*) => {
        /// A function from scalars to a scalar.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum ScalarFn {
            $(#[doc = concat!("`", $name, "`")] $variant,)*
        }

        impl ScalarFn {
            /// Every scalar function there is.
            pub const ALL: &'static [ScalarFn] = &[$(ScalarFn::$variant,)*];

            /// The name in printed graphs and kernels, and in programs where it is called by one name.
            pub fn name(self) -> &'static str {
                match self { $(ScalarFn::$variant => $name,)* }
            }

            /// How many arguments it takes.
            pub fn arity(self) -> usize {
                match self { $(ScalarFn::$variant => $arity,)* }
            }
        }
    };
}

scalar_functions! {
    Add "+" 2, Sub "-" 2, Mul "*" 2, Div "/" 2, Mod "mod" 2,
    Maximum "maximum" 2, Minimum "minimum" 2, Pow "pow" 2, Atan2 "atan2" 2,
    Eq "=" 2, Ne "!=" 2, Lt "<" 2, Le "<=" 2, Gt ">" 2, Ge ">=" 2,
    And "and" 2, Or "or" 2, Not "not" 1,
    Where "where" 3,
    Neg "neg" 1, Abs "abs" 1, Sqrt "sqrt" 1, Rsqrt "rsqrt" 1,
    Exp "exp" 1, Log "log" 1, Expm1 "expm1" 1, Log1p "log1p" 1,
    Sin "sin" 1, Cos "cos" 1, Tanh "tanh" 1, Asin "asin" 1, Acos "acos" 1, Erf "erf" 1,
    Floor "floor" 1, Ceil "ceil" 1, Round "round" 1,
}

impl ScalarFn {
    /// True for the six comparisons, whose result is `bool` whatever they compare.
    pub fn is_comparison(self) -> bool {
        use ScalarFn::*;
        matches!(self, Eq | Ne | Lt | Le | Gt | Ge)
    }
}
