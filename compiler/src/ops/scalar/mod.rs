//! The table of scalar functions.
//!
//! One function is one file with its [`Scalar`], of which every field is required; the list in the artifact's
//! `scalar.rs` names the files, and [`def`] is made of it. The type rule for [`Map`] below asks the record, and so
//! do the printers, the documentation, the functions that programs call, and the tests.

pub mod apply;
mod family;

use super::{About, Fault, Rules, Tolerance, Trap, fault::InsteadOfMask, shape};
use crate::ir::op::Map;
use crate::ir::{Domain, Interval, Type};
use sx_artifact::dtype::DType;
use sx_artifact::scalar::{Class, ScalarFn};
use sx_artifact::tensor::Tensor;

/// The definition of one scalar function.
pub struct Scalar {
    /// A call of it.
    pub signature: &'static str,
    /// One line, lower case, no full stop.
    pub summary: &'static str,
    /// A program and its value; a test runs it.
    pub example: &'static str,
    /// How far a target may stray from `eval`.
    pub tolerance: Tolerance,
    /// Whether it gives floats that operands of bf16 may not have: a fused kernel rounds those to bf16.
    pub rounds: bool,
    /// What to write instead of applying it to a mask.
    pub instead_of_mask: InsteadOfMask,
    /// Where the arguments it is defined on lie: one for each.
    pub valid: &'static [Valid],
    /// Domains that are more than a range and that it keeps.
    pub keeps: &'static [Keep],
    /// Which values it gives, in words.
    pub range: &'static str,
    /// Which values it gives.
    pub image: Image,
    /// The meaning.
    pub eval: Eval,
}

/// A set of dtypes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `f32`, `bf16`
    Float,
    /// `i32`, `i64`
    Integer,
    /// `f32`, `bf16`, `i32`, `i64`
    Number,
    /// `bool`
    Mask,
    /// A mask, then two of any one dtype.
    MaskThenAny,
    /// Every dtype.
    Any,
}

impl Kind {
    /// The dtypes that `f` takes.
    pub fn of(f: ScalarFn) -> Kind {
        match f.args() {
            [Class::Truth, Class::Any, ..] => Kind::MaskThenAny,
            [Class::Truth, ..] => Kind::Mask,
            [Class::Float, ..] => Kind::Float,
            [Class::Number, ..] => Kind::Number,
            [Class::Any, ..] | [] => Kind::Any,
        }
    }

    /// True where `dtype` is one of them. For [`Kind::MaskThenAny`] it is the dtype of the last two.
    pub fn holds(self, dtype: DType) -> bool {
        match self {
            Kind::Float => dtype.is_float(),
            Kind::Integer => dtype.is_int(),
            Kind::Number => dtype != DType::Bool,
            Kind::Mask => dtype == DType::Bool,
            Kind::MaskThenAny | Kind::Any => true,
        }
    }

    /// The dtypes, as a message lists them.
    pub fn words(self) -> &'static str {
        match self {
            Kind::Float => "f32 or bf16",
            Kind::Integer => "i32 or i64",
            Kind::Number => "f32, bf16, i32 or i64",
            Kind::Mask => "bool",
            Kind::MaskThenAny => "bool, then two of one dtype",
            Kind::Any => "every dtype",
        }
    }

    /// The one that a help suggests to cast to.
    pub fn usual(self) -> DType {
        match self {
            Kind::Float | Kind::Number | Kind::MaskThenAny | Kind::Any => DType::F32,
            Kind::Integer => DType::I32,
            Kind::Mask => DType::Bool,
        }
    }
}

/// Where an argument may lie. The words finish the sentence "it must be …".
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Valid {
    /// Anywhere.
    Everywhere,
    /// In this range.
    Within(Interval, &'static str),
    /// Anywhere but zero.
    NotZero(&'static str),
}

impl Valid {
    /// True where every value of `range` is allowed.
    pub fn proven(self, range: &Interval) -> bool {
        match self {
            Valid::Everywhere => true,
            Valid::Within(allowed, _) => allowed.contains(range),
            Valid::NotZero(_) => !range.holds(0.0),
        }
    }
}

/// A domain that is more than a range, and when a function keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Every operand is Binary: so is the result.
    Binary,
    /// Every operand is Additive: so is the result.
    Additive,
    /// One operand is a Logit, the others are plain numbers: a Logit still.
    Logit,
    /// The first operand is a Logit, the others are plain numbers: a Logit still.
    FirstLogit,
}

/// Which values a function gives.
pub enum Image {
    /// Numbers: the range of the result for ranges of the operands in which it is defined, before rounding.
    Range(fn(&[Interval], DType) -> Interval),
    /// As `Range`, where an integer beyond its dtype wraps.
    Wrapping(fn(&[Interval], DType) -> Interval),
    /// Truth values.
    Mask,
    /// The values of the second and the third operand.
    Choice,
}

/// The meaning. Integers are computed in 64 bits and cut to their width; a mask compares as 0 and 1.
pub enum Eval {
    /// Floats.
    Float1(fn(f64) -> f64),
    /// Floats.
    Float2(fn(f64, f64) -> f64),
    /// Floats and integers.
    Number1(fn(f64) -> f64, fn(i64) -> i64),
    /// Floats and integers.
    Number2(fn(f64, f64) -> f64, fn(i64, i64) -> i64),
    /// A comparison.
    Test(fn(f64, f64) -> bool, fn(i64, i64) -> bool),
    /// Masks.
    Mask1(fn(bool) -> bool),
    /// Masks.
    Mask2(fn(bool, bool) -> bool),
    /// The second operand where the first is true, else the third.
    Choose,
}

macro_rules! register {
    ($([$($arg:ident)+] -> $result:ident, $cost:ident:
        $($variant:ident $module:ident $(= $name:literal)?),+;)*) => {
        $($(mod $module;)+)*

        /// The definition of `f`.
        pub fn def(f: ScalarFn) -> &'static Scalar {
            match f { $($(ScalarFn::$variant => &$module::RECORD,)+)* }
        }
    };
}
sx_artifact::scalar_functions!(register);

