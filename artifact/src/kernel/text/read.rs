//! A kernel from its text.

use super::super::{
    Access, Affine, Arg, Attention, Body, Const, Contraction, Inst, Kernel, KernelKind, Loop, Mode, Operand,
    ScalarType, Store, Val,
};
use super::{FOLDS, TYPES};
use crate::dtype::DType;
use crate::scalar::ScalarFn;
use std::fmt;
use std::iter::Peekable;
use std::str::FromStr;

/// Why a text is no kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong there.
    pub what: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

impl std::error::Error for ReadError {}

type Read<T> = Result<T, String>;

/// The kernel that `text` is. It need not be valid: [`crate::validate`] is asked for that.
pub fn read(text: &str) -> Result<Kernel, ReadError> {
    let lines = text.lines().enumerate().map(|(number, line)| (number + 1, line.trim()));
    let lines: Vec<(usize, &str)> = lines.filter(|(_, line)| !line.is_empty()).collect();
    let mut lines = Lines { lines: lines.into_iter().peekable(), at: 0 };
    kernel(&mut lines).map_err(|what| ReadError { line: lines.at, what })
}

/// The lines that are not empty, with their numbers.
struct Lines<'a> {
    lines: Peekable<std::vec::IntoIter<(usize, &'a str)>>,
    /// The line that was read last.
    at: usize,
}

impl<'a> Lines<'a> {
    fn next(&mut self, wanted: &str) -> Read<&'a str> {
        match self.lines.next() {
            Some((number, line)) => {
                self.at = number;
                Ok(line)
            }
            None => Err(format!("the text ends where {wanted} should follow")),
        }
    }

    /// What follows a word, if the next line begins with it.
    fn after(&mut self, word: &str) -> Option<&'a str> {
        let (number, line) = self.lines.next_if(|(_, line)| rest(line, word).is_some())?;
        self.at = number;
        rest(line, word)
    }
}

/// What follows `word`, if `line` begins with it.
fn rest<'a>(line: &'a str, word: &str) -> Option<&'a str> {
    let rest = line.strip_prefix(word)?;
    (rest.is_empty() || rest.starts_with(' ')).then(|| rest.trim_start())
}

fn kernel(lines: &mut Lines<'_>) -> Read<Kernel> {
    let head = lines.next("`kernel NAME`")?;
    let name = rest(head, "kernel").ok_or("a kernel begins with `kernel NAME`")?;
    let name = match name.starts_with('"') {
        true => serde_json::from_str(name).map_err(|error| format!("the name is no string: {error}"))?,
        false => name.to_owned(),
    };
    let traps = lines.after("traps").map_or(Ok(0), |count| number(count, "a number of traps"))?;
    let mut args = Vec::new();
    while let Some((number, text)) = lines.lines.next_if(|(_, line)| line.starts_with('#')) {
        lines.at = number;
        args.push(arg(text, args.len())?);
    }
    let kind = kind(lines)?;
    match lines.lines.next() {
        None => Ok(Kernel { name, args, traps, kind }),
        Some((number, line)) => {
            lines.at = number;
            Err(format!("`{line}` follows the end of the kernel"))
        }
    }
}

/// `#0 read f32[12]`
fn arg(line: &str, at: usize) -> Read<Arg> {
    let wrong = || format!("argument {at} is written `#{at} read f32[12]`");
    let line = rest(line, &format!("#{at}")).ok_or_else(wrong)?;
    let (mode, line) = match (rest(line, "read"), rest(line, "write")) {
        (Some(line), _) => (Mode::Read, line),
        (_, Some(line)) => (Mode::Write, line),
        (None, None) => return Err(wrong()),
    };
    let (dtype, len) = line.strip_suffix(']').and_then(|line| line.split_once('[')).ok_or_else(wrong)?;
    let known = [DType::F32, DType::Bf16, DType::I32, DType::I64, DType::Bool];
    let dtype = known.into_iter().find(|known| known.to_string() == dtype);
    Ok(Arg { dtype: dtype.ok_or_else(wrong)?, len: number(len, "a length")?, mode })
}

fn kind(lines: &mut Lines<'_>) -> Read<KernelKind> {
    let head = lines.next("`for`, `contract` or `attention`")?;
    if let Some(sizes) = rest(head, "for") {
        let mut fields = Fields { text: sizes };
        let dims = fields.list("")?;
        let along = if fields.word("along") { fields.list("")? } else { Vec::new() };
        fields.end()?;
        let (body, stores) = code(lines, dims.len() + along.len())?;
        return Ok(KernelKind::Loop(Loop { dims, along, body, stores }));
    }
    if let Some(sizes) = rest(head, "contract") {
        return contraction(lines, Fields { text: sizes }).map(KernelKind::Contraction);
    }
    match rest(head, "attention") {
        Some(sizes) => attention(lines, Fields { text: sizes }).map(KernelKind::Attention),
        None => Err(format!("`{head}` is none of `for`, `contract` and `attention`")),
    }
}

