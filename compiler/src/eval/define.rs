//! What stands at the top of a file: definitions and imports.

use super::lambda::Lambda;
use super::machine::{Eval, Machine, Stop};
use super::module::Binding;
use super::scope::Env;
use super::special::{Parts, Role, is_symbol, list_items};
use super::types::DOMAINS;
use super::value::{AxisName, Closure, Function, Name, Number, Value};
use crate::diag::{Code, Diagnostic, Span};
use crate::ir::{Axis, Dim, Interval};
use crate::syntax::{Datum, Tree};
use std::rc::Rc;
use sx_artifact::dtype::DType;

/// What a `defrun` fixes.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) seed: u64,
    pub(super) precision: Option<DType>,
    pub(super) graphs: Vec<(Name, Span)>,
}

impl Machine<'_> {
    /// The value of a form at the top of a file.
    pub(super) fn value_at_top(&mut self, tree: &Tree) -> Eval {
        let Some([Tree { datum: Datum::Symbol(head), .. }, args @ ..]) = list_items(tree) else {
            return self.eval(tree, &Env::default());
        };
        let Some(special) = self.specials.get(head.as_str()) else {
            if let Some(Binding::Macro(closure)) = self.binding(head) {
                let expansion = self.expand(&closure, args, tree.span)?;
                self.enter(tree.span)?;
                let value = self.value_at_top(&expansion);
                self.leave();
                return value;
            }
            if self.form_elsewhere(head).is_some_and(Parts::at_top) {
                self.poison_defined(args);
            }
            return self.eval(tree, &Env::default());
        };
        match special.parts {
            Parts::Definition => self.def(tree, args)?,
            Parts::Function(Role::Function) => self.defun(tree, args, false)?,
            Parts::Function(Role::Graph) => self.defun(tree, args, true)?,
            Parts::Function(Role::Macro) => self.defmacro(tree, args)?,
            Parts::Axis => self.defaxis(tree, args)?,
            Parts::Range => self.defdomain(tree, args)?,
            Parts::Run => self.defrun(tree, args)?,
            Parts::Import => self.import(tree, args)?,
            Parts::Body { values: 0 } => {
                let mut last = Value::Nil;
                for form in args {
                    let value = self.value_at_top(form);
                    last = self.recover(value)?;
                }
                return Ok(last);
            }
            _ => return self.eval(tree, &Env::default()),
        }
        Ok(Value::Nil)
    }

    /// Defines the name that a form of another language would, so that its uses are no mistakes of their own.
    fn poison_defined(&mut self, args: &[Tree]) {
        let head = args.first().map(|first| list_items(first).and_then(<[Tree]>::first).unwrap_or(first));
        if let Some(Tree { datum: Datum::Symbol(name), span }) = head
            && self.binding(name).is_none()
        {
            self.define(name, *span, Binding::Value(Value::Poisoned)).ok();
        }
    }

    fn def(&mut self, form: &Tree, args: &[Tree]) -> Eval<()> {
        let (name, value) = match args {
            [Tree { datum: Datum::Symbol(name), span }, value] => ((name, *span), value),
            [Tree { datum: Datum::Symbol(name), span }, Tree { datum: Datum::Str(_), .. }, value] => {
                ((name, *span), value)
            }
            _ => return Err(self.misshaped_def(form, args)),
        };
        let result = self.eval(value, &Env::default());
        let value = self.poison(result).single();
        self.define(name.0, name.1, Binding::Value(value))
    }

    fn misshaped_def(&mut self, form: &Tree, args: &[Tree]) -> Stop {
        self.poison_defined(args);
        let message = "this form is written `(def name value)`";
        let diagnostic = Diagnostic::new(Code::FormShape, form.span, message);
        let function = matches!(args, [_, Tree { datum: Datum::List(_) | Datum::Vector(_), .. }, _, ..])
            || args.first().and_then(list_items).is_some();
        match function {
            true => {
                self.report(diagnostic.help("a function is defined by `(defun name (params...) body...)`"))
            }
            false => self.report(diagnostic),
        }
    }

    /// What a definition that failed stands for; a limit is passed on by `exhausted`.
    fn poison(&self, result: Eval) -> Value {
        result.unwrap_or(Value::Poisoned)
    }

    fn defun(&mut self, form: &Tree, args: &[Tree], graph: bool) -> Eval<()> {
        let [Tree { datum: Datum::Symbol(name), span }, rest @ ..] = args else {
            let shape = if graph {
                "(defgraph name ((input TYPE...)...) body...)"
            } else {
                "(defun name (params...) body...)"
            };
            return Err(self.misshaped(form, shape));
        };
        let value = match self.lambda(form.span, rest) {
            Ok(lambda) => {
                let closure = self.top_closure(name, lambda);
                Value::Function(Rc::new(if graph {
                    Function::Graph(closure)
                } else {
                    Function::Closure(closure)
                }))
            }
            Err(_) => Value::Poisoned,
        };
        self.define(name, *span, Binding::Value(value))?;
        if graph {
            let module = self.module;
            self.modules[module].graphs.push(name.as_str().into());
        }
        Ok(())
    }

    fn top_closure(&self, name: &str, lambda: Lambda) -> Closure {
        Closure { name: Some(name.into()), lambda: Rc::new(lambda), env: Env::default(), module: self.module }
    }

    fn defmacro(&mut self, form: &Tree, args: &[Tree]) -> Eval<()> {
        let [Tree { datum: Datum::Symbol(name), span }, rest @ ..] = args else {
            return Err(self.misshaped(form, "(defmacro name (params...) body...)"));
        };
        let lambda = self.lambda(form.span, rest)?;
        let closure = self.top_closure(name, lambda);
        self.define(name, *span, Binding::Macro(Rc::new(closure)))
    }

    fn defaxis(&mut self, form: &Tree, args: &[Tree]) -> Eval<()> {
        let [Tree { datum: Datum::Symbol(name), span }, size] = args else {
            return Err(self.misshaped(form, "(defaxis NAME size)"));
        };
        let result = self.eval(size, &Env::default());
        let written = match self.poison(result).single() {
            Value::Int(n) if n >= 0 => n as u64,
            Value::Axis(axis) => axis.dim.size,
            Value::Poisoned => return self.define(name, *span, Binding::Value(Value::Poisoned)),
            other => {
                let message =
                    format!("the size of an axis is an integer from 0 up, and this is {}", shown(&other));
                self.fail(Code::TypeKind, size.span, message);
                return self.define(name, *span, Binding::Value(Value::Poisoned));
            }
        };
        // The command line's size stands over the file's, with the same identity.
        let dim = match self.dims.iter_mut().find(|given| *given.name == **name) {
            Some(given) => {
                given.used = true;
                given.dim.clone()
            }
            None => Dim { size: written, axis: Some(self.new_axis(name)) },
        };
        let axis = AxisName { name: name.as_str().into(), dim, place: None, twice: false };
        self.define(name, *span, Binding::Value(Value::Axis(axis)))
    }

    /// A new identity.
    pub(super) fn new_axis(&mut self, name: &str) -> Axis {
        self.next_axis += 1;
        Axis { id: self.next_axis, name: name.into() }
    }

    fn defdomain(&mut self, form: &Tree, args: &[Tree]) -> Eval<()> {
        const SHAPE: &str = "(defdomain Name [low high] :open :low)";
        let [Tree { datum: Datum::Symbol(name), span }, ends, rest @ ..] = args else {
            return Err(self.misshaped(form, SHAPE));
        };
        if DOMAINS.contains(&name.as_str()) || DType::from_name(name).is_some() {
            let message = format!("`{name}` is the name of a built-in domain or dtype");
            return Err(self.fail(Code::DomainType, *span, message));
        }
        let module = self.module;
        if self.modules[module].domains.contains_key(name.as_str())
            && self.modules[module].declared_domains.contains(name.as_str())
        {
            return Err(self.fail(Code::NameTwice, *span, format!("the domain `{name}` is defined twice")));
        }
        let Tree { datum: Datum::Vector(pair), .. } = ends else {
            return Err(self.misshaped(form, SHAPE));
        };
        let [low, high] = &pair[..] else {
            return Err(self.fail(Code::DomainType, ends.span, "a domain has two ends: `[low high]`"));
        };
        let low = self.domain_end(low)?;
        let high = self.domain_end(high)?;
        let (low_open, high_open) = match rest {
            [] => (false, false),
            [Tree { datum: Datum::Keyword(open), .. }, Tree { datum: Datum::Keyword(which), .. }]
                if open == "open" =>
            {
                match which.as_str() {
                    "low" => (true, false),
                    "high" => (false, true),
                    "both" => (true, true),
                    _ => {
                        return Err(
                            self.misshaped(form, "(defdomain Name [low high] :open :low), :high or :both")
                        );
                    }
                }
            }
            _ => return Err(self.misshaped(form, SHAPE)),
        };
        if low > high || (low == high && (low_open || high_open || low.is_infinite())) {
            return Err(self.fail(Code::DomainType, ends.span, format!("the domain `{name}` is empty")));
        }
        let closed = Interval::closed(low, high);
        let range =
            Interval { lo_open: closed.lo_open || low_open, hi_open: closed.hi_open || high_open, ..closed };
        self.modules[module].domains.insert(name.as_str().into(), range);
        Ok(())
    }

    fn domain_end(&mut self, tree: &Tree) -> Eval<f64> {
        let value = self.eval(tree, &Env::default())?.single();
        match Number::of(&value).map(Number::as_f64) {
            Some(end) if !end.is_nan() => Ok(end),
            _ => {
                let message =
                    format!("the ends of a domain are numbers or `inf`, and this is {}", shown(&value));
                Err(self.fail(Code::DomainType, tree.span, message))
            }
        }
    }

    fn defrun(&mut self, form: &Tree, args: &[Tree]) -> Eval<()> {
        const SHAPE: &str = "(defrun name :seed 7 :precision :bf16 :graphs [graph...])";
        let [Tree { datum: Datum::Symbol(name), span }, settings @ ..] = args else {
            return Err(self.misshaped(form, SHAPE));
        };
        let mut run = Run { seed: 0, precision: None, graphs: Vec::new() };
        for pair in settings.chunks(2) {
            let [Tree { datum: Datum::Keyword(key), span }, value] = pair else {
                return Err(self.misshaped(form, SHAPE));
            };
            match key.as_str() {
                "seed" => run.seed = self.seed(value)?,
                "precision" => match &value.datum {
                    Datum::Keyword(name) => run.precision = Some(self.precision(name, value.span)?),
                    _ => return Err(self.misshaped(form, SHAPE)),
                },
                "graphs" => run.graphs = self.graph_names(form, value)?,
                _ => {
                    let message = format!("defrun has no setting `:{key}`");
                    let diagnostic = Diagnostic::new(Code::CallKeyword, *span, message);
                    return Err(
                        self.report(diagnostic.note("its settings are `:seed`, `:precision` and `:graphs`"))
                    );
                }
            }
        }
        self.define(name, *span, Binding::Value(Value::Keyword(name.as_str().into())))?;
        let module = self.module;
        self.modules[module].runs.push(run);
        Ok(())
    }

    fn seed(&mut self, tree: &Tree) -> Eval<u64> {
        match self.eval(tree, &Env::default())?.single() {
            Value::Int(seed) if seed >= 0 => Ok(seed as u64),
            other => {
                let message = format!("a seed is an integer from 0 up, and this is {}", shown(&other));
                Err(self.fail(Code::TypeKind, tree.span, message))
            }
        }
    }

    fn graph_names(&mut self, form: &Tree, tree: &Tree) -> Eval<Vec<(Name, Span)>> {
        let (Datum::Vector(items) | Datum::List(items)) = &tree.datum else {
            return Err(self.misshaped(form, "(defrun name :graphs [graph...])"));
        };
        let mut names = Vec::new();
        for item in items.iter() {
            match &item.datum {
                Datum::Symbol(name) => names.push((name.as_str().into(), item.span)),
                _ => {
                    return Err(self.fail(
                        Code::GraphName,
                        item.span,
                        "the name of a graph was expected here",
                    ));
                }
            }
        }
        Ok(names)
    }

    /// Looks at every type written in a file, called or not. Its imports and domains are known by now.
    pub(super) fn check_written_types(&mut self, trees: &[Tree]) {
        for tree in trees {
            let (Datum::List(items) | Datum::Vector(items)) = &tree.datum else { continue };
            match items.first() {
                Some(head) if is_symbol(head, "quote") || is_symbol(head, "quasiquote") => continue,
                Some(head) if is_symbol(head, "lambda") => self.check_signature(&items[1..]),
                Some(head) if is_symbol(head, "defun") || is_symbol(head, "defgraph") => {
                    self.check_signature(items.get(2..).unwrap_or(&[]));
                }
                _ => {}
            }
            self.check_written_types(items);
        }
    }

    /// Reports the types of one parameter list and result that make no sense; whatever else is wrong with
    /// them is reported where the form is evaluated.
    fn check_signature(&mut self, trees: &[Tree]) {
        let Some(params) = trees.first().and_then(list_items) else { return };
        let mut required = true;
        for param in params {
            if matches!(&param.datum, Datum::Symbol(name) if name.starts_with('&')) {
                required = false;
            }
            let typed = match list_items(param) {
                Some([inner, _]) if !required => list_items(inner),
                typed if required => typed,
                _ => None,
            };
            if let Some([Tree { datum: Datum::Symbol(_), .. }, parts @ ..]) = typed {
                self.type_expr(parts, param.span).ok();
            }
        }
        if let Some(result) = trees.get(1)
            && let Some((arrow, parts)) = list_items(result).and_then(<[Tree]>::split_first)
            && is_symbol(arrow, "->")
        {
            self.result_types(parts, result.span).ok();
        }
    }
}

/// A number as it is, and of anything else its kind.
fn shown(value: &Value) -> String {
    match Number::of(value).map(Number::as_f64) {
        Some(_) => value.to_string(),
        None => value.kind().to_string(),
    }
}
