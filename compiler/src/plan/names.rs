//! What a program calls things: kernels, operands, source lines, domains.

use crate::diag::{Sources, Span};
use crate::ir::{Domain, Graph, Op, OriginId, Type, Value};
use crate::kernel::lower::Lowered;
use std::collections::HashMap;
use std::sync::Arc;
use sx_artifact::kernel::KernelKind;
use sx_artifact::program::Check;

/// A readable name for what a kernel computes: the library function it comes from, or its operations.
pub fn kernel(graph: &Graph, lowered: &Lowered, names: &HashMap<OriginId, Arc<str>>) -> String {
    let mut parts: Vec<String> = Vec::new();
    match lowered.kernel.kind {
        KernelKind::Contraction(_) => parts.push("matmul".to_owned()),
        KernelKind::Attention(_) => parts.push("attention".to_owned()),
        KernelKind::Loop(_) => {}
    }
    for id in &lowered.nodes {
        // Constants and inputs serve whoever needs them, whatever they were first written for.
        if matches!(graph.node(*id).op, Op::Constant(_) | Op::Broadcast(_) | Op::Input(_) | Op::Param(_)) {
            continue;
        }
        let part = match names.get(&graph.node(*id).origin) {
            Some(name) => name.to_string(),
            None => match &graph.node(*id).op {
                Op::Map(map) => word(map.f.name()).to_owned(),
                Op::Matmul(_) | Op::Attention(_) => continue,
                op => word(crate::ops::rules(op).about().name).to_owned(),
            },
        };
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    let movement = ["reshape", "transpose", "slice", "as", "iota"];
    if parts.iter().any(|part| !movement.contains(&part.as_str())) {
        parts.retain(|part| !movement.contains(&part.as_str()));
    }
    parts.truncate(4);
    let name = parts.join("_").replace(|c: char| !c.is_ascii_alphanumeric() && c != '_', "_");
    if name.is_empty() { "copy".to_owned() } else { name }
}

/// A function's name as a word.
fn word(name: &str) -> &str {
    match name {
        "+" => "add",
        "-" => "sub",
        "*" => "mul",
        "/" => "div",
        "=" => "eq",
        "!=" => "ne",
        "<" => "lt",
        "<=" => "le",
        ">" => "gt",
        ">=" => "ge",
        other => other,
    }
}

/// The operand of an indexing operation, for trap messages: the name of an input or parameter whose positions it
/// has, or its operation.
pub fn operand(graph: &Graph, value: Value) -> String {
    let node = graph.node(value.node);
    match &node.op {
        Op::Input(input) => input.name.clone(),
        Op::Param(param) => param.name.clone(),
        Op::Reshape(_) | Op::Cast(_) | Op::As(_) => operand(graph, node.args[0]),
        op => crate::ops::rules(op).about().name.to_owned(),
    }
}

/// The innermost span of an origin that is in a file of the user's.
pub fn users_span(graph: &Graph, origin: OriginId, sources: &Sources) -> Span {
    let mut at = graph.origin(origin);
    while sources.is_library(at.span.file) {
        match at.parent {
            Some(parent) => at = graph.origin(parent),
            None => break,
        }
    }
    at.span
}

/// The domain as messages print it; nothing for `Real`, nor for a plain mask.
pub fn domain(ty: &Type) -> String {
    match ty.domain {
        Domain::Mask => String::new(),
        _ => ty.domain.shown(&ty.dims, &[]).unwrap_or_default(),
    }
}

/// What is checked of the values of an input.
pub fn check(ty: &Type) -> Option<Check> {
    match &ty.domain {
        Domain::Range(range) if range.lo == f64::NEG_INFINITY && range.hi == f64::INFINITY => None,
        Domain::Range(range) => Some(Check::Range {
            low: range.lo.is_finite().then_some(range.lo),
            high: range.hi.is_finite().then_some(range.hi),
            low_open: range.lo_open && range.lo.is_finite(),
            high_open: range.hi_open && range.hi.is_finite(),
        }),
        Domain::Logit { .. } | Domain::Mask => None,
        Domain::Prob { over } => Some(Check::Prob { over: *over as u32 }),
        Domain::LogProb { .. } => {
            Some(Check::Range { low: None, high: Some(0.0), low_open: false, high_open: false })
        }
        Domain::Binary => Some(Check::Binary),
        Domain::Additive => Some(Check::Additive),
        Domain::Index(dim) => Some(Check::Index { size: dim.size }),
    }
}
