//! The scalar functions in WGSL: one arm each.

use super::values::Repr;
use crate::codegen::maths::{Float, PREAMBLE, of_one, of_two};
use sx_artifact::kernel::{Const, FoldOp};
use sx_artifact::maths;
use sx_artifact::scalar::ScalarFn;

/// How a function is spelled.
enum Form {
    /// As this text, in which `$0`, `$1` and `$2` are the arguments.
    Text(&'static str),
    /// As a call of a function of the maths library, which the shader then contains.
    One(fn(Float) -> Float),
    /// As `One`, of two arguments.
    Two(fn(Float, Float) -> Float),
    /// As `One`, where this is the function's text.
    Written(&'static str),
}

/// The text of the maths functions.
pub(super) fn maths_text() -> String {
    let functions = ScalarFn::ALL.iter().filter_map(|&f| maths_function(f));
    [PREAMBLE.to_owned()].into_iter().chain(functions).collect::<Vec<_>>().join("\n\n")
}

/// The text of the function that computes `f` of floats, if it is one of the maths library's.
fn maths_function(f: ScalarFn) -> Option<String> {
    match float(f)? {
        Form::Text(_) => None,
        Form::One(of) => Some(of_one(&maths_name(f), of)),
        Form::Two(of) => Some(of_two(&maths_name(f), of)),
        Form::Written(text) => Some(text.to_owned()),
    }
}

fn maths_name(f: ScalarFn) -> String {
    format!("sx_{}", f.name().replace('-', "_"))
}

/// An expression for `f` of `args`. `repr` is the form of all arguments (of the branches, for `where`), and of
/// the result unless `f` compares. Or why there is none.
pub(super) fn spell(f: ScalarFn, repr: Repr, args: &[String]) -> Result<String, String> {
    let form = match repr {
        Repr::F32 => float(f),
        Repr::I32 => word(f).map(Form::Text),
        Repr::Wide => wide(f).map(Form::Text),
        Repr::Bool => truth(f).map(Form::Text),
    };
    match form {
        Some(Form::Text(text)) => Ok(filled(text, args)),
        Some(_) => Ok(format!("{}({})", maths_name(f), args.join(", "))),
        None => Err(format!("`{}` has no meaning on {}", f.name(), repr.ty())),
    }
}

fn filled(text: &str, args: &[String]) -> String {
    let fill = |text: String, (at, arg): (usize, &String)| text.replace(&format!("${at}"), arg);
    args.iter().enumerate().fold(text.to_owned(), fill)
}

/// Sums and products pass through `opq`, which keeps a shader compiler from rearranging them.
fn float(f: ScalarFn) -> Option<Form> {
    use Form::*;
    use ScalarFn::*;
    Some(match f {
        Add => Text("opq($0 + $1)"),
        Sub => Text("opq($0 - $1)"),
        Mul => Text("opq($0 * $1)"),
        Div => Text("($0 / $1)"),
        Mod => Written(include_str!("../maths/mod.wgsl")),
        Maximum => Two(maths::exact::maximum),
        Minimum => Two(maths::exact::minimum),
        Pow => Two(maths::pow),
        Atan2 => Two(maths::atan2),
        Eq => Text("($0 == $1)"),
        Ne => Text("!($0 == $1)"),
        Lt => Text("($0 < $1)"),
        Le => Text("($0 <= $1)"),
        Gt => Text("($0 > $1)"),
        Ge => Text("($0 >= $1)"),
        Where => Text("select($2, $1, $0)"),
        Neg => Text("sx_neg($0)"),
        Abs => Text("sx_abs($0)"),
        Sqrt => Text("sqrt($0)"),
        Rsqrt => One(maths::rsqrt),
        Exp => One(maths::exp),
        Log => One(maths::log),
        Expm1 => One(maths::expm1),
        Log1p => One(maths::log1p),
        Sin => One(maths::sin),
        Cos => One(maths::cos),
        Tanh => One(maths::tanh),
        Asin => One(maths::asin),
        Acos => One(maths::acos),
        Erf => One(maths::erf),
        Cbrt => One(maths::cbrt),
        Sigmoid => One(maths::sigmoid),
        Softplus => One(maths::softplus),
        LogSigmoid => One(maths::log_sigmoid),
        Silu => One(maths::silu),
        GeluTanh => One(maths::gelu_tanh),
        Gelu => One(maths::gelu),
        Erfc => One(maths::erfc),
        Floor => Text("floor($0)"),
        Ceil => Text("ceil($0)"),
        Round => Text("round($0)"),
        And | Or | Not => return None,
    })
}

/// 32-bit integers: WGSL wraps, and keeps division's corners to us.
fn word(f: ScalarFn) -> Option<&'static str> {
    use ScalarFn::*;
    Some(match f {
        Add => "($0 + $1)",
        Sub => "($0 - $1)",
        Mul => "($0 * $1)",
        Div => "sx_div_i32($0, $1)",
        Mod => "sx_mod_i32($0, $1)",
        Maximum => "max($0, $1)",
        Minimum => "min($0, $1)",
        Eq => "($0 == $1)",
        Ne => "($0 != $1)",
        Lt => "($0 < $1)",
        Le => "($0 <= $1)",
        Gt => "($0 > $1)",
        Ge => "($0 >= $1)",
        Where => "select($2, $1, $0)",
        Neg => "(0 - $0)",
        Abs => "select($0, 0 - $0, $0 < 0)",
        _ => return None,
    })
}

fn wide(f: ScalarFn) -> Option<&'static str> {
    use ScalarFn::*;
    Some(match f {
        Add => "sx_add64($0, $1)",
        Sub => "sx_sub64($0, $1)",
        Mul => "sx_mul64($0, $1)",
        Div => "sx_div64($0, $1)",
        Mod => "sx_mod64($0, $1)",
        Maximum => "sx_max64($0, $1)",
        Minimum => "sx_min64($0, $1)",
        Eq => "sx_eq64($0, $1)",
        Ne => "!sx_eq64($0, $1)",
        Lt => "sx_lt64($0, $1)",
        Le => "!sx_lt64($1, $0)",
        Gt => "sx_lt64($1, $0)",
        Ge => "!sx_lt64($0, $1)",
        Where => "select($2, $1, $0)",
        Neg => "sx_neg64($0)",
        Abs => "sx_abs64($0)",
        _ => return None,
    })
}

