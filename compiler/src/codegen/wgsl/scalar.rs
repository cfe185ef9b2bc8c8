//! The scalar functions in WGSL: one arm each.

use super::values::Repr;
use crate::codegen::maths;
use sx_artifact::kernel::{Const, FoldOp};
use sx_artifact::scalar::ScalarFn;

/// The text of the maths functions.
pub(super) fn maths_text() -> String {
    let functions = ScalarFn::ALL.iter().filter_map(|&f| maths::wgsl(f));
    [maths::PREAMBLE.to_owned()].into_iter().chain(functions).collect::<Vec<_>>().join("\n\n")
}

/// An expression for `f` of `args`. `repr` is the form of all arguments (of the branches, for `where`), and of
/// the result unless `f` compares. Or why there is none.
pub(super) fn spell(f: ScalarFn, repr: Repr, args: &[String]) -> Result<String, String> {
    match repr {
        Repr::F32 => float(f, args),
        Repr::I32 => word(f, args),
        Repr::Wide => wide(f, args),
        Repr::Bool => truth(f, args),
    }
    .ok_or_else(|| format!("`{}` has no meaning on {}", f.name(), repr.ty()))
}

/// Sums and products pass through `opq`, which keeps a shader compiler from rearranging them.
fn float(f: ScalarFn, x: &[String]) -> Option<String> {
    use ScalarFn::*;
    Some(match f {
        Add => format!("opq({} + {})", x[0], x[1]),
        Sub => format!("opq({} - {})", x[0], x[1]),
        Mul => format!("opq({} * {})", x[0], x[1]),
        Div => format!("({} / {})", x[0], x[1]),
        Mod => format!("sx_mod({}, {})", x[0], x[1]),
        Maximum => format!("sx_maximum({}, {})", x[0], x[1]),
        Minimum => format!("sx_minimum({}, {})", x[0], x[1]),
        Pow => format!("sx_pow({}, {})", x[0], x[1]),
        Atan2 => format!("sx_atan2({}, {})", x[0], x[1]),
        Eq => format!("({} == {})", x[0], x[1]),
        Ne => format!("!({} == {})", x[0], x[1]),
        Lt => format!("({} < {})", x[0], x[1]),
        Le => format!("({} <= {})", x[0], x[1]),
        Gt => format!("({} > {})", x[0], x[1]),
        Ge => format!("({} >= {})", x[0], x[1]),
        Where => format!("select({}, {}, {})", x[2], x[1], x[0]),
        Neg => format!("sx_neg({})", x[0]),
        Abs => format!("sx_abs({})", x[0]),
        Sqrt => format!("sqrt({})", x[0]),
        Rsqrt => format!("sx_rsqrt({})", x[0]),
        Exp => format!("sx_exp({})", x[0]),
        Log => format!("sx_log({})", x[0]),
        Expm1 => format!("sx_expm1({})", x[0]),
        Log1p => format!("sx_log1p({})", x[0]),
        Sin => format!("sx_sin({})", x[0]),
        Cos => format!("sx_cos({})", x[0]),
        Tanh => format!("sx_tanh({})", x[0]),
        Asin => format!("sx_asin({})", x[0]),
        Acos => format!("sx_acos({})", x[0]),
        Erf => format!("sx_erf({})", x[0]),
        Floor => format!("floor({})", x[0]),
        Ceil => format!("ceil({})", x[0]),
        Round => format!("round({})", x[0]),
        And | Or | Not => return None,
    })
}

/// 32-bit integers: WGSL wraps, and keeps division's corners to us.
fn word(f: ScalarFn, x: &[String]) -> Option<String> {
    use ScalarFn::*;
    Some(match f {
        Add => format!("({} + {})", x[0], x[1]),
        Sub => format!("({} - {})", x[0], x[1]),
        Mul => format!("({} * {})", x[0], x[1]),
        Div => format!("sx_div_i32({}, {})", x[0], x[1]),
        Mod => format!("sx_mod_i32({}, {})", x[0], x[1]),
        Pow => format!("sx_pow_i32({}, {})", x[0], x[1]),
        Maximum => format!("max({}, {})", x[0], x[1]),
        Minimum => format!("min({}, {})", x[0], x[1]),
        Eq => format!("({} == {})", x[0], x[1]),
        Ne => format!("({} != {})", x[0], x[1]),
        Lt => format!("({} < {})", x[0], x[1]),
        Le => format!("({} <= {})", x[0], x[1]),
        Gt => format!("({} > {})", x[0], x[1]),
        Ge => format!("({} >= {})", x[0], x[1]),
        Where => format!("select({}, {}, {})", x[2], x[1], x[0]),
        Neg => format!("(0 - {})", x[0]),
        Abs => format!("select({0}, 0 - {0}, {0} < 0)", x[0]),
        Floor | Ceil | Round => x[0].clone(),
        _ => return None,
    })
}

