//! Composites: library functions that stand in a graph as one node with a region, and state their domain.

use super::{Arg, Builtin, Call};
use crate::diag::{Code, Diagnostic, Span};
use crate::eval::machine::{Eval, Machine};
use crate::eval::value::{Function, Value};
use crate::ir::{self, Domain, Graph, Interval, Op};
use std::rc::Rc;
use std::sync::Arc;
use sx_artifact::dtype::DType;

pub(super) static TABLE: [Builtin; 2] = [
    Builtin {
        name: "%composite",
        signature: "(%composite name f x... :domain nil)",
        summary: "calls f as one node with a region; `:domain` is what is known of its first result: 'NonNeg, '(Prob axis)",
        example: "",
        least: 3,
        most: None,
        keys: &["domain"],
        run: composite,
    },
    Builtin {
        name: "%scores-mask",
        signature: "(%scores-mask name mask)",
        summary: "mask, which is a Mask or an Additive",
        example: "",
        least: 2,
        most: Some(2),
        keys: &[],
        run: scores_mask,
    },
];

fn composite(m: &mut Machine<'_>, call: &Call) -> Eval {
    let name = m.string(call.callee, &call.args[0])?;
    let function = m.function(call.callee, &call.args[1])?;
    let domain = match call.key("domain") {
        Some(stated) => Some(m.stated_domain(stated)?),
        None => None,
    };
    m.composite(&name, domain, &function, &call.args[2..], call.span)
}

/// Refuses what would be added to scores by mistake: a 0/1 mask, or plain numbers.
fn scores_mask(m: &mut Machine<'_>, call: &Call) -> Eval {
    let name = m.string(call.callee, &call.args[0])?;
    let tensor = m.tensor_arg(&name, &call.args[1])?;
    if tensor.ty.dtype == DType::Bool || tensor.ty.domain == Domain::Additive {
        return Ok(Value::Tensor(tensor));
    }
    let help = match tensor.ty.domain {
        Domain::Binary => "write `(to mask Mask)`: 1 is where a key is seen",
        _ => "give numbers that are added to the scores by `:bias`; a mask comes from a comparison",
    };
    let message = format!("{name}: `:mask` is a Mask or an Additive, and this is {}", tensor.ty);
    Err(m.report(Diagnostic::new(Code::DomainFit, call.args[1].span, message).help(help)))
}

impl Machine<'_> {
    /// A domain as the library states it: the symbol of a range, or a list of `Prob` or `LogProb` and an axis.
    fn stated_domain(&mut self, stated: &Arg) -> Eval<Domain> {
        let found = match &stated.value {
            Value::Symbol(symbol) => {
                let named = Interval::NAMED.iter().find(|(name, _)| **name == *symbol.name);
                named.map(|(_, range)| Domain::Range(*range))
            }
            list => match list.items() {
                Some([Value::Symbol(kind), Value::Int(axis)]) => match &*kind.name {
                    "Prob" => Some(Domain::Prob { over: *axis as usize }),
                    "LogProb" => Some(Domain::LogProb { over: *axis as usize }),
                    _ => None,
                },
                _ => None,
            },
        };
        found.ok_or_else(|| self.wrong_kind("%composite", "a domain", stated))
    }

    /// Traces a function in a region of its own and appends the composite: a node with as many results as the
    /// function has values. Only what the arguments bring may be used in it.
    fn composite(
        &mut self,
        name: &str,
        domain: Option<Domain>,
        function: &Rc<Function>,
        args: &[Arg],
        span: Span,
    ) -> Eval {
        let mut outer = Vec::new();
        for arg in args {
            outer.push(self.operand(name, arg)?);
        }
        self.open_trace(name);
        let inner = self.region_inputs(args);
        let result = self.call(function, inner, span);
        let mut region = self.close_trace();
        let result = result?;
        if result.is_poisoned() {
            return Ok(Value::Poisoned);
        }
        self.region_outputs(name, &result, &mut region, span)?;
        let op =
            Op::Composite(ir::op::Composite { name: name.to_string(), domain, region: Arc::new(region) });
        match self.emit(op, &outer, span) {
            Ok(values) => Ok(self.results(values)),
            Err(fault) => Err(self.fault(name, span, fault, args)),
        }
    }

    /// The inputs of the region that was just opened, one for each operand.
    fn region_inputs(&mut self, args: &[Arg]) -> Vec<Arg> {
        let mut inner = Vec::new();
        for (i, arg) in args.iter().enumerate() {
            let Value::Tensor(tensor) = &arg.value else { unreachable!("operands are tensors") };
            let op = Op::Input(ir::op::Input { name: i.to_string() });
            let value = self.emit_source(op, (*tensor.ty).clone(), arg.span);
            let trace = self.traces.last_mut().expect("a region is being traced");
            trace.graph.inputs.push(value.node);
            inner.push(Arg { value: self.tensor(value, tensor.written), span: arg.span });
        }
        inner
    }

    fn region_outputs(&mut self, name: &str, result: &Value, region: &mut Graph, span: Span) -> Eval<()> {
        let results = match result {
            Value::Values(values) => values.as_slice(),
            one => std::slice::from_ref(one),
        };
        for (i, value) in results.iter().enumerate() {
            let Value::Tensor(tensor) = value else { return Err(self.wants_tensor(name, value, span)) };
            let name = if i == 0 { "out".to_owned() } else { format!("out{i}") };
            region.outputs.push(ir::Output { name, value: tensor.value });
        }
        Ok(())
    }
}
