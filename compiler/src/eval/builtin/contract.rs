//! Matrix products, and composites for the library.

use super::{Builtin, Call, builtin};
use crate::diag::Code;
use crate::eval::machine::{Eval, Machine};
use crate::eval::value::Value;
use crate::ir::op::Matmul;

pub(super) static TABLE: [Builtin; 2] = [
    builtin!("matmul" 2 Some(2), &["out"], "(matmul a b :out :f32)" "the matrix product over the last two axes; leading axes broadcast" "(matmul a b)" matmul),
    builtin!("%composite" 3 None, &[], "(%composite name f x...)" "calls f as one node with a region" "" composite),
];

fn matmul(m: &mut Machine<'_>, call: &Call) -> Eval {
    let out_f32 = match call.key("out") {
        None => false,
        Some(arg) => match &arg.value {
            Value::Keyword(name) if &**name == "f32" => true,
            other => {
                let message = format!("matmul: `:out` is `:f32` or left out, not {other}");
                return Err(m.fail(Code::DimDtype, arg.span, message));
            }
        },
    };
    m.matmul("matmul", call.span, Matmul { out_f32 }, &call.args)
}

fn composite(m: &mut Machine<'_>, call: &Call) -> Eval {
    let name = m.string(call.callee, &call.args[0])?;
    let function = m.function(call.callee, &call.args[1])?;
    m.composite(&name, &function, &call.args[2..], call.span)
}
