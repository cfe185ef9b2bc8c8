//! A writer of indented text.

/// Lines of code; an opening brace at the end of one indents those that follow.
#[derive(Default)]
pub(super) struct Text {
    out: String,
    depth: usize,
}

impl Text {
    /// Writes one line. A leading `}` closes a block, a trailing `{` opens one.
    pub(super) fn line(&mut self, line: impl AsRef<str>) {
        let line = line.as_ref();
        if line.starts_with('}') {
            self.depth -= 1;
        }
        for _ in 0..self.depth {
            self.out.push_str("    ");
        }
        self.out.push_str(line);
        self.out.push('\n');
        if line.ends_with('{') {
            self.depth += 1;
        }
    }

    /// Closes `count` blocks.
    pub(super) fn close(&mut self, count: usize) {
        for _ in 0..count {
            self.line("}");
        }
    }

    /// What was written.
    pub(super) fn finish(self) -> String {
        debug_assert_eq!(self.depth, 0, "every block is closed:\n{}", self.out);
        self.out
    }
}
