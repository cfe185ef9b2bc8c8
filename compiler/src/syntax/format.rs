//! The formatter behind `sxc fmt`: lays a text out in the Common Lisp manner and never changes what it says.
//!
//! Words, comments and the author's line breaks stay; indentation, spaces and lines over [`WIDTH`] columns
//! change. A list that is broken puts its body, its bindings and its arguments where Lisp programmers look
//! for them. Formatting what was formatted changes nothing.

use super::lex::{Bracket, Kind, Lexer, Token};
use super::page::{Page, width};
use super::read;
use crate::diag::{FileId, Reported, Sink, Sources};

/// The longest line, in columns, where breaking a list can keep to it.
pub const WIDTH: usize = 100;

/// The text of `file`, laid out; or proof that it cannot be read.
pub fn format(sources: &Sources, file: FileId, sink: &mut Sink) -> Result<String, Reported> {
    let mut faults = Sink::default();
    read(sources, file, &mut faults);
    if let Some(reported) = sink.report_all(faults) {
        return Err(reported);
    }
    let text = sources.text(file);
    let tokens: Vec<Token> = Lexer::new(text, file).collect();
    let mut parser = Parser { text, tokens: &tokens, at: 0, end: 0 };
    let mut nodes = Vec::new();
    while parser.at < tokens.len() {
        parser.node(&mut nodes);
    }
    let mut page = Page::default();
    for (i, node) in nodes.iter().enumerate() {
        if i > 0 && !node.ends_line(&page) {
            page.new_line(0, node.breaks > 1);
        }
        write_node(&mut page, node, 0);
    }
    Ok(page.finish())
}

/// A datum or a comment, with its letters.
struct Node<'a> {
    /// Line ends between it and what stands before it.
    breaks: usize,
    shape: Shape<'a>,
    /// The width on one line; `None` where it takes several.
    flat: Option<usize>,
}

enum Shape<'a> {
    Atom(&'a str),
    Comment(&'a str),
    Marked(&'static str, Box<Node<'a>>),
    Sequence(Bracket, Vec<Node<'a>>),
}

impl Node<'_> {
    fn is_comment(&self) -> bool {
        matches!(self.shape, Shape::Comment(_))
    }

    fn is_line_comment(&self) -> bool {
        matches!(self.shape, Shape::Comment(text) if text.starts_with(';'))
    }

    /// Whether it is a comment on what already stands on the line.
    fn ends_line(&self, page: &Page) -> bool {
        self.is_line_comment() && self.breaks == 0 && !page.is_full()
    }

    fn is_keyword(&self) -> bool {
        matches!(self.shape, Shape::Atom(text) if text.starts_with(':'))
    }

    fn symbol(&self) -> Option<&str> {
        match self.shape {
            Shape::Atom(text) if !text.starts_with(['"', ':']) => Some(text),
            _ => None,
        }
    }

    fn is_result_type(&self) -> bool {
        matches!(&self.shape, Shape::Sequence(Bracket::Round, items)
            if items.first().and_then(Node::symbol) == Some("->"))
    }
}

struct Parser<'a, 't> {
    text: &'a str,
    tokens: &'t [Token],
    at: usize,
    /// Where the token before ended.
    end: u32,
}

impl<'a> Parser<'a, '_> {
    /// Reads one datum or comment into `nodes`; comments behind a mark go before it. The text has been read
    /// without faults, so brackets match and marks have a datum.
    fn node(&mut self, nodes: &mut Vec<Node<'a>>) {
        let token = &self.tokens[self.at];
        let between = &self.text[self.end as usize..token.span.start as usize];
        let breaks = between.matches('\n').count();
        let written = &self.text[token.span.start as usize..token.span.end as usize];
        self.at += 1;
        self.end = token.span.end;
        let shape = match &token.kind {
            Kind::Atom(_) => Shape::Atom(written),
            Kind::Comment => Shape::Comment(written.trim_end()),
            Kind::Mark(mark) => {
                let mut inner = Vec::new();
                loop {
                    self.node(&mut inner);
                    match inner.pop() {
                        Some(comment) if comment.is_comment() => nodes.push(comment),
                        Some(datum) => break Shape::Marked(mark.spelling(), Box::new(datum)),
                        None => return,
                    }
                }
            }
            Kind::Open(bracket) => {
                let mut items = Vec::new();
                while !matches!(self.tokens[self.at].kind, Kind::Close(_)) {
                    self.node(&mut items);
                }
                self.end = self.tokens[self.at].span.end;
                self.at += 1;
                Shape::Sequence(*bracket, items)
            }
            Kind::Close(_) => return,
        };
        let flat = flat_width(&shape);
        nodes.push(Node { breaks, shape, flat });
    }
}

