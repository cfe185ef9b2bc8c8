//! Ranks sentences by how near their meaning is to a query's, on any device that the artifact is made for.

mod encoder;

use anstream::{eprintln, println};
use clap::Parser;
use encoder::Encoder;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

/// What is ranked where nothing else is given; the first is the query.
const SENTENCES: [&str; 7] = [
    "How do I get a good loaf of bread at home?",
    "Knead the dough for ten minutes and let it rise overnight.",
    "A hot stone in the oven gives a crisp crust.",
    "The bakery on the corner opens at seven.",
    "A man is eating a piece of bread.",
    "Tensor compilers lower programs to static graphs.",
    "The girl is carrying a baby.",
];

/// Ranks sentences by how near their meaning is to a query's.
#[derive(Parser)]
#[command(name = "minilm", version, max_term_width = 100)]
#[command(
    after_help = "Example:\n  minilm minilm.sxa tokenizer.json --device cpu \"a query\" \"a sentence\" \"another\""
)]
struct Args {
    /// The sentence encoder, built from minilm.sx
    #[arg(value_name = "ARTIFACT")]
    artifact: PathBuf,
    /// The encoder's tokenizer
    #[arg(value_name = "TOKENIZER.json")]
    tokenizer: PathBuf,
    /// The device to run on, as `sxrun devices` names them
    #[arg(long, default_value = "auto")]
    device: String,
    /// The query, and the sentences to rank; some are built in
    #[arg(value_name = "SENTENCE")]
    sentences: Vec<String>,
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("minilm: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<(), Box<dyn std::error::Error>> {
    let given: Vec<&str> = args.sentences.iter().map(String::as_str).collect();
    let sentences = if given.is_empty() { &SENTENCES[..] } else { &given };
    let [query, candidates @ ..] = sentences else { return Ok(()) };
    if candidates.is_empty() {
        return Err("there is a query and nothing to rank: give at least two sentences".into());
    }

    let start = Instant::now();
    let mut encoder = Encoder::open(&args.artifact, &args.tokenizer, &args.device)?;
    let ready = Instant::now();
    let vectors = encoder.embed(sentences)?;
    let done = Instant::now();

    println!("{query}");
    for (score, sentence) in ranked(&vectors[0], &vectors[1..], candidates) {
        println!("  {score:6.3}  {sentence}");
    }
    eprintln!(
        "{} sentences on {}: ready in {:.0} ms, embedded in {:.0} ms",
        sentences.len(),
        encoder.device(),
        (ready - start).as_secs_f64() * 1e3,
        (done - ready).as_secs_f64() * 1e3
    );
    Ok(())
}

/// The sentences with their similarity to the query, the nearest first.
fn ranked<'s>(query: &[f32], vectors: &[Vec<f32>], sentences: &[&'s str]) -> Vec<(f32, &'s str)> {
    // The vectors have length 1, so that their product is the cosine of the angle between them.
    let cosine = |vector: &Vec<f32>| query.iter().zip(vector).map(|(a, b)| a * b).sum();
    let mut ranked: Vec<(f32, &str)> = vectors.iter().map(cosine).zip(sentences.iter().copied()).collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    ranked
}
