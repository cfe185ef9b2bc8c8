//! Tensors in other shapes and orders, and questions about shapes.

use super::arguments::size_value;
use super::{Arg, Builtin, Call};
use crate::diag::{Code, Diagnostic};
use crate::eval::machine::{Eval, Machine};
use crate::eval::value::{Number, Value};
use crate::ir::Op;
use crate::ir::op::{Broadcast, Concat, Gather, Index, Reshape, Slice, Transpose};

pub(super) static TABLE: [Builtin; 12] = [
    Builtin {
        name: "reshape",
        signature: "(reshape x [sizes])",
        summary: "",
        example: "",
        least: 2,
        most: Some(2),
        keys: &[],
        run: reshape,
    },
    Builtin {
        name: "broadcast-to",
        signature: "(broadcast-to x [sizes])",
        summary: "",
        example: "",
        least: 2,
        most: Some(2),
        keys: &[],
        run: broadcast_to,
    },
    Builtin {
        name: "transpose",
        signature: "(transpose x [0 2 1])",
        summary: "",
        example: "",
        least: 2,
        most: Some(2),
        keys: &[],
        run: transpose,
    },
    Builtin {
        name: "slice",
        signature: "(slice x axis start stop)",
        summary: "",
        example: "",
        least: 4,
        most: Some(4),
        keys: &[],
        run: slice,
    },
    Builtin {
        name: "concat",
        signature: "(concat axis [a b...])",
        summary: "",
        example: "",
        least: 2,
        most: Some(2),
        keys: &[],
        run: concat,
    },
    Builtin {
        name: "index",
        signature: "(index table ids)",
        summary: "",
        example: "",
        least: 2,
        most: Some(2),
        keys: &[],
        run: |m, c| m.operation("index", c.span, Op::Index(Index), &c.args),
    },
    Builtin {
        name: "gather",
        signature: "(gather x idx :axis -1)",
        summary: "",
        example: "",
        least: 2,
        most: Some(2),
        keys: &["axis"],
        run: gather,
    },
    Builtin {
        name: "shape",
        signature: "(shape x)",
        summary: "the sizes of a tensor, a vector; known while the graph is traced, as `rank`, `dim`, `numel` and `dtype` are",
        example: "(shape (zeros [2 3])) ; => 2 3",
        least: 1,
        most: Some(1),
        keys: &[],
        run: shape,
    },
    Builtin {
        name: "rank",
        signature: "(rank x)",
        summary: "how many axes a tensor has",
        example: "(rank (zeros [2 3])) ; => 2",
        least: 1,
        most: Some(1),
        keys: &[],
        run: |m, c| Ok(Value::Int(known(m, c)?.rank() as i64)),
    },
    Builtin {
        name: "dim",
        signature: "(dim x axis)",
        summary: "the size of an axis",
        example: "(dim (zeros [2 3]) -1) ; => 3",
        least: 2,
        most: Some(2),
        keys: &[],
        run: dim,
    },
    Builtin {
        name: "numel",
        signature: "(numel x)",
        summary: "how many elements a tensor has",
        example: "(numel (zeros [2 3])) ; => 6",
        least: 1,
        most: Some(1),
        keys: &[],
        run: |m, c| Ok(Value::Int(known(m, c)?.count() as i64)),
    },
    Builtin {
        name: "dtype",
        signature: "(dtype x)",
        summary: "the dtype of a tensor, a keyword",
        example: "(= (dtype (zeros [2])) :f32) ; => true",
        least: 1,
        most: Some(1),
        keys: &[],
        run: |m, c| Ok(Value::Keyword(known(m, c)?.dtype.name().into())),
    },
];

/// The type of a tensor, of whatever graph: it is an ordinary value.
fn known(m: &mut Machine<'_>, call: &Call) -> Eval<std::rc::Rc<crate::ir::Type>> {
    match &call.args[0].value {
        Value::Tensor(tensor) => Ok(tensor.ty.clone()),
        other => Err(m.wants_tensor(call.callee, other, call.args[0].span)),
    }
}

fn reshape(m: &mut Machine<'_>, call: &Call) -> Eval {
    m.tensor_arg("reshape", &call.args[0])?;
    let dims = m.dims("reshape", &call.args[1])?;
    m.operation("reshape", call.span, Op::Reshape(Reshape { dims }), &call.args[..1])
}

