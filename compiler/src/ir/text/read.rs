//! Text to graph.
//!
//! Types are read as they are written, not inferred: `ops::verify` tells whether they are the right ones.

use super::print::fold_name;
use crate::diag::{FileId, Span};
use crate::ir::op::*;
use crate::ir::{Axis, Dim, Domain, Graph, Interval, Marks, Node, NodeId, Op, Origin, OriginId, Output};
use crate::ir::{Type, Value, Why};
use half::bf16;
use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use sx_artifact::dtype::DType;
use sx_artifact::kernel::FoldOp;
use sx_artifact::scalar::ScalarFn;
use sx_artifact::tensor::{Data, Tensor};

/// Why a text is not a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// The line, from 1.
    pub line: usize,
    /// What was wanted there.
    pub message: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ReadError {}

/// The graph that `text` prints. Origins are not read: every node gets one that says nothing.
pub fn read(text: &str) -> Result<Graph, ReadError> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let mut reader = Reader { lines: lines.collect(), next: 0, axes: HashMap::new() };
    let graph = reader.graph();
    let graph = graph.map_err(|message| reader.error(message))?;
    match reader.lines.get(reader.next) {
        None => Ok(graph),
        Some((line, _)) => Err(ReadError { line: line + 1, message: "nothing follows a graph".to_owned() }),
    }
}

type Read<T> = Result<T, String>;

struct Reader<'t> {
    lines: Vec<(usize, &'t str)>,
    next: usize,
    axes: HashMap<String, Axis>,
}

impl<'t> Reader<'t> {
    fn error(&self, message: String) -> ReadError {
        let at = self.next.saturating_sub(1).min(self.lines.len().saturating_sub(1));
        ReadError { line: self.lines.get(at).map_or(1, |(line, _)| line + 1), message }
    }

