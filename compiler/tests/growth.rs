//! The time and the memory of a build grow in proportion to the program, in every shape of program.
//!
//! Each family is built at a size and at four times that. What is counted does not depend on the machine: visits of
//! nodes, allocations and their bytes, instructions and kernels of the program. None may grow more than 4.6-fold,
//! which leaves n log n its room.

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;
use sx_artifact::code::Target;
use sx_compiler::codegen::FLOORS;
use sx_compiler::compile::compile;
use sx_compiler::diag::render::{Paint, render_all};
use sx_compiler::diag::{Sink, Sources};
use sx_compiler::eval::{EvalOptions, Loader, evaluate};
use sx_compiler::ir::visits;

#[global_allocator]
static GLOBAL: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The largest factor from a size to four times that.
const MOST: f64 = 4.6;

/// Programs of one shape.
struct Family {
    name: &'static str,
    /// The small size; each is large enough that what does not grow is a small part.
    size: usize,
    program: fn(usize) -> String,
}

const FAMILIES: &[Family] = &[
    Family {
        name: "a chain that uses its input again",
        size: 100,
        program: |n| steps("(x [4])", "x", n, "(* 0.5 (+ (sin y) x))", "y"),
    },
    Family {
        name: "sums of a value and itself: 2^n paths",
        size: 100,
        program: |n| steps("(x [4])", "x", n, "(* 0.5 (+ y y))", "y"),
    },
    Family {
        name: "a value through two views, added: 2^n paths",
        size: 100,
        program: |n| steps("(x [4 4])", "x", n, "(* 0.5 (+ y (transpose y [1 0])))", "y"),
    },
    Family {
        name: "reshapes that cannot be followed",
        size: 50,
        program: |n| steps("(x [6 4])", "x", n, "(reshape (sin (reshape y [8 3])) [6 4])", "y"),
    },
    Family {
        name: "a bias of many steps",
        size: 50,
        program: |n| attention(n, "b", "(+ y (exp y))", "(+ scores y)"),
    },
    Family {
        name: "a mask of many steps",
        size: 50,
        program: |n| attention(n, "(< b 0.5)", "(and (and y (< b i)) y)", "(where y scores -inf)"),
    },
    Family {
        name: "ids through concatenations",
        size: 120,
        program: |n| {
            let step = "(concat 0 [(slice y 0 0 2) (slice y 0 1 3)])";
            steps("(x [4] (Index 8)) (t [8 4])", "x", n, step, "(index t y)")
        },
    },
    Family {
        name: "an unrolled stencil",
        size: 100,
        program: |n| {
            let step = "(let ((mid (slice y 0 1 63))) (concat 0 [(slice y 0 0 1) \
                (+ mid (* a (+ (- (slice y 0 2 64) (* 2.0 mid)) (slice y 0 0 62)))) (slice y 0 63 64)]))";
            steps("(x [64]) (a [])", "x", n, step, "y")
        },
    },
    Family {
        name: "an unrolled recurrence",
        size: 50,
        program: |n| {
            let step = "(tanh (+ (matmul y w) (reshape (slice p 0 i (+ i 1)) [1 8])))";
            steps(&format!("(x [1 8]) (w [8 8]) (p [{n} 1 8])"), "x", n, step, "y")
        },
    },
    Family {
        name: "an unrolled recurrence, every state kept",
        size: 50,
        program: |n| {
            let step = "(let ((h (tanh (+ (matmul (first y) w) (reshape (slice p 0 i (+ i 1)) [1 8]))))) (cons h y))";
            steps(
                &format!("(x [1 8]) (w [8 8]) (p [{n} 1 8])"),
                "(list x)",
                n,
                step,
                "(concat 0 (reverse y))",
            )
        },
    },
    Family {
        name: "an unrolled LSTM",
        size: 100,
        program: |n| {
            let step = "(let* ((z (+ (reshape (slice p 0 i (+ i 1)) [1 32]) (matmul (nth 0 y) w))) \
                (gate (lambda (k) (sigmoid (slice z 1 (* k 8) (* (+ k 1) 8))))) \
                (d (+ (* (gate 2) (nth 1 y)) (* (gate 0) (tanh (gate 3)))))) (list (* (gate 1) (tanh d)) d))";
            steps(&format!("(x [1 8]) (w [8 32]) (p [{n} 1 32])"), "(list x x)", n, step, "(nth 0 y)")
        },
    },
    Family {
        name: "a chain of products",
        size: 50,
        program: |n| steps("(x [8 8]) (w [8 8])", "x", n, "(matmul y w)", "y"),
    },
    Family {
        name: "products that share: 2^n paths",
        size: 50,
        program: |n| {
            steps(
                "(x [8 8]) (w [8 8])",
                "x",
                n,
                "(relu (+ (matmul y w) (matmul (transpose y [1 0]) w)))",
                "y",
            )
        },
    },
    Family {
        name: "softmaxes of softmaxes",
        size: 200,
        program: |n| steps("(x [8 8])", "x", n, "(softmax (* y y) :axis (mod i 2))", "y"),
    },
    Family {
        name: "folds of what they are taken from",
        size: 200,
        program: |n| steps("(x [8 8])", "x", n, "(- y (sum (* y y) :axes [0]))", "y"),
    },
    Family {
        name: "rows of rows by integers",
        size: 50,
        program: |n| steps("(x [8 4]) (ids [8] (Index 8))", "x", n, "(* 0.5 (index y ids))", "y"),
    },
    Family {
        name: "a wide concatenation of views",
        size: 100,
        program: |n| {
            let step = "(cons (* 2.0 (slice x 0 i (+ i 1))) y)";
            steps(&format!("(x [{n} 4])"), "nil", n, step, "(concat 0 y)")
        },
    },
    Family {
        name: "a wide concatenation of inputs",
        size: 50,
        program: |n| {
            let (given, names) = inputs(n);
            format!("(defgraph g ({given}) (concat 0 [{names}]))")
        },
    },
    Family {
        name: "a sum of many inputs",
        size: 50,
        program: |n| {
            let (given, names) = inputs(n);
            format!("(defgraph g ({given}) (reduce + (list {names})))")
        },
    },
    Family {
        name: "many outputs of one value",
        size: 100,
        program: |n| steps("(x [4 4])", "nil", n, "(cons (* (sin x) i) y)", "y"),
    },
    Family {
        name: "many outputs of a chain",
        size: 50,
        program: |n| steps("(x [4 4])", "(list x)", n, "(cons (sin (first y)) y)", "y"),
    },
    Family {
        name: "calls in calls",
        size: 50,
        program: |n| {
            let first = "(defun f0 (x) (sin x))\n".to_owned();
            let more = (1..n).map(|i| format!("(defun f{i} (x) (* 0.5 (f{} (+ x 1))))\n", i - 1));
            format!("{first}{}(defgraph g ((x [4])) (f{} x))", more.collect::<String>(), n - 1)
        },
    },
    Family {
        name: "a long let*",
        size: 200,
        program: |n| {
            let more = (1..n).map(|i| format!("  (v{i} ({} v{} 1.0009))\n", ["+", "*"][i % 2], i - 1));
            format!("(defgraph g ((x [4]))\n(let* ((v0 (+ x 1))\n{}) v{}))", more.collect::<String>(), n - 1)
        },
    },
];

