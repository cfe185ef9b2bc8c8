//! Parameter lists: how they are written, and how a call's arguments meet them.

use super::builtin::Arg;
use super::machine::{Eval, Machine, Stop};
use super::scope::Env;
use super::special::{is_symbol, list_items};
use super::types::{TypeExpr, Wanted};
use super::value::{AxisName, Closure, Name, Value};
use crate::diag::{Code, Diagnostic, Span};
use crate::syntax::{Datum, Tree};

/// A function as written.
#[derive(Debug)]
pub(super) struct Lambda {
    pub(super) required: Vec<Param>,
    pub(super) optional: Vec<Param>,
    /// Each of the further arguments is one of these; the name has a list of them.
    pub(super) rest: Option<Param>,
    pub(super) keys: Vec<Param>,
    /// The variable that `&context` binds.
    pub(super) context: Option<Name>,
    pub(super) results: Option<Vec<TypeExpr>>,
    pub(super) body: Vec<Tree>,
    /// The name and the parameters, or the whole form where there is no name.
    pub(super) span: Span,
}

/// A parameter as written.
#[derive(Debug)]
pub(super) struct Param {
    pub(super) name: Name,
    pub(super) ty: Option<TypeExpr>,
    pub(super) default: Option<Tree>,
    /// Whether it may be left out.
    pub(super) optional: bool,
    /// Whether it is given by its name.
    pub(super) key: bool,
    pub(super) span: Span,
}

/// A call's variables.
pub(super) struct Bound {
    pub(super) env: Env,
    /// The axes that the parameters' shapes named.
    pub(super) axes: Vec<AxisName>,
}

#[derive(Clone, Copy, PartialEq)]
enum Section {
    Required,
    Optional,
    Rest,
    Keys,
    Context,
}