pub use maximum::larger;
pub use minimum::smaller;

/// Scalar functions, elementwise. Shapes are equal: broadcasts are nodes of their own.
impl Rules for Map {
    fn about(&self) -> About<'_> {
        About {
            name: self.f.name(),
            signature: def(self.f).signature,
            summary: def(self.f).summary,
            takes: Kind::of(self.f).words(),
            domain: def(self.f).range,
            example: def(self.f).example,
            tolerance: def(self.f).tolerance,
        }
    }

    fn infer(&self, args: &[Type]) -> Result<Vec<Type>, Fault> {
        let scalar = def(self.f);
        let dtype = dtype(self.f, args)?;
        let dims = super::broadcast::broadcast_shape(args)?;
        if let Some(other) = args.iter().find(|arg| arg.shape() != args[0].shape()) {
            return Err(Fault::ShapesDiffer { left: args[0].shape(), right: other.shape() });
        }
        Ok(vec![Type { dtype, dims, domain: image(scalar, args) }])
    }

    fn reference(&self, args: &[&Tensor]) -> Result<Vec<Tensor>, Trap> {
        Ok(vec![apply::apply(&def(self.f).eval, args)])
    }
}

/// The dtype that `f` gives of `args`, or why it refuses theirs. Shapes are not looked at.
pub fn dtype(f: ScalarFn, args: &[Type]) -> Result<DType, Fault> {
    let (scalar, takes) = (def(f), Kind::of(f));
    if args.len() != f.arity() {
        let want = ["0", "1", "2", "3"][f.arity()];
        return Err(Fault::Operands { want, got: args.len() });
    }
    let operands = match takes {
        Kind::MaskThenAny => {
            shape::mask(args, 0)?;
            1
        }
        Kind::Mask => {
            (0..args.len()).try_for_each(|arg| shape::mask(args, arg))?;
            0
        }
        Kind::Float | Kind::Number => {
            shape::no_masks(args, scalar.instead_of_mask)?;
            0
        }
        Kind::Integer | Kind::Any => 0,
    };
    let first = args[operands].dtype;
    if let Some(arg) = (operands..args.len()).find(|&arg| args[arg].dtype != first) {
        return Err(Fault::DtypesDiffer { left: first, right: args[arg].dtype, arg });
    }
    if !takes.holds(first) {
        return Err(Fault::Dtype { arg: operands, got: first, want: takes });
    }
    Ok(match scalar.image {
        Image::Mask => DType::Bool,
        Image::Range(_) | Image::Wrapping(_) | Image::Choice => first,
    })
}

/// The domain of `scalar` applied to `args`, whose dtypes it takes.
pub fn image(scalar: &Scalar, args: &[Type]) -> Domain {
    let (range, wraps) = match scalar.image {
        Image::Mask => return Domain::Mask,
        Image::Choice => return choose::either(&args[1], &args[2]),
        Image::Range(range) => (range, false),
        Image::Wrapping(range) => (range, true),
    };
    if let Some(domain) = kept(scalar.keeps, args) {
        return domain;
    }
    let (dtype, ranges) = (args[0].dtype, args.iter().map(|arg| arg.domain.range()).collect::<Vec<_>>());
    if scalar.valid.iter().zip(&ranges).any(|(valid, range)| !valid.proven(range)) {
        return Domain::REAL;
    }
    let range = range(&ranges, dtype).outward(dtype);
    Domain::Range(if wraps && may_wrap(range, dtype) { Interval::REAL } else { range })
}

/// True where an integer of `dtype` may not hold every number of `range`.
pub fn may_wrap(range: Interval, dtype: DType) -> bool {
    let limits = match dtype {
        DType::I32 => Interval::closed(f64::from(i32::MIN), f64::from(i32::MAX)),
        // The largest i64 is not an f64: the nearest one below stands for it.
        DType::I64 => Interval::closed(i64::MIN as f64, (i64::MAX as f64).next_down()),
        DType::F32 | DType::Bf16 | DType::Bool => return false,
    };
    !limits.contains(&range)
}

/// The first domain of `keeps` whose condition the operands meet.
fn kept(keeps: &[Keep], args: &[Type]) -> Option<Domain> {
    let plain = |arg: &Type| matches!(&arg.domain, Domain::Range(range) if range.value().is_some());
    let logit = |arg: &Type| matches!(arg.domain, Domain::Logit { .. });
    let is_kept = |keep: &Keep| match keep {
        Keep::Binary => args.iter().all(|arg| arg.domain == Domain::Binary),
        Keep::Additive => args.iter().all(|arg| arg.domain == Domain::Additive),
        Keep::Logit => {
            args.iter().filter(|arg| logit(arg)).count() == 1
                && args.iter().all(|arg| logit(arg) || plain(arg))
        }
        Keep::FirstLogit => logit(&args[0]) && args[1..].iter().all(plain),
    };
    let keep = keeps.iter().find(|keep| is_kept(keep))?;
    Some(match keep {
        Keep::Binary => Domain::Binary,
        Keep::Additive => Domain::Additive,
        Keep::Logit | Keep::FirstLogit => args.iter().find(|arg| logit(arg))?.domain.clone(),
    })
}
