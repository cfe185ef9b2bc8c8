//! Diagnostics as text: the one place that knows how they look.
//!
//! ```text
//! error[E-DIM-001]: matmul: inner dims differ: [2, 16] x [32, 8]
//!   --> bad-shape.sx:7:15
//!    |
//!  7 |   (lambda (x) (matmul x weight)))
//!    |               ^^^^^^^^^^^^^^^^^
//! note: operands: `x` [2, 16] f32, `weight` [32, 8] f32
//! ```
//!
//! The gutter is as wide as the largest line number of the diagnostic. A span of several lines shows its
//! first, with carets to its end. A note with a place shows it like the diagnostic's own.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::{Diagnostic, Severity, Sources, Span};

/// Whether the text carries colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// Letters alone.
    Plain,
    /// With the escape sequences of a terminal.
    Coloured,
}

/// What a tab looks like, in the source line and in the carets below it.
const TAB: &str = "    ";

/// `diagnostic` as the user sees it, with a line end behind each line.
pub fn render(diagnostic: &Diagnostic, sources: &Sources, paint: Paint) -> String {
    let severity = diagnostic.code.severity();
    let (word, colour) = match severity {
        Severity::Error => ("error", AnsiColor::Red),
        Severity::Warning => ("warning", AnsiColor::Yellow),
    };
    let accent = style(paint, colour);
    let bold = if paint == Paint::Coloured { Style::new().bold() } else { Style::new() };
    let mut pen = Pen { sources, paint, gutter: gutter(diagnostic, sources), out: String::new() };
    pen.out = format!("{accent}{word}[{}]{accent:#}{bold}: ", diagnostic.code.as_str());
    pen.words(&diagnostic.message, "  ");
    pen.out.insert_str(pen.out.len() - 1, &format!("{bold:#}"));
    if let Some(span) = diagnostic.span {
        pen.snippet(span, accent);
    }
    for note in &diagnostic.notes {
        pen.label("note", AnsiColor::Cyan, &note.text);
        if let Some(span) = note.span {
            pen.snippet(span, style(paint, AnsiColor::Cyan));
        }
    }
    if let Some(help) = &diagnostic.help {
        pen.label("help", AnsiColor::Green, help);
    }
    pen.out
}

/// Every diagnostic, with an empty line between two.
pub fn render_all(diagnostics: &[Diagnostic], sources: &Sources, paint: Paint) -> String {
    diagnostics.iter().map(|d| render(d, sources, paint)).collect::<Vec<_>>().join("\n")
}

/// The style of `colour`, or none.
fn style(paint: Paint, colour: AnsiColor) -> Style {
    match paint {
        Paint::Plain => Style::new(),
        Paint::Coloured => colour.on_default().bold(),
    }
}

/// The digits of the largest line number that the diagnostic shows.
fn gutter(diagnostic: &Diagnostic, sources: &Sources) -> usize {
    let spans = diagnostic.span.into_iter().chain(diagnostic.notes.iter().filter_map(|note| note.span));
    let last = spans.map(|span| sources.position(span.file, span.start).line).max().unwrap_or(0);
    last.to_string().len()
}

struct Pen<'a> {
    sources: &'a Sources,
    paint: Paint,
    gutter: usize,
    out: String,
}

impl Pen<'_> {
    /// Text of one line or several; the further ones begin with `indent`.
    fn words(&mut self, text: &str, indent: &str) {
        for (i, line) in text.lines().enumerate() {
            if i > 0 {
                self.out.push_str(indent);
            }
            self.out.push_str(&shown(line));
            self.out.push('\n');
        }
        if text.is_empty() {
            self.out.push('\n');
        }
    }

    fn label(&mut self, name: &str, colour: AnsiColor, text: &str) {
        let style = style(self.paint, colour);
        _ = write!(self.out, "{style}{name}{style:#}: ");
        self.words(text, "      ");
    }

    /// The place and its line with carets.
    fn snippet(&mut self, span: Span, accent: Style) {
        let text = self.sources.text(span.file);
        let start = span.start as usize;
        let (line_start, line) = self.sources.line(span.file, span.start);
        let line_end = line_start + line.len();
        let start = start.min(line_end);
        let end = (span.end as usize).clamp(start, line_end);
        let place = self.sources.position(span.file, span.start);
        let (from, to) = window(line, start - line_start);
        let (from, to) = (line_start + from, line_start + to);
        let cut = |cut: bool| if cut { "…" } else { "" };
        let (left, right) = (cut(from > line_start), cut(to < line_end));
        let (start, end) = (start.clamp(from, to), end.clamp(from, to));
        let before = shown(&text[from..start]).width() + left.width();
        let carets = shown(&text[start..end]).width().max(1);

        let frame = style(self.paint, AnsiColor::Blue);
        let pad = " ".repeat(self.gutter);
        let name = self.sources.name(span.file);
        let number = place.line.to_string();
        let out = &mut self.out;
        _ = writeln!(out, "{pad} {frame}-->{frame:#} {name}:{}:{}", place.line, place.column);
        _ = writeln!(out, "{pad} {frame} |{frame:#}");
        let source = format!(" {left}{}{right}", shown(&text[from..to]));
        _ = writeln!(out, " {frame}{number:>width$} |{frame:#}{}", source.trim_end(), width = self.gutter);
        let (gap, carets) = (" ".repeat(before), "^".repeat(carets));
        _ = writeln!(out, "{pad} {frame} |{frame:#} {gap}{accent}{carets}{accent:#}");
    }
}

