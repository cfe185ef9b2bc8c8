//! The maths library in WGSL.
//!
//! The shader defines `fn opq(x: f32) -> f32`, which gives back `x` in a way that its driver cannot see through
//! (`bitcast<f32>(bitcast<u32>(x) ^ zero)` with a zero that is only known at run time), and contains [`PREAMBLE`]
//! once.

use super::record::{Bin, Cmp, Float, Id, Op, Recorded, Step, record1, record2};
use std::fmt::Write as _;

/// What the functions share, and conversions: `sx_round_bf16`, `sx_f32_to_i32`.
pub(in crate::codegen) const PREAMBLE: &str = include_str!("preamble.wgsl");

/// A function of one float as a WGSL function of this name.
pub(in crate::codegen) fn of_one(name: &str, f: fn(Float) -> Float) -> String {
    function(name, &record1(f))
}

/// A function of two floats as a WGSL function of this name.
pub(in crate::codegen) fn of_two(name: &str, f: fn(Float, Float) -> Float) -> String {
    function(name, &record2(f))
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
        Op::MulAdd(a, b, c) => format!("fma({}, {}, {})", v(a), v(b), v(c)),
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
