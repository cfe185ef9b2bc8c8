//! Why a rule said no, and the one place that words it.
//!
//! The author of an operation picks a fault; [`Fault::diagnostic`] adds the place and the operands.

use super::scalar::Kind;
use crate::diag::{Code, Diagnostic, Span};
use crate::ir::{Domain, Type};
use sx_artifact::dtype::DType;

/// Why a rule said no. It knows the operation, not the source. An `arg` counts operands from 0.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// The number of operands is wrong.
    Operands {
        /// How many it takes, in words: `2`, `at least 1`.
        want: &'static str,
        /// How many there are.
        got: usize,
    },
    /// Operands of different dtypes.
    DtypesDiffer {
        /// The first operand's.
        left: DType,
        /// The other.
        right: DType,
        /// Which operand has the other.
        arg: usize,
    },
    /// An operand of a dtype the operation does not take.
    Dtype {
        /// Which operand.
        arg: usize,
        /// Its dtype.
        got: DType,
        /// What would do.
        want: Kind,
    },
    /// A result dtype the operation does not give.
    ResultDtype {
        /// What was asked for.
        got: DType,
        /// What would do.
        want: Kind,
    },
    /// `:out :f32` on operands that are not bf16.
    OutF32 {
        /// Their dtype.
        got: DType,
    },
    /// Arithmetic on truth values.
    MaskArithmetic {
        /// Which operands are masks.
        masks: Vec<usize>,
        /// How many operands there are.
        operands: usize,
        /// What to write instead.
        instead: InsteadOfMask,
    },
    /// Something else where a mask is needed.
    MaskNeeded {
        /// Which operand.
        arg: usize,
        /// Its type.
        got: Type,
    },
    /// Shapes that do not broadcast to one.
    Broadcast {
        /// What had come together before.
        left: Vec<u64>,
        /// What does not fit it.
        right: Vec<u64>,
    },
    /// A shape that does not broadcast to the one that was asked for.
    BroadcastTo {
        /// The operand's.
        from: Vec<u64>,
        /// What was asked for.
        to: Vec<u64>,
    },
    /// Operands of different shapes where broadcasts stand in the graph already.
    ShapesDiffer {
        /// The first operand's.
        left: Vec<u64>,
        /// The other.
        right: Vec<u64>,
    },
    /// The summed dimensions of a matrix product differ.
    InnerDims {
        /// The left operand's shape.
        left: Vec<u64>,
        /// The right operand's shape.
        right: Vec<u64>,
    },
    /// The leading dimensions of a matrix product do not broadcast.
    LeadingDims {
        /// The left operand's shape.
        left: Vec<u64>,
        /// The right operand's shape.
        right: Vec<u64>,
    },
    /// Too few axes.
    Rank {
        /// Which operand.
        arg: usize,
        /// How many axes it has.
        got: usize,
        /// How many it must have.
        least: usize,
    },
    /// Operands whose ranks must be equal.
    RanksDiffer {
        /// The first operand's shape.
        left: Vec<u64>,
        /// The other's.
        right: Vec<u64>,
    },
    /// Dimensions that must be equal off an axis.
    OffAxis {
        /// The first operand's shape.
        left: Vec<u64>,
        /// The other's.
        right: Vec<u64>,
        /// The axis along which they may differ.
        axis: usize,
        /// The axis along which they do.
        at: usize,
    },
    /// An axis that a tensor does not have.
    Axis {
        /// As it was written.
        axis: i64,
        /// How many axes there are.
        rank: usize,
    },
    /// An axis listed twice, also as 1 and -1.
    AxisTwice {
        /// As it was written the second time.
        axis: i64,
        /// Which axis that is.
        is: usize,
    },
    /// Not a permutation of the axes.
    Order {
        /// What was written.
        order: Vec<usize>,
        /// How many axes there are.
        rank: usize,
    },
    /// A reshape to another number of elements.
    Elements {
        /// The operand's shape.
        from: Vec<u64>,
        /// What was asked for.
        to: Vec<u64>,
    },
    /// A shape with more elements than can be counted.
    TooLarge {
        /// The shape.
        shape: Vec<u64>,
    },
    /// A shape of more axes than a tensor may have.
    TooManyAxes {
        /// How many it has.
        rank: usize,
        /// How many it may have.
        most: usize,
    },
    /// Bounds of a slice that are not `start < stop <= dim`.
    Bounds {
        /// The first position.
        start: u64,
        /// One past the last.
        stop: u64,
        /// The size of the axis.
        size: u64,
        /// The axis.
        axis: usize,
    },
    /// The largest or smallest of nothing.
    EmptyAxis {
        /// The operand's shape.
        shape: Vec<u64>,
        /// The axis of size 0.
        axis: usize,
    },
    /// Positions along an axis that a dtype does not hold.
    LastPosition {
        /// The last of them.
        last: u64,
        /// The dtype.
        dtype: DType,
    },
    /// A domain that a type of this dtype and rank cannot have.
    DomainSense {
        /// The domain.
        domain: Domain,
        /// The type it was to be of, without it.
        ty: Box<Type>,
    },
    /// An operand that is not of the type its region declares.
    Region {
        /// Which operand.
        arg: usize,
        /// What the region declares.
        want: Box<Type>,
        /// What it was given.
        got: Box<Type>,
    },
    /// The type of a source is stated by whoever makes it, not inferred.
    Source,
}

