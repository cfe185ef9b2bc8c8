//! Text to trees and back: what is printed reads as the same, what is formatted means the same.

use sx_compiler::diag::render::{Paint, render_all};
use sx_compiler::diag::{FileId, Severity, Sink, Sources, Span};
use sx_compiler::syntax::{Datum, Tree, format, print, read};
use sx_tests::random::Random;
use sx_tests::{assert_none, files, shown};

/// A datum without its place, NaN equal to itself.
#[derive(Debug, PartialEq)]
enum Plain {
    List(Vec<Plain>),
    Vector(Vec<Plain>),
    Word(String),
}

fn plain(trees: &[Tree]) -> Vec<Plain> {
    let one = |tree: &Tree| match &tree.datum {
        Datum::List(items) => Plain::List(plain(items)),
        Datum::Vector(items) => Plain::Vector(plain(items)),
        Datum::Float(value) => Plain::Word(format!("float {:x}", value.to_bits())),
        other => Plain::Word(format!("{other:?}")),
    };
    trees.iter().map(one).collect()
}

fn read_text(text: &str) -> (Sources, FileId, Vec<Tree>, Sink) {
    let (mut sources, mut sink) = (Sources::default(), Sink::default());
    let file = sources.add("a.sx", text);
    let trees = read(&sources, file, &mut sink);
    (sources, file, trees, sink)
}

/// The trees of a text that can be read.
fn trees(text: &str) -> Result<Vec<Tree>, String> {
    let (sources, _, trees, sink) = read_text(text);
    match sink.diagnostics() {
        [] => Ok(trees),
        faults => Err(format!("{}\n{text}", render_all(faults, &sources, Paint::Plain))),
    }
}

fn formatted(text: &str) -> Result<String, String> {
    let (mut sources, mut sink) = (Sources::default(), Sink::default());
    let file = sources.add("a.sx", text);
    format(&sources, file, &mut sink)
        .map_err(|_| format!("{}\n{text}", render_all(sink.diagnostics(), &sources, Paint::Plain)))
}

/// Everything that must hold of a readable text.
fn laws(text: &str) -> Result<(), String> {
    let before = trees(text)?;
    let printed: Vec<String> = before.iter().map(print).collect();
    if plain(&trees(&printed.join("\n"))?) != plain(&before) {
        return Err(format!("printing changed the meaning of\n{text}\nto\n{}", printed.join("\n")));
    }
    let laid_out = formatted(text)?;
    if plain(&trees(&laid_out)?) != plain(&before) {
        return Err(format!("formatting changed the meaning of\n{text}\nto\n{laid_out}"));
    }
    if comments(text) != comments(&laid_out) {
        return Err(format!("formatting lost a comment of\n{text}\nin\n{laid_out}"));
    }
    let again = formatted(&laid_out)?;
    if again != laid_out {
        return Err(format!("formatting twice changed\n{laid_out}\nto\n{again}\nfrom\n{text}"));
    }
    Ok(())
}

/// The marks that the random programs put into comments, sorted: a comment may move past a bracket.
fn comments(text: &str) -> Vec<&str> {
    let mut found: Vec<&str> = text
        .split("note-")
        .skip(1)
        .filter_map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next())
        .collect();
    found.sort_unstable();
    found
}

/// A random program text, with the spaces, comments and breaks that people and machines leave.
fn program(random: &mut Random, depth: usize, quoted: bool, out: &mut String) {
    match random.below(if depth == 0 { 8 } else { 14 }) {
        0 => *out += &(random.bits() as i64 >> random.below(64)).to_string(),
        1 => {
            let value = f64::from_bits(random.bits());
            *out += &if value.is_nan() { "nan".to_owned() } else { format!("{value:?}") };
        }
        2 => {
            *out +=
                random.word(&["\"\"", "\"a b\"", "\"\\n\\\"\\\\ \\u{3bb}\"", "\"two\n lines ; no comment\""])
        }
        3 => *out += random.word(&[":axis", ":over", ":causal"]),
        4..=7 => {
            *out += random.word(&[
                "x",
                "->",
                "matmul",
                "true",
                "nil",
                "a.b",
                "long-name-of-something",
                "...",
                "λ日本",
            ])
        }
        8 => {
            out.push('\'');
            program(random, depth - 1, quoted, out);
        }
        9 if quoted => {
            *out += random.word(&[",", ",@", ", "]);
            program(random, depth - 1, false, out);
        }
        9 => {
            out.push('`');
            program(random, depth - 1, true, out);
        }
        kind => {
            let brackets = if kind == 10 { ["[", "]"] } else { ["(", ")"] };
            *out += brackets[0];
            if kind > 10 {
                *out += random.word(&[
                    "defun f (x)",
                    "let ((a 1) (b 2))",
                    "lambda (x)",
                    "if",
                    "list",
                    "",
                    "cond",
                    "->",
                ]);
            }
            for _ in 0..random.below(6) {
                space(random, out);
                program(random, depth - 1, quoted, out);
            }
            space(random, out);
            *out += brackets[1];
        }
    }
}

