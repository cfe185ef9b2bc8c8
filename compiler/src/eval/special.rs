//! The special forms: one table, each form a function from trees to a value.

use super::machine::{Eval, Machine};
use super::quote::quoted;
use super::scope::Env;
use super::value::{Closure, Function, Name, Number, Value};
use crate::diag::{Code, Diagnostic, Span};
use crate::ir::op::Map;
use crate::ir::{Marks, Op};
use crate::syntax::{Datum, Tree};
use std::rc::Rc;
use sx_artifact::dtype::DType;
use sx_artifact::scalar::ScalarFn;

/// How a form is evaluated: the whole form, what follows its head, the names in force.
type Run = fn(&mut Machine<'_>, &Tree, &[Tree], &Env) -> Eval;

/// A special form.
pub(super) struct Special {
    pub(super) name: &'static str,
    /// How it is written.
    pub(super) signature: &'static str,
    /// What it does, in one line.
    pub(super) summary: &'static str,
    /// A use with its value.
    pub(super) example: &'static str,
    pub(super) run: Run,
}

/// Every special form.
pub(super) fn all() -> impl Iterator<Item = &'static Special> {
    TABLE.iter().chain(&super::define::TABLE)
}

macro_rules! special {
    ($name:literal $signature:literal $summary:literal $example:literal $run:path) => {
        super::special::Special {
            name: $name,
            signature: $signature,
            summary: $summary,
            example: $example,
            run: $run,
        }
    };
}
pub(super) use special;

static TABLE: [Special; 23] = [
    special!("quote" "'x" "the datum itself, not evaluated" "'(a b) ; => (a b)" quote),
    special!("quasiquote" "`template" "a datum with the values of `,x` and `,@xs` in it" "`(a ,(+ 1 2)) ; => (a 3)" quasiquote),
    special!("let" "(let ((name value)...) body...)" "names values, all at once" "(let ((x 2) (y 3)) (* x y)) ; => 6" let_parallel),
    special!("let*" "(let* ((name value)...) body...)" "names values one after the other" "(let* ((x 2) (y (+ x 1))) (* x y)) ; => 6" let_sequential),
    special!("lambda" "(lambda (params...) body...)" "a function" "((lambda (x) (* x x)) 3) ; => 9" lambda),
    special!("if" "(if test then else)" "one of two values, by an ordinary truth value" "(if (< 1 2) :yes :no) ; => :yes" if_form),
    special!("cond" "(cond (test body...)... (else body...))" "the first clause whose test is true" "(cond ((< 2 1) :a) (else :b)) ; => :b" cond),
    special!("when" "(when test body...)" "the body's value if the test is true, else nil" "(when true 1) ; => 1" when),
    special!("unless" "(unless test body...)" "the body's value if the test is false, else nil" "(unless false 1) ; => 1" unless),
    special!("and" "(and x...)" "the first false value or the last; elementwise from the first tensor on" "(and true false) ; => false" and),
    special!("or" "(or x...)" "the first true value or the last; elementwise from the first tensor on" "(or false 2) ; => 2" or),
    special!("case" "(case x (key body...)... (else body...))" "the clause whose key, or one of whose list of keys, equals the value" "(case 2 (1 :one) ((2 3) :more)) ; => :more" case),
    special!("do" "(do ((name start step)...) (end result...) body...)" "repeats the body, stepping the names together, until the end is true" "(do ((i 0 (+ i 1))) ((= i 3) i)) ; => 3" do_loop),
    special!("progn" "(progn body...)" "evaluates in order; the value of the last" "(progn 1 2) ; => 2" progn),
    special!("dotimes" "(dotimes (name count) body...)" "repeats the body with the name from 0 up" "(let ((s 0)) (dotimes (i 4) (set! s (+ s i))) s) ; => 6" dotimes),
    special!("dolist" "(dolist (name list) body...)" "repeats the body for each element" "(let ((s 0)) (dolist (x '(1 2)) (set! s (+ s x))) s) ; => 3" dolist),
    special!("set!" "(set! name value)" "gives a variable of an enclosing form a new value" "(let ((x 1)) (set! x 2) x) ; => 2" set),
    special!("multiple-value-bind" "(multiple-value-bind (name...) values body...)" "names several values" "(multiple-value-bind (a b) (values 1 2) (+ a b)) ; => 3" multiple_value_bind),
    special!("with-numerics" "(with-numerics (:precision :bf16) body...)" "sets how the operations of the body round" "(with-numerics (:precision :bf16) 1) ; => 1" with_numerics),
    special!("scope" "(scope \"prefix\" body...)" "prefixes the names of parameters made in the body" "(scope \"encoder\" 1) ; => 1" scope),
    special!("import" "(import sx/nn)" "brings a module's names into this file; also `(import \"file.sx\")`" "(import sx/nn)" super::define::import),
    special!("as" "(as x DOMAIN)" "asserts that a tensor's values are of a domain" "(as x Unit)" super::convert::as_form),
    special!("to" "(to x DOMAIN)" "converts a tensor to a domain" "(to mask Binary)" super::convert::to_form),
];