/// What to write instead of arithmetic on a mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InsteadOfMask {
    /// `(to m Additive)`
    Additive,
    /// `(to m Binary)`
    Binary,
    /// `(not m)`
    Not,
    /// `and`, for two masks; else `(to m Binary)`.
    And,
    /// `or`, for two masks; else `(to m Additive)`.
    Or,
    /// `any`
    Any,
    /// `all`
    All,
}

/// An operand as the user wrote it.
#[derive(Clone, Debug)]
pub struct Operand {
    /// The source text, shortened where it is long.
    pub text: String,
    /// Its type, where it is a tensor.
    pub ty: Option<Type>,
}

impl Operand {
    /// `` `x` [2, 16] f32 ``, or with what is known of its values `` `x` [2 16] Unit ``.
    fn listed(&self, with_domain: bool) -> String {
        match &self.ty {
            Some(ty) if with_domain => format!("`{}` {}", self.text, ty.shown(&[])),
            Some(ty) => format!("`{}` {ty}", self.text),
            None => format!("`{}`", self.text),
        }
    }
}

impl Fault {
    /// The code.
    pub fn code(&self) -> Code {
        match self {
            Fault::DtypesDiffer { .. }
            | Fault::Dtype { .. }
            | Fault::ResultDtype { .. }
            | Fault::OutF32 { .. }
            | Fault::LastPosition { .. } => Code::DimDtype,
            Fault::MaskArithmetic { .. } => Code::DomainMask,
            Fault::MaskNeeded { .. } => Code::DomainFit,
            Fault::DomainSense { .. } => Code::DomainType,
            Fault::Operands { .. }
            | Fault::Broadcast { .. }
            | Fault::BroadcastTo { .. }
            | Fault::ShapesDiffer { .. }
            | Fault::InnerDims { .. }
            | Fault::LeadingDims { .. }
            | Fault::Rank { .. }
            | Fault::RanksDiffer { .. }
            | Fault::OffAxis { .. }
            | Fault::Axis { .. }
            | Fault::AxisTwice { .. }
            | Fault::Order { .. }
            | Fault::Elements { .. }
            | Fault::TooLarge { .. }
            | Fault::TooManyAxes { .. }
            | Fault::Bounds { .. }
            | Fault::EmptyAxis { .. }
            | Fault::Region { .. }
            | Fault::Source => Code::DimShape,
        }
    }

    /// Domain messages show types their own way.
    fn is_about_domains(&self) -> bool {
        matches!(self.code(), Code::DomainMask | Code::DomainFit | Code::DomainType)
    }

    /// The diagnostic for this fault of `operation` at `call`, with its operands as they were written.
    pub fn diagnostic(self, operation: &str, call: Span, operands: &[Operand]) -> Diagnostic {
        let name = |arg: usize| match operands.get(arg) {
            Some(operand) => format!("`{}`", operand.text),
            None => format!("operand {}", arg + 1),
        };
        let message = format!("{operation}: {}", self.message(&name));
        let mut diagnostic = Diagnostic::new(self.code(), call, message);
        if !operands.is_empty() {
            let about_domains = self.is_about_domains();
            let listed: Vec<String> = operands.iter().map(|operand| operand.listed(about_domains)).collect();
            diagnostic = diagnostic.note(format!("operands: {}", listed.join(", ")));
        }
        if let Some(note) = self.note() {
            diagnostic = diagnostic.note(note);
        }
        match self.help(operands) {
            Some(help) => diagnostic.help(help),
            None => diagnostic,
        }
    }