fn truth(f: ScalarFn) -> Option<&'static str> {
    use ScalarFn::*;
    Some(match f {
        And | Minimum | Mul => "($0 && $1)",
        Or | Maximum => "($0 || $1)",
        Not => "!$0",
        Eq => "($0 == $1)",
        Ne => "($0 != $1)",
        Lt => "(!$0 && $1)",
        Le => "(!$0 || $1)",
        Gt => "($0 && !$1)",
        Ge => "($0 || !$1)",
        Where => "select($2, $1, $0)",
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_is_valid_wgsl() {
        let names: Vec<ScalarFn> =
            ScalarFn::ALL.iter().copied().filter(|&f| maths_function(f).is_some()).collect();
        let mut text = String::from(
            "@group(0) @binding(0) var<storage, read_write> data: array<f32>;\n\
             @group(0) @binding(1) var<uniform> zero: u32;\n\
             fn opq(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) ^ zero); }\n",
        );
        text += PREAMBLE;
        let mut calls = String::from("    var x = sx_round_bf16(data[0]) + f32(sx_f32_to_i32(data[1]));\n");
        for &f in &names {
            text += &maths_function(f).expect("filtered");
            let args = ["x", "data[2]"][..f.arity()].join(", ");
            calls += &format!("    x = {}({args});\n", maths_name(f));
        }
        text += &format!("@compute @workgroup_size(1) fn main() {{\n{calls}    data[3] = x;\n}}\n");
        let module = naga::front::wgsl::parse_str(&text)
            .unwrap_or_else(|e| panic!("{}\n{text}", e.emit_to_string(&text)));
        naga::valid::Validator::new(naga::valid::ValidationFlags::all(), naga::valid::Capabilities::empty())
            .validate(&module)
            .unwrap_or_else(|e| panic!("{}\n{text}", e.emit_to_string(&text)));
        // Drivers compile straight-line code slowly: growth should be a decision.
        let work = |text: String| text.lines().filter(|line| !line.contains("= bitcast")).count();
        let longest = names.iter().map(|&f| (work(maths_function(f).expect("filtered")), f)).max();
        assert!(longest.expect("some functions").0 <= 135, "{longest:?}");
    }

    #[test]
    fn no_float_is_spelled_that_wgsl_refuses() {
        for text in ScalarFn::ALL.iter().filter_map(|&f| maths_function(f)) {
            assert!(!text.contains("inf") && !text.contains("NaN"), "{text}");
        }
    }
}