    fn line(&mut self) -> Read<Cursor<'t>> {
        let (_, line) = self.lines.get(self.next).ok_or("the text ends within a graph")?;
        self.next += 1;
        Ok(Cursor { rest: line.trim() })
    }

    fn graph(&mut self) -> Read<Graph> {
        let mut head = self.line()?;
        head.expect("graph")?;
        let mut graph = Graph::new(head.quoted()?);
        head.expect("(")?;
        while !head.eat(")") {
            graph.inputs.push(head.value()?.node);
        }
        let span = Span { file: FileId(0), start: 0, end: 0 };
        let origin = graph.add_origin(Origin { span, why: Why::Written, parent: None });
        loop {
            let mut line = self.line()?;
            if line.eat("axes") {
                self.declare(&mut line)?;
            } else if line.eat("return") {
                self.outputs(&mut line, &mut graph)?;
                return self.checked(graph);
            } else {
                self.node(&mut line, &mut graph, origin)?;
            }
        }
    }

    fn checked(&self, graph: Graph) -> Read<Graph> {
        let is_input =
            |id: &NodeId| (id.0 as usize) < graph.nodes().len() && matches!(graph.node(*id).op, Op::Input(_));
        if graph.inputs.iter().all(is_input) {
            Ok(graph)
        } else {
            Err("the graph's input list names a node that is not an `input`".to_owned())
        }
    }

    fn declare(&mut self, line: &mut Cursor<'t>) -> Read<()> {
        while !line.rest.is_empty() {
            let word = line.word();
            let (shown, id) = word.rsplit_once('=').ok_or("an axis is written NAME=#NUMBER")?;
            let id = id.trim_start_matches('#');
            let name = shown.split_once('#').map_or(shown, |(name, _)| name);
            self.axes.insert(shown.to_owned(), Axis { id: parsed(id)?, name: name.into() });
        }
        Ok(())
    }

    fn outputs(&self, line: &mut Cursor<'t>, graph: &mut Graph) -> Read<()> {
        while !line.rest.is_empty() {
            let (name, value) = (line.quoted()?, line.value()?);
            known(graph, value)?;
            graph.outputs.push(Output { name, value });
            line.eat(",");
        }
        Ok(())
    }

    fn node(&mut self, line: &mut Cursor<'t>, graph: &mut Graph, origin: OriginId) -> Read<()> {
        let id = line.value()?;
        if id != Value::from(NodeId(graph.nodes().len() as u32)) {
            return Err(format!("node %{} comes next", graph.nodes().len()));
        }
        line.expect("=")?;
        let mut words = Words { name: line.word(), ..Words::default() };
        while !line.rest.starts_with('[') {
            words.take(line)?;
        }
        words.args.iter().try_for_each(|&arg| known(graph, arg))?;
        let mut results = vec![self.ty(line)?];
        while line.eat(",") {
            results.push(self.ty(line)?);
        }
        if !line.rest.is_empty() && !line.rest.starts_with(';') {
            return Err(format!("`{}` follows the types", line.rest));
        }
        let op = self.op(&words, &results[0])?;
        let marks = Marks { precision: words.dtype("precision")?, tf32: words.flag("tf32") };
        graph.push(Node { op, args: words.args, results, origin, marks });
        Ok(())
    }

    fn op(&mut self, words: &Words<'t>, ty: &Type) -> Read<Op> {
        if let Some(f) = ScalarFn::named(words.name) {
            return Ok(Op::Map(Map { f }));
        }
        let folds = [FoldOp::Sum, FoldOp::Max, FoldOp::Min, FoldOp::Prod, FoldOp::All, FoldOp::Any];
        if let Some(op) = folds.into_iter().find(|&op| fold_name(op) == words.name) {
            return Ok(Op::Reduce(Reduce {
                op,
                axes: words.list("axes")?,
                keepdims: words.flag("keepdims"),
            }));
        }
        Ok(match words.name {
            "input" => Op::Input(Input { name: words.string()? }),
            "param" => Op::Param(Param { name: words.string()? }),
            "context" if words.flag("step") => Op::Context(Context::Step),
            "context" if words.flag("microbatch") => Op::Context(Context::Microbatch),
            "constant" => Op::Constant(Constant { value: Arc::new(constant(words, ty)?) }),
            "iota" => Op::Iota(Iota { dims: ty.dims.clone(), axis: words.number("axis")?, dtype: ty.dtype }),
            "cast" => Op::Cast(Cast { dtype: ty.dtype }),
            "as" => Op::As(As { domain: ty.domain.clone() }),
            "broadcast" => Op::Broadcast(Broadcast { dims: self.shape(words, ty)? }),
            "reshape" => Op::Reshape(Reshape { dims: self.shape(words, ty)? }),
            "transpose" => Op::Transpose(Transpose { order: words.list("order")? }),
            "slice" => Op::Slice(Slice {
                axis: words.number("axis")?,
                start: words.number("start")?,
                stop: words.number("stop")?,
            }),
            "concat" => Op::Concat(Concat { axis: words.number("axis")? }),
            "matmul" => Op::Matmul(Matmul { out_f32: words.attribute("out").is_some() }),
            "index" => Op::Index(Index),
            "gather" => Op::Gather(Gather { axis: words.number("axis")? }),
            "attention" => Op::Attention(Attention {
                score: Arc::new(self.graph()?),
                zero_hidden_rows: words.flag("zero-hidden-rows"),
            }),
            "composite" => Op::Composite(Composite {
                name: words.string()?,
                domain: words.flag("stated").then(|| ty.domain.clone()),
                region: Arc::new(self.graph()?),
            }),
            other => return Err(format!("`{other}` is no operation")),
        })
    }

    /// The shape of a broadcast or reshape: that of the result unless `to` says more.
    fn shape(&self, words: &Words<'t>, ty: &Type) -> Read<Vec<Dim>> {
        match words.attribute("to") {
            Some(written) => self.dims(&mut Cursor { rest: written }),
            None => Ok(ty.dims.clone()),
        }
    }

    fn ty(&self, line: &mut Cursor<'t>) -> Read<Type> {
        let dims = self.dims(line)?;
        let dtype = line.word();
        let dtype = DType::from_name(dtype).ok_or_else(|| format!("`{dtype}` is no dtype"))?;
        Ok(Type { dtype, dims, domain: self.domain(line)? })
    }

    fn dims(&self, line: &mut Cursor<'t>) -> Read<Vec<Dim>> {
        let list = line.bracketed()?;
        list.split_whitespace().map(|dim| self.dim(dim)).collect()
    }

    fn dim(&self, text: &str) -> Read<Dim> {
        let Some((axis, size)) = text.rsplit_once('=') else { return Ok(Dim::of(parsed(text)?)) };
        let axis = self.axes.get(axis).ok_or_else(|| format!("axis `{axis}` is not declared"))?;
        Ok(Dim { size: parsed(size)?, axis: Some(axis.clone()) })
    }

    fn domain(&self, line: &mut Cursor<'t>) -> Read<Domain> {
        if line.rest.starts_with(['[', '(']) {
            return interval(line).map(Domain::Range);
        }
        if let Some(rest) = line.rest.strip_prefix("Index") {
            line.rest = rest;
            return Ok(Domain::Index(self.dim(line.bracketed()?.trim())?));
        }
        let name = line.until(|c| c.is_whitespace() || c == ',');
        let mut over = || {
            line.expect("over")?;
            parsed(line.until(|c| c.is_whitespace() || c == ','))
        };
        Ok(match name {
            "Mask" => Domain::Mask,
            "Binary" => Domain::Binary,
            "Additive" => Domain::Additive,
            "Logit" => Domain::Logit { over: over()? },
            "Prob" => Domain::Prob { over: over()? },
            "LogProb" => Domain::LogProb { over: over()? },
            _ => match Interval::NAMED.iter().find(|(named, _)| *named == name) {
                Some((_, range)) => Domain::Range(*range),
                None => return Err(format!("`{name}` is no domain")),
            },
        })
    }
}