fn quote(m: &mut Machine<'_>, form: &Tree, args: &[Tree], _: &Env) -> Eval {
    match args {
        [datum] => Ok(quoted(datum, false)),
        _ => Err(m.misshaped(form, "'x")),
    }
}

fn quasiquote(m: &mut Machine<'_>, form: &Tree, args: &[Tree], env: &Env) -> Eval {
    match args {
        [template] => m.quasi(template, 1, env),
        _ => Err(m.misshaped(form, "`template")),
    }
}

fn let_parallel(m: &mut Machine<'_>, form: &Tree, args: &[Tree], env: &Env) -> Eval {
    let Some(bindings) = args.first().and_then(list_items) else {
        return Err(m.misshaped(form, "(let ((name value)...) body...)"));
    };
    let mut names = Vec::new();
    for binding in bindings {
        let (name, value) = m.let_binding(binding, env)?;
        names.push((name, value));
    }
    m.eval_body(&args[1..], &env.with(names))
}

fn let_sequential(m: &mut Machine<'_>, form: &Tree, args: &[Tree], env: &Env) -> Eval {
    let Some(bindings) = args.first().and_then(list_items) else {
        return Err(m.misshaped(form, "(let* ((name value)...) body...)"));
    };
    let mut env = env.clone();
    for binding in bindings {
        let bound = m.let_binding(binding, &env)?;
        env = env.with(vec![bound]);
    }
    m.eval_body(&args[1..], &env)
}

fn lambda(m: &mut Machine<'_>, form: &Tree, args: &[Tree], env: &Env) -> Eval {
    let lambda = m.lambda(form.span, args)?;
    let closure = Closure { name: None, lambda: Rc::new(lambda), env: env.clone(), module: m.module };
    Ok(Value::Function(Rc::new(Function::Closure(closure))))
}

fn if_form(m: &mut Machine<'_>, form: &Tree, args: &[Tree], env: &Env) -> Eval {
    let (test, then, otherwise) = match args {
        [test, then] => (test, then, None),
        [test, then, otherwise] => (test, then, Some(otherwise)),
        _ => return Err(m.misshaped(form, "(if test then else)")),
    };
    match m.test("if", test, env)? {
        None => Ok(Value::Poisoned),
        Some(true) => m.eval(then, env),
        Some(false) => otherwise.map_or(Ok(Value::Nil), |tree| m.eval(tree, env)),
    }
}

