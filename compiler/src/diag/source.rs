//! Source files: names, texts, and where an offset is.

/// A source file, by its position in [`Sources`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u32);

/// A range of bytes of a source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// From the start of `self` to the end of `other`, which is in the same file.
    pub fn to(self, other: Span) -> Span {
        Span { file: self.file, start: self.start, end: other.end.max(self.start) }
    }
}

/// A place a person can find: line and column count from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// Every source text of a compilation.
#[derive(Clone, Debug, Default)]
pub struct Sources(Vec<Source>);

#[derive(Clone, Debug)]
struct Source {
    name: String,
    text: String,
    library: bool,
}

impl Sources {
    /// Adds a file of the user's.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> FileId {
        self.push(Source { name: name.into(), text: text.into(), library: false })
    }

    /// Adds a file of the library's: its lines appear only in notes.
    pub fn add_library(&mut self, name: impl Into<String>, text: impl Into<String>) -> FileId {
        self.push(Source { name: name.into(), text: text.into(), library: true })
    }

    fn push(&mut self, source: Source) -> FileId {
        self.0.push(source);
        FileId(self.0.len() as u32 - 1)
    }

    /// The names of the user's files.
    pub fn users(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter(|source| !source.library).map(|source| source.name.as_str())
    }

    /// The file's name, as the user gave it.
    pub fn name(&self, file: FileId) -> &str {
        &self.0[file.0 as usize].name
    }

    /// The file's text.
    pub fn text(&self, file: FileId) -> &str {
        &self.0[file.0 as usize].text
    }

    /// Whether the file is the library's.
    pub fn is_library(&self, file: FileId) -> bool {
        self.0[file.0 as usize].library
    }

    /// The text of a span.
    pub fn slice(&self, span: Span) -> &str {
        &self.text(span.file)[span.start as usize..span.end as usize]
    }

    /// A short form of the text of a span, on one line, for naming an operand.
    pub fn brief(&self, span: Span) -> String {
        const MOST: usize = 40;
        let mut words = String::new();
        for word in self.slice(span).split_whitespace() {
            if !words.is_empty() {
                words.push(' ');
            }
            words.push_str(word);
            if words.chars().count() > MOST {
                let cut: String = words.chars().take(MOST - 1).collect();
                return cut + "…";
            }
        }
        words
    }

    /// Where the byte at `offset` is.
    pub fn position(&self, file: FileId, offset: u32) -> Position {
        let before = &self.text(file)[..offset as usize];
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        Position {
            line: before.matches('\n').count() as u32 + 1,
            column: before[line_start..].chars().count() as u32 + 1,
        }
    }
}
