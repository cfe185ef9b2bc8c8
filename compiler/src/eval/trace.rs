//! Graphs while they are traced: nodes with their origins, numbers as constants, explicit broadcasts.

use super::builtin::Arg;
use super::machine::{Eval, Frame, Machine, Stop};
use super::value::{Name, Number, Tensor, Value};
use crate::diag::{Code, Diagnostic, Span};
use crate::ir::op::{Broadcast, Constant, Map, Matmul};
use crate::ir::{self, Graph, Op, Origin, OriginId, Type, Why};
use crate::ops::{Builder, Fault, Operand, rules};
use half::bf16;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use sx_artifact::dtype::DType;
use sx_artifact::scalar::ScalarFn;
use sx_artifact::tensor::{self, Data};

/// A graph or region that is being traced.
pub(super) struct Trace {
    pub(super) id: u32,
    pub(super) graph: Graph,
    origins: HashMap<(Span, Option<OriginId>), OriginId>,
    /// The parameter nodes there are, by name.
    pub(super) params: HashMap<Name, ir::Value>,
    /// The context nodes there are.
    pub(super) contexts: Vec<(ir::op::Context, ir::Value)>,
    /// The parameter whose first value it makes, if it does that.
    pub(super) init_of: Option<Name>,
}

impl Trace {
    /// The origin at `span` in a call whose own origin is `parent`.
    fn origin(&mut self, span: Span, parent: Option<OriginId>) -> OriginId {
        let why = if parent.is_none() { Why::Written } else { Why::Called };
        let graph = &mut self.graph;
        *self.origins.entry((span, parent)).or_insert_with(|| graph.add_origin(Origin { span, why, parent }))
    }
}

