//! Text to trees. Reading never fails: it yields trees and diagnostics.
//!
//! The reader keeps its own stack, bounded by [`MAX_DEPTH`], so no text can exhaust the machine's; whatever
//! walks a tree may recurse. Where a bracket is missing the text is read a second time with one more rule, a
//! form that begins at the left margin is a new one, so that one slip does not hide the mistakes behind it.
//! Trees of a text with errors are fit to be looked at, not to be evaluated.

use super::lex::{Bracket, Kind, Lexer, Mark, Token};
use super::{Datum, Tree};
use crate::diag::{Code, Diagnostic, FileId, Sink, Sources, Span};

/// How deeply brackets and quote marks may nest.
pub const MAX_DEPTH: usize = 256;

/// How many mistakes of one file are reported.
const MAX_FAULTS: usize = 50;

/// Reads every datum of `file`, and reports whatever could not be read.
pub fn read(sources: &Sources, file: FileId, sink: &mut Sink) -> Vec<Tree> {
    let text = sources.text(file);
    let mut reader = Reader::over(text, file, Margins::Ignored);
    if reader.run() == Outcome::Unclosed {
        reader = Reader::over(text, file, Margins::Trusted);
        reader.run();
    }
    let mut faults = reader.faults;
    faults.sort_by_key(|fault| fault.span.map(|span| span.start));
    let more = faults.len().saturating_sub(MAX_FAULTS);
    faults.truncate(MAX_FAULTS);
    if let (Some(last), true) = (faults.last_mut(), more > 0) {
        *last = last.clone().note(format!("the file has {more} more mistakes like these"));
    }
    for fault in faults {
        sink.report(fault);
    }
    reader.trees
}

/// Whether a form at the left margin begins a new one even within brackets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Margins {
    Ignored,
    Trusted,
}

#[derive(PartialEq, Eq)]
enum Outcome {
    Closed,
    /// A bracket was left open although the text did not end within a string or a comment.
    Unclosed,
}

/// What is being read: a bracketed sequence, or the datum behind a mark.
enum Open {
    Bracket(Bracket),
    Mark(Mark),
}

struct Frame {
    open: Open,
    span: Span,
    column: usize,
    items: Vec<Tree>,
}

struct Reader<'a> {
    text: &'a str,
    file: FileId,
    margins: Margins,
    /// How far the tokens have been read, and where the line there begins.
    passed: usize,
    line: usize,
    stack: Vec<Frame>,
    trees: Vec<Tree>,
    faults: Vec<Diagnostic>,
    /// Brackets open beyond [`MAX_DEPTH`]; what stands in them is dropped.
    beyond: usize,
    /// Whether a bracket of this form was of the wrong kind, so that its others may not match either.
    mismatched: bool,
    /// A bracket that by the indentation should have closed, and the place that shows it.
    suspect: Option<(Span, Span)>,
}