fn space(random: &mut Random, out: &mut String) {
    match random.below(24) {
        0 => *out += &format!(" ; note-{}\n", random.below(1000)),
        1 => *out += &format!("\n  ;; note-{}\n\n", random.below(1000)),
        2 => *out += &format!(" #| note-{} #| \" |# |# ", random.below(1000)),
        3 => *out += &format!("\n#| note-{}\n   more |#\n", random.below(1000)),
        4 => *out += "\n\n\n",
        5 => *out += "\r\n\t",
        6..=9 => *out += "\n",
        _ => *out += " ",
    }
}

#[test]
fn random_programs_survive_printing_and_formatting() {
    let mut wrong = Vec::new();
    for seed in 0..3000 {
        let mut random = Random::new(seed);
        let mut text = String::new();
        for _ in 0..1 + random.below(4) {
            program(&mut random, 5, false, &mut text);
            space(&mut random, &mut text);
        }
        if let Err(message) = laws(&text) {
            wrong.push(format!("seed {seed}: {message}"));
        }
    }
    wrong.truncate(3);
    assert_none(&wrong);
}

#[test]
fn every_program_of_the_repository_survives() {
    let readable = |path: &std::path::PathBuf| !shown(path).starts_with("tests/ui/read-");
    for path in files("", ".sx").into_iter().filter(readable) {
        let text = std::fs::read_to_string(&path).expect("a readable file");
        if let Err(message) = laws(&text) {
            panic!("{}: {message}", shown(&path));
        }
    }
}

/// Whatever the bytes, the reader ends, and every span it gives can be shown.
fn survives(text: &str) {
    let (sources, file, trees, sink) = read_text(text);
    render_all(sink.diagnostics(), &sources, Paint::Coloured);
    let whole = Span { file, start: 0, end: text.len() as u32 };
    let mut rest: Vec<(&Tree, Span)> = trees.iter().map(|tree| (tree, whole)).collect();
    while let Some((tree, outer)) = rest.pop() {
        sources.slice(tree.span);
        let inside = outer.start <= tree.span.start && tree.span.end <= outer.end;
        assert!(inside, "{:?} reaches out of {outer:?} in {text:?}", tree.span);
        if let Datum::List(items) | Datum::Vector(items) = &tree.datum {
            rest.extend(items.iter().map(|item| (item, tree.span)));
        }
    }
    if sink.count(Severity::Error) == 0 {
        laws(text).unwrap_or_else(|message| panic!("{message}"));
    }
}

#[test]
fn no_text_stops_the_reader() {
    const PIECES: &[&str] = &[
        "(", ")", "[", "]", "'", "`", ",", ",@", "\"", "\\", ";", "#|", "|#", "#", ":", "\n", " ", "1", "-",
        ".", "e", "λ", "\u{feff}", "\u{0}", "{", "|", "nan", "\\u{", "}", "x", "(defun", "\n(",
    ];
    for seed in 0..4000 {
        let mut random = Random::new(seed);
        let length = random.below(60);
        let bytes: Vec<u8> = (0..length).map(|_| random.bits() as u8).collect();
        survives(&String::from_utf8_lossy(&bytes));
        survives(&(0..length).map(|_| random.word(PIECES)).collect::<String>());
    }
}

#[test]
fn mutated_programs_do_not_stop_the_reader() {
    let programs: Vec<String> =
        files("", ".sx").iter().filter_map(|path| std::fs::read_to_string(path).ok()).collect();
    for seed in 0..2000 {
        let mut random = Random::new(seed);
        let mut text: Vec<char> = random.one_of(&programs).chars().take(2000).collect();
        for _ in 0..1 + random.below(4) {
            let at = random.below(text.len().max(1)).min(text.len());
            match random.below(3) {
                0 if at < text.len() => _ = text.remove(at),
                1 => text
                    .insert(at, *random.one_of(&['(', ')', '[', ']', '"', '#', '|', ',', '\'', '\\', '\n'])),
                _ => text.truncate(at),
            }
        }
        survives(&text.into_iter().collect::<String>());
    }
}

#[test]
fn depth_is_bounded_and_reported() {
    for piece in ["(", "[", "'(", "`,(", "'"] {
        let text = piece.repeat(1_000_000);
        let (_, _, _, sink) = read_text(&text);
        assert!(sink.count(Severity::Error) > 0, "{piece}");
    }
    let closed = format!("{}{}", "(".repeat(1_000_000), ")".repeat(1_000_000));
    let (_, _, _, sink) = read_text(&closed);
    assert_eq!(sink.count(Severity::Error), 1, "{:?}", sink.diagnostics());
}
