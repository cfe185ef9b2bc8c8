//! Text to tokens: the one place that knows where a datum's letters begin and end.
//!
//! Comments are tokens too, so that the reader (which drops them) and the formatter (which keeps them) see
//! the same text the same way. Lexing never fails: what cannot be read is reported and skipped.

use super::Datum;
use super::number::{self, Number};
use crate::diag::{Code, Diagnostic, FileId, Span};

/// The two kinds of brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bracket {
    /// `( )`
    Round,
    /// `[ ]`
    Square,
}

impl Bracket {
    /// How it opens.
    pub(super) fn open(self) -> char {
        match self {
            Bracket::Round => '(',
            Bracket::Square => '[',
        }
    }

    /// How it closes.
    pub(super) fn close(self) -> char {
        match self {
            Bracket::Round => ')',
            Bracket::Square => ']',
        }
    }
}

/// A mark before a datum that wraps it in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// `'`
    Quote,
    /// `` ` ``
    Quasiquote,
    /// `,`
    Unquote,
    /// `,@`
    Splice,
}

impl Mark {
    /// The symbol at the head of the list that the mark stands for.
    pub(super) fn name(self) -> &'static str {
        match self {
            Mark::Quote => "quote",
            Mark::Quasiquote => "quasiquote",
            Mark::Unquote => "unquote",
            Mark::Splice => "unquote-splicing",
        }
    }

    /// How it is written.
    pub(super) fn spelling(self) -> &'static str {
        match self {
            Mark::Quote => "'",
            Mark::Quasiquote => "`",
            Mark::Unquote => ",",
            Mark::Splice => ",@",
        }
    }

    /// The mark whose list has `name` at its head.
    pub(super) fn named(name: &str) -> Option<Mark> {
        [Mark::Quote, Mark::Quasiquote, Mark::Unquote, Mark::Splice].into_iter().find(|m| m.name() == name)
    }
}

/// What a token is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// A bracket that opens.
    Open(Bracket),
    /// A bracket that closes.
    Close(Bracket),
    /// A mark before a datum.
    Mark(Mark),
    /// A datum without parts.
    Atom(Datum),
    /// `; …` without its end of line, or `#| … |#`.
    Comment,
}

/// A token with its place.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    /// What it is.
    pub(super) kind: Kind,
    /// Where it stands.
    pub(super) span: Span,
}

/// Walks over one text.
pub(super) struct Lexer<'a> {
    text: &'a str,
    file: FileId,
    at: usize,
    /// What could not be read so far.
    pub(super) faults: Vec<Diagnostic>,
    /// Whether the text ended inside a string or a comment, which swallowed what follows.
    pub(super) cut: bool,
}

