//! Sums of products by named axes, as transposes, reshapes and matrix products.

use super::{Arg, Builtin, Call};
use crate::diag::{Code, Diagnostic, Span};
use crate::eval::machine::{Eval, Machine, Stop};
use crate::eval::value::Value;
use crate::ir::op::{Iota, Map, Matmul, Reduce, Reshape, Transpose};
use crate::ir::{self, Dim, Op};
use sx_artifact::dtype::DType;
use sx_artifact::kernel::FoldOp;
use sx_artifact::scalar::ScalarFn;
use sx_artifact::tensor::Data;

pub(super) static TABLE: [Builtin; 1] = [Builtin {
    name: "%einsum",
    signature: "(%einsum spec x...)",
    summary: "a sum of products by named axes",
    example: "",
    least: 2,
    most: None,
    keys: &[],
    run: einsum,
}];

/// A tensor whose axes have names.
#[derive(Clone)]
struct Named {
    value: ir::Value,
    names: Vec<String>,
}

/// What the text says.
struct Spec {
    inputs: Vec<Vec<String>>,
    output: Vec<String>,
}

fn einsum(m: &mut Machine<'_>, call: &Call) -> Eval {
    let text = m.string("einsum", &call.args[0])?;
    let operands = &call.args[1..];
    let spec = m.einsum_spec(&text, call)?;
    if spec.inputs.len() != operands.len() {
        let message = format!(
            "einsum: `{text}` is about {} tensors, and {} are given",
            spec.inputs.len(),
            operands.len()
        );
        return Err(m.fail(Code::CallCount, call.span, message));
    }
    let mut terms = Vec::new();
    for (names, arg) in spec.inputs.iter().zip(operands) {
        terms.push(Named { value: m.operand("einsum", arg)?, names: names.clone() });
    }
    m.einsum_sizes(&terms, operands, &text, call)?;
    let mut terms = terms.into_iter();
    let first = terms.next().expect("there is one operand at least");
    let mut total = m.diagonal(first, call.span)?;
    let mut later: Vec<Named> = terms.collect();
    while !later.is_empty() {
        let next = m.diagonal(later.remove(0), call.span)?;
        let needed: Vec<&String> =
            spec.output.iter().chain(later.iter().flat_map(|term| &term.names)).collect();
        total = m.product(total, next, &needed, call, operands)?;
    }
    let needed: Vec<&String> = spec.output.iter().collect();
    let total = m.summed(total, |name| needed.contains(&name), call.span)?;
    let total = m.ordered(total, &spec.output, call.span)?;
    Ok(m.tensor(total.value, None))
}

