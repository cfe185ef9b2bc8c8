//! Graphs: what operations record.

use super::{EvalOptions, Files, Sink, Sources, evaluate, listed, module, short, traced};
use std::collections::HashMap;

fn graph(body: &str) -> String {
    short(
        &module(&format!("(import sx/nn)\n(defgraph g ((x [2 3]) (i [2 3] :i32) (m [2 3] Mask)) {body})"))
            .graphs[0],
    )
}

/// What comes after the three inputs.
fn nodes(body: &str) -> String {
    graph(body).lines().skip(3).collect::<Vec<_>>().join("; ")
}

#[test]
fn operations_record_nodes() {
    let cases = [
        ("(+ x x)", "%3 = + %0 %0 : [2, 3] f32; out = %3"),
        (
            "(+ x 1)",
            "%3 = constant : [] f32; %4 = broadcast %3 : [2, 3] f32; %5 = + %0 %4 : [2, 3] f32; out = %5",
        ),
        (
            "(* 2 3 x)",
            "%3 = constant : [] f32; %4 = broadcast %3 : [2, 3] f32; %5 = * %4 %0 : [2, 3] f32; out = %5",
        ),
        ("(* x)", "out = %0"),
        ("(- x)", "%3 = neg %0 : [2, 3] f32; out = %3"),
        ("(sum x)", "%3 = sum %0 : [] f32; out = %3"),
        ("(sum x :axes [-1] :keepdims true)", "%3 = sum %0 : [2, 1] f32; out = %3"),
        ("(max x :axes '(0))", "%3 = max %0 : [3] f32; out = %3"),
        ("(and true m m)", "%3 = and %2 %2 : [2, 3] bool; out = %3"),
        ("(cast x :f32)", "out = %0"),
        (
            "(matmul x (transpose x [1 0]))",
            "%3 = transpose %0 : [3, 2] f32; %4 = matmul %0 %3 : [2, 2] f32; out = %4",
        ),
        (
            "(list :a x :b (list (neg x) 2 nil true))",
            "%3 = neg %0 : [2, 3] f32; %4 = constant : [] i32; %5 = constant : [] bool; a = %0; b.0 = %3; b.1 = %4; b.3 = %5",
        ),
        ("(values x 1.5)", "%3 = constant : [] f32; out0 = %0; out1 = %3"),
        ("(progn (= (shape x) [2 3]) (reshape x [(numel x)]))", "%3 = reshape %0 : [6] f32; out = %3"),
        ("(zeros-like i)", "%3 = constant : [] i32; %4 = broadcast %3 : [2, 3] i32; out = %4"),
        ("(softmax x)", "%3 = softmax %0 : [2, 3] f32; out = %3"),
        (
            "(argmax x)",
            "%3 = max %0 : [2, 1] f32; %4 = broadcast %3 : [2, 3] f32; %5 = = %0 %4 : [2, 3] bool; %6 = != %0 %0 : [2, 3] bool; %7 = or %5 %6 : [2, 3] bool; %8 = iota : [2, 3] i32; %9 = constant : [] i32; %10 = broadcast %9 : [2, 3] i32; %11 = where %7 %8 %10 : [2, 3] i32; %12 = min %11 : [2] i32; %13 = as %12 : [2] i32; out = %13",
        ),
        (
            "(gather (slice x 1 0 2) (slice i 1 0 2))",
            "%3 = slice %0 : [2, 2] f32; %4 = slice %1 : [2, 2] i32; %5 = gather %3 %4 : [2, 2] f32; out = %5",
        ),
        ("(param \"w\" [3] :init 0)", "%3 = param w : [3] f32; out = %3"),
        (
            "(scope \"a\" (scope \"b\" (* (param \"w\" []) (param \"w\" []))))",
            "%3 = param a.b.w : [] f32; %4 = * %3 %3 : [] f32; out = %4",
        ),
        (
            "(linear (reshape x [1 2 3]) (param \"w\" [3 4]) (param \"b\" [4]))",
            "%3 = reshape %0 : [1, 2, 3] f32; %4 = param w : [3, 4] f32; %5 = param b : [4] f32; %6 = reshape %3 : [2, 3] f32; %7 = matmul %6 %4 : [2, 4] f32; %8 = reshape %7 : [1, 2, 4] f32; %9 = broadcast %5 : [1, 2, 4] f32; %10 = + %8 %9 : [1, 2, 4] f32; out = %10",
        ),
    ];
    for (body, expected) in cases {
        assert_eq!(nodes(body), expected, "{body}");
    }
}