impl<'a> Reader<'a> {
    fn over(text: &'a str, file: FileId, margins: Margins) -> Reader<'a> {
        Reader {
            text,
            file,
            margins,
            passed: 0,
            line: 0,
            stack: Vec::new(),
            trees: Vec::new(),
            faults: Vec::new(),
            beyond: 0,
            mismatched: false,
            suspect: None,
        }
    }

    fn run(&mut self) -> Outcome {
        let mut lexer = Lexer::new(self.text, self.file);
        for token in lexer.by_ref() {
            self.token(token);
        }
        self.faults.append(&mut lexer.faults);
        let end = Span { file: self.file, start: self.text.len() as u32, end: self.text.len() as u32 };
        self.end_marks(end);
        if self.stack.is_empty() {
            return Outcome::Closed;
        }
        // What swallowed the rest of the text has been reported, and swallowed the brackets too.
        if lexer.cut {
            self.close_all();
            return Outcome::Closed;
        }
        self.unclosed(None);
        Outcome::Unclosed
    }

    fn token(&mut self, token: Token) {
        let (first, column) = self.advance(&token);
        if first {
            self.line_begins(&token, column);
        }
        match token.kind {
            Kind::Open(bracket) => self.open(Open::Bracket(bracket), token.span, column),
            Kind::Mark(mark) => self.mark(mark, token.span, column),
            Kind::Close(bracket) => self.close(bracket, token.span),
            Kind::Atom(datum) => self.push(Tree { datum, span: token.span }),
            Kind::Comment => {}
        }
    }

    /// Moves to `token`: whether it is the first on its line, and its column in bytes.
    fn advance(&mut self, token: &Token) -> (bool, usize) {
        let start = token.span.start as usize;
        let first = match self.text[self.passed..start].rfind('\n') {
            Some(at) => {
                self.line = self.passed + at + 1;
                true
            }
            None => self.passed == 0,
        };
        self.passed = token.span.end as usize;
        if let Some(at) = self.text[start..self.passed].rfind('\n') {
            self.line = start + at + 1;
        }
        (first, start.saturating_sub(self.line))
    }

    fn line_begins(&mut self, token: &Token, column: usize) {
        if matches!(token.kind, Kind::Close(_) | Kind::Comment) || self.stack.is_empty() {
            return;
        }
        if self.suspect.is_none()
            && let Some(frame) = self.stack.iter().skip(1).find(|f| f.column >= column)
        {
            self.suspect = Some((frame.span, token.span));
        }
        let in_brackets = self.stack.iter().any(|frame| matches!(frame.open, Open::Bracket(_)));
        let new_form = column == 0 && token.kind == Kind::Open(Bracket::Round);
        if new_form && in_brackets && self.margins == Margins::Trusted {
            self.end_marks(token.span);
            self.unclosed(Some(token.span));
        }
    }

    fn open(&mut self, open: Open, span: Span, column: usize) {
        if self.stack.is_empty() {
            self.mismatched = false;
            self.suspect = None;
        }
        if self.stack.len() < MAX_DEPTH && self.beyond == 0 {
            self.stack.push(Frame { open, span, column, items: Vec::new() });
            return;
        }
        if self.beyond == 0 {
            let message = format!("more than {MAX_DEPTH} brackets and quote marks are nested here");
            let fault = Diagnostic::new(Code::ReadDepth, span, message);
            self.faults.push(fault.help("give the inner part a name with `def` or `defun`"));
        }
        if matches!(open, Open::Bracket(_)) {
            self.beyond += 1;
        }
    }

    fn mark(&mut self, mark: Mark, span: Span, column: usize) {
        let level = self.stack.iter().fold(0_i32, |level, frame| match frame.open {
            Open::Mark(Mark::Quasiquote) => level + 1,
            Open::Mark(Mark::Unquote | Mark::Splice) => level - 1,
            Open::Mark(Mark::Quote) | Open::Bracket(_) => level,
        });
        if matches!(mark, Mark::Unquote | Mark::Splice) && level <= 0 && self.beyond == 0 {
            let message = format!("`{}` outside of a quasiquote", mark.spelling());
            self.faults
                .push(Diagnostic::new(Code::ReadMark, span, message).help(
                    "elements are separated by spaces; `,` inserts a value into a form behind `` ` ``",
                ));
            return;
        }
        self.open(Open::Mark(mark), span, column);
    }

    fn close(&mut self, bracket: Bracket, span: Span) {
        if self.beyond > 0 {
            self.beyond -= 1;
            return;
        }
        self.end_marks(span);
        let is_open = |frame: &Frame| matches!(frame.open, Open::Bracket(b) if b == bracket);
        match self.stack.last() {
            Some(frame) if is_open(frame) => self.close_top(span),
            Some(frame) => {
                let Open::Bracket(other) = frame.open else { return };
                let message = format!("`{}` is closed by `{}`", other.open(), bracket.close());
                self.faults.push(
                    Diagnostic::new(Code::ReadClose, span, message)
                        .note_at(frame.span, format!("this is closed by `{}`", other.close())),
                );
                // Either the bracket is of the wrong kind or one before it is missing.
                if self.stack.iter().any(is_open) {
                    while self.stack.last().is_some_and(|frame| !is_open(frame)) {
                        self.close_top(span);
                    }
                }
                self.close_top(span);
                self.mismatched = true;
            }
            None if self.mismatched => {}
            None => {
                let message = format!("this `{}` closes nothing", bracket.close());
                let fault = Diagnostic::new(Code::ReadClose, span, message);
                self.faults.push(match self.trees.last() {
                    Some(tree) if matches!(tree.datum, Datum::List(_) | Datum::Vector(_)) => fault.note_at(
                        Span { end: tree.span.start + 1, ..tree.span },
                        "the form before it begins here and is closed already",
                    ),
                    _ => fault,
                });
            }
        }
    }

    /// A closing bracket or the end of the text leaves the marks before it with nothing to quote.
    fn end_marks(&mut self, at: Span) {
        while let Some(Frame { open: Open::Mark(mark), span, .. }) = self.stack.last() {
            let message = format!("nothing stands behind this `{}`", mark.spelling());
            let fault = Diagnostic::new(Code::ReadMark, *span, message);
            self.faults.push(if at.start < at.end {
                fault.note_at(at, "the datum it belongs to should stand before this")
            } else {
                fault
            });
            self.stack.pop();
        }
    }

    /// Reports the outermost open bracket, with the one that the indentation accuses.
    fn unclosed(&mut self, next: Option<Span>) {
        let outermost = self.stack.iter().find_map(|frame| match frame.open {
            Open::Bracket(bracket) => Some((bracket, frame.span)),
            Open::Mark(_) => None,
        });
        let Some((bracket, span)) = outermost else { return };
        let message = format!("this `{}` is never closed", bracket.open());
        let mut fault = Diagnostic::new(Code::ReadOpen, span, message);
        if let Some((accused, _)) = self.suspect {
            fault = fault.note_at(accused, "by the indentation, this one should close on an earlier line");
        }
        if let Some(next) = next {
            fault = fault.note_at(next, "the next form begins here, at the left margin");
        }
        self.faults.push(fault);
        self.close_all();
    }

    fn close_all(&mut self) {
        self.beyond = 0;
        while let Some(frame) = self.stack.last() {
            let end = frame.items.last().map_or(frame.span, |tree| tree.span);
            self.close_top(end);
        }
    }

    /// Ends the innermost frame and hands what it read to the one around it.
    fn close_top(&mut self, end: Span) {
        let Some(frame) = self.stack.pop() else { return };
        let datum = match frame.open {
            Open::Bracket(Bracket::Round) => Datum::List(frame.items.into()),
            Open::Bracket(Bracket::Square) => Datum::Vector(frame.items.into()),
            Open::Mark(_) => return,
        };
        self.push(Tree { datum, span: frame.span.to(end) });
    }

    /// A datum is complete, and with it every mark that waited for it.
    fn push(&mut self, tree: Tree) {
        if self.beyond > 0 {
            return;
        }
        let mut tree = tree;
        while let Some(Frame { open: Open::Mark(mark), span, .. }) = self.stack.last() {
            let head = Tree { datum: Datum::Symbol(mark.name().to_owned()), span: *span };
            let span = span.to(tree.span);
            tree = Tree { datum: Datum::List([head, tree].into()), span };
            self.stack.pop();
        }
        match self.stack.last_mut() {
            Some(frame) => frame.items.push(tree),
            None => self.trees.push(tree),
        }
    }
}