    /// What is wrong, in one line, without the operation.
    fn message(&self, name: &dyn Fn(usize) -> String) -> String {
        match self {
            Fault::Operands { want, got } => {
                let plural = if want.ends_with('1') { "" } else { "s" };
                format!("takes {want} operand{plural}, got {got}")
            }
            Fault::DtypesDiffer { left, right, .. } => format!("dtypes differ: {left} and {right}"),
            Fault::Dtype { arg, got, want } => format!("takes {}, {} is {got}", want.words(), name(*arg)),
            Fault::ResultDtype { got, want } => format!("gives {}, not {got}", want.words()),
            Fault::OutF32 { got } => format!("`:out :f32` is for bf16 operands, these are {got}"),
            Fault::MaskArithmetic { masks, .. } => format!("arithmetic on a mask: {}", listed(masks, name)),
            Fault::MaskNeeded { arg, got } => {
                // A type is written without its dtype where that goes without saying; here it is what is wrong.
                let plain = got.shown(&[]);
                let dtype = if plain.ends_with(']') { format!(" {}", got.dtype) } else { String::new() };
                format!("a mask is needed, {} is {plain}{dtype}", name(*arg))
            }
            Fault::Broadcast { left, right } => format!("shapes do not broadcast: {left:?} and {right:?}"),
            Fault::BroadcastTo { from, to } => format!("{from:?} does not broadcast to {to:?}"),
            Fault::ShapesDiffer { left, right } => format!("shapes differ: {left:?} and {right:?}"),
            Fault::InnerDims { left, right } => {
                format!("inner dims differ: {left:?} x {right:?}")
            }
            Fault::LeadingDims { left, right } => {
                format!("leading dims do not broadcast: {left:?} x {right:?}")
            }
            Fault::Rank { arg, got, least } => {
                format!("{} needs at least {}, it has {got}", name(*arg), axes_in_words(*least))
            }
            Fault::RanksDiffer { left, right } => {
                format!("ranks differ: {left:?} has {}, {right:?} has {}", left.len(), right.len())
            }
            Fault::OffAxis { left, right, axis, at } => {
                format!(
                    "dims differ along axis {at}: {left:?} and {right:?} may differ along axis {axis} only"
                )
            }
            Fault::Axis { axis, rank } => format!("axis {axis} is not one of {}", axes_in_words(*rank)),
            Fault::AxisTwice { axis, is } if *axis == *is as i64 => format!("axis {axis} is listed twice"),
            Fault::AxisTwice { axis, is } => format!("axis {is} is listed twice, once as {axis}"),
            Fault::Order { order, rank } => {
                format!("{order:?} is not a permutation of {}", axes_in_words(*rank))
            }
            Fault::Elements { from, to } => format!(
                "{from:?} has {} elements, {to:?} has {}",
                from.iter().product::<u64>(),
                to.iter().product::<u64>()
            ),
            Fault::TooLarge { shape } => format!("{shape:?} has more elements than can be counted"),
            Fault::TooManyAxes { rank, most } => {
                format!("a tensor has at most {most} axes, and this one would have {rank}")
            }
            Fault::Bounds { start, stop, size, axis } => {
                format!("{start} to {stop} is not a range of axis {axis}, which has {size} positions")
            }
            Fault::EmptyAxis { shape, axis } => {
                format!("axis {axis} of {shape:?} is empty: there is no value to choose")
            }
            Fault::LastPosition { last, dtype } => format!("the last position, {last}, does not fit {dtype}"),
            Fault::DomainSense { domain, ty } => {
                let shown = domain.shown(&ty.dims, &[]).unwrap_or_else(|| "Real".to_owned());
                format!("{shown} makes no sense as {ty}")
            }
            Fault::Region { arg, want, got } => format!("{} must be {want}, it is {got}", name(*arg)),
            Fault::Source => "the type of a source is stated, not inferred".to_owned(),
        }
    }

