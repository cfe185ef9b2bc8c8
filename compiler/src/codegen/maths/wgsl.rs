//! The maths library in WGSL.
//!
//! Every function is called `sx_` and its name. The shader defines `fn opq(x: f32) -> f32`, which gives back
//! `x` in a way that its driver cannot see through (`bitcast<f32>(bitcast<u32>(x) ^ zero)` with a zero that is
//! only known at run time), and contains [`PREAMBLE`] once.

use super::record::{Bin, Cmp, Id, Op, Recorded, Step, record1, record2};
use std::fmt::Write as _;
use sx_artifact::maths;
use sx_artifact::scalar::ScalarFn;

/// What the functions share, and conversions: `sx_round_bf16`, `sx_f32_to_i32`.
pub const PREAMBLE: &str = include_str!("preamble.wgsl");

/// The text of the WGSL function `sx_NAME` of floats that computes `f`, or `None` where WGSL's own operator or
/// builtin does (`+ - * /`, comparisons, `neg abs sqrt floor ceil round`) or `f` takes no floats.
pub fn wgsl(f: ScalarFn) -> Option<String> {
    let code = match f {
        ScalarFn::Exp => record1(maths::exp),
        ScalarFn::Log => record1(maths::log),
        ScalarFn::Expm1 => record1(maths::expm1),
        ScalarFn::Log1p => record1(maths::log1p),
        ScalarFn::Sin => record1(maths::sin),
        ScalarFn::Cos => record1(maths::cos),
        ScalarFn::Tanh => record1(maths::tanh),
        ScalarFn::Asin => record1(maths::asin),
        ScalarFn::Acos => record1(maths::acos),
        ScalarFn::Erf => record1(maths::erf),
        ScalarFn::Rsqrt => record1(maths::rsqrt),
        ScalarFn::Pow => record2(maths::pow),
        ScalarFn::Atan2 => record2(maths::atan2),
        ScalarFn::Maximum => record2(maths::exact::maximum),
        ScalarFn::Minimum => record2(maths::exact::minimum),
        ScalarFn::Mod => return Some(include_str!("mod.wgsl").to_owned()),
        _ => return None,
    };
    Some(function(&format!("sx_{}", f.name()), &code))
}

/// A recorded function as text: one `let` for each step, constants in place.
fn function(name: &str, code: &Recorded) -> String {
    let args: Vec<String> = (0..code.arity).map(|i| format!("a{i}: f32")).collect();
    let mut text = format!("fn {name}({}) -> f32 {{\n", args.join(", "));
    for (id, step) in code.steps.iter().enumerate() {
        if !stands_in_place(step) {
            writeln!(text, "    let v{id} = {};", spell(code, step))
                .expect("writing to a string cannot fail");
        }
    }
    writeln!(text, "    return {};\n}}", value(code, code.result)).expect("writing to a string cannot fail");
    text
}

fn stands_in_place(step: &Step) -> bool {
    matches!(step.op, Op::Arg(_) | Op::Float(_) | Op::Word(_))
}

/// A use of a value.
fn value(code: &Recorded, id: Id) -> String {
    match code.steps[id as usize].op {
        Op::Arg(i) => format!("a{i}"),
        // The shortest text that reads back as the same float. A minus sign binds like any operator.
        Op::Float(bits) if f32::from_bits(bits) < 0.0 => format!("({:?}f)", f32::from_bits(bits)),
        Op::Float(bits) => format!("{:?}f", f32::from_bits(bits)),
        Op::Word(word) if word < 256 => format!("{word}u"),
        Op::Word(word) => format!("{word:#x}u"),
        _ => format!("v{id}"),
    }
}

