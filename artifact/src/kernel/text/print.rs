//! A kernel to its text.

use super::super::{Access, Affine, Body, Const, Inst, Kernel, KernelKind, Mode, Operand, Store};
use super::{FOLDS, TYPES};
use std::fmt::Write;

/// The kernel as text, a line an instruction.
pub fn print(kernel: &Kernel) -> String {
    let mut out = format!("kernel {}\n", name(&kernel.name));
    if kernel.traps > 0 {
        line(&mut out, 1, format!("traps {}", kernel.traps));
    }
    for (i, arg) in kernel.args.iter().enumerate() {
        let mode = match arg.mode {
            Mode::Read => "read",
            Mode::Write => "write",
        };
        line(&mut out, 1, format!("#{i} {mode} {}[{}]", arg.dtype, arg.len));
    }
    match &kernel.kind {
        KernelKind::Loop(it) => {
            let along = if it.along.is_empty() { String::new() } else { format!(" along {:?}", it.along) };
            line(&mut out, 1, format!("for {:?}{along}", it.dims));
            body(&mut out, &it.body, &it.stores);
        }
        KernelKind::Contraction(it) => {
            let sizes = format!("batch {:?} m {:?} n {:?} k {:?}", it.batch, it.m, it.n, it.k);
            line(&mut out, 1, format!("contract {sizes}"));
            operand(&mut out, "lhs", &it.lhs);
            operand(&mut out, "rhs", &it.rhs);
            epilogue(&mut out, &it.epilogue, &it.stores);
        }
        KernelKind::Attention(it) => {
            let causal = if it.causal { " causal" } else { "" };
            let zero = if it.zero_hidden_rows { " zero-hidden-rows" } else { "" };
            let sizes = format!("batch {:?} t {} s {} d {} e {}", it.batch, it.t, it.s, it.d, it.e);
            line(&mut out, 1, format!("attention {sizes}{causal}{zero}"));
            let operands =
                [("query", &it.query), ("key", &it.key), ("value", &it.value), ("score", &it.score)];
            operands.into_iter().for_each(|(name, it)| operand(&mut out, name, it));
            epilogue(&mut out, &it.epilogue, &it.stores);
        }
    }
    out
}

/// A name as it is, or in quotes where a line could not hold it.
fn name(name: &str) -> String {
    let plain = !name.is_empty()
        && !name.starts_with('"')
        && name.trim() == name
        && !name.chars().any(|c| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}'));
    if plain { name.to_owned() } else { serde_json::Value::from(name).to_string() }
}

fn line(out: &mut String, depth: usize, text: String) {
    let _ = writeln!(out, "{}{text}", "  ".repeat(depth));
}

fn operand(out: &mut String, name: &str, operand: &Operand) {
    line(out, 1, name.to_owned());
    body(out, &operand.body, &[]);
    line(out, 2, format!("give v{}", operand.value.0));
}

fn epilogue(out: &mut String, code: &Body, stores: &[Store]) {
    line(out, 1, "epilogue".to_owned());
    body(out, code, stores);
}

fn body(out: &mut String, body: &Body, stores: &[Store]) {
    for (i, inst) in body.insts.iter().enumerate() {
        line(out, 2, format!("v{i} = {}", instruction(inst)));
    }
    for store in stores {
        line(out, 2, format!("store {} = v{}", access(&store.access), store.value.0));
    }
}

/// The name of a type or a fold.
fn named<T: PartialEq>(list: &'static [(&'static str, T)], wanted: &T) -> &'static str {
    list.iter().find(|(_, it)| it == wanted).map_or("?", |(name, _)| name)
}

fn instruction(inst: &Inst) -> String {
    match inst {
        Inst::Const(value) => constant(*value),
        Inst::Index { at, reg } => format!("{} {}", named(&TYPES, reg), affine(at)),
        Inst::Load { access: from, guard: None } => access(from),
        Inst::Load { access: from, guard: Some(guard) } => format!("{} if v{}", access(from), guard.0),
        Inst::Acc { reg } => format!("acc {}", named(&TYPES, reg)),
        Inst::Call { f, args } => {
            args.iter().fold(f.name().to_owned(), |text, value| format!("{text} v{}", value.0))
        }
        Inst::Convert { to, x } => format!("{} v{}", named(&TYPES, to), x.0),
        Inst::RoundBf16 { x } => format!("bf16 v{}", x.0),
        Inst::Bounded { x, size, trap: Some(trap) } => format!("v{} below {size} or trap {trap}", x.0),
        Inst::Bounded { x, size, trap: None } => format!("v{} below {size}", x.0),
        Inst::Fold { op, x } => format!("{} v{}", named(&FOLDS, op), x.0),
    }
}

fn constant(value: Const) -> String {
    match value {
        Const::F32(bits) => match f32::from_bits(bits) {
            x if x.is_nan() && bits != f32::NAN.to_bits() => format!("NaN({bits:#010x})"),
            x => format!("{x:?}"),
        },
        Const::I32(x) => format!("{x}i32"),
        Const::I64(x) => format!("{x}i64"),
        Const::Bool(x) => x.to_string(),
    }
}

fn access(access: &Access) -> String {
    let mut terms = affine(&access.at);
    for (value, stride) in &access.gathered {
        terms += &format!(" + {stride}*v{}", value.0);
    }
    format!("#{}[{terms}]", access.arg)
}

fn affine(affine: &Affine) -> String {
    let mut terms: Vec<String> = Vec::new();
    for (coord, &stride) in affine.strides.iter().enumerate() {
        match stride {
            0 => {}
            1 => terms.push(format!("c{coord}")),
            stride => terms.push(format!("{stride}*c{coord}")),
        }
    }
    if affine.offset != 0 || terms.is_empty() {
        terms.push(affine.offset.to_string());
    }
    terms.join(" + ")
}