fn wide(f: ScalarFn, x: &[String]) -> Option<String> {
    use ScalarFn::*;
    Some(match f {
        Add => format!("sx_add64({}, {})", x[0], x[1]),
        Sub => format!("sx_sub64({}, {})", x[0], x[1]),
        Mul => format!("sx_mul64({}, {})", x[0], x[1]),
        Div => format!("sx_div64({}, {})", x[0], x[1]),
        Mod => format!("sx_mod64({}, {})", x[0], x[1]),
        Pow => format!("sx_pow64({}, {})", x[0], x[1]),
        Maximum => format!("sx_max64({}, {})", x[0], x[1]),
        Minimum => format!("sx_min64({}, {})", x[0], x[1]),
        Eq => format!("sx_eq64({}, {})", x[0], x[1]),
        Ne => format!("!sx_eq64({}, {})", x[0], x[1]),
        Lt => format!("sx_lt64({}, {})", x[0], x[1]),
        Le => format!("!sx_lt64({}, {})", x[1], x[0]),
        Gt => format!("sx_lt64({}, {})", x[1], x[0]),
        Ge => format!("!sx_lt64({}, {})", x[0], x[1]),
        Where => format!("select({}, {}, {})", x[2], x[1], x[0]),
        Neg => format!("sx_neg64({})", x[0]),
        Abs => format!("sx_abs64({})", x[0]),
        Floor | Ceil | Round => x[0].clone(),
        _ => return None,
    })
}

fn truth(f: ScalarFn, x: &[String]) -> Option<String> {
    use ScalarFn::*;
    Some(match f {
        And | Minimum | Mul => format!("({} && {})", x[0], x[1]),
        Or | Maximum => format!("({} || {})", x[0], x[1]),
        Not => format!("!{}", x[0]),
        Eq => format!("({} == {})", x[0], x[1]),
        Ne => format!("({} != {})", x[0], x[1]),
        Lt => format!("(!{} && {})", x[0], x[1]),
        Le => format!("(!{} || {})", x[0], x[1]),
        Gt => format!("({} && !{})", x[0], x[1]),
        Ge => format!("({} || !{})", x[0], x[1]),
        Where => format!("select({}, {}, {})", x[2], x[1], x[0]),
        _ => return None,
    })
}

/// A constant. What WGSL has no literal for, and zeros (which shader compilers fold away, signs and NaN with
/// them), are made of their bits and the record's runtime zero.
pub(super) fn constant(value: Const, repr: Repr) -> String {
    match value {
        Const::F32(bits) if f32::from_bits(bits).is_normal() => format!("{:?}f", f32::from_bits(bits)),
        Const::F32(bits) => format!("bitcast<f32>({bits:#x}u ^ sx.zero)"),
        Const::I32(x) => word_literal(x),
        Const::I64(x) if repr == Repr::I32 => word_literal(x as i32),
        Const::I64(x) => wide_literal(x),
        Const::Bool(x) => format!("{x}"),
    }
}

fn word_literal(x: i32) -> String {
    if x == i32::MIN { "(-2147483647 - 1)".to_owned() } else { format!("({x})") }
}

fn wide_literal(x: i64) -> String {
    format!("vec2<u32>({:#x}u, {:#x}u)", x as u64 as u32, (x as u64 >> 32) as u32)
}

/// What a fold starts from.
pub(super) fn fold_identity(op: FoldOp, repr: Repr) -> String {
    let integer = |x: i64| if repr == Repr::Wide { wide_literal(x) } else { word_literal(x as i32) };
    let (least, most) =
        if repr == Repr::Wide { (i64::MIN, i64::MAX) } else { (i32::MIN as i64, i32::MAX as i64) };
    match (op, repr) {
        (FoldOp::Sum, Repr::F32) => "0.0f".to_owned(),
        (FoldOp::Prod, Repr::F32) => "1.0f".to_owned(),
        (FoldOp::Max, Repr::F32) => constant(Const::F32(f32::NEG_INFINITY.to_bits()), repr),
        (FoldOp::Min, Repr::F32) => constant(Const::F32(f32::INFINITY.to_bits()), repr),
        (FoldOp::All, _) | (FoldOp::Min | FoldOp::Prod, Repr::Bool) => "true".to_owned(),
        (FoldOp::Any, _) | (FoldOp::Max | FoldOp::Sum, Repr::Bool) => "false".to_owned(),
        (FoldOp::Sum, _) => integer(0),
        (FoldOp::Prod, _) => integer(1),
        (FoldOp::Max, _) => integer(least),
        (FoldOp::Min, _) => integer(most),
    }
}

/// Two values combined by a fold.
pub(super) fn fold_combine(op: FoldOp, repr: Repr, a: &str, b: &str) -> String {
    let f = match op {
        FoldOp::Sum if repr == Repr::F32 => return format!("({a} + {b})"),
        FoldOp::Prod if repr == Repr::F32 => return format!("({a} * {b})"),
        FoldOp::Sum => ScalarFn::Add,
        FoldOp::Prod => ScalarFn::Mul,
        FoldOp::Max => ScalarFn::Maximum,
        FoldOp::Min => ScalarFn::Minimum,
        FoldOp::All => return format!("({a} && {b})"),
        FoldOp::Any => return format!("({a} || {b})"),
    };
    spell(f, repr, &[a.to_owned(), b.to_owned()]).unwrap_or_else(|_| format!("({a} || {b})"))
}