impl Machine<'_> {
    /// Reads `(params…) (-> TYPE…)? "doc"? body…`.
    pub(super) fn lambda(&mut self, form: Span, trees: &[Tree]) -> Eval<Lambda> {
        let Some(Tree { datum: params @ (Datum::List(_) | Datum::Nil), span }) = trees.first() else {
            let span = trees.first().map_or(form, |tree| tree.span);
            let mut diagnostic =
                Diagnostic::new(Code::FormShape, span, "a list of parameters was expected here");
            if let Some(Tree { datum: Datum::Vector(_), span }) = trees.first() {
                let text = self.text(*span);
                diagnostic = diagnostic.help(format!("write `({})`", text.trim_matches(['[', ']'])));
            }
            return Err(self.report(diagnostic));
        };
        let params: &[Tree] = if let Datum::List(items) = params { items } else { &[] };
        let mut lambda = Lambda {
            required: Vec::new(),
            optional: Vec::new(),
            rest: None,
            keys: Vec::new(),
            context: None,
            results: None,
            body: Vec::new(),
            span: *span,
        };
        let params_fit = self.params(params, &mut lambda);
        let mut body = &trees[1..];
        if let Some([arrow, types @ ..]) = body.first().and_then(list_items)
            && is_symbol(arrow, "->")
        {
            lambda.results = Some(self.result_types(types, body[0].span)?);
            body = &body[1..];
        } else if body.first().is_some_and(|first| is_symbol(first, "->")) {
            return Err(self.bare_arrow(body));
        }
        if body.len() > 1 && matches!(body[0].datum, Datum::Str(_)) {
            body = &body[1..];
        }
        lambda.body = body.to_vec();
        params_fit?;
        Ok(lambda)
    }

    /// `-> [4]` without brackets.
    fn bare_arrow(&mut self, body: &[Tree]) -> Stop {
        let part = |tree: &&Tree| matches!(tree.datum, Datum::Vector(_) | Datum::Keyword(_));
        let types: Vec<&Tree> = body[1..].iter().take_while(part).collect();
        let span = body[0].span.to(types.last().map_or(body[0].span, |last| last.span));
        let text = self.text(span);
        let message = "the types of the results stand in brackets of their own";
        self.report(Diagnostic::new(Code::FormShape, span, message).help(format!("write `({text})`")))
    }

    fn params(&mut self, trees: &[Tree], lambda: &mut Lambda) -> Eval<()> {
        let mut section = Section::Required;
        let mut seen: Vec<Name> = Vec::new();
        let mut failed = None;
        for tree in trees {
            if let Datum::Symbol(mark) = &tree.datum
                && mark.starts_with('&')
            {
                section = match mark.as_str() {
                    "&optional" => Section::Optional,
                    "&rest" => Section::Rest,
                    "&key" => Section::Keys,
                    "&context" => Section::Context,
                    _ => {
                        let message =
                            format!("`{mark}` is not one of `&optional`, `&rest`, `&key`, `&context`");
                        return Err(self.fail(Code::FormShape, tree.span, message));
                    }
                };
                continue;
            }
            match self.param(tree, section) {
                Ok(param) if *param.name != *"_" && seen.contains(&param.name) => {
                    let message = format!("two parameters are called `{}`", param.name);
                    failed = Some(self.fail(Code::NameTwice, tree.span, message));
                }
                Ok(param) => {
                    seen.push(param.name.clone());
                    match section {
                        Section::Required => lambda.required.push(param),
                        Section::Optional => lambda.optional.push(param),
                        Section::Keys => lambda.keys.push(param),
                        Section::Rest => lambda.rest = Some(param),
                        Section::Context => lambda.context = Some(param.name),
                    }
                }
                Err(stop) => failed = Some(stop),
            }
        }
        failed.map_or(Ok(()), Err)
    }

    fn param(&mut self, tree: &Tree, section: Section) -> Eval<Param> {
        let plain = |name: &str| Param {
            name: name.into(),
            ty: None,
            default: None,
            optional: matches!(section, Section::Optional | Section::Keys),
            key: section == Section::Keys,
            span: tree.span,
        };
        match (&tree.datum, section) {
            (Datum::Symbol(name), _) => Ok(plain(name)),
            (Datum::List(items), Section::Optional | Section::Keys) if matches!(items.len(), 1 | 2) => {
                let inner = self.param(&items[0], Section::Required)?;
                let default = items.get(1).cloned();
                Ok(Param { ty: inner.ty, default, ..plain(&inner.name) })
            }
            (Datum::List(items), Section::Required | Section::Rest) if !items.is_empty() => {
                let Datum::Symbol(name) = &items[0].datum else {
                    let message = "a parameter begins with its name";
                    return Err(self.fail(Code::FormShape, items[0].span, message));
                };
                let ty = self.type_expr(&items[1..], tree.span)?;
                Ok(Param { ty: Some(ty), ..plain(name) })
            }
            _ => {
                let expected = match section {
                    Section::Required => "a parameter is `name` or `(name TYPE…)`",
                    Section::Optional | Section::Keys => {
                        "an optional parameter is `name`, `(name default)` or `((name TYPE…) default)`"
                    }
                    Section::Rest | Section::Context => "a name was expected here",
                };
                Err(self.fail(Code::FormShape, tree.span, expected))
            }
        }
    }

    /// Meets a closure's parameters with a call's arguments.
    pub(super) fn bind(&mut self, closure: &Closure, args: Vec<Arg>, site: Span) -> Eval<Bound> {
        let lambda = &closure.lambda;
        let mut binder = Binder { names: Vec::new(), axes: Vec::new(), env: closure.env.clone() };
        let mut args = args.into_iter().peekable();
        let given = args.len();
        for param in &lambda.required {
            let Some(arg) = args.next() else { return Err(self.wrong_count(closure, given, site)) };
            self.bind_one(closure, param, arg, &mut binder)?;
        }
        let at_key = |arg: &Arg| !lambda.keys.is_empty() && matches!(arg.value, Value::Keyword(_));
        for param in &lambda.optional {
            match args.next_if(|arg| !at_key(arg)) {
                Some(arg) => self.bind_one(closure, param, arg, &mut binder)?,
                None => self.bind_default(closure, param, &mut binder)?,
            }
        }
        if let Some(rest) = &lambda.rest {
            let mut values = Vec::new();
            while let Some(arg) = args.next_if(|arg| !at_key(arg)) {
                values.push(self.held(closure, rest, arg, &mut binder)?);
            }
            binder.names.push((rest.name.clone(), Value::list(values)));
        }
        if lambda.keys.is_empty() {
            if args.peek().is_some() {
                return Err(self.wrong_count(closure, given, site));
            }
        } else {
            self.bind_keys(closure, args.collect(), given, site, &mut binder)?;
        }
        if let Some(context) = &lambda.context {
            binder.names.push((context.clone(), Value::Context));
        }
        let axes = binder.axes.iter().map(|axis| (axis.name.clone(), Value::Axis(axis.clone())));
        let names = axes.chain(binder.names).collect();
        Ok(Bound { env: closure.env.with(names), axes: binder.axes })
    }

    fn bind_keys(
        &mut self,
        closure: &Closure,
        args: Vec<Arg>,
        given: usize,
        site: Span,
        binder: &mut Binder,
    ) -> Eval<()> {
        let keys = &closure.lambda.keys;
        let names: Vec<&str> = keys.iter().map(|key| &*key.name).collect();
        if args.first().is_some_and(|arg| !matches!(arg.value, Value::Keyword(_))) {
            return Err(self.wrong_count(closure, given, site));
        }
        let callee = closure.name.as_deref().unwrap_or("the function").to_string();
        let mut pairs = self.key_arguments(&callee, &names, args)?;
        for key in keys {
            match pairs.iter().position(|(name, _)| *name == key.name) {
                Some(at) => {
                    let (_, arg) = pairs.swap_remove(at);
                    self.bind_one(closure, key, arg, binder)?;
                }
                None => self.bind_default(closure, key, binder)?,
            }
        }
        Ok(())
    }

    fn bind_one(&mut self, closure: &Closure, param: &Param, arg: Arg, binder: &mut Binder) -> Eval<()> {
        let value = self.held(closure, param, arg, binder)?;
        binder.names.push((param.name.clone(), value));
        Ok(())
    }

    /// An argument, held against the type of its parameter.
    fn held(&mut self, closure: &Closure, param: &Param, arg: Arg, binder: &mut Binder) -> Eval {
        match &param.ty {
            // What may be left out may be nil.
            Some(_) if matches!(arg.value, Value::Nil) && param.optional => Ok(arg.value),
            Some(ty) => {
                let wanted = Wanted::Parameter {
                    function: closure.name.as_deref(),
                    name: &param.name,
                    key: param.key,
                };
                self.check_type(ty, arg.value, arg.span, wanted, &mut binder.axes)
            }
            None => Ok(arg.value),
        }
    }

    fn bind_default(&mut self, closure: &Closure, param: &Param, binder: &mut Binder) -> Eval<()> {
        let Some(tree) = &param.default else {
            binder.names.push((param.name.clone(), Value::Nil));
            return Ok(());
        };
        let axes = binder.axes.iter().map(|axis| (axis.name.clone(), Value::Axis(axis.clone())));
        let env = binder.env.with(axes.chain(binder.names.iter().cloned()).collect());
        let value = self.eval(tree, &env)?.single();
        if matches!(value, Value::Nil) {
            binder.names.push((param.name.clone(), value));
            return Ok(());
        }
        self.bind_one(closure, param, Arg { value, span: tree.span }, binder)
    }

    fn wrong_count(&mut self, closure: &Closure, given: usize, site: Span) -> Stop {
        let lambda = &closure.lambda;
        let least = lambda.required.len();
        let most = lambda.rest.is_none().then_some(least + lambda.optional.len());
        let name = closure.name.as_deref().map_or("the function".to_string(), |name| format!("`{name}`"));
        let message = format!("{name} takes {}, and {} given here", count_text(least, most), are(given));
        let mut diagnostic = Diagnostic::new(Code::CallCount, site, message);
        diagnostic = match closure.name.as_deref().and_then(super::doc) {
            Some(doc) if self.sources.is_library(lambda.span.file) => {
                diagnostic.note(format!("it is called as `{}`", doc.signature))
            }
            _ => diagnostic.note_at(lambda.span, "its parameters"),
        };
        // The call's own frame is not where the mistake is.
        let frame = self.calls.pop();
        let stop = self.report(diagnostic);
        self.calls.extend(frame);
        stop
    }

    /// Splits `:name value …` into pairs; every name must be one of `known` and stand once.
    pub(super) fn key_arguments(
        &mut self,
        callee: &str,
        known: &[&str],
        args: Vec<Arg>,
    ) -> Eval<Vec<(Name, Arg)>> {
        let mut pairs: Vec<(Name, Arg)> = Vec::new();
        let mut args = args.into_iter();
        while let Some(key) = args.next() {
            let Value::Keyword(name) = &key.value else {
                let message =
                    format!("{callee}: a keyword was expected here, and this is {}", key.value.kind());
                return Err(self.fail(Code::CallKeyword, key.span, message));
            };
            if !known.contains(&&**name) {
                let message = format!("{callee} has no keyword `:{name}`");
                let mut diagnostic = Diagnostic::new(Code::CallKeyword, key.span, message);
                diagnostic = match crate::diag::suggest::nearest(name, known.iter().copied()) {
                    Some(near) => diagnostic.help(format!("write `:{near}`")),
                    None if known.is_empty() => diagnostic,
                    None => {
                        let list: Vec<String> = known.iter().map(|k| format!("`:{k}`")).collect();
                        diagnostic.note(format!("its keywords are {}", list.join(", ")))
                    }
                };
                return Err(self.report(diagnostic));
            }
            if pairs.iter().any(|(other, _)| other == name) {
                let message = format!("{callee}: `:{name}` is given twice");
                return Err(self.fail(Code::CallKeyword, key.span, message));
            }
            let Some(value) = args.next() else {
                let message = format!("{callee}: `:{name}` has no value");
                return Err(self.fail(Code::CallKeyword, key.span, message));
            };
            pairs.push((name.clone(), value));
        }
        Ok(pairs)
    }
}

struct Binder {
    names: Vec<(Name, Value)>,
    axes: Vec<AxisName>,
    env: Env,
}

/// `2 arguments`, `at least 1 argument`, `1 to 3 arguments`.
pub(super) fn count_text(least: usize, most: Option<usize>) -> String {
    let plural = |n: usize| if n == 1 { "" } else { "s" };
    match most {
        Some(most) if most == least => format!("{least} argument{}", plural(least)),
        Some(most) => format!("{least} to {most} arguments"),
        None => format!("at least {least} argument{}", plural(least)),
    }
}

/// How many there are, with the verb that goes with it.
pub(super) fn are(count: usize) -> String {
    format!("{count} {}", if count == 1 { "is" } else { "are" })
}