/// `n` steps from a start, each of which makes `y` of `y` and the number `i`.
fn steps(given: &str, start: &str, n: usize, step: &str, end: &str) -> String {
    format!("(defgraph g ({given}) (let ((y {start})) (dotimes (i {n}) (set! y {step})) {end}))")
}

/// Attention written out, whose scores depend on a `y` of `n` steps.
fn attention(n: usize, start: &str, step: &str, scores: &str) -> String {
    let product = "(matmul q (transpose k [1 0]))";
    let end = format!("(let ((scores {product})) (matmul (softmax {scores} :axis -1) v))");
    steps("(q [4 8]) (k [4 8]) (v [4 8]) (b [4 4])", start, n, step, &end)
}

fn inputs(n: usize) -> (String, String) {
    let given = (0..n).map(|i| format!("(x{i} [2 2])")).collect::<Vec<_>>().join(" ");
    (given, (0..n).map(|i| format!("x{i}")).collect::<Vec<_>>().join(" "))
}

/// No file but the library's.
struct Nothing;

impl Loader for Nothing {
    fn load(&mut self, _path: &str) -> Result<String, String> {
        Err("there are no files".to_owned())
    }
}

/// What a build takes.
const COUNTS: [&str; 4] = ["visits of nodes", "allocations", "bytes", "instructions"];

fn build(program: &str) -> [f64; 4] {
    let region = Region::new(GLOBAL);
    let before = visits();
    let (mut sources, mut sink) = (Sources::default(), Sink::default());
    let root = sources.add("growth.sx", format!("(import sx/nn)\n{program}"));
    let options = EvalOptions { max_depth: 2000, ..EvalOptions::default() };
    let module = evaluate(&mut sources, &mut sink, root, &mut Nothing, &options);
    let rendered = || render_all(sink.diagnostics(), &sources, Paint::Plain);
    let module = module.unwrap_or_else(|| panic!("{}", rendered()));
    let compiled = compile(&module, &sources, &[Target::Cpu, Target::Wgpu], &FLOORS[0]);
    let compiled = compiled.unwrap_or_else(|refused| panic!("{}", refused.message));
    let stats = region.change();
    let kernels: Vec<String> =
        compiled.graphs[0].planned.program.kernels.iter().map(|k| format!("{k:?}")).collect();
    let instructions: usize = kernels.iter().map(|kernel| kernel.matches("Call").count()).sum();
    [
        (visits() - before) as f64,
        stats.allocations as f64,
        (stats.bytes_allocated as i64 + stats.bytes_reallocated as i64) as f64,
        instructions as f64,
    ]
}

/// `SX_GROWTH=K` prints the factors, from sizes that are K times those of the table; `SX_FAMILY` chooses families.
#[test]
fn builds_grow_in_proportion_to_programs() {
    let only = std::env::var("SX_FAMILY").unwrap_or_default();
    let scale = std::env::var("SX_GROWTH").ok().and_then(|scale| scale.parse::<usize>().ok());
    let mut wrong = Vec::new();
    for family in FAMILIES.iter().filter(|family| family.name.contains(&only)) {
        let size = family.size * scale.unwrap_or(1);
        let (small, large) = (build(&(family.program)(size)), build(&(family.program)(4 * size)));
        let grown = small.iter().zip(&large).zip(COUNTS);
        let factors: Vec<(f64, &str)> = grown.map(|((a, b), what)| (b / a.max(1.0), what)).collect();
        let shown = |(factor, what): &(f64, &str)| format!("{what} {factor:.2}-fold");
        let line =
            |factors: Vec<String>| format!("{}, {size} to {}: {}", family.name, 4 * size, factors.join(", "));
        if scale.is_some() {
            eprintln!("{}", line(factors.iter().map(shown).collect()));
        }
        let grown: Vec<String> = factors.iter().filter(|(factor, _)| *factor > MOST).map(shown).collect();
        if !grown.is_empty() {
            wrong.push(line(grown));
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}