impl Machine<'_> {
    /// Begins to trace a graph.
    pub(super) fn open_trace(&mut self, name: &str) {
        self.next_trace += 1;
        self.traces.push(Trace {
            id: self.next_trace,
            graph: Graph::new(name),
            origins: HashMap::new(),
            params: HashMap::new(),
            contexts: Vec::new(),
            init_of: None,
        });
    }

    /// Ends the trace that was begun last.
    pub(super) fn close_trace(&mut self) -> Graph {
        self.traces.pop().expect("every trace that is closed was opened").graph
    }

    /// Refuses a tensor operation where no graph is traced.
    pub(super) fn traced(&mut self, callee: &str, span: Span) -> Eval<()> {
        if !self.traces.is_empty() {
            return Ok(());
        }
        let message = format!("{callee}: there is no graph being traced here");
        let diagnostic = Diagnostic::new(Code::FlowNoGraph, span, message);
        Err(self.report(diagnostic.help("tensors exist inside a `defgraph`, or a function that one calls")))
    }

    /// The tensor's value in the graph being traced.
    pub(super) fn here(&mut self, tensor: &Tensor, callee: &str, span: Span) -> Eval<ir::Value> {
        self.traced(callee, span)?;
        if self.traces.last().is_some_and(|trace| trace.id == tensor.trace) {
            return Ok(tensor.value);
        }
        let text = self.operand_text(&Value::Tensor(tensor.clone()), span);
        let message = format!("{callee}: `{text}` is a tensor of another graph");
        let diagnostic = Diagnostic::new(Code::FlowGraph, span, message);
        Err(self.report(diagnostic.help("compute it again in this graph, or pass it as an argument")))
    }

    /// A value of the graph being traced, as a tensor.
    pub(super) fn tensor(&self, value: ir::Value, written: Option<Span>) -> Value {
        let trace = self.traces.last().expect("a value of the graph being traced");
        let ty = Rc::new(trace.graph.ty(value).clone());
        Value::Tensor(Tensor { trace: trace.id, value, ty, written })
    }

    /// The results of a node of the graph being traced: a tensor, or several values.
    pub(super) fn results(&self, results: Vec<ir::Value>) -> Value {
        match results[..] {
            [alone] => self.tensor(alone, None),
            _ => Value::Values(Rc::new(results.into_iter().map(|value| self.tensor(value, None)).collect())),
        }
    }

    /// The origin of a node that the form at `span` makes: the user's calls it stands in are its parents.
    fn origin(&mut self, span: Span) -> OriginId {
        let trace = self.traces.last_mut().expect("nodes are made in a trace");
        let known = |frame: &Frame| frame.origin.filter(|(of, _)| *of == trace.id).map(|(_, origin)| origin);
        // However deep the calls are, each is looked up once.
        let last = self.calls.iter().rposition(|frame| known(frame).is_some());
        let mut parent = last.and_then(|last| known(&self.calls[last]));
        for frame in &mut self.calls[last.map_or(0, |last| last + 1)..] {
            if frame.by_user {
                parent = Some(trace.origin(frame.site, parent));
            }
            frame.origin = parent.map(|origin| (trace.id, origin));
        }
        trace.origin(span, parent)
    }

    /// Where nodes that the form at `span` makes are appended.
    fn builder(&mut self, span: Span) -> Builder<'_> {
        self.count_node();
        let (origin, marks) = (self.origin(span), self.marks);
        let trace = self.traces.last_mut().expect("nodes are made in a trace");
        Builder::at(&mut trace.graph, origin, marks)
    }

    /// Appends a node to the graph being traced.
    pub(super) fn emit(&mut self, op: Op, args: &[ir::Value], span: Span) -> Result<Vec<ir::Value>, Fault> {
        self.builder(span).node(op, args)
    }

    /// Refuses a source of more elements than can be counted.
    pub(super) fn countable(&mut self, source: &str, dims: &[ir::Dim], span: Span) -> Eval<()> {
        match crate::ops::shape::countable(dims) {
            Ok(()) => Ok(()),
            Err(fault) => Err(self.report(fault.diagnostic(source, span, &[]))),
        }
    }

    /// Appends a source whose type is stated.
    pub(super) fn emit_source(&mut self, op: Op, ty: Type, span: Span) -> ir::Value {
        self.builder(span).push(op, &[], vec![ty])[0]
    }

    /// Appends a node with one result whose operands fit; should they not, the fault is shown at `span`.
    pub(super) fn trusted(&mut self, op: Op, args: &[ir::Value], span: Span) -> Eval<ir::Value> {
        let name = rules(&op).about().name.to_string();
        match self.emit(op, args, span) {
            Ok(values) => Ok(values[0]),
            Err(fault) => Err(self.report(fault.diagnostic(&name, span, &[]))),
        }
    }

    /// An operation on tensors as they are; its faults name the operands as they were written.
    pub(super) fn operation(&mut self, callee: &str, span: Span, op: Op, args: &[Arg]) -> Eval {
        let mut values = Vec::with_capacity(args.len());
        for arg in args {
            values.push(self.operand(callee, arg)?);
        }
        match self.emit(op, &values, span) {
            Ok(results) => Ok(self.results(results)),
            Err(fault) => Err(self.fault(callee, span, fault, args)),
        }
    }

    /// Reports a fault of an operation with these operands.
    pub(super) fn fault(&mut self, callee: &str, span: Span, fault: Fault, args: &[Arg]) -> Stop {
        let operands: Vec<Operand> = args
            .iter()
            .map(|arg| Operand {
                text: self.operand_text(&arg.value, arg.span),
                ty: match &arg.value {
                    Value::Tensor(tensor) => Some((*tensor.ty).clone()),
                    _ => None,
                },
            })
            .collect();
        self.report(fault.diagnostic(callee, span, &operands))
    }

    /// How the user wrote an operand. In a function of the library that is what the user's call passed, or
    /// else the library's own text.
    pub(super) fn operand_text(&self, value: &Value, span: Span) -> String {
        match value {
            Value::Tensor(Tensor { written: Some(written), .. }) if self.sources.is_library(span.file) => {
                self.text(*written)
            }
            Value::Int(_) | Value::Float(_) if self.sources.is_library(span.file) => value.to_string(),
            _ => self.text(span),
        }
    }

    /// A tensor operand's value.
    pub(super) fn operand(&mut self, callee: &str, arg: &Arg) -> Eval<ir::Value> {
        match &arg.value {
            Value::Tensor(tensor) => {
                let tensor = tensor.clone();
                self.here(&tensor, callee, arg.span)
            }
            other => Err(self.wants_tensor(callee, other, arg.span)),
        }
    }

    pub(super) fn wants_tensor(&mut self, callee: &str, value: &Value, span: Span) -> Stop {
        let text = self.operand_text(value, span);
        let message = format!("{callee}: a tensor was expected, and `{text}` is {}", value.kind());
        self.fail(Code::DimTensor, span, message)
    }

    /// An elementwise function: numbers become constants of the tensors' dtype, and every broadcast a node.
    pub(super) fn map_call(&mut self, callee: &str, span: Span, map: Map, args: &[Arg]) -> Eval {
        self.traced(callee, span)?;
        // The condition of `where` says nothing about the dtype of its branches.
        let typed = if map.f == ScalarFn::Where { &args[1..] } else { args };
        let dtype = self.common_dtype(typed);
        let mut values = Vec::with_capacity(args.len());
        for (i, arg) in args.iter().enumerate() {
            let condition = map.f == ScalarFn::Where && i == 0;
            let wanted = if condition { DType::Bool } else { dtype };
            values.push(self.element(callee, arg, wanted, args)?);
        }
        let result = self.map_values(map, &values, span);
        match result {
            Ok(value) => Ok(self.tensor(value, None)),
            Err(fault) => Err(self.fault(callee, span, fault, args)),
        }
    }

    /// As [`Machine::map_call`], of values of the graph.
    pub(super) fn map_values(
        &mut self,
        map: Map,
        values: &[ir::Value],
        span: Span,
    ) -> Result<ir::Value, Fault> {
        self.builder(span).map(map.f, values)
    }

    /// A matrix product; leading axes broadcast by nodes of their own.
    pub(super) fn matmul(&mut self, callee: &str, span: Span, op: Matmul, args: &[Arg]) -> Eval {
        let (a, b) = (self.operand(callee, &args[0])?, self.operand(callee, &args[1])?);
        match self.builder(span).matmul(op, a, b) {
            Ok(value) => Ok(self.tensor(value, None)),
            Err(fault) => Err(self.fault(callee, span, fault, args)),
        }
    }

    /// A number as a constant of the dtype that it takes among `all`.
    pub(super) fn number_beside(&mut self, callee: &str, arg: &Arg, all: &[Arg]) -> Eval {
        self.traced(callee, arg.span)?;
        let dtype = self.common_dtype(all);
        let value = self.element(callee, arg, dtype, all)?;
        Ok(self.tensor(value, None))
    }

    /// The dtype that numbers take: the first tensor's, or else f32 if one is a float and i32 if not.
    fn common_dtype(&self, args: &[Arg]) -> DType {
        let tensor = args.iter().find_map(|arg| match &arg.value {
            Value::Tensor(tensor) => Some(tensor.ty.dtype),
            _ => None,
        });
        tensor.unwrap_or_else(|| {
            if args.iter().all(|arg| matches!(arg.value, Value::Bool(_))) {
                DType::Bool
            } else if args.iter().any(|arg| matches!(arg.value, Value::Float(_))) {
                DType::F32
            } else {
                DType::I32
            }
        })
    }

    /// A tensor, or a number as a constant of `dtype`.
    fn element(&mut self, callee: &str, arg: &Arg, dtype: DType, all: &[Arg]) -> Eval<ir::Value> {
        match &arg.value {
            Value::Tensor(_) => self.operand(callee, arg),
            Value::Bool(b) => {
                let value = Data::Bool(vec![*b]);
                self.scalar(value, arg.span)
            }
            value => match Number::of(value) {
                Some(number) => {
                    // A number beside a mask keeps its own dtype, and the operation says what it thinks.
                    let dtype = match (dtype, number) {
                        (DType::Bool, Number::Int(_)) => DType::I32,
                        (DType::Bool, Number::Float(_)) => DType::F32,
                        (dtype, _) => dtype,
                    };
                    match number_as(number, dtype) {
                        Some(data) => self.scalar(data, arg.span),
                        None => Err(self.no_number(callee, arg, dtype, all)),
                    }
                }
                None => Err(self.wants_tensor(callee, &arg.value, arg.span)),
            },
        }
    }

    fn no_number(&mut self, callee: &str, arg: &Arg, dtype: DType, all: &[Arg]) -> Stop {
        let text = self.operand_text(&arg.value, arg.span);
        let message = match arg.value {
            Value::Float(x) if x.fract() != 0.0 || !x.is_finite() => {
                format!("{callee}: `{text}` is not an integer, and stands beside an {dtype} tensor")
            }
            _ => format!("{callee}: `{text}` is out of range for the {dtype} tensor beside it"),
        };
        let diagnostic = Diagnostic::new(Code::DimDtype, arg.span, message);
        let tensor = all.iter().find(|arg| matches!(arg.value, Value::Tensor(_)));
        let Some(tensor) = tensor else { return self.report(diagnostic) };
        let text = self.operand_text(&tensor.value, tensor.span);
        let to = if matches!(arg.value, Value::Float(_)) { "f32" } else { "i64" };
        self.report(diagnostic.help(format!("`(cast {text} :{to})`")))
    }

    /// A constant of rank 0.
    pub(super) fn scalar(&mut self, data: Data, span: Span) -> Eval<ir::Value> {
        let value = Arc::new(tensor::Tensor::new(&[], data));
        self.trusted(Op::Constant(Constant { value }), &[], span)
    }

    /// A constant of any shape with one repeated value: a scalar and a broadcast.
    pub(super) fn filled(&mut self, data: Data, dims: Vec<ir::Dim>, span: Span) -> Eval {
        let scalar = self.scalar(data, span)?;
        if dims.is_empty() {
            return Ok(self.tensor(scalar, None));
        }
        match self.emit(Op::Broadcast(Broadcast { dims }), &[scalar], span) {
            Ok(values) => Ok(self.tensor(values[0], None)),
            Err(fault) => Err(self.report(fault.diagnostic("full", span, &[]))),
        }
    }
}

