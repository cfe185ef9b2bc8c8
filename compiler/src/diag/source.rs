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
    /// The offset at which each line begins.
    lines: Vec<u32>,
    /// Whether each character is one byte.
    ascii: bool,
    library: bool,
}

impl Source {
    fn new(name: String, text: String, library: bool) -> Source {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let lines = std::iter::once(0).chain(ends.map(|(at, _)| at as u32 + 1)).collect();
        Source { lines, ascii: text.is_ascii(), name, text, library }
    }

    /// The line of an offset, from 0.
    fn line(&self, offset: u32) -> usize {
        self.lines.partition_point(|start| *start <= offset) - 1
    }
}

impl Sources {
    /// Adds a file of the user's.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> FileId {
        self.push(Source::new(name.into(), text.into(), false))
    }

    /// Adds a file of the library's: its lines appear only in notes.
    pub fn add_library(&mut self, name: impl Into<String>, text: impl Into<String>) -> FileId {
        self.push(Source::new(name.into(), text.into(), true))
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
        let source = &self.0[file.0 as usize];
        let line = source.line(offset);
        let before = source.lines[line] as usize..offset as usize;
        let letters = if source.ascii { before.len() } else { source.text[before].chars().count() };
        Position { line: line as u32 + 1, column: letters as u32 + 1 }
    }

    /// The line that an offset is in, without its end, and where it begins.
    pub fn line(&self, file: FileId, offset: u32) -> (usize, &str) {
        let source = &self.0[file.0 as usize];
        let line = source.line(offset);
        let start = source.lines[line] as usize;
        let end = source.lines.get(line + 1).map_or(source.text.len(), |next| *next as usize - 1);
        let text = &source.text[start..end];
        (start, text.strip_suffix('\r').unwrap_or(text))
    }

    /// The file's name for artifacts, which do not depend on where the sources lie: relative to the folder of the
    /// program's own file.
    pub fn label(&self, file: FileId) -> String {
        let source = &self.0[file.0 as usize];
        match self.0.iter().find(|source| !source.library) {
            Some(root) if !source.library => relative(&root.name, &source.name),
            _ => source.name.clone(),
        }
    }
}

/// `path` as seen from the folder of the file `root`.
fn relative(root: &str, path: &str) -> String {
    let separator = |c: char| c == '/' || c == '\\';
    let folder: Vec<&str> = root.split(separator).collect();
    let folder = &folder[..folder.len() - 1];
    let parts: Vec<&str> = path.split(separator).collect();
    let common = folder.iter().zip(&parts).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n("..", folder.len() - common);
    up.chain(parts[common..].iter().copied()).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_letters() {
        let mut sources = Sources::default();
        let file = sources.add("a.sx", "ab\n\n\u{65e5}x\r\nlast");
        let at = |offset| {
            let Position { line, column } = sources.position(file, offset);
            (line, column, sources.line(file, offset).1)
        };
        assert_eq!(at(0), (1, 1, "ab"));
        assert_eq!(at(2), (1, 3, "ab"));
        assert_eq!(at(3), (2, 1, ""));
        assert_eq!(at(7), (3, 2, "\u{65e5}x"));
        assert_eq!(at(14), (4, 5, "last"));
    }

    #[test]
    fn labels_are_relative_to_the_program() {
        for (root, path, expected) in [
            ("main.sx", "main.sx", "main.sx"),
            ("/a/b/main.sx", "/a/b/main.sx", "main.sx"),
            ("/a/b/main.sx", "/a/b/sub/c.sx", "sub/c.sx"),
            ("/a/b/main.sx", "/a/c.sx", "../c.sx"),
            ("dir/main.sx", "lib.sx", "../lib.sx"),
            ("stdin", "sub/c.sx", "sub/c.sx"),
        ] {
            assert_eq!(relative(root, path), expected, "{root} {path}");
        }
    }
}