#[test]
fn structured_inputs_are_fed_by_dotted_names() {
    let module = module(
        "(defgraph g ((batch (record (x [8 4]) (y [8] (Index 10))))) (list :sum (sum (field batch :x)) :y (field batch :y)))",
    );
    assert_eq!(
        short(&module.graphs[0]),
        "%0 = input batch.x : [8, 4] f32\n%1 = input batch.y : [8] i64\n%2 = sum %0 : [] f32\nsum = %2\ny = %1"
    );
}

#[test]
fn sizes_come_from_the_command_line() {
    let program = "(defaxis V 10) (defgraph g ((x [b V])) (+ x b))";
    let module = traced(program, &[("b", 4), ("V", 3)]).expect("both are given");
    assert_eq!(module.graphs[0].ty(module.graphs[0].outputs[0].value).shape(), [4, 3]);
    let missing = traced(program, &[]).expect_err("b is open");
    assert!(missing.contains("E-GRAPH-001") && missing.contains("--dim b=N"), "{missing}");
    let unused = traced(program, &[("b", 4), ("c", 3)]).expect_err("c is not used");
    assert!(unused.contains("E-GRAPH-002"), "{unused}");
}

#[test]
fn runs_set_seed_and_precision() {
    let module = module("(defgraph g ((x [2])) (+ x x)) (defrun r :seed 7 :precision :bf16 :graphs [g])");
    assert_eq!(module.seed("g"), 7);
    let graph = &module.graphs[0];
    let precision = graph.node(graph.outputs[0].value.node).marks.precision;
    assert_eq!(precision, Some(sx_artifact::dtype::DType::Bf16));
}

#[test]
fn an_encoder_is_traced_lean() {
    let module = module(
        r#"
(import sx/nn)
(def hidden 384)
(def heads 12)
(defun dense (x name in out)
  (scope name
    (linear x (transpose (param "weight" [out in]) [1 0]) (param "bias" [out]))))
(defun norm-by (x name)
  (scope name (layer-norm x (param "weight" [hidden]) (param "bias" [hidden]) :eps 1e-12)))
(defun split (x)
  (transpose (reshape x [(dim x 0) (dim x 1) heads (/ hidden heads)]) [0 2 1 3]))
(defun layer (x mask)
  (let* ((q (split (dense x "attention.self.query" hidden hidden)))
         (k (split (dense x "attention.self.key" hidden hidden)))
         (v (split (dense x "attention.self.value" hidden hidden)))
         (c (reshape (transpose (attention q k v :mask mask) [0 2 1 3]) (shape x)))
         (x (norm-by (+ x (dense c "attention.output.dense" hidden hidden)) "attention.output.LayerNorm"))
         (h (gelu (dense x "intermediate.dense" hidden 1536))))
    (norm-by (+ x (dense h "output.dense" 1536 hidden)) "output.LayerNorm")))
(defgraph embed ((ids [8 128] (Index 30522)) (mask [8 128] Mask))
  (let* ((words (param "embeddings.word_embeddings.weight" [30522 hidden]))
         (places (slice (param "embeddings.position_embeddings.weight" [512 hidden]) 0 0 128))
         (x (norm-by (+ (index words ids) places) "embeddings.LayerNorm"))
         (seen (reshape mask [8 1 1 128])))
    (dotimes (i 6)
      (scope (format "encoder.layer.~a" i)
        (set! x (layer x seen))))
    (let* ((m (reshape (to mask Binary) [8 128 1]))
           (e (/ (sum (* x m) :axes [1]) (maximum (sum m :axes [1]) 1e-9))))
      (/ e (maximum (norm e :axes [-1] :keepdims true) 1e-12)))))
"#,
    );
    let graph = &module.graphs[0];
    assert_eq!(graph.ty(graph.outputs[0].value).shape(), [8, 384]);
    assert_eq!(module.params.len(), 2 + 2 + 6 * 16);
    assert!(graph.nodes().len() < 6 * 78 + 40, "{} nodes", graph.nodes().len());
}

