//! Kernels as text, for people and for tests.

use std::fmt::Write;
use sx_artifact::kernel::{Access, Affine, Body, Const, Inst, Kernel, KernelKind, Operand, Store};

/// The kernel as text, a line an instruction.
pub fn print(kernel: &Kernel) -> String {
    let mut out = format!("kernel {}\n", kernel.name);
    for (i, arg) in kernel.args.iter().enumerate() {
        let mode = match arg.mode {
            sx_artifact::kernel::Mode::Read => "read",
            sx_artifact::kernel::Mode::Write => "write",
        };
        line(&mut out, 1, format!("#{i} {mode} {}[{}]", arg.dtype, arg.len));
    }
    match &kernel.kind {
        KernelKind::Loop(work) => {
            let along =
                if work.along.is_empty() { String::new() } else { format!(" along {:?}", work.along) };
            line(&mut out, 1, format!("for {:?}{along}", work.dims));
            body(&mut out, 2, &work.body, &work.stores);
        }
        KernelKind::Contraction(work) => {
            line(
                &mut out,
                1,
                format!("contract batch {:?} m {:?} n {:?} k {:?}", work.batch, work.m, work.n, work.k),
            );
            operand(&mut out, "lhs", &work.lhs);
            operand(&mut out, "rhs", &work.rhs);
            line(&mut out, 1, "epilogue".to_owned());
            body(&mut out, 2, &work.epilogue, &work.stores);
        }
        KernelKind::Attention(work) => {
            let causal = if work.causal { " causal" } else { "" };
            let zero = if work.zero_hidden_rows { " zero-hidden-rows" } else { "" };
            line(
                &mut out,
                1,
                format!(
                    "attention batch {:?} t {} s {} d {} e {}{causal}{zero}",
                    work.batch, work.t, work.s, work.d, work.e
                ),
            );
            operand(&mut out, "query", &work.query);
            operand(&mut out, "key", &work.key);
            operand(&mut out, "value", &work.value);
            operand(&mut out, "score", &work.score);
            line(&mut out, 1, "epilogue".to_owned());
            body(&mut out, 2, &work.epilogue, &work.stores);
        }
    }
    out
}

fn line(out: &mut String, depth: usize, text: String) {
    let _ = writeln!(out, "{}{text}", "  ".repeat(depth));
}

fn operand(out: &mut String, name: &str, operand: &Operand) {
    line(out, 1, name.to_owned());
    body(out, 2, &operand.body, &[]);
    line(out, 2, format!("give v{}", operand.value.0));
}

fn body(out: &mut String, depth: usize, body: &Body, stores: &[Store]) {
    for (i, inst) in body.insts.iter().enumerate() {
        line(out, depth, format!("v{i} = {}", instruction(inst)));
    }
    for store in stores {
        line(out, depth, format!("store {} = v{}", access(&store.access), store.value.0));
    }
}

fn instruction(inst: &Inst) -> String {
    match inst {
        Inst::Const(Const::F32(bits)) => format!("{:?}", f32::from_bits(*bits)),
        Inst::Const(Const::I32(x)) => format!("{x}i32"),
        Inst::Const(Const::I64(x)) => format!("{x}i64"),
        Inst::Const(Const::Bool(x)) => x.to_string(),
        Inst::Index { at, reg } => format!("{reg:?} {}", affine(at)).to_lowercase(),
        Inst::Load { access: from, guard: None } => access(from),
        Inst::Load { access: from, guard: Some(guard) } => format!("{} if v{}", access(from), guard.0),
        Inst::Acc { .. } => "acc".to_owned(),
        Inst::Call { f, args } => {
            let args: Vec<String> = args.iter().map(|v| format!("v{}", v.0)).collect();
            format!("{} {}", f.name(), args.join(" "))
        }
        Inst::Convert { to, x } => format!("{to:?} v{}", x.0).to_lowercase(),
        Inst::RoundBf16 { x } => format!("bf16 v{}", x.0),
        Inst::Bounded { x, size, trap: Some(trap) } => format!("v{} below {size} or trap {trap}", x.0),
        Inst::Bounded { x, size, trap: None } => format!("v{} below {size}", x.0),
        Inst::Fold { op, x } => format!("{op:?} v{}", x.0).to_lowercase(),
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