fn cond(m: &mut Machine<'_>, form: &Tree, args: &[Tree], env: &Env) -> Eval {
    for clause in args {
        let Some([test, body @ ..]) = list_items(clause) else {
            return Err(m.misshaped(form, "(cond (test body...)... (else body...))"));
        };
        if is_symbol(test, "else") {
            return m.eval_body(body, env);
        }
        let value = m.eval(test, env)?.single();
        match m.truth("cond", &value, test.span)? {
            None => return Ok(Value::Poisoned),
            Some(true) if body.is_empty() => return Ok(value),
            Some(true) => return m.eval_body(body, env),
            Some(false) => {}
        }
    }
    Ok(Value::Nil)
}

fn when(m: &mut Machine<'_>, form: &Tree, args: &[Tree], env: &Env) -> Eval {
    let Some((test, body)) = args.split_first() else { return Err(m.misshaped(form, "(when test body...)")) };
    match m.test("when", test, env)? {
        None => Ok(Value::Poisoned),
        Some(true) => m.eval_body(body, env),
        Some(false) => Ok(Value::Nil),
    }
}

fn unless(m: &mut Machine<'_>, form: &Tree, args: &[Tree], env: &Env) -> Eval {
    let Some((test, body)) = args.split_first() else {
        return Err(m.misshaped(form, "(unless test body...)"));
    };
    match m.test("unless", test, env)? {
        None => Ok(Value::Poisoned),
        Some(false) => m.eval_body(body, env),
        Some(true) => Ok(Value::Nil),
    }
}

fn and(m: &mut Machine<'_>, form: &Tree, args: &[Tree], env: &Env) -> Eval {
    logic(m, form, args, env, true)
}

fn or(m: &mut Machine<'_>, form: &Tree, args: &[Tree], env: &Env) -> Eval {
    logic(m, form, args, env, false)
}

/// `and` and `or`: short-circuit on plain values, elementwise from the first tensor on.
fn logic(m: &mut Machine<'_>, form: &Tree, args: &[Tree], env: &Env, all: bool) -> Eval {
    let (name, f) = if all { ("and", ScalarFn::And) } else { ("or", ScalarFn::Or) };
    let mut last = Value::Bool(all);
    let mut mask: Option<super::builtin::Arg> = None;
    for tree in args {
        let value = m.eval(tree, env)?.single();
        if value.is_poisoned() {
            return Ok(Value::Poisoned);
        }
        match &mut mask {
            None if matches!(value, Value::Tensor(_)) => {
                mask = Some(super::builtin::Arg { value, span: tree.span });
            }
            None => {
                last = value;
                if last.truth() != all {
                    return Ok(last);
                }
            }
            Some(so_far) => {
                let value = match value {
                    Value::Tensor(_) => value,
                    other => Value::Bool(other.truth()),
                };
                let next = super::builtin::Arg { value, span: tree.span };
                let both = m.map_call(name, form.span, Map { f }, &[so_far.clone(), next])?;
                mask = Some(super::builtin::Arg { value: both, span: form.span });
            }
        }
    }
    let Some(mask) = mask else { return Ok(last) };
    // One tensor alone has met no operation that would have asked for a mask.
    if let Value::Tensor(tensor) = &mask.value
        && tensor.ty.dtype != DType::Bool
    {
        let op = Op::Map(Map { f: ScalarFn::Not });
        return m.operation(name, mask.span, op, std::slice::from_ref(&mask));
    }
    Ok(mask.value)
}

fn case(m: &mut Machine<'_>, form: &Tree, args: &[Tree], env: &Env) -> Eval {
    let Some((subject, clauses)) = args.split_first() else {
        return Err(m.misshaped(form, "(case x (key body...)... (else body...))"));
    };
    let value = m.eval(subject, env)?.single();
    if value.is_poisoned() {
        return Ok(Value::Poisoned);
    }
    if matches!(value, Value::Tensor(_)) {
        return Err(m.staged("case", subject.span));
    }
    for clause in clauses {
        let Some([key, body @ ..]) = list_items(clause) else {
            return Err(m.misshaped(form, "(case x (key body...)... (else body...))"));
        };
        let keys = quoted(key, false);
        let hit = is_symbol(key, "else")
            || is_symbol(key, "otherwise")
            || match &keys {
                Value::List(list) => list.items.iter().any(|key| key.same(&value)),
                key => key.same(&value),
            };
        if hit {
            return m.eval_body(body, env);
        }
    }
    Ok(Value::Nil)
}