fn flat_width(shape: &Shape<'_>) -> Option<usize> {
    match shape {
        Shape::Comment(text) if text.starts_with(';') => None,
        Shape::Atom(text) | Shape::Comment(text) => (!text.contains('\n')).then(|| width(text)),
        Shape::Marked(mark, inner) => Some(mark.len() + inner.flat?),
        Shape::Sequence(_, items) => {
            let mut total = 2 + items.len().saturating_sub(1);
            for (i, item) in items.iter().enumerate() {
                if i > 0 && item.breaks > 0 {
                    return None;
                }
                total += item.flat?;
            }
            Some(total)
        }
    }
}

/// How the parts of a broken list are placed.
enum Layout {
    /// The first `heads` parts behind the name stay with it, the body goes two columns in.
    Body { heads: usize },
    /// Arguments stand below the first one.
    Call,
    /// Elements stand below the first one.
    Elements,
}

/// The forms that have a body, with the number of parts before it.
fn body_of(head: &str) -> Option<usize> {
    Some(match head {
        "progn" => 0,
        "def" | "defrun" | "lambda" | "let" | "let*" | "when" | "unless" | "case" | "dotimes" | "dolist"
        | "with-numerics" | "scope" => 1,
        "defun" | "defmacro" | "defgraph" | "defextern" | "do" | "multiple-value-bind" => 2,
        _ => return None,
    })
}

fn layout(bracket: Bracket, items: &[Node<'_>]) -> Layout {
    let Some(head) = items.first().and_then(Node::symbol).filter(|_| bracket == Bracket::Round) else {
        return Layout::Elements;
    };
    match body_of(head) {
        Some(heads) => {
            let mut parts = items[1..].iter().filter(|item| !item.is_comment()).skip(heads);
            let typed = matches!(head, "defun" | "defgraph" | "lambda" | "defextern");
            let result = typed && parts.next().is_some_and(Node::is_result_type);
            Layout::Body { heads: heads + usize::from(result) }
        }
        None => Layout::Call,
    }
}

/// Writes `node` at the page's column, with room for `trail` brackets behind it.
fn write_node(page: &mut Page, node: &Node<'_>, trail: usize) {
    match &node.shape {
        Shape::Atom(text) => page.put(text),
        Shape::Comment(text) if text.starts_with(';') => page.comment(text),
        Shape::Comment(text) => page.put(text),
        Shape::Marked(mark, inner) => {
            page.put(mark);
            write_node(page, inner, trail);
        }
        Shape::Sequence(bracket, items) => {
            let (open, close) = (bracket.open(), bracket.close());
            page.put(open.encode_utf8(&mut [0; 4]));
            if node.flat.is_some_and(|flat| page.column() - 1 + flat + trail <= WIDTH) {
                write_flat(page, items);
            } else {
                write_broken(page, *bracket, items, trail + 1);
            }
            page.close(close);
        }
    }
}

fn write_flat(page: &mut Page, items: &[Node<'_>]) {
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            page.put(" ");
        }
        write_node(page, item, 0);
    }
}