#[test]
fn graphs_call_each_other_and_read_the_context() {
    let module = module(
        "(defgraph double ((x [n 2])) (-> [n 2]) (* 2 x))
         (defaxis n 3)
         (defgraph g ((x [3 2]) &context ctx) (list :y (double x) :salt (+ (* (getf ctx :step) 65536) (getf ctx :microbatch)) :again (getf ctx :step)))",
    );
    let g = &module.graphs[1];
    let context = g.nodes().iter().filter(|node| matches!(node.op, crate::ir::Op::Context(_))).count();
    assert_eq!(context, 2, "{}", short(g));
    let names: Vec<&str> = g.outputs.iter().map(|output| output.name.as_str()).collect();
    assert_eq!(names, ["y", "salt", "again"]);
}

#[test]
fn numerics_mark_the_nodes_of_their_body() {
    let module =
        module("(defgraph g ((x [2])) (+ x (with-numerics (:precision :bf16 :matmul :tf32) (neg x))))");
    let marks: Vec<_> =
        module.graphs[0].nodes().iter().map(|node| (node.marks.precision, node.marks.tf32)).collect();
    assert_eq!(marks, [(None, false), (Some(sx_artifact::dtype::DType::Bf16), true), (None, false)]);
}

#[test]
fn nodes_of_the_library_lead_to_the_users_call() {
    let text = "(import sx/nn)\n(defun head (x) (softmax x))\n(defgraph g ((x [2 3])) (head x))";
    let module = module(text);
    let graph = &module.graphs[0];
    let softmax = graph.node(graph.outputs[0].value.node);
    let mut chain = vec![*graph.origin(softmax.origin)];
    while let Some(parent) = chain[chain.len() - 1].parent {
        chain.push(*graph.origin(parent));
    }
    let user = &chain[1..];
    let texts: Vec<&str> = user.iter().map(|o| &text[o.span.start as usize..o.span.end as usize]).collect();
    assert_eq!(texts, ["(softmax x)", "(head x)"]);
    assert_ne!(chain[0].span.file, user[0].span.file, "the node itself stands in the library");
}

#[test]
fn domains_and_axes_are_carried_on_inputs() {
    let module = module(
        "(defdomain Temp [0.05 10]) (defaxis C 4)
         (defgraph g ((z [2 C] Logit) (t [] Temp) (p [C 2] (Prob :over C)) (i [2] (Index C)) (m [2] Mask) (b [2] :i32 Binary)) (values z t p i m b))",
    );
    let graph = &module.graphs[0];
    let shown: Vec<String> =
        graph.inputs.iter().map(|&id| graph.ty(id.into()).shown(&module.domains)).collect();
    assert_eq!(
        shown,
        ["[2 C] Logit over C", "[] Temp", "[C 2] Prob over C", "[2] Index[C]", "[2] Mask", "[2] i32 Binary"]
    );
}

