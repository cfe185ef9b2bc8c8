//! Diagnostics for programs: one JSON object to a line, as `sxc check --json` prints them.

use serde::Serialize;

use super::{Diagnostic, Severity, Sources, Span};

/// `diagnostic` as one line of JSON, without a line end.
pub fn line(diagnostic: &Diagnostic, sources: &Sources) -> String {
    let place = |span: Option<Span>| span.map(|span| place(span, sources));
    let record = Record {
        code: diagnostic.code.as_str(),
        severity: match diagnostic.code.severity() {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        message: &diagnostic.message,
        place: place(diagnostic.span),
        notes: diagnostic
            .notes
            .iter()
            .map(|note| NoteRecord { message: &note.text, place: place(note.span) })
            .collect(),
        help: diagnostic.help.as_deref(),
    };
    serde_json::to_string(&record).expect("strings and numbers always have a JSON form")
}

#[derive(Serialize)]
struct Record<'a> {
    code: &'a str,
    severity: &'a str,
    message: &'a str,
    #[serde(flatten)]
    place: Option<Place<'a>>,
    notes: Vec<NoteRecord<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<&'a str>,
}

#[derive(Serialize)]
struct NoteRecord<'a> {
    message: &'a str,
    #[serde(flatten)]
    place: Option<Place<'a>>,
}

/// Lines and columns count from 1, columns in characters; `end` is one past the last character.
#[derive(Serialize)]
struct Place<'a> {
    file: &'a str,
    line: u32,
    column: u32,
    end: End,
}

#[derive(Serialize)]
struct End {
    line: u32,
    column: u32,
}

fn place<'a>(span: Span, sources: &'a Sources) -> Place<'a> {
    let start = sources.position(span.file, span.start);
    let end = sources.position(span.file, span.end);
    Place {
        file: sources.name(span.file),
        line: start.line,
        column: start.column,
        end: End { line: end.line, column: end.column },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Code;

    #[test]
    fn a_diagnostic_is_one_line_with_its_place() {
        let mut sources = Sources::default();
        let file = sources.add("a.sx", "(f\n x)");
        let span = Span { file, start: 0, end: 6 };
        let diagnostic = Diagnostic::new(Code::DimShape, span, "m").note("n").note_at(span, "o").help("h");
        let place = r#""file":"a.sx","line":1,"column":1,"end":{"line":2,"column":4}"#;
        let expected = format!(
            r#"{{"code":"E-DIM-001","severity":"error","message":"m",{place},"notes":[{{"message":"n"}},{{"message":"o",{place}}}],"help":"h"}}"#
        );
        assert_eq!(line(&diagnostic, &sources), expected);
    }
}