/// A number as one element of `dtype`, rounded once; `None` for a fraction, or what is out of range, of an
/// integer dtype.
pub(super) fn number_as(number: Number, dtype: DType) -> Option<Data> {
    let whole = || match number {
        Number::Int(n) => Some(n),
        Number::Float(x) if x.fract() == 0.0 && x >= i64::MIN as f64 && x < i64::MAX as f64 => Some(x as i64),
        Number::Float(_) => None,
    };
    Some(match dtype {
        DType::F32 => Data::F32(vec![match number {
            Number::Int(n) => n as f32,
            Number::Float(x) => x as f32,
        }]),
        DType::Bf16 => Data::Bf16(vec![bf16_of(number)]),
        DType::I32 => Data::I32(vec![i32::try_from(whole()?).ok()?]),
        DType::I64 => Data::I64(vec![whole()?]),
        DType::Bool => Data::Bool(vec![match whole()? {
            0 => false,
            1 => true,
            _ => return None,
        }]),
    })
}

/// Rounded once, to nearest even.
fn bf16_of(number: Number) -> bf16 {
    match number {
        Number::Float(x) => bf16::from_f64(x),
        // The low bits, which f64 might round, only matter by whether there are any: one bit stands for them.
        Number::Int(n) => {
            let (high, low) = (n.unsigned_abs() >> 16, n.unsigned_abs() & 0xffff);
            let size = match high {
                0 => low as f64,
                _ => (high << 1 | u64::from(low != 0)) as f64 * 32768.0,
            };
            bf16::from_f64(if n < 0 { -size } else { size })
        }
    }
}