fn do_loop(m: &mut Machine<'_>, form: &Tree, args: &[Tree], env: &Env) -> Eval {
    const SHAPE: &str = "(do ((name start step)...) (end result...) body...)";
    let [variables, end, body @ ..] = args else { return Err(m.misshaped(form, SHAPE)) };
    let (Some(variables), Some([end, result @ ..])) = (list_items(variables), list_items(end)) else {
        return Err(m.misshaped(form, SHAPE));
    };
    let mut names: Vec<(Name, Value)> = Vec::new();
    let mut steps = Vec::new();
    for variable in variables {
        let (name, start, step) = match list_items(variable) {
            Some([Tree { datum: Datum::Symbol(name), .. }, start]) => (name, start, None),
            Some([Tree { datum: Datum::Symbol(name), .. }, start, step]) => (name, start, Some(step)),
            _ => return Err(m.misshaped(form, SHAPE)),
        };
        names.push((name.as_str().into(), m.eval(start, env)?.single()));
        steps.push(step);
    }
    loop {
        let inner = env.with(names.clone());
        match m.test("do", end, &inner)? {
            None => return Ok(Value::Poisoned),
            Some(true) => return m.eval_body(result, &inner),
            Some(false) => {}
        }
        m.eval_body(body, &inner)?;
        let mut next = Vec::with_capacity(names.len());
        for ((name, _), step) in names.iter().zip(&steps) {
            let value = match step {
                Some(step) => m.eval(step, &inner)?.single(),
                None => inner.slot(name).map_or(Value::Nil, |slot| slot.borrow().clone()),
            };
            next.push((name.clone(), value));
        }
        names = next;
    }
}

fn progn(m: &mut Machine<'_>, _: &Tree, args: &[Tree], env: &Env) -> Eval {
    m.eval_body(args, env)
}

fn dotimes(m: &mut Machine<'_>, form: &Tree, args: &[Tree], env: &Env) -> Eval {
    const SHAPE: &str = "(dotimes (name count) body...)";
    let Some((head, body)) = args.split_first() else { return Err(m.misshaped(form, SHAPE)) };
    let Some([Tree { datum: Datum::Symbol(name), .. }, count]) = list_items(head) else {
        return Err(m.misshaped(form, SHAPE));
    };
    let value = m.eval(count, env)?.single();
    let times = match Number::of(&value) {
        Some(Number::Int(times)) => times,
        _ if value.is_poisoned() => return Ok(Value::Poisoned),
        _ => {
            let message = format!("dotimes: the count is an integer, and this is {}", value.kind());
            return Err(m.fail(Code::TypeKind, count.span, message));
        }
    };
    let name: Name = name.as_str().into();
    for i in 0..times {
        m.spend(1, form.span)?;
        m.eval_body(body, &env.with(vec![(name.clone(), Value::Int(i))]))?;
    }
    Ok(Value::Nil)
}

fn dolist(m: &mut Machine<'_>, form: &Tree, args: &[Tree], env: &Env) -> Eval {
    const SHAPE: &str = "(dolist (name list) body...)";
    let Some((head, body)) = args.split_first() else { return Err(m.misshaped(form, SHAPE)) };
    let Some([Tree { datum: Datum::Symbol(name), .. }, list]) = list_items(head) else {
        return Err(m.misshaped(form, SHAPE));
    };
    let value = m.eval(list, env)?.single();
    if value.is_poisoned() {
        return Ok(Value::Poisoned);
    }
    let Some(items) = value.items() else {
        let message = format!("dolist: a list or a vector was expected, and this is {}", value.kind());
        return Err(m.fail(Code::TypeKind, list.span, message));
    };
    let name: Name = name.as_str().into();
    for item in items {
        m.eval_body(body, &env.with(vec![(name.clone(), item.clone())]))?;
    }
    Ok(Value::Nil)
}