#[test]
fn what_is_known_of_values_is_carried_on_results() {
    let cases = [
        ("(as x Unit)", "[2 3] Unit"),
        ("(as x Temp)", "[2 3] Temp"),
        ("(to m Binary)", "[2 3] Binary"),
        ("(to m Additive)", "[2 3] Additive"),
        ("(to (to m Binary) Mask)", "[2 3] Mask"),
        ("(to x (Prob :over 0))", "[2 3] Prob over 0"),
        ("(to (softmax x) LogProb)", "[2 3] LogProb over 1"),
        ("(to (log-softmax x) Prob)", "[2 3] Prob over 1"),
        ("(softmax x)", "[2 3] Prob over 1"),
        ("(relu x)", "[2 3] NonNeg"),
        ("(sigmoid x)", "[2 3] Unit"),
        ("(softplus x)", "[2 3] NonNeg"),
        ("(log-sigmoid x)", "[2 3] (-inf, 0]"),
        ("(silu (relu x))", "[2 3] NonNeg"),
        ("(erfc x)", "[2 3] [0, 2]"),
        ("(clamp x -1 1)", "[2 3] Signed"),
        ("(var x :axes [0])", "[3] NonNeg"),
        ("(as i (Index V))", "[2 3] i32 Index[V]"),
        ("(iota [V])", "[V] i32 [0, 4]"),
        ("(shape (zeros [V]))", ""),
    ];
    for (body, shown) in cases {
        let text = format!(
            "(import sx/nn) (defaxis V 5) (defdomain Temp [0.05 10])
             (defgraph g ((x [2 3]) (i [2 3] :i32) (m [2 3] Mask)) {body})"
        );
        let module = module(&text);
        let graph = &module.graphs[0];
        let result = graph.ty(graph.outputs[0].value);
        if !shown.is_empty() {
            assert_eq!(result.shown(&module.domains), shown, "{body}");
        }
    }
}

#[test]
fn a_definition_of_an_integer_is_a_size_wherever_one_is_read() {
    let text = "
        (import sx/nn)
        (def n (* 2 4))
        (defaxis V n)
        (defun f ((x [n 2]) (ids [n] (Index n))) (-> [n 2] Unit) (as (index x ids) Unit))
        (defgraph g ((x [n 2]) (ids [n] (Index n)) (r (record (y [n]))) (v [V]))
          (let ((y (+ (f x ids) (reshape (zeros [(* 2 n)]) [n 2]) (param \"w\" [n 2]))))
            (list y (+ (field r :y) v) (one-hot ids n) (broadcast-to (slice x 0 0 1) [n 2]) (iota [n]))))";
    let types: Vec<String> = {
        let module = module(text);
        let graph = &module.graphs[0];
        graph.outputs.iter().map(|output| graph.ty(output.value).to_string()).collect()
    };
    assert_eq!(types, ["[8, 2] f32", "[8] f32", "[8, 8] f32", "[8, 2] f32", "[8] i32"]);
    let wrong = traced("(def n 4) (defun f ((x [n])) x) (defgraph g ((x [5])) (f x))", &[]);
    assert!(
        wrong.is_err_and(|error| error.contains("f: parameter `x` wants [n], and `n` is 4, and axis 0 is 5"))
    );
}

#[test]
fn warnings_are_told_of_programs_without_errors_alone() {
    let told = |text: &str| {
        let (mut sources, mut sink) = (Sources::default(), Sink::default());
        let root = sources.add("main.sx", text);
        let mut files = Files(HashMap::from([(
            "lib.sx",
            "(defun used (x) x) (defun spare (x) (%own x)) (defun %own (x) x) (defun %lost (x) x)",
        )]));
        let options = EvalOptions::default();
        evaluate(&mut sources, &mut sink, root, &mut files, &options);
        listed(&sink)
    };
    let unused = "W-NAME-001: the definition `spare` is never used";
    assert_eq!(told("(defun spare (x) x) (defgraph g ((x [2])) x)"), unused);
    assert_eq!(told("(defun spare (x) x) (defun other (x) (spare x))"), "", "a file for others to import");
    assert_eq!(told("(defun spare (x) (/ x 0)) (defgraph g ((x [2])) (+ x \"a\"))").lines().count(), 1);
    let private = "W-NAME-001: the definition `%lost` is never used";
    assert_eq!(told("(import \"lib.sx\") (defgraph g ((x [2])) (used x))"), private);
    let import = "W-MOD-001: nothing that `lib.sx` defines is used here";
    assert_eq!(told("(import \"lib.sx\") (defgraph g ((x [2])) x)"), format!("{private}\n{import}"));
}
