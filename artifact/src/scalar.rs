//! The scalar functions: the vocabulary that graphs, kernels and targets share.
//!
//! The list says what both machines need: a function's name, what its arguments are, and what it costs. Its
//! meaning (value, domain, tolerance) is its record in the compiler's `ops/scalar/`; its spelling is one arm a
//! target.

use crate::kernel::ScalarType;
use serde::{Deserialize, Serialize};

/// Calls a macro with the list: groups of functions of one signature and one cost. An entry is a function's
/// variant of [`ScalarFn`] and its module in the compiler, which is its name unless another is given.
#[macro_export]
macro_rules! scalar_functions {
    ($with:ident) => {
        $with! {
            [Number Number] -> Number, Simple:
                Add add = "+", Sub sub = "-", Mul mul = "*", Maximum maximum, Minimum minimum;
            [Number Number] -> Number, Division: Div div = "/";
            [Number Number] -> Number, Series: Mod modulo = "mod";
            [Float Float] -> Float, Series: Pow pow, Atan2 atan2;
            [Any Any] -> Truth, Simple: Eq eq = "=", Ne ne = "!=";
            [Number Number] -> Truth, Simple: Lt lt = "<", Le le = "<=", Gt gt = ">", Ge ge = ">=";
            [Truth Truth] -> Truth, Simple: And and, Or or;
            [Truth] -> Truth, Simple: Not not;
            [Truth Any Any] -> Any, Simple: Where choose = "where";
            [Number] -> Number, Simple: Neg neg, Abs abs;
            [Float] -> Float, Division: Sqrt sqrt, Rsqrt rsqrt;
            [Float] -> Float, Series:
                Exp exp, Log log, Expm1 expm1, Log1p log1p, Sin sin, Cos cos, Tanh tanh, Asin asin, Acos acos,
                Sigmoid sigmoid, Softplus softplus, LogSigmoid log_sigmoid = "log-sigmoid", Silu silu,
                Gelu gelu, GeluTanh gelu_tanh = "gelu-tanh", Erfc erfc,
                Erf erf, Cbrt cbrt;
            [Float] -> Float, Simple: Floor floor, Ceil ceil, Round round;
        }
    };
}

/// What an argument or a result may be. All that are the same class in one signature have one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A float or an integer.
    Number,
    /// A float.
    Float,
    /// A truth value.
    Truth,
    /// Anything.
    Any,
}

impl Class {
    /// Whether a value of this type is one.
    pub fn holds(self, reg: ScalarType) -> bool {
        match self {
            Class::Number => reg != ScalarType::Bool,
            Class::Float => reg == ScalarType::F32,
            Class::Truth => reg == ScalarType::Bool,
            Class::Any => true,
        }
    }
}

/// What a function costs a machine, roughly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// An instruction.
    Simple,
    /// An instruction that takes as long as several.
    Division,
    /// Many instructions, such as a polynomial of several terms.
    Series,
}

/// The name of an entry.
macro_rules! name {
    ($module:ident) => {
        stringify!($module)
    };
    ($module:ident $name:literal) => {
        $name
    };
}

macro_rules! vocabulary {
    ($([$($arg:ident)+] -> $result:ident, $cost:ident:
        $($variant:ident $module:ident $(= $name:literal)?),+;)*) => {
        /// A function from scalars to a scalar.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum ScalarFn {
            $($(#[doc = concat!("`", name!($module $($name)?), "`")] $variant,)+)*
        }

        impl ScalarFn {
            /// Every scalar function there is.
            pub const ALL: &'static [ScalarFn] = &[$($(ScalarFn::$variant,)+)*];

            /// The name in programs, printed graphs and kernels.
            pub fn name(self) -> &'static str {
                match self { $($(ScalarFn::$variant => name!($module $($name)?),)+)* }
            }

            /// What its arguments are.
            pub fn args(self) -> &'static [Class] {
                match self { $($(ScalarFn::$variant)|+ => &[$(Class::$arg),+],)* }
            }

            /// What it gives.
            pub fn result(self) -> Class {
                match self { $($(ScalarFn::$variant)|+ => Class::$result,)* }
            }

            /// What it costs.
            pub fn cost(self) -> Cost {
                match self { $($(ScalarFn::$variant)|+ => Cost::$cost,)* }
            }
        }
    };
}
scalar_functions!(vocabulary);

impl ScalarFn {
    /// The function of this name.
    pub fn named(name: &str) -> Option<ScalarFn> {
        ScalarFn::ALL.iter().copied().find(|f| f.name() == name)
    }

    /// How many arguments it takes.
    pub fn arity(self) -> usize {
        self.args().len()
    }

    /// True for the six comparisons, whose result is a truth value whatever they compare.
    pub fn is_comparison(self) -> bool {
        self.result() == Class::Truth && self.args()[0] != Class::Truth
    }

    /// Whether it takes arguments of these types.
    pub fn takes(self, regs: &[ScalarType]) -> bool {
        let args = self.args();
        let pairs = || args.iter().zip(regs);
        let alike = |class, reg| pairs().all(|(&other, &found)| other != class || found == reg);
        args.len() == regs.len() && pairs().all(|(&class, &reg)| class.holds(reg) && alike(class, reg))
    }

    /// The type of its result, given its arguments', which it takes.
    pub fn gives(self, regs: &[ScalarType]) -> Option<ScalarType> {
        match self.result() {
            Class::Truth => Some(ScalarType::Bool),
            class => self.args().iter().zip(regs).find(|(arg, _)| **arg == class).map(|(_, &reg)| reg),
        }
    }
}