fn set(m: &mut Machine<'_>, form: &Tree, args: &[Tree], env: &Env) -> Eval {
    let [Tree { datum: Datum::Symbol(name), span }, value] = args else {
        return Err(m.misshaped(form, "(set! name value)"));
    };
    let result = m.eval(value, env);
    let value = m.recover(result)?.single();
    match env.slot(name) {
        Some(slot) => {
            *slot.borrow_mut() = value.clone();
            Ok(value)
        }
        None if m.binding(name).is_some() => {
            let message = format!("`{name}` is a definition and keeps its value");
            let diagnostic = Diagnostic::new(Code::NameForm, *span, message);
            Err(m.report(diagnostic.help("`set!` changes variables of `let`, of loops and of parameters")))
        }
        None => m.variable(name, *span, env),
    }
}

fn multiple_value_bind(m: &mut Machine<'_>, form: &Tree, args: &[Tree], env: &Env) -> Eval {
    const SHAPE: &str = "(multiple-value-bind (name...) values body...)";
    let [names, values, body @ ..] = args else { return Err(m.misshaped(form, SHAPE)) };
    let Some(names) = list_items(names) else { return Err(m.misshaped(form, SHAPE)) };
    let result = m.eval(values, env);
    let value = m.recover(result)?;
    let given: Vec<Value> = match &value {
        Value::Values(values) => values.to_vec(),
        Value::Poisoned => vec![Value::Poisoned; names.len()],
        other => vec![other.clone()],
    };
    if given.len() < names.len() {
        let message = format!("there are {} names here, and {} values", names.len(), given.len());
        return Err(m.fail(Code::CallCount, values.span, message));
    }
    let mut bound = Vec::new();
    for (name, value) in names.iter().zip(given) {
        let Datum::Symbol(name) = &name.datum else { return Err(m.misshaped(form, SHAPE)) };
        bound.push((name.as_str().into(), value));
    }
    m.eval_body(body, &env.with(bound))
}

fn with_numerics(m: &mut Machine<'_>, form: &Tree, args: &[Tree], env: &Env) -> Eval {
    let Some((settings, body)) = args.split_first() else {
        return Err(m.misshaped(form, "(with-numerics (:precision :bf16) body...)"));
    };
    let outer = m.marks;
    m.marks = m.numerics(settings, outer)?;
    let value = m.eval_body(body, env);
    m.marks = outer;
    value
}

fn scope(m: &mut Machine<'_>, form: &Tree, args: &[Tree], env: &Env) -> Eval {
    let Some((prefix, body)) = args.split_first() else {
        return Err(m.misshaped(form, "(scope \"prefix\" body...)"));
    };
    let name = match m.eval(prefix, env)?.single() {
        Value::Str(name) if !name.is_empty() => name.to_string(),
        Value::Poisoned => return Ok(Value::Poisoned),
        other => {
            let message =
                format!("scope: a prefix is a string that is not empty, and this is {}", other.kind());
            return Err(m.fail(Code::ParamForm, prefix.span, message));
        }
    };
    m.scopes.push(name);
    let value = m.eval_body(body, env);
    m.scopes.pop();
    value
}