fn broadcast_to(m: &mut Machine<'_>, call: &Call) -> Eval {
    let dims = m.dims("broadcast-to", &call.args[1])?;
    if let Some(number) = Number::of(&call.args[0].value) {
        m.traced("broadcast-to", call.span)?;
        let dtype = if matches!(number, Number::Float(_)) {
            sx_artifact::dtype::DType::F32
        } else {
            sx_artifact::dtype::DType::I32
        };
        return m.full_of(call, number, dtype, dims);
    }
    m.operation("broadcast-to", call.span, Op::Broadcast(Broadcast { dims }), &call.args[..1])
}

fn transpose(m: &mut Machine<'_>, call: &Call) -> Eval {
    let tensor = m.tensor_arg("transpose", &call.args[0])?;
    let mut order = Vec::new();
    for item in m.items("transpose", &call.args[1])?.to_vec() {
        order.push(m.axis_in(&item, &tensor.ty, "transpose", call.args[1].span)?);
    }
    m.operation("transpose", call.span, Op::Transpose(Transpose { order }), &call.args[..1])
}

fn slice(m: &mut Machine<'_>, call: &Call) -> Eval {
    let tensor = m.tensor_arg("slice", &call.args[0])?;
    let axis = m.axis_in(&call.args[1].value, &tensor.ty, "slice", call.args[1].span)?;
    let (start, stop) = (m.int("slice", &call.args[2])?, m.int("slice", &call.args[3])?);
    let (Ok(from), Ok(to)) = (u64::try_from(start), u64::try_from(stop)) else {
        let diagnostic = Diagnostic::new(
            Code::DimShape,
            call.span,
            format!("slice: the bounds {start} and {stop} are not both integers from 0 up"),
        );
        return Err(
            m.report(diagnostic.note(format!("axis {axis} has {} positions", tensor.ty.dims[axis].size)))
        );
    };
    m.operation("slice", call.span, Op::Slice(Slice { axis, start: from, stop: to }), &call.args[..1])
}

fn concat(m: &mut Machine<'_>, call: &Call) -> Eval {
    let list = &call.args[1];
    let parts: Vec<Arg> = match m.items("concat", list)? {
        [] => return Err(m.fail(Code::DimShape, call.span, "concat: there is nothing to put together")),
        items => {
            m.copied(items.len(), call.span)?;
            items.iter().map(|value| Arg { value: value.clone(), span: list.span }).collect()
        }
    };
    let parts = m.written_parts(parts, list);
    let first = m.tensor_arg("concat", &parts[0])?;
    let axis = m.axis_in(&call.args[0].value, &first.ty, "concat", call.args[0].span)?;
    if parts.len() == 1 {
        return Ok(parts[0].value.clone());
    }
    m.operation("concat", call.span, Op::Concat(Concat { axis }), &parts)
}

fn gather(m: &mut Machine<'_>, call: &Call) -> Eval {
    let tensor = m.tensor_arg("gather", &call.args[0])?;
    let axis = m.axis_key(call, &tensor.ty, -1)?;
    m.operation("gather", call.span, Op::Gather(Gather { axis }), &call.args)
}

fn shape(m: &mut Machine<'_>, call: &Call) -> Eval {
    let ty = known(m, call)?;
    Ok(Value::vector(ty.dims.iter().map(size_value).collect()))
}

fn dim(m: &mut Machine<'_>, call: &Call) -> Eval {
    let ty = known(m, call)?;
    let axis = m.axis_in(&call.args[1].value, &ty, "dim", call.args[1].span)?;
    Ok(size_value(&ty.dims[axis]))
}

impl Machine<'_> {
    /// Tensors from a list, each with the place where the user wrote it, for messages.
    fn written_parts(&self, parts: Vec<Arg>, list: &Arg) -> Vec<Arg> {
        let placed = |part: Arg| {
            let span = match &part.value {
                Value::Tensor(tensor) => tensor.written.filter(|_| !self.sources.is_library(list.span.file)),
                _ => None,
            };
            Arg { span: span.unwrap_or(part.span), ..part }
        };
        parts.into_iter().map(placed).collect()
    }
}