fn contraction(lines: &mut Lines<'_>, mut fields: Fields<'_>) -> Read<Contraction> {
    let (batch, m) = (fields.list("batch")?, fields.list("m")?);
    let (n, k) = (fields.list("n")?, fields.list("k")?);
    fields.end()?;
    let lhs = operand(lines, "lhs", batch.len() + m.len() + k.len())?;
    let rhs = operand(lines, "rhs", batch.len() + k.len() + n.len())?;
    let (epilogue, stores) = epilogue(lines, batch.len() + m.len() + n.len())?;
    Ok(Contraction { batch, m, n, k, lhs, rhs, epilogue, stores })
}

fn attention(lines: &mut Lines<'_>, mut fields: Fields<'_>) -> Read<Attention> {
    let batch = fields.list("batch")?;
    let (t, s) = (fields.number("t")?, fields.number("s")?);
    let (d, e) = (fields.number("d")?, fields.number("e")?);
    let (causal, zero_hidden_rows) = (fields.word("causal"), fields.word("zero-hidden-rows"));
    fields.end()?;
    let rank = batch.len() + 2;
    let (query, key) = (operand(lines, "query", rank)?, operand(lines, "key", rank)?);
    let (value, score) = (operand(lines, "value", rank)?, operand(lines, "score", rank)?);
    let (epilogue, stores) = epilogue(lines, rank)?;
    Ok(Attention { batch, t, s, d, e, query, key, value, score, causal, zero_hidden_rows, epilogue, stores })
}

/// The sizes of a kernel, field by field.
struct Fields<'a> {
    text: &'a str,
}

impl Fields<'_> {
    /// Whether this word follows.
    fn word(&mut self, word: &str) -> bool {
        match rest(self.text, word) {
            Some(text) => {
                self.text = text;
                true
            }
            None => false,
        }
    }

    fn named(&mut self, name: &str) -> Read<()> {
        match name.is_empty() || self.word(name) {
            true => Ok(()),
            false => Err(format!("`{name}` should follow")),
        }
    }

    /// `NAME [1, 2]`
    fn list(&mut self, name: &str) -> Read<Vec<u64>> {
        self.named(name)?;
        let text = self.text.strip_prefix('[').and_then(|text| text.split_once(']'));
        let (items, text) =
            text.ok_or_else(|| format!("a list of sizes follows `{name}`, such as `[2, 3]`"))?;
        self.text = text.trim_start();
        let items = items.split(',').map(str::trim).filter(|item| !item.is_empty());
        items.map(|item| number(item, "a size")).collect()
    }

    /// `NAME 1`
    fn number(&mut self, name: &str) -> Read<u64> {
        self.named(name)?;
        let (text, rest) = self.text.split_once(' ').unwrap_or((self.text, ""));
        self.text = rest.trim_start();
        number(text, "a size")
    }

    fn end(&self) -> Read<()> {
        match self.text {
            "" => Ok(()),
            more => Err(format!("`{more}` is not known here")),
        }
    }
}

fn operand(lines: &mut Lines<'_>, name: &str, rank: usize) -> Read<Operand> {
    section(lines, name)?;
    let body = body(lines, rank)?;
    let give = lines.after("give").ok_or_else(|| format!("the {name} ends with `give v0`"))?;
    Ok(Operand { body, value: value(give)? })
}

fn epilogue(lines: &mut Lines<'_>, rank: usize) -> Read<(Body, Vec<Store>)> {
    section(lines, "epilogue")?;
    code(lines, rank)
}

fn section(lines: &mut Lines<'_>, name: &str) -> Read<()> {
    match lines.next(&format!("`{name}`"))? {
        line if line == name => Ok(()),
        line => Err(format!("`{line}` stands where the section `{name}` should begin")),
    }
}

/// Instructions, then stores.
fn code(lines: &mut Lines<'_>, rank: usize) -> Read<(Body, Vec<Store>)> {
    let body = body(lines, rank)?;
    let mut stores = Vec::new();
    while let Some(line) = lines.after("store") {
        let (to, from) = line.split_once(" = ").ok_or("a store is written `store #1[c0] = v0`")?;
        stores.push(Store { value: value(from)?, access: access(to, rank)? });
    }
    Ok((body, stores))
}

fn body(lines: &mut Lines<'_>, rank: usize) -> Read<Body> {
    let mut body = Body::default();
    while let Some((number, line)) =
        lines.lines.next_if(|(_, line)| line.starts_with('v') && line.contains(" = "))
    {
        lines.at = number;
        let (name, text) = line.split_once(" = ").unwrap_or((line, ""));
        let next = body.insts.len();
        if name != format!("v{next}") {
            return Err(format!("the next value is v{next}, not {name}"));
        }
        body.insts.push(instruction(text.trim(), rank)?);
    }
    Ok(body)
}