impl Machine<'_> {
    /// `(name value)`, or `name` or `(name)` for nil. A mistake in the value does not hide what follows.
    fn let_binding(&mut self, tree: &Tree, env: &Env) -> Eval<(Name, Value)> {
        let (name, value) = match (&tree.datum, list_items(tree)) {
            (Datum::Symbol(name), _) => (name, None),
            (_, Some([Tree { datum: Datum::Symbol(name), .. }])) => (name, None),
            (_, Some([Tree { datum: Datum::Symbol(name), .. }, value])) => (name, Some(value)),
            _ => {
                let message = "a binding is written `(name value)`";
                return Err(self.fail(Code::FormShape, tree.span, message));
            }
        };
        let value = match value {
            Some(value) => {
                let result = self.eval(value, env);
                self.recover(result)?.single()
            }
            None => Value::Nil,
        };
        Ok((name.as_str().into(), value))
    }

    /// Evaluates a test; `None` where it was mistaken.
    fn test(&mut self, form: &str, tree: &Tree, env: &Env) -> Eval<Option<bool>> {
        let result = self.eval(tree, env);
        let value = self.recover(result)?.single();
        self.truth(form, &value, tree.span)
    }

    fn truth(&mut self, form: &str, value: &Value, span: Span) -> Eval<Option<bool>> {
        match value {
            Value::Poisoned => Ok(None),
            Value::Tensor(_) => Err(self.staged(form, span)),
            value => Ok(Some(value.truth())),
        }
    }

    /// A choice that would have to wait for a tensor's values.
    fn staged(&mut self, form: &str, span: Span) -> super::machine::Stop {
        let text = self.text(span);
        let message =
            format!("{form}: `{text}` is a tensor, whose values are not known while the graph is traced");
        let diagnostic = Diagnostic::new(Code::FlowIf, span, message);
        self.report(diagnostic.help("`(where mask a b)` chooses elementwise"))
    }

    /// A form that is not written as it must be.
    pub(super) fn misshaped(&mut self, form: &Tree, shape: &str) -> super::machine::Stop {
        self.fail(Code::FormShape, form.span, format!("this form is written `{shape}`"))
    }

    /// Reads `(:precision :bf16 :matmul :tf32)`.
    fn numerics(&mut self, tree: &Tree, mut marks: Marks) -> Eval<Marks> {
        let Some(settings) = list_items(tree) else {
            let message = "the settings are a list: `(:precision :bf16)`";
            return Err(self.fail(Code::FormShape, tree.span, message));
        };
        for pair in settings.chunks(2) {
            match pair {
                [Tree { datum: Datum::Keyword(key), .. }, Tree { datum: Datum::Keyword(value), span }] => {
                    match (key.as_str(), value.as_str()) {
                        ("precision", value) => marks.precision = Some(self.precision(value, *span)?),
                        ("matmul", "tf32") => marks.tf32 = true,
                        ("matmul", "f32") => marks.tf32 = false,
                        ("matmul", _) => {
                            let message = format!("`:matmul` is `:tf32` or `:f32`, not `:{value}`");
                            return Err(self.fail(Code::CallKeyword, *span, message));
                        }
                        _ => {
                            let message = format!("with-numerics has no setting `:{key}`");
                            let diagnostic = Diagnostic::new(Code::CallKeyword, pair[0].span, message);
                            return Err(
                                self.report(diagnostic.note("its settings are `:precision` and `:matmul`"))
                            );
                        }
                    }
                }
                _ => {
                    let message = "the settings are keywords with values: `(:precision :bf16)`";
                    return Err(self.fail(Code::FormShape, tree.span, message));
                }
            }
        }
        Ok(marks)
    }

    pub(super) fn precision(&mut self, name: &str, span: Span) -> Eval<DType> {
        match DType::from_name(name) {
            Some(dtype) if dtype.is_float() => Ok(dtype),
            _ => {
                let message = format!("`:precision` is `:f32` or `:bf16`, not `:{name}`");
                Err(self.fail(Code::CallKeyword, span, message))
            }
        }
    }
}

/// The items of a list; `nil` is an empty one.
pub(super) fn list_items(tree: &Tree) -> Option<&[Tree]> {
    match &tree.datum {
        Datum::List(items) => Some(items),
        Datum::Nil => Some(&[]),
        _ => None,
    }
}

pub(super) fn is_symbol(tree: &Tree, name: &str) -> bool {
    matches!(&tree.datum, Datum::Symbol(symbol) if symbol == name)
}