fn known(graph: &Graph, value: Value) -> Read<()> {
    let node = graph.nodes().get(value.node.0 as usize);
    match node.and_then(|node| node.results.get(value.result as usize)) {
        Some(_) => Ok(()),
        None => Err(format!("%{} has no result {} here", value.node.0, value.result)),
    }
}

/// What stands between the name of an operation and its types.
#[derive(Default)]
struct Words<'t> {
    name: &'t str,
    args: Vec<Value>,
    string: Option<String>,
    attributes: Vec<(&'t str, &'t str)>,
    flags: Vec<&'t str>,
}

impl<'t> Words<'t> {
    fn take(&mut self, line: &mut Cursor<'t>) -> Read<()> {
        if line.rest.starts_with('%') {
            self.args.push(line.value()?);
        } else if line.rest.starts_with('"') {
            self.string = Some(line.quoted()?);
        } else {
            let name = line.until(|c| c.is_whitespace() || c == '=');
            if name.is_empty() {
                return Err("the types of the results are missing".to_owned());
            }
            match line.rest.strip_prefix('=') {
                None => self.flags.push(name),
                Some(rest) => {
                    line.rest = rest;
                    let end =
                        if rest.starts_with('[') { rest.find(']').map(|at| at + 1) } else { rest.find(' ') };
                    let (value, rest) = rest.split_at(end.unwrap_or(rest.len()));
                    line.rest = rest.trim_start();
                    self.attributes.push((name, value));
                }
            }
        }
        Ok(())
    }

    fn attribute(&self, name: &str) -> Option<&'t str> {
        self.attributes.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }

    fn flag(&self, name: &str) -> bool {
        self.flags.contains(&name)
    }

    fn string(&self) -> Read<String> {
        self.string.clone().ok_or_else(|| format!("`{}` needs a name in quotes", self.name))
    }

    fn number<T: FromStr>(&self, name: &str) -> Read<T> {
        parsed(self.attribute(name).ok_or_else(|| format!("`{}` needs {name}=", self.name))?)
    }

    fn list(&self, name: &str) -> Read<Vec<usize>> {
        let list = self.attribute(name).ok_or_else(|| format!("`{}` needs {name}=[…]", self.name))?;
        list.trim_matches(['[', ']']).split_whitespace().map(parsed).collect()
    }

    fn dtype(&self, name: &str) -> Read<Option<DType>> {
        let Some(written) = self.attribute(name) else { return Ok(None) };
        DType::from_name(written).map(Some).ok_or_else(|| format!("`{written}` is no dtype"))
    }
}

/// What is left of a line, without leading blanks.
struct Cursor<'t> {
    rest: &'t str,
}

impl<'t> Cursor<'t> {
    fn eat(&mut self, word: &str) -> bool {
        match self.rest.strip_prefix(word) {
            Some(rest) => {
                self.rest = rest.trim_start();
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, word: &str) -> Read<()> {
        if self.eat(word) { Ok(()) } else { Err(format!("`{word}` is wanted before `{}`", self.rest)) }
    }

    fn until(&mut self, end: impl Fn(char) -> bool) -> &'t str {
        let (word, rest) = self.rest.split_at(self.rest.find(end).unwrap_or(self.rest.len()));
        self.rest = rest.trim_start();
        word
    }

    fn word(&mut self) -> &'t str {
        self.until(char::is_whitespace)
    }