impl Machine<'_> {
    fn einsum_spec(&mut self, text: &str, call: &Call) -> Eval<Spec> {
        let Some((inputs, output)) = text.split_once("->") else {
            return Err(self.einsum_fault(call, "it has no `->`".to_string()));
        };
        let names = |part: &str| part.split_whitespace().map(str::to_string).collect::<Vec<_>>();
        let spec = Spec { inputs: inputs.split(',').map(names).collect(), output: names(output) };
        for (i, name) in spec.output.iter().enumerate() {
            if spec.output[..i].contains(name) {
                return Err(self.einsum_fault(call, format!("`{name}` stands twice after `->`")));
            }
            if !spec.inputs.iter().any(|input| input.contains(name)) {
                return Err(self.einsum_fault(call, format!("`{name}` after `->` is an axis of no operand")));
            }
        }
        Ok(spec)
    }

    fn einsum_fault(&mut self, call: &Call, problem: String) -> Stop {
        let text = self.operand_text(&call.args[0].value, call.args[0].span);
        let diagnostic = Diagnostic::new(Code::DimShape, call.span, format!("einsum: {text}: {problem}"));
        self.report(diagnostic.note("axes are names with spaces between them: \"b i, i j -> b j\""))
    }

    /// Every operand has as many axes as names, and equal names have equal sizes.
    fn einsum_sizes(&mut self, terms: &[Named], operands: &[Arg], text: &str, call: &Call) -> Eval<()> {
        let mut sizes: Vec<(&String, u64)> = Vec::new();
        for (term, arg) in terms.iter().zip(operands) {
            let dims = self.dims_of(term.value);
            let shown = self.operand_text(&arg.value, arg.span);
            if dims.len() != term.names.len() {
                let message = format!(
                    "`{shown}` has {} axes, and `{}` names {}",
                    dims.len(),
                    term.names.join(" "),
                    term.names.len()
                );
                return Err(self.einsum_fault(call, message));
            }
            for (name, dim) in term.names.iter().zip(&dims) {
                match sizes.iter().find(|(other, _)| *other == name) {
                    Some((_, size)) if *size != dim.size => {
                        let message = format!(
                            "einsum: `{name}` in \"{text}\" is {size} and, in `{shown}`, {}",
                            dim.size
                        );
                        let listed: Vec<String> = operands
                            .iter()
                            .map(|arg| {
                                let ty = match &arg.value {
                                    Value::Tensor(t) => t.ty.to_string(),
                                    _ => String::new(),
                                };
                                format!("`{}` {ty}", self.operand_text(&arg.value, arg.span))
                            })
                            .collect();
                        let diagnostic = Diagnostic::new(Code::DimShape, call.span, message);
                        return Err(self.report(diagnostic.note(format!("operands: {}", listed.join(", ")))));
                    }
                    Some(_) => {}
                    None => sizes.push((name, dim.size)),
                }
            }
        }
        Ok(())
    }

    fn dims_of(&self, value: ir::Value) -> Vec<Dim> {
        self.traces.last().expect("a graph is being traced").graph.ty(value).dims.clone()
    }

    /// Joins the axes of one operand that have one name.
    fn diagonal(&mut self, term: Named, span: Span) -> Eval<Named> {
        let mut term = term;
        while let Some((p, q)) = repeated(&term.names) {
            let dims = self.dims_of(term.value);
            let iota = |axis| Op::Iota(Iota { dims: dims.clone(), axis, dtype: DType::I32 });
            let rows = self.trusted(iota(p), &[], span)?;
            let columns = self.trusted(iota(q), &[], span)?;
            let mask = self.trusted(Op::Map(Map { f: ScalarFn::Eq }), &[rows, columns], span)?;
            let graph = &self.traces.last().expect("a graph is being traced").graph;
            let dtype = graph.ty(term.value).dtype;
            let zero = super::super::trace::number_as(crate::eval::value::Number::Int(0), dtype)
                .unwrap_or(Data::F32(vec![0.0]));
            let zero = self.scalar(zero, span)?;
            let kept = self.map_values(Map { f: ScalarFn::Where }, &[mask, term.value, zero], span);
            let kept = match kept {
                Ok(kept) => kept,
                Err(fault) => return Err(self.report(fault.diagnostic("einsum", span, &[]))),
            };
            let op = Op::Reduce(Reduce { op: FoldOp::Sum, axes: vec![q], keepdims: false });
            term.value = self.trusted(op, &[kept], span)?;
            term.names.remove(q);
        }
        Ok(term)
    }

    /// Sums over the axes that are not kept.
    fn summed(&mut self, term: Named, kept: impl Fn(&String) -> bool, span: Span) -> Eval<Named> {
        let axes: Vec<usize> = (0..term.names.len()).filter(|&at| !kept(&term.names[at])).collect();
        if axes.is_empty() {
            return Ok(term);
        }
        let names = term.names.iter().filter(|name| kept(name)).cloned().collect();
        let op = Op::Reduce(Reduce { op: FoldOp::Sum, axes, keepdims: false });
        Ok(Named { value: self.trusted(op, &[term.value], span)?, names })
    }

    /// The axes in this order.
    fn ordered(&mut self, term: Named, names: &[String], span: Span) -> Eval<Named> {
        if term.names == names {
            return Ok(term);
        }
        let place =
            |name: &String| term.names.iter().position(|other| other == name).expect("the same names");
        let order = names.iter().map(place).collect();
        let value = self.trusted(Op::Transpose(Transpose { order }), &[term.value], span)?;
        Ok(Named { value, names: names.to_vec() })
    }

    fn reshaped(&mut self, value: ir::Value, dims: Vec<Dim>, span: Span) -> Eval<ir::Value> {
        if self.dims_of(value) == dims {
            return Ok(value);
        }
        self.trusted(Op::Reshape(Reshape { dims }), &[value], span)
    }

    /// The product of two terms, summed over the axes that nothing later needs.
    fn product(
        &mut self,
        a: Named,
        b: Named,
        needed: &[&String],
        call: &Call,
        operands: &[Arg],
    ) -> Eval<Named> {
        let span = call.span;
        let a = self.summed(a.clone(), |name| needed.contains(&name) || b.names.contains(name), span)?;
        let b = self.summed(b, |name| needed.contains(&name) || a.names.contains(name), span)?;
        let shared = |name: &&String| b.names.contains(name);
        let batch: Vec<String> =
            a.names.iter().filter(shared).filter(|n| needed.contains(n)).cloned().collect();
        let inner: Vec<String> =
            a.names.iter().filter(shared).filter(|n| !needed.contains(n)).cloned().collect();
        let left: Vec<String> = a.names.iter().filter(|n| !b.names.contains(n)).cloned().collect();
        let right: Vec<String> = b.names.iter().filter(|n| !a.names.contains(n)).cloned().collect();
        let a = self.ordered(a, &[&batch[..], &left, &inner].concat(), span)?;
        let b = self.ordered(b, &[&batch[..], &inner, &right].concat(), span)?;
        let (a_dims, b_dims) = (self.dims_of(a.value), self.dims_of(b.value));
        let outer = &a_dims[..batch.len()];
        let rows = &a_dims[batch.len()..batch.len() + left.len()];
        let columns = &b_dims[batch.len() + inner.len()..];
        let names = [&batch[..], &left, &right].concat();
        let dims = [outer, rows, columns].concat();
        let value = if inner.is_empty() {
            let ones = |count: usize| vec![Dim::of(1); count];
            let a =
                self.reshaped(a.value, [outer.to_vec(), rows.to_vec(), ones(columns.len())].concat(), span)?;
            let b =
                self.reshaped(b.value, [outer.to_vec(), ones(rows.len()), columns.to_vec()].concat(), span)?;
            self.map_values(Map { f: ScalarFn::Mul }, &[a, b], span)
        } else {
            let depth = joined(&a_dims[batch.len() + left.len()..]);
            let a =
                self.reshaped(a.value, [outer.to_vec(), vec![joined(rows), depth.clone()]].concat(), span)?;
            let b = self.reshaped(b.value, [outer.to_vec(), vec![depth, joined(columns)]].concat(), span)?;
            self.emit(Op::Matmul(Matmul { out_f32: false }), &[a, b], span).map(|values| values[0])
        };
        match value {
            Ok(value) => Ok(Named { value: self.reshaped(value, dims, span)?, names }),
            Err(fault) => Err(self.fault("einsum", span, fault, operands)),
        }
    }
}

/// Several dimensions as one; a single one keeps its identity.
fn joined(dims: &[Dim]) -> Dim {
    match dims {
        [dim] => dim.clone(),
        dims => Dim::of(dims.iter().map(|dim| dim.size).product()),
    }
}

/// The first two places that have one name.
fn repeated(names: &[String]) -> Option<(usize, usize)> {
    (0..names.len()).find_map(|q| names[..q].iter().position(|name| *name == names[q]).map(|p| (p, q)))
}