    /// What explains it.
    fn note(&self) -> Option<String> {
        match self {
            Fault::Broadcast { left, right } => Some(aligned(left, right)),
            Fault::BroadcastTo { from, to } if from.len() > to.len() => {
                Some(format!("a broadcast adds axes and never removes them: {} to {}", from.len(), to.len()))
            }
            Fault::BroadcastTo { from, to } => {
                let pairs = from.iter().rev().zip(to.iter().rev()).enumerate();
                let (back, (size, new)) = pairs.into_iter().find(|(_, (a, b))| a != b && **a != 1)?;
                Some(format!("axis -{} has size {size}: only an axis of size 1 repeats to {new}", back + 1))
            }
            Fault::LeadingDims { left, right } => Some(aligned(&leading(left), &leading(right))),
            Fault::InnerDims { left, right } if leading(left) != leading(right) => {
                let both = [leading(left), leading(right)];
                Some(match super::broadcast::sizes(&both) {
                    Ok(sizes) => {
                        format!("broadcast: leading dims {:?} and {:?} give {sizes:?}", both[0], both[1])
                    }
                    Err(_) => aligned(&both[0], &both[1]),
                })
            }
            Fault::Axis { rank: 0, .. } => Some("a tensor of rank 0 has no axes".to_owned()),
            Fault::Axis { rank, .. } => Some(format!("axes are {} to {}", -(*rank as i64), rank - 1)),
            Fault::Bounds { .. } => Some("a slice needs start < stop <= the axis's size".to_owned()),
            Fault::DomainSense { domain, ty } => super::sense::reason(domain, ty),
            _ => None,
        }
    }

    /// What to write instead, where that would work.
    fn help(&self, operands: &[Operand]) -> Option<String> {
        let text = |arg: usize| operands.get(arg).map(|operand| operand.text.as_str());
        match self {
            Fault::DtypesDiffer { left, arg, .. } => Some(format!("`(cast {} :{left})`", text(*arg)?)),
            Fault::Dtype { arg, want, .. } => Some(format!("`(cast {} :{})`", text(*arg)?, want.usual())),
            Fault::MaskArithmetic { masks, operands: count, instead } => {
                let mask = text(*masks.first()?)?;
                let both = masks.len() == 2 && *count == 2;
                Some(match instead {
                    InsteadOfMask::And if both => format!("`(and {mask} {})`", text(masks[1])?),
                    InsteadOfMask::Or if both => format!("`(or {mask} {})`", text(masks[1])?),
                    InsteadOfMask::Additive | InsteadOfMask::Or => format!("`(to {mask} Additive)`"),
                    InsteadOfMask::Binary | InsteadOfMask::And => format!("`(to {mask} Binary)`"),
                    InsteadOfMask::Not => format!("`(not {mask})`"),
                    InsteadOfMask::Any => {
                        format!("`any` tells whether one holds; `(to {mask} Binary)` counts")
                    }
                    InsteadOfMask::All => {
                        format!("`all` tells whether every one holds; `(to {mask} Binary)` counts")
                    }
                })
            }
            Fault::LastPosition { .. } => Some("write `:dtype :i64`".to_owned()),
            Fault::MaskNeeded { arg, got } => Some(match got.domain {
                Domain::Binary => format!("`(to {} Mask)`", text(*arg)?),
                _ => format!("`(!= {} 0)`", text(*arg)?),
            }),
            _ => None,
        }
    }
}

/// `` `a` `` or `` `a` and `b` ``.
fn listed(args: &[usize], name: &dyn Fn(usize) -> String) -> String {
    args.iter().map(|&arg| name(arg)).collect::<Vec<_>>().join(" and ")
}

/// `no axes`, `1 axis`, `3 axes`.
pub(super) fn axes_in_words(count: usize) -> String {
    match count {
        0 => "no axes".to_owned(),
        1 => "1 axis".to_owned(),
        _ => format!("{count} axes"),
    }
}

fn leading(shape: &[u64]) -> Vec<u64> {
    shape[..shape.len().saturating_sub(2)].to_vec()
}

/// Which axes of two shapes, aligned at the right, are neither equal nor 1.
fn aligned(left: &[u64], right: &[u64]) -> String {
    let clashes = left.iter().rev().zip(right.iter().rev()).enumerate();
    let clash = clashes.into_iter().find(|(_, (a, b))| a != b && **a != 1 && **b != 1);
    match clash {
        Some((back, (a, b))) => {
            format!(
                "a broadcast aligns shapes at the right: axis -{} is {a} against {b}, neither is 1",
                back + 1
            )
        }
        None => {
            format!("a broadcast aligns shapes at the right and repeats axes of size 1: {left:?}, {right:?}")
        }
    }
}