    /// What stands between square brackets.
    fn bracketed(&mut self) -> Read<&'t str> {
        self.expect("[")?;
        let (inside, rest) = self.rest.split_once(']').ok_or("`]` is missing")?;
        self.rest = rest.trim_start();
        Ok(inside)
    }

    fn quoted(&mut self) -> Read<String> {
        let mut escaped = false;
        let inner = self.rest.strip_prefix('"').ok_or("a name in quotes is wanted")?;
        let end = inner.find(|c| {
            let ends = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        });
        let end = end.ok_or("a name has no closing quote")? + 2;
        let (literal, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        unescaped(literal)
    }

    fn value(&mut self) -> Read<Value> {
        let text = self.until(|c| !(c.is_ascii_digit() || c == '%' || c == '.'));
        let text =
            text.strip_prefix('%').ok_or_else(|| format!("a value is wanted before `{}`", self.rest))?;
        let (node, result) = text.split_once('.').unwrap_or((text, "0"));
        Ok(Value { node: NodeId(parsed(node)?), result: parsed(result)? })
    }
}

/// The text of a literal in quotes, with the escapes of Rust's `{:?}`.
fn unescaped(literal: &str) -> Read<String> {
    let mut text = String::new();
    let mut chars = literal[1..literal.len() - 1].chars();
    while let Some(c) = chars.next() {
        match (c, if c == '\\' { chars.next() } else { None }) {
            ('\\', Some('n')) => text.push('\n'),
            ('\\', Some('r')) => text.push('\r'),
            ('\\', Some('t')) => text.push('\t'),
            ('\\', Some('0')) => text.push('\0'),
            ('\\', Some('u')) => {
                let code: String = chars.by_ref().skip(1).take_while(|&c| c != '}').collect();
                let code = u32::from_str_radix(&code, 16).ok().and_then(char::from_u32);
                text.push(code.ok_or("an escape names no character")?);
            }
            ('\\', Some(c)) => text.push(c),
            (c, _) => text.push(c),
        }
    }
    Ok(text)
}

fn interval(line: &mut Cursor<'_>) -> Read<Interval> {
    let lo_open = line.rest.starts_with('(');
    let end = line.rest.find([']', ')']).ok_or("a range has no end")?;
    let (inside, hi_open) = (&line.rest[1..end], line.rest[end..].starts_with(')'));
    let (lo, hi) = inside.split_once(',').ok_or("a range has two ends")?;
    line.rest = line.rest[end + 1..].trim_start();
    Ok(Interval { lo: parsed(lo.trim())?, hi: parsed(hi.trim())?, lo_open, hi_open })
}

fn parsed<T: FromStr>(text: &str) -> Read<T> {
    text.parse().map_err(|_| format!("`{text}` is not what is wanted here"))
}

fn constant(words: &Words<'_>, ty: &Type) -> Read<Tensor> {
    let written = words.attribute("value").ok_or("a constant shown by its digest cannot be read back")?;
    let written: Vec<&str> = written.trim_matches(['[', ']']).split_whitespace().collect();
    if written.len() as u64 != ty.count() {
        return Err(format!("{} elements are written, the type has {}", written.len(), ty.count()));
    }
    fn all<T>(written: &[&str], one: impl Fn(&str) -> Read<T>) -> Read<Vec<T>> {
        written.iter().map(|text| one(text)).collect()
    }
    let data: Data = match ty.dtype {
        DType::F32 => all(&written, float)?.into(),
        DType::Bf16 => all(&written, |text| float(text).map(bf16::from_f32))?.into(),
        DType::I32 => all(&written, parsed::<i32>)?.into(),
        DType::I64 => all(&written, parsed::<i64>)?.into(),
        DType::Bool => all(&written, parsed::<bool>)?.into(),
    };
    Ok(Tensor::new(&ty.shape(), data))
}

fn float(text: &str) -> Read<f32> {
    match text.strip_prefix("nan:") {
        Some(bits) => {
            Ok(f32::from_bits(u32::from_str_radix(bits, 16).map_err(|_| format!("`{bits}` are no bits"))?))
        }
        None if text == "nan" => Ok(f32::NAN),
        None => parsed(text),
    }
}