fn spell(code: &Recorded, step: &Step) -> String {
    let v = |id: Id| value(code, id);
    let signed = |id: Id| format!("bitcast<i32>({})", v(id));
    match step.op {
        Op::Bin(Bin::MulHigh, a, b) => format!("sx_mul_high({}, {})", v(a), v(b)),
        Op::Bin(Bin::Sar, a, b) => format!("bitcast<u32>({} >> {})", signed(a), v(b)),
        Op::Bin(bin, a, b) => format!("{} {} {}", v(a), operator(bin), v(b)),
        Op::Cmp(Cmp::Less, a, b) => format!("{} < {}", signed(a), signed(b)),
        Op::Cmp(Cmp::Lt, a, b) => format!("{} < {}", v(a), v(b)),
        Op::Cmp(Cmp::Eq, a, b) => format!("{} == {}", v(a), v(b)),
        Op::Neg(a) => format!("-{}", v(a)),
        Op::Abs(a) => format!("abs({})", v(a)),
        Op::Sqrt(a) => format!("sqrt({})", v(a)),
        Op::IsNan(a) => format!("(bitcast<u32>({}) & 0x7fffffffu) > 0x7f800000u", v(a)),
        Op::Opaque(a) => format!("opq({})", v(a)),
        Op::Not(a) => format!("!{}", v(a)),
        Op::Bits(a) => format!("bitcast<u32>({})", v(a)),
        Op::FromBits(a) if stands_in_place(&code.steps[a as usize]) => format!("sx_bits({})", v(a)),
        Op::FromBits(a) => format!("bitcast<f32>({})", v(a)),
        Op::FromSigned(a) => format!("f32({})", signed(a)),
        Op::Select(mask, yes, no) => format!("select({}, {}, {})", v(no), v(yes), v(mask)),
        Op::Arg(_) | Op::Float(_) | Op::Word(_) => unreachable!("stands in place"),
    }
}

fn operator(bin: Bin) -> &'static str {
    match bin {
        Bin::Add => "+",
        Bin::Sub => "-",
        Bin::Mul => "*",
        Bin::Div => "/",
        Bin::And => "&",
        Bin::Or => "|",
        Bin::Xor => "^",
        Bin::Shl => "<<",
        Bin::Shr => ">>",
        Bin::Sar | Bin::MulHigh => unreachable!("spelled as a call"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_is_valid_wgsl() {
        let names: Vec<ScalarFn> = ScalarFn::ALL.iter().copied().filter(|&f| wgsl(f).is_some()).collect();
        let mut text = String::from(
            "@group(0) @binding(0) var<storage, read_write> data: array<f32>;\n\
             @group(0) @binding(1) var<uniform> zero: u32;\n\
             fn opq(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) ^ zero); }\n",
        );
        text += PREAMBLE;
        let mut calls = String::from("    var x = sx_round_bf16(data[0]) + f32(sx_f32_to_i32(data[1]));\n");
        for &f in &names {
            text += &wgsl(f).expect("filtered");
            let args = ["x", "data[2]"][..f.arity()].join(", ");
            calls += &format!("    x = sx_{}({args});\n", f.name());
        }
        text += &format!("@compute @workgroup_size(1) fn main() {{\n{calls}    data[3] = x;\n}}\n");
        let module = naga::front::wgsl::parse_str(&text)
            .unwrap_or_else(|e| panic!("{}\n{text}", e.emit_to_string(&text)));
        naga::valid::Validator::new(naga::valid::ValidationFlags::all(), naga::valid::Capabilities::empty())
            .validate(&module)
            .unwrap_or_else(|e| panic!("{}\n{text}", e.emit_to_string(&text)));
        // Drivers compile straight-line code slowly: growth should be a decision.
        let work = |text: String| text.lines().filter(|line| !line.contains("= bitcast")).count();
        let longest = names.iter().map(|&f| (work(wgsl(f).expect("filtered")), f)).max();
        assert!(longest.expect("some functions").0 <= 135, "{longest:?}");
    }

    #[test]
    fn no_float_is_spelled_that_wgsl_refuses() {
        for text in ScalarFn::ALL.iter().filter_map(|&f| wgsl(f)) {
            assert!(!text.contains("inf") && !text.contains("NaN"), "{text}");
        }
    }
}