/// The part of a long line that is shown around a place in it.
fn window(line: &str, place: usize) -> (usize, usize) {
    /// Letters of a line that nobody breaks by hand.
    const LONG: usize = 400;
    /// Letters shown of it, before the place and behind.
    const BEFORE: usize = 60;
    const BEHIND: usize = 140;
    if line.len() <= LONG {
        return (0, line.len());
    }
    let from = line[..place].char_indices().rev().nth(BEFORE - 1).map_or(0, |(at, _)| at);
    let to = line[place..].char_indices().nth(BEHIND).map_or(line.len(), |(at, _)| place + at);
    (from, to)
}

/// `text` as a terminal may print it: tabs as spaces, and nothing that moves the cursor or turns the line.
fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\t' => out.push_str(TAB),
            '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                out.push('\u{fffd}')
            }
            c if c.width().is_none() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::{Code, FileId};

    /// A span of the first occurrence of `part`.
    fn span(sources: &Sources, file: FileId, part: &str) -> Span {
        let start = sources.text(file).find(part).expect("the part stands in the text") as u32;
        Span { file, start, end: start + part.len() as u32 }
    }

    fn check(text: &str, part: &str, expected: &str) {
        let mut sources = Sources::default();
        let file = sources.add("a.sx", text);
        let diagnostic = Diagnostic::new(Code::DimShape, span(&sources, file, part), "m");
        let expected = format!("error[E-DIM-001]: m\n{expected}");
        assert_eq!(render(&diagnostic, &sources, Paint::Plain), expected);
    }

    #[test]
    fn the_form_is_the_documented_one() {
        let mut sources = Sources::default();
        let text = "\n\n\n\n\n\n  (lambda (x) (matmul x weight)))\n";
        let file = sources.add("bad-shape.sx", text);
        let call = span(&sources, file, "(matmul x weight)");
        let diagnostic =
            Diagnostic::new(Code::DimShape, call, "matmul: inner dims differ: [2, 16] x [32, 8]")
                .note("operands: `x` [2, 16] f32, `weight` [32, 8] f32");
        let expected = "\
error[E-DIM-001]: matmul: inner dims differ: [2, 16] x [32, 8]
  --> bad-shape.sx:7:15
   |
 7 |   (lambda (x) (matmul x weight)))
   |               ^^^^^^^^^^^^^^^^^
note: operands: `x` [2, 16] f32, `weight` [32, 8] f32
";
        assert_eq!(render(&diagnostic, &sources, Paint::Plain), expected);
    }

    #[test]
    fn spans_of_every_kind_have_their_carets() {
        check("\t(f x)", "(f x)", "  --> a.sx:1:2\n   |\n 1 |     (f x)\n   |     ^^^^^\n");
        check("(\u{65e5}\u{672c} x)", "x", "  --> a.sx:1:5\n   |\n 1 | (\u{65e5}\u{672c} x)\n   |       ^\n");
        check("(f\n x)", "(f\n x)", "  --> a.sx:1:1\n   |\n 1 | (f\n   | ^^\n");
        check("(f\r\n x)", "(f\r\n x)", "  --> a.sx:1:1\n   |\n 1 | (f\n   | ^^\n");
        check("(f", "", "  --> a.sx:1:1\n   |\n 1 | (f\n   | ^\n");
        let long = format!("{}(f){}", "a".repeat(500), "b".repeat(500));
        let (a, b) = ("a".repeat(60), "b".repeat(137));
        let (gap, source) = (" ".repeat(61), format!("…{a}(f){b}…"));
        check(&long, "(f)", &format!("  --> a.sx:1:501\n   |\n 1 | {source}\n   | {gap}^^^\n"));
        let many = format!("{}x", "\n".repeat(99));
        check(&many, "x", "    --> a.sx:100:1\n     |\n 100 | x\n     | ^\n");
        check(
            "a\u{1b}[31m\u{202e}b",
            "b",
            "  --> a.sx:1:8\n   |\n 1 | a\u{fffd}[31m\u{fffd}b\n   |        ^\n",
        );
    }

    #[test]
    fn places_of_notes_share_the_gutter() {
        let mut sources = Sources::default();
        let file = sources.add("a.sx", format!("(f){}(g)", "\n".repeat(11)));
        let (f, g) = (span(&sources, file, "(f)"), span(&sources, file, "(g)"));
        let diagnostic = Diagnostic::new(Code::DimShape, f, "m").note_at(g, "n").help("h\ni");
        let expected = "\
error[E-DIM-001]: m
   --> a.sx:1:1
    |
  1 | (f)
    | ^^^
note: n
   --> a.sx:12:1
    |
 12 | (g)
    | ^^^
help: h
      i
";
        assert_eq!(render(&diagnostic, &sources, Paint::Plain), expected);
        let coloured = render(&diagnostic, &sources, Paint::Coloured);
        assert_eq!(anstream::adapter::strip_str(&coloured).to_string(), expected);
        assert!(coloured.contains("\u{1b}["));
    }
}
