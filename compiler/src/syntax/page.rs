//! Lines as the formatter fills them: columns, comments at the end of lines, and their alignment.

use super::format::WIDTH;

/// A text that grows line by line.
#[derive(Default)]
pub(super) struct Page {
    done: Vec<Line>,
    line: Line,
}

#[derive(Default)]
struct Line {
    /// Everything before the comment.
    code: String,
    /// A comment behind the code.
    comment: Option<String>,
    /// The line is a comment and nothing else.
    only_comment: bool,
}

impl Page {
    /// The column at which the next letter stands, from 0.
    pub(super) fn column(&self) -> usize {
        width(&self.line.code)
    }

    /// Whether a comment ends the line, so that nothing more fits.
    pub(super) fn is_full(&self) -> bool {
        self.line.comment.is_some() || self.line.only_comment
    }

    /// Appends `text`, which may hold line ends of its own.
    pub(super) fn put(&mut self, text: &str) {
        for (i, part) in text.split('\n').enumerate() {
            if i > 0 {
                self.done.push(std::mem::take(&mut self.line));
            }
            self.line.code.push_str(part);
        }
    }

    /// Appends a closing bracket: before a comment that ends the line, but below one that has its own.
    pub(super) fn close(&mut self, bracket: char) {
        if self.line.only_comment {
            let indent = self.line.code.len() - self.line.code.trim_start().len();
            self.new_line(indent, false);
        }
        self.line.code.push(bracket);
    }

    /// Ends the line with a comment, or makes one of it.
    pub(super) fn comment(&mut self, text: &str) {
        if self.line.code.trim().is_empty() {
            self.line.code.push_str(text);
            self.line.only_comment = true;
        } else if self.is_full() {
            let indent = self.line.code.len() - self.line.code.trim_start().len();
            self.new_line(indent, false);
            self.comment(text);
        } else {
            self.line.comment = Some(text.to_owned());
        }
    }

    /// Begins a line, `indent` columns in, after an empty one if `blank`.
    pub(super) fn new_line(&mut self, indent: usize, blank: bool) {
        self.done.push(std::mem::take(&mut self.line));
        if blank {
            self.done.push(Line::default());
        }
        self.line.code = " ".repeat(indent);
    }

    /// The whole text. Comments at the ends of lines that follow each other stand below each other.
    pub(super) fn finish(mut self) -> String {
        self.done.push(std::mem::take(&mut self.line));
        let mut out = String::new();
        for group in self.done.chunk_by(|a, b| a.comment.is_some() && b.comment.is_some()) {
            let column = group.iter().map(|line| width(&line.code)).max().unwrap_or(0) + 2;
            let comments = group.iter().filter_map(|line| line.comment.as_deref());
            let together = column + comments.map(width).max().unwrap_or(0) <= WIDTH;
            for line in group {
                out.push_str(&line.code);
                if let Some(comment) = &line.comment {
                    let gap = if together { column - width(&line.code) } else { 2 };
                    out.push_str(&" ".repeat(gap));
                    out.push_str(comment);
                }
                out.push('\n');
            }
        }
        if out.trim().is_empty() { String::new() } else { out }
    }
}

/// The columns that `text` takes on a screen.
pub(super) fn width(text: &str) -> usize {
    unicode_width::UnicodeWidthStr::width(text)
}