fn instruction(text: &str, rank: usize) -> Read<Inst> {
    if let Some((from, guard)) = text.split_once(" if ") {
        return Ok(Inst::Load { access: access(from, rank)?, guard: Some(value(guard)?) });
    }
    if text.starts_with('#') {
        return Ok(Inst::Load { access: access(text, rank)?, guard: None });
    }
    if let Some((x, bound)) = text.split_once(" below ") {
        let (size, trap) = match bound.split_once(" or trap ") {
            Some((size, trap)) => (size, Some(number(trap, "a trap")?)),
            None => (bound, None),
        };
        return Ok(Inst::Bounded { x: value(x)?, size: number(size, "a size")?, trap });
    }
    if let Some(constant) = constant(text) {
        return Ok(Inst::Const(constant));
    }
    let (word, operands) = text.split_once(' ').unwrap_or((text, ""));
    if let Some((_, ty)) = TYPES.iter().find(|(name, _)| *name == word) {
        return Ok(match value(operands) {
            Ok(x) => Inst::Convert { to: *ty, x },
            Err(_) => Inst::Index { at: affine(operands, rank)?, reg: *ty },
        });
    }
    if let Some((_, op)) = FOLDS.iter().find(|(name, _)| *name == word) {
        return Ok(Inst::Fold { op: *op, x: value(operands)? });
    }
    match (word, ScalarFn::named(word)) {
        ("bf16", _) => Ok(Inst::RoundBf16 { x: value(operands)? }),
        ("acc", _) => Ok(Inst::Acc { reg: ty(operands)? }),
        (_, Some(f)) => {
            Ok(Inst::Call { f, args: operands.split_whitespace().map(value).collect::<Read<_>>()? })
        }
        (_, None) => Err(format!("`{text}` is no instruction")),
    }
}

fn ty(text: &str) -> Read<ScalarType> {
    let found = TYPES.iter().find(|(name, _)| *name == text);
    found.map(|(_, ty)| *ty).ok_or_else(|| format!("`{text}` is none of f32, i32, i64 and bool"))
}

fn constant(text: &str) -> Option<Const> {
    if let Some(bits) = text.strip_prefix("NaN(0x").and_then(|text| text.strip_suffix(')')) {
        let bits = u32::from_str_radix(bits, 16).ok()?;
        return f32::from_bits(bits).is_nan().then_some(Const::F32(bits));
    }
    match text {
        "NaN" => return Some(Const::F32(f32::NAN.to_bits())),
        "true" => return Some(Const::Bool(true)),
        "false" => return Some(Const::Bool(false)),
        _ => {}
    }
    if let Some(x) = text.strip_suffix("i32") {
        return x.parse().ok().map(Const::I32);
    }
    if let Some(x) = text.strip_suffix("i64") {
        return x.parse().ok().map(Const::I64);
    }
    let float = text.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == 'i');
    if float { text.parse::<f32>().ok().map(|x| Const::F32(x.to_bits())) } else { None }
}

fn number<T: FromStr>(text: &str, what: &str) -> Read<T> {
    text.parse().map_err(|_| format!("`{text}` is not {what}"))
}

fn value(text: &str) -> Read<Val> {
    let digits = text.trim().strip_prefix('v').and_then(|digits| digits.parse().ok());
    digits.map(Val).ok_or_else(|| format!("`{text}` is no value such as `v0`"))
}

/// `#0[4*c0 + c1 + 7 + 2*v3]`
fn access(text: &str, rank: usize) -> Read<Access> {
    let wrong = || format!("`{text}` is no access such as `#0[4*c0 + c1]`");
    let (arg, terms) =
        text.trim().strip_prefix('#').and_then(|text| text.split_once('[')).ok_or_else(wrong)?;
    let terms = terms.strip_suffix(']').ok_or_else(wrong)?;
    let (mut own, mut gathered) = (Vec::new(), Vec::new());
    for term in terms.split(" + ") {
        match term.split_once("*v") {
            Some((stride, index)) => {
                gathered.push((Val(number(index, "a value")?), number(stride, "a stride")?));
            }
            None => own.push(term),
        }
    }
    Ok(Access { arg: number(arg, "an argument")?, at: affine(&own.join(" + "), rank)?, gathered })
}

/// `4*c0 + c1 + 7`
fn affine(text: &str, rank: usize) -> Read<Affine> {
    let mut affine = Affine::constant(0, rank);
    for term in text.split(" + ") {
        let (stride, coord) = match (term.split_once("*c"), term.strip_prefix('c')) {
            (Some((stride, coord)), _) => (number(stride, "a stride")?, coord),
            (None, Some(coord)) => (1, coord),
            (None, None) => {
                affine.offset = number(term, "a term such as `4*c0`, `c0` or `7`")?;
                continue;
            }
        };
        let coord: usize = number(coord, "a coordinate")?;
        let place = affine.strides.get_mut(coord);
        *place.ok_or_else(|| format!("there is no coordinate c{coord}: the section has {rank}"))? = stride;
    }
    Ok(affine)
}