/// Writes the items of a list that takes several lines; behind its opening bracket.
fn write_broken(page: &mut Page, bracket: Bracket, items: &[Node<'_>], trail: usize) {
    match layout(bracket, items) {
        Layout::Body { heads } => write_body(page, items, heads, trail),
        Layout::Call => write_call(page, items, trail),
        Layout::Elements => {
            let column = page.column();
            let broken = items.iter().skip(1).any(|item| item.breaks > 0);
            write_items(page, items, column, trail, Breaking::of(items, broken, column + trail));
        }
    }
}

/// `(name heads…` on one line if the author has them there, every part of the body on its own.
fn write_body(page: &mut Page, items: &[Node<'_>], heads: usize, trail: usize) {
    let column = page.column() - 1;
    let bindings = matches!(items[0].symbol(), Some("let" | "let*" | "do"));
    let (mut seen, mut after_keyword) = (0, false);
    for (i, item) in items.iter().enumerate() {
        let trail = if i + 1 == items.len() { trail } else { 0 };
        let in_head = seen <= heads;
        let with_last = if in_head { item.breaks == 0 } else { after_keyword && item.breaks == 0 };
        if item.ends_line(page) || i == 0 {
            // A comment on the line of what it speaks of, or the name itself.
        } else if with_last && !page.is_full() && fits(page, item, trail) {
            page.put(" ");
        } else {
            page.new_line(column + if in_head { 4 } else { 2 }, item.breaks > 1);
        }
        match &item.shape {
            Shape::Sequence(bracket, parts) if bindings && seen == 1 => {
                write_bindings(page, *bracket, parts, item.flat, trail);
            }
            _ => write_node(page, item, trail),
        }
        seen += usize::from(!item.is_comment());
        after_keyword = item.is_keyword();
    }
}

/// The bindings of a `let`: one to a line, unless all stand on one.
fn write_bindings(page: &mut Page, bracket: Bracket, items: &[Node<'_>], flat: Option<usize>, trail: usize) {
    page.put(bracket.open().encode_utf8(&mut [0; 4]));
    let column = page.column();
    if flat.is_some_and(|flat| column - 1 + flat + trail <= WIDTH) {
        write_flat(page, items);
    } else {
        write_items(page, items, column, trail + 1, Breaking::Every);
    }
    page.close(bracket.close());
}

fn write_call(page: &mut Page, items: &[Node<'_>], trail: usize) {
    let start = page.column();
    write_node(page, &items[0], 0);
    let rest = &items[1..];
    let Some(first) = rest.iter().position(|item| !item.is_comment()) else {
        return write_items_after(page, rest, start, trail, Breaking::Authors);
    };
    let below_first = page.column() + 1;
    let broken = rest.iter().any(|item| item.breaks > 0);
    let breaking = Breaking::of(rest, broken, below_first + trail);
    let too_deep = |item: &Node<'_>| item.flat.is_some_and(|flat| below_first + flat + trail > WIDTH);
    let below_name =
        first > 0 || rest[0].breaks > 0 || (breaking == Breaking::Every && rest.iter().any(too_deep));
    if !below_name {
        page.put(" ");
        return write_items(page, rest, below_first, trail, breaking);
    }
    write_items_after(page, rest, start, trail, breaking);
}

/// Where a list without a body breaks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Breaking {
    /// Where the author broke it, and where a line is full.
    Authors,
    /// Before every item; a keyword keeps its value.
    Every,
}

impl Breaking {
    /// A list that is only too long breaks everywhere, unless it is nothing but words, which fill lines.
    /// `outside` counts the columns that are taken before and behind it.
    fn of(items: &[Node<'_>], broken: bool, outside: usize) -> Breaking {
        let words = items.iter().all(|item| matches!(item.shape, Shape::Atom(_)));
        let flat = items.iter().try_fold(outside, |sum, item| Some(sum + 1 + item.flat?));
        if flat.is_some() && !broken && !words { Breaking::Every } else { Breaking::Authors }
    }
}

/// Writes `items` behind something on the line, each below `column`.
fn write_items_after(page: &mut Page, items: &[Node<'_>], column: usize, trail: usize, breaking: Breaking) {
    if let Some(first) = items.first() {
        if !first.ends_line(page) {
            page.new_line(column, first.breaks > 1);
        }
        write_items(page, items, column, trail, breaking);
    }
}

/// Writes `items` from the page's column on, the first where the page stands.
fn write_items(page: &mut Page, items: &[Node<'_>], column: usize, trail: usize, breaking: Breaking) {
    let mut after_keyword = false;
    for (i, item) in items.iter().enumerate() {
        let trail = if i + 1 == items.len() { trail } else { 0 };
        if i > 0 && !item.ends_line(page) {
            let authors = breaking == Breaking::Authors || after_keyword;
            let stays = authors && item.breaks == 0 && !page.is_full();
            if stays && (fits(page, item, trail) || page.column() <= column) {
                page.put(" ");
            } else {
                page.new_line(column, item.breaks > 1);
            }
        }
        write_node(page, item, trail);
        after_keyword = item.is_keyword();
    }
}

/// Whether `item` may stand on the page's line behind a space. What takes several lines anyway may.
fn fits(page: &Page, item: &Node<'_>, trail: usize) -> bool {
    item.flat.is_none_or(|flat| page.column() + 1 + flat + trail <= WIDTH)
}