impl<'a> Lexer<'a> {
    /// A lexer at the start of `text`, the text of `file`.
    pub(super) fn new(text: &'a str, file: FileId) -> Lexer<'a> {
        let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Lexer { text, file, at, faults: Vec::new(), cut: false }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn span(&self, start: usize) -> Span {
        Span { file: self.file, start: start as u32, end: self.at as u32 }
    }

    fn fault(&mut self, code: Code, span: Span, message: impl Into<String>) -> &mut Diagnostic {
        self.faults.push(Diagnostic::new(code, span, message));
        self.faults.last_mut().expect("one was just pushed")
    }

    fn take(&mut self, len: usize, kind: Kind) -> Option<Token> {
        let start = self.at;
        self.at += len;
        Some(Token { kind, span: self.span(start) })
    }

    /// `#` begins a block comment or nothing at all.
    fn hash(&mut self) -> Option<Token> {
        if self.rest().starts_with("#|") {
            return Some(self.block_comment());
        }
        let start = self.at;
        self.at += 1 + word(&self.rest()[1..]).len();
        let (span, written) = (self.span(start), &self.text[start..self.at]);
        let help = match written {
            "#t" | "#T" | "#true" => Some("write `true`"),
            "#f" | "#F" | "#false" => Some("write `false`"),
            "#" if self.rest().starts_with('\'') => {
                self.at += 1;
                Some("functions need no mark: write the name alone")
            }
            "#" if self.rest().starts_with('(') => Some("vectors are written `[ ]`"),
            "#" if self.rest().starts_with(';') => Some("comments are `; …` and `#| … |#`"),
            _ => None,
        };
        let fault = self.fault(Code::ReadLetter, span, format!("`{written}` is not a datum"));
        fault.help = help.map(str::to_owned);
        None
    }

    /// Block comments nest, so that code with comments can be commented out.
    fn block_comment(&mut self) -> Token {
        let start = self.at;
        let mut depth = 0_usize;
        loop {
            let rest = self.rest();
            if rest.starts_with("#|") {
                depth += 1;
                self.at += 2;
            } else if rest.starts_with("|#") {
                depth -= 1;
                self.at += 2;
            } else if let Some(c) = rest.chars().next() {
                self.at += c.len_utf8();
            } else {
                let open = Span { file: self.file, start: start as u32, end: start as u32 + 2 };
                self.cut = true;
                let fault = self.fault(Code::ReadCut, open, "this comment is never closed");
                fault.help = Some("close it with `|#`; every `#|` inside it needs one too".to_owned());
                break;
            }
            if depth == 0 {
                break;
            }
        }
        Token { kind: Kind::Comment, span: self.span(start) }
    }

    fn string(&mut self) -> Token {
        let start = self.at;
        self.at += 1;
        let mut value = String::new();
        loop {
            let Some(c) = self.rest().chars().next() else {
                let open = Span { file: self.file, start: start as u32, end: start as u32 + 1 };
                self.cut = true;
                let fault = self.fault(Code::ReadCut, open, "this string is never closed");
                fault.help = Some("close it with `\"`; a `\"` inside it is written `\\\"`".to_owned());
                break;
            };
            if c == '\\' {
                value.extend(self.escape());
                continue;
            }
            self.at += c.len_utf8();
            if c == '"' {
                break;
            }
            value.push(c);
        }
        Token { kind: Kind::Atom(Datum::Str(value)), span: self.span(start) }
    }

    /// One escape of a string; at its backslash.
    fn escape(&mut self) -> Option<char> {
        let start = self.at;
        self.at += 1;
        let c = self.rest().chars().next()?;
        self.at += c.len_utf8();
        let plain = match c {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            '0' => '\0',
            '\\' | '"' => c,
            'u' => return self.unicode_escape(start),
            _ => {
                let fault = self.fault_here(
                    start,
                    Code::ReadEscape,
                    format!("`\\{}` is not an escape", c.escape_debug()),
                );
                fault.help = Some(r#"the escapes are `\n` `\t` `\r` `\0` `\\` `\"` and `\u{…}`"#.to_owned());
                return None;
            }
        };
        Some(plain)
    }

    fn fault_here(&mut self, start: usize, code: Code, message: String) -> &mut Diagnostic {
        let span = self.span(start);
        self.fault(code, span, message)
    }

    /// `\u{hex}`; behind its `u`.
    fn unicode_escape(&mut self, start: usize) -> Option<char> {
        let digits = self.rest().strip_prefix('{').map(|rest| {
            let len = rest.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(rest.len());
            (&rest[..len], rest[len..].starts_with('}'))
        });
        let value = match digits {
            Some((hex, true)) => {
                self.at += hex.len() + 2;
                u32::from_str_radix(hex, 16).ok().and_then(char::from_u32)
            }
            Some((hex, false)) => {
                self.at += hex.len() + 1;
                None
            }
            None => None,
        };
        if value.is_none() {
            let message = format!("`{}` names no character", &self.text[start..self.at]);
            let fault = self.fault_here(start, Code::ReadEscape, message);
            fault.help = Some(
                "between the braces stands a character's number in hexadecimal, as in `\\u{3bb}`".to_owned(),
            );
        }
        value
    }

    /// A character that begins no datum.
    fn letter(&mut self, c: char) {
        let start = self.at;
        self.at += c.len_utf8();
        let (message, help) = match c {
            '{' | '}' => (format!("`{c}` has no meaning"), Some("lists are `( )` and vectors `[ ]`")),
            '|' | '\\' | '@' => (format!("`{c}` cannot stand here"), None),
            c => (format!("the character U+{:04X} cannot stand here", c as u32), None),
        };
        let fault = self.fault_here(start, Code::ReadLetter, message);
        fault.help = help.map(str::to_owned);
    }

    /// A number, a keyword, a symbol or one of the names for values.
    fn atom(&mut self) -> Option<Token> {
        let start = self.at;
        let written = word(self.rest());
        self.at += written.len();
        let span = self.span(start);
        let datum = match number::read(written) {
            Number::Int(value) => Datum::Int(value),
            Number::Float(value) => Datum::Float(value),
            Number::Wrong { message, help } => {
                self.fault(Code::ReadNumber, span, message).help = help;
                Datum::Int(0)
            }
            Number::Not => match written.strip_prefix(':') {
                Some("") => {
                    let fault = self.fault(Code::ReadLetter, span, "`:` without a name is not a datum");
                    fault.help = Some("a keyword is written `:name`".to_owned());
                    return None;
                }
                Some(name) => Datum::Keyword(name.to_owned()),
                None => named(written),
            },
        };
        Some(Token { kind: Kind::Atom(datum), span })
    }
}

impl Iterator for Lexer<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        loop {
            let c = self.rest().chars().next()?;
            let token = match c {
                c if c.is_whitespace() => {
                    self.at += c.len_utf8();
                    None
                }
                '(' => self.take(1, Kind::Open(Bracket::Round)),
                '[' => self.take(1, Kind::Open(Bracket::Square)),
                ')' => self.take(1, Kind::Close(Bracket::Round)),
                ']' => self.take(1, Kind::Close(Bracket::Square)),
                '\'' => self.take(1, Kind::Mark(Mark::Quote)),
                '`' => self.take(1, Kind::Mark(Mark::Quasiquote)),
                ',' if self.rest().starts_with(",@") => self.take(2, Kind::Mark(Mark::Splice)),
                ',' => self.take(1, Kind::Mark(Mark::Unquote)),
                ';' => {
                    let len = self.rest().find('\n').unwrap_or(self.rest().len());
                    self.take(len, Kind::Comment)
                }
                '"' => Some(self.string()),
                '#' => self.hash(),
                c if !in_word(c) => {
                    self.letter(c);
                    None
                }
                _ => self.atom(),
            };
            if token.is_some() {
                return token;
            }
        }
    }
}

/// Whether `c` may stand in a name.
pub(super) fn in_word(c: char) -> bool {
    let mark = matches!(
        c,
        '!' | '$' | '%' | '&' | '*' | '+' | '-' | '.' | '/' | ':' | '<' | '=' | '>' | '?' | '^' | '_' | '~'
    );
    // Letters that cannot be seen would make two names look the same.
    let hidden =
        matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    mark || c.is_alphanumeric() || !(c.is_ascii() || c.is_whitespace() || c.is_control() || hidden)
}

/// The letters at the front of `text` that belong to one word.
fn word(text: &str) -> &str {
    &text[..text.find(|c| !in_word(c)).unwrap_or(text.len())]
}

fn named(word: &str) -> Datum {
    match word {
        "true" => Datum::Bool(true),
        "false" => Datum::Bool(false),
        "nil" => Datum::Nil,
        name => Datum::Symbol(name.to_owned()),
    }
}
