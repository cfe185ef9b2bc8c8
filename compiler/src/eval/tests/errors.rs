//! Mistakes and what is said about them.

use super::{Files, traced, value_of};
use crate::diag::render::{Paint, render_all};
use crate::diag::{Sink, Sources};
use crate::eval::module::{LIBRARY, names_of};
use crate::eval::{EvalOptions, evaluate};
use crate::syntax::{Datum, Tree};
use std::collections::HashMap;

/// The codes of a program's diagnostics, in order.
fn codes(text: &str) -> Vec<String> {
    let rendered = traced(text, &[]).err().unwrap_or_default();
    let starts = rendered.lines().filter_map(|line| line.strip_prefix("error["));
    starts.filter_map(|rest| Some(rest.split_once(']')?.0.to_string())).collect()
}

#[test]
fn ordinary_mistakes_have_codes() {
    let cases = [
        ("(foo 1)", "E-NAME-001: `foo` is not defined"),
        ("(def a 1) (def a 2)", "E-NAME-002: `a` is defined twice"),
        ("(def if 1)", "E-NAME-003: `if` is a special form and cannot be defined"),
        (
            "(list if)",
            "E-NAME-003: `if` is a special form: it has no value, and can only stand at the head of a form",
        ),
        ("(let ((x)) (let y 1))", "E-FORM-001: this form is written `(let ((name value)...) body...)`"),
        ("(let () (def x 1))", "E-FORM-002: `def` stands only at the top of a file"),
        ("(defun f (x) x) (f)", "E-CALL-001: `f` takes 1 argument, and 0 are given here"),
        ("(cons 1)", "E-CALL-001: `cons` takes 2 arguments, and 1 is given here"),
        ("(defun f (&key a) a) (f :b 1)", "E-CALL-002: f has no keyword `:b`"),
        ("(defun f (&key a) a) (f :a)", "E-CALL-002: f: `:a` has no value"),
        ("(3 4)", "E-CALL-003: an integer cannot be called: it is not a function"),
        ("(+ 1 \"a\")", "E-TYPE-001: +: a number was expected, and this is a string"),
        ("(nth 5 [1 2])", "E-TYPE-002: nth: there is no element 5 in a sequence of 2"),
        ("(defun f () (f)) (f)", "E-EVAL-002: expressions and calls nest more than 1000 deep"),
        ("(do ((i 0 (+ i 1))) (nil))", "E-EVAL-001: the program takes more than 200000 steps"),
        (
            "(defun f (n) (+ (f (+ n 1)) (f (+ n 2)))) (f 0)",
            "E-EVAL-002: expressions and calls nest more than 1000 deep",
        ),
        ("(error \"no ~a\" 7)", "E-EVAL-003: no 7"),
        ("(assert (= 1 2))", "E-EVAL-004: `(= 1 2)` does not hold"),
        ("(* 9223372036854775807 2)", "E-EVAL-005: *: the result does not fit an integer of 64 bits"),
        ("(div 1 0)", "E-EVAL-005: div: division by zero"),
        ("(defmacro m () +) (m)", "E-EVAL-006: the macro `m` gives something that is not code"),
        ("(import \"gone.sx\")", "E-MOD-001: `gone.sx` cannot be read: no such file"),
        ("(import sx/mm)", "E-MOD-003: there is no module `sx/mm`"),
        ("(neg 1)", "E-DIM-003: neg: a tensor was expected, and `1` is an integer"),
        ("(maximum 1 2)", "E-DIM-003: maximum: a tensor was expected, and both arguments are numbers"),
        ("(zeros [2])", "E-FLOW-003: zeros: there is no graph being traced here"),
        ("(defdomain Unit [0 1])", "E0503: `Unit` is the name of a built-in domain or dtype"),
        ("(defdomain D [2 1])", "E0503: the domain `D` is empty"),
        (
            "(defun f ((x Unit :f32)) x)",
            "E0503: a type is a shape, a dtype and a domain, each optional, in this order",
        ),
        ("(defun f ((x [b] Prob over)) x)", "E0503: `over` is not a domain"),
        ("(lambda ((x [b C] (Prob :over D))) x)", "E0503: `D` is not an axis of this type"),
        ("(defun f (x) (lambda ((y :f32 Mask)) y))", "E0503: `:f32` and `Mask` make no sense together"),
        (
            "(defun f ((x Index)) x)",
            "E0503: `Index` takes the axis it points into: `(Index V)` or `(Index 10)`",
        ),
        ("(defun f ((x :i64 Prob)) x)", "E0503: `:i64` and `Prob` make no sense together"),
        ("(defun f ((x :f16)) x)", "E-DIM-002: `:f16` is not a dtype"),
        // What follows from a mistake is not reported; what stands beside it is.
        (
            "(def a (foo)) (def b (+ a 1)) (if a b (baz)) (list (bar) b)",
            "E-NAME-001: `foo` is not defined\nE-NAME-001: `bar` is not defined\nE-NAME-001: `baz` is not defined",
        ),
    ];
    for (program, printed) in cases {
        assert_eq!(value_of(program), printed, "{program}");
    }
}

#[test]
fn tensor_mistakes_have_codes() {
    let cases = [
        ("(if (> x 0) x x)", "E-FLOW-001"),
        ("(+ x i)", "E-DIM-002"),
        ("(+ i 0.5)", "E-DIM-002"),
        ("(+ i 3000000000)", "E-DIM-002"),
        ("(+ x (zeros [2]))", "E-DIM-001"),
        ("(sum x :axes [1 -1])", "E-DIM-001"),
        ("(sum x :axes [2])", "E-DIM-001"),
        ("(max x 0)", "E-CALL-001"),
        ("(sum x :axis 1)", "E-CALL-002"),
        ("(+ m 1)", "E0505"),
        ("(and x m)", "E0501"),
        ("(and x)", "E0501"),
        ("(where x 1 2)", "E0501"),
        ("(reshape x [7])", "E-DIM-001"),
        ("(reshape x [-1])", "E-DIM-001"),
        ("(transpose x [0 0])", "E-DIM-001"),
        ("(slice x 0 1 1)", "E-DIM-001"),
        ("(slice x 0 -1 1)", "E-DIM-001"),
        ("(concat 0 [x (zeros [2 4])])", "E-DIM-001"),
        ("(cast x :f64)", "E-DIM-002"),
        ("(iota [2] :dtype :f32)", "E-DIM-002"),
        ("(iota [2] :axis 1)", "E-DIM-001"),
        ("(softmax i)", "E-DIM-002"),
        ("(softmax 1)", "E-DIM-003"),
        ("(softmax x :axis 2)", "E-DIM-001"),
        ("(matmul x x :out :bf16)", "E-DIM-002"),
        ("(list :a x :a x)", "E-GRAPH-003"),
        ("(list \"a\")", "E-GRAPH-003"),
        ("nil", "E-GRAPH-003"),
        ("(cross-entropy x (zeros [3] :dtype :i32))", "E-DIM-001"),
        ("(attention x x x)", "E-DIM-001"),
        ("(conv (zeros [1 2 5]) (zeros [1 3 2]))", "E-DIM-001"),
        ("(einsum \"b i, i j -> b j\" x x)", "E-DIM-001"),
        ("(values (param \"w\" [2]) (param \"w\" [3]))", "E-PARAM-001"),
        ("(param \"\" [2])", "E-PARAM-002"),
        ("(to m Prob)", "E0501"),
        ("(normal [2])", "E-NAME-001"),
    ];
    for (body, code) in cases {
        let program =
            format!("(import sx/nn)\n(defgraph g ((x [2 3]) (i [2 3] :i32) (m [2 3] Mask)) {body})");
        assert_eq!(codes(&program), [code], "{body}");
    }
}

#[test]
fn calls_check_the_types_they_meet() {
    let cases = [
        ("((x [b b])) x", "(f (zeros [2 3]))", "E-DIM-001"),
        ("((x [b]) (y [b])) x", "(f (zeros [2]) (zeros [3]))", "E-DIM-001"),
        ("((x [... 4])) x", "(f (zeros [2 3]))", "E-DIM-001"),
        ("((x [_ 3])) x", "(f (zeros [3]))", "E-DIM-001"),
        ("((x [b] :i32)) x", "(f (zeros [3]))", "E-DIM-002"),
        ("((x [b] Mask)) x", "(f (zeros [3]))", "E0501"),
        ("((x [b])) x", "(f 1)", "E-DIM-003"),
        ("((x [V])) x", "(f (zeros [3]))", "E-DIM-001"),
        ("(x) (-> [3]) x", "(f (zeros [4]))", "E-DIM-001"),
        ("(x) (-> :i32) x", "(f (zeros [4]))", "E-DIM-002"),
    ];
    for (signature, call, code) in cases {
        let program = format!("(defaxis V 5)\n(defun f {signature})\n(defgraph g ((z [2])) {call})");
        assert_eq!(codes(&program), [code], "{signature} {call}");
    }
    let fine = [
        ("((x [b C] Logit) (t [])) (softmax (/ x t) :over C)", "(f (zeros [3 3]) 2)"),
        ("((x [... 3])) x", "(f (zeros [2 3]))"),
        ("((x [b] (Index V))) x", "(f (zeros [3] :dtype :i32))"),
        ("((x :any)) x", "(f (zeros [3] :dtype :bf16))"),
        ("((x [V])) (sum (+ x (zeros [V])) :axes [V])", "(f (zeros [5]))"),
    ];
    for (signature, call) in fine {
        let program =
            format!("(import sx/nn)\n(defaxis V 5)\n(defun f {signature})\n(defgraph g ((z [2])) {call})");
        assert_eq!(codes(&program), Vec::<String>::new(), "{signature} {call}");
    }
}

#[test]
fn messages_show_the_users_place() {
    let program = "(defun dense (weight)\n  (lambda (x) (matmul x weight)))\n(defgraph g ((x [2 16])) ((dense (param \"w\" [32 8])) x))";
    assert_eq!(
        traced(program, &[]).expect_err("it does not fit"),
        "\
error[E-DIM-001]: matmul: inner dims differ: [2, 16] x [32, 8]
  --> test.sx:2:15
   |
 2 |   (lambda (x) (matmul x weight)))
   |               ^^^^^^^^^^^^^^^^^
note: operands: `x` [2, 16] f32, `weight` [32, 8] f32
"
    );
    let program = "(import sx/nn)\n(defgraph g ((x [2 16]) (bias [3])) (linear x (param \"w\" [16 8]) bias))";
    let message = traced(program, &[]).expect_err("the bias does not fit");
    for part in ["test.sx:2:37", "`bias` [3] f32", "in `linear`, a function of the library", "nn.sx"] {
        assert!(message.contains(part), "{part} in:\n{message}");
    }
}

#[test]
fn an_unknown_name_suggests() {
    for (program, help) in [
        ("(def softmex 1) (softmax 1)", "(import sx/nn)"),
        ("(lenght [1])", "length"),
        ("(let ((weight 1)) weigth)", "weight"),
    ] {
        let message = traced(program, &[]).expect_err("the name is unknown");
        assert!(message.contains("help: ") && message.contains(help), "{message}");
    }
}

#[test]
fn imports_bring_names_and_cycles_are_told() {
    let files = [
        ("lib/a.sx", "(import \"b.sx\") (defun a (x) (b x))"),
        ("lib/b.sx", "(import \"../c.sx\") (defun b (x) (+ x c))"),
        ("c.sx", "(def c 5)"),
        ("loop.sx", "(import \"loop2.sx\")"),
        ("loop2.sx", "(import \"loop.sx\")"),
    ];
    let run = |text: &str| {
        let (mut sources, mut sink) = (Sources::default(), Sink::default());
        let root = sources.add("main.sx", text);
        let mut loader = Files(HashMap::from(files));
        let module = evaluate(&mut sources, &mut sink, root, &mut loader, &EvalOptions::default());
        (module.is_some(), render_all(sink.diagnostics(), &sources, Paint::Plain))
    };
    let (fine, message) = run("(import \"lib/a.sx\") (defun c () 1) (assert (= (a 1) 6)) (assert (= (c) 1))");
    assert!(fine, "{message}");
    let (fine, message) = run("(import \"lib/a.sx\") (b 1)");
    assert!(!fine && message.contains("E-NAME-001"), "imports are not passed on: {message}");
    let (fine, message) = run("(import \"lib/a.sx\") (import \"./lib/a.sx\") (assert (= (a 1) 6))");
    assert!(fine, "one file twice is no clash: {message}");
    let (fine, message) = run("(import \"loop.sx\")");
    assert!(!fine && message.contains("E-MOD-002"), "{message}");
}

#[test]
fn names_are_looked_at_in_code_that_never_runs() {
    for fine in [
        "(defmacro swap (a b) `(list ,b ,a)) (defun f (x &optional (y x) &rest r) (swap x (list y r)))",
        "(defun even (n) (if (= n 0) true (odd (- n 1)))) (defun odd (n) (if (= n 0) false (even (- n 1))))",
        "(defmacro forever (x) `(if ,x 0 (forever ,x))) (defun f (x) (forever x))",
        "(defmacro bind (name value body) `(let ((,name ,value)) ,body)) (defun f (x) (bind y x (+ y 1)))",
        "(defmacro refuse (x) (error \"never\")) (defun f (x) (refuse x))",
        "(defmacro define (name) `(defun ,name (x) x)) (define g) (defun f (x) (g x))",
        "(defun f (x) (case x ((a b) 1) (else '(c d))))",
        "(defun f (x) (multiple-value-bind (a b) (values x x) (lambda (c) (set! a c) (list a b c))))",
    ] {
        assert_eq!(codes(fine), Vec::<&str>::new(), "{fine}");
    }
    for unknown in [
        "(defun f (x) (if x (g x) x))",
        "(defmacro swap (a b) `(list ,b ,a)) (defun f (x) (swap x y))",
        "(defmacro wrong (a) `(lost ,a)) (defun f (x) (wrong x))",
        "(defun f (x &key (scale lost)) (* x scale))",
        "(defun f (x) (let ((a x) (b a)) b))",
        "(defun f (x) (dotimes (i n) i))",
        "(defgraph g ((x [2])) x) (list (lambda (y) (z y)))",
    ] {
        assert_eq!(codes(unknown), ["E-NAME-001"], "{unknown}");
    }
}

#[test]
fn a_run_reports_the_mistakes_of_every_graph() {
    let program = "(defgraph f ((x [2])) (+ x (zeros [3])))\n(defgraph g ((x [2])) (let ((a (foo x)) (b (bar x))) (+ a b)))\n(defgraph h (x) x)";
    assert_eq!(codes(program), ["E-NAME-001", "E-NAME-001", "E-DIM-001", "E-GRAPH-004"]);
}

#[test]
fn the_deepest_nesting_fits_the_stack() {
    for body in [
        "(defun f (n) (let* ((m (+ n 1))) (cond ((< n 0) 1) (else (progn (if (f m) 1 2))))))",
        "(defun f (n) (map (lambda (x) (apply f (list (+ x n)))) [1 2]))",
        "(defun f (n) (reduce (lambda (a b) (case (multiple-value-bind (x) (f a) x) (1 2))) '(1 2)))",
        "(defmacro m (x) `(and (f ,x) 1)) (defun f (n) (dotimes (i 1) (dolist (j '(1)) (m [[[(f n)]]]))))",
        "(defun f (n &key (k (f n :k (f n)))) (format \"~a\" (list k)))",
    ] {
        assert_eq!(codes(&format!("{body} (f 0)")), ["E-EVAL-002"], "{body}");
    }
    let inside = "(import sx/nn) (defun f (x) (softmax (scope \"a\" (with-numerics (:precision :bf16) (f x))))) (defgraph g ((x [2])) (f x))";
    assert_eq!(codes(inside), ["E-EVAL-002"]);
}

#[test]
fn what_nests_or_grows_without_end_ends_in_a_diagnostic() {
    let cases = [
        ("(let ((x nil)) (dotimes (i 30000) (set! x (list x))) 1)", "1"),
        ("(let ((x nil)) (dotimes (i 30000) (let ((y x)) (set! x (lambda () y)))) 1)", "1"),
        (
            "(let ((x nil)) (dotimes (i 5000) (set! x (list x))) (format \"~a\" x))",
            "E-EVAL-002: a value nests more than 1000 deep, and cannot be walked",
        ),
        ("(defmacro m () '(m)) (m)", "E-EVAL-002: expressions and calls nest more than 1000 deep"),
        (
            "(defmacro m () '(progn (m) (m))) (m)",
            "E-EVAL-002: expressions and calls nest more than 1000 deep",
        ),
    ];
    for (program, printed) in cases {
        assert_eq!(value_of(program), printed, "{program}");
    }
}

#[test]
fn every_way_to_work_without_end_takes_steps() {
    for program in [
        "(let ((x '(1))) (dotimes (i 60) (set! x (list x x))) (= x x))",
        "(let ((x \"ab\")) (dotimes (i 60) (set! x (string x x))))",
        "(let ((x [1])) (dotimes (i 60) (set! x (append x x))))",
        "(let ((x [1])) (dotimes (i 60) (set! x `[,@x ,@x])))",
        "(defmacro m (x) `(m (progn ,x ,x))) (m 1)",
        "(defmacro m (&rest xs) `(m ,@xs 1)) (m)",
        "(do () (nil))",
        "(let ((xs (range 2000))) (dolist (x xs) (dolist (y xs) 1)))",
        "(let ((xs (range 20000))) (do () (nil) (apply list xs)))",
        "(let ((xs (range 20000))) (do () (nil) (getf xs :a)))",
        "(let ((xs (range 20000))) (do () (nil) (max xs)))",
        "(let ((s \"ab\")) (dotimes (i 16) (set! s (string s s))) (do () (nil) (length s)))",
        "(let ((s \"ab\")) (dotimes (i 14) (set! s (string s s))) (do () (nil) (split \"a\" s)))",
        "(let ((f 1)) (do () (nil) (let ((g f)) (set! f (lambda (x) (g x))))))",
    ] {
        let expected = "E-EVAL-001: the program takes more than 200000 steps";
        assert_eq!(value_of(program), expected, "{program}");
    }
}

#[test]
fn a_graph_of_many_nodes_is_within_the_limit() {
    let program = "(defgraph g ((x [4])) (dotimes (i 2000) (set! x (+ (* x 0.5) x))) x)";
    assert_eq!(codes(program), [""; 0]);
}

#[test]
fn the_seeds_example_gives_the_seeds_message() {
    let (mut sources, mut sink) = (Sources::default(), Sink::default());
    let root = sources.add("bad-shape.sx", include_str!("../../../../tests/ui/bad-shape.sx"));
    let mut loader = Files(HashMap::new());
    assert!(evaluate(&mut sources, &mut sink, root, &mut loader, &EvalOptions::default()).is_none());
    assert_eq!(
        render_all(sink.diagnostics(), &sources, Paint::Plain),
        "\
error[E-DIM-001]: matmul: inner dims differ: [2, 16] x [32, 8]
  --> bad-shape.sx:7:15
   |
 7 |   (lambda (x) (matmul x weight)))
   |               ^^^^^^^^^^^^^^^^^
note: operands: `x` [2, 16] f32, `weight` [32, 8] f32
"
    );
}

/// Every argument of every function of the library, given a value that is of no use there.
#[test]
fn functions_of_the_library_check_what_they_are_given() {
    let inputs =
        "(x [2 4]) (logits [2 4]) (ids [2] :i32) (scale [4]) (shift [4]) (w [4 4]) (b [4]) (table [4 4])
        (mask [2 4] Mask) (q [1 2 4 4]) (k [1 2 4 4]) (v [1 2 4 4])";
    let mut wrong = Vec::new();
    let mut calls = 0;
    for doc in super::super::documented() {
        let library = LIBRARY.iter().any(|(_, (_, text))| names_of(text).any(|name| name == doc.name));
        let example = doc.example.split(" ; =>").next().unwrap_or("");
        let mut sources = Sources::default();
        let file = sources.add("example", example);
        let trees = crate::syntax::read(&sources, file, &mut Sink::default());
        let Some(Tree { datum: Datum::List(items), .. }) = trees.first().filter(|_| library) else {
            continue;
        };
        for at in (1..items.len()).filter(|at| !matches!(items[*at].datum, Datum::Keyword(_))) {
            let mut words: Vec<&str> = items.iter().map(|item| sources.slice(item.span)).collect();
            words[at] = if at == 1 && doc.name == "einsum" { "7" } else { "\"what?\"" };
            let call = format!("({})", words.join(" "));
            let told = traced(&format!("(import sx/nn) (defgraph g ({inputs}) {call})"), &[])
                .err()
                .unwrap_or_default();
            let message = told.lines().next().unwrap_or("");
            let its_own = message.contains(&format!("]: {}: ", doc.name));
            if !its_own || told.contains(".sx:") && told.contains("nn.sx") || told.contains("prelude.sx") {
                wrong.push(format!("{call}\n{told}"));
            }
            calls += 1;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(calls > 60, "{calls} calls");
}

#[test]
fn mistakes_in_calls_of_the_library_are_told_in_its_words() {
    let cases = [
        (
            "(conv p w :padding \"same\")",
            "conv: `:padding` takes an integer from 0 up, or a list with one for each spatial axis, and `\"same\"` is a string",
        ),
        (
            "(conv nhwc w)",
            "conv: w takes 3 channels, and x has 8, on axis 1: channels stand before positions, so transpose x",
        ),
        ("(conv p x)", "conv: w is [out in/groups ...], with as many axes as x"),
        ("(one-hot x 4)", "one-hot: `ids` takes a tensor of integers, and `x` is [2, 4] f32"),
        ("(linear x)", "`linear` takes 2 to 3 arguments, and 1 is given here"),
        ("(mean x :axes [7])", "mean: axis 7 is not one of 2 axes"),
        (
            "(softmax x :axis true)",
            "softmax: `:axis` takes an axis: a position or a name, and `true` is a boolean",
        ),
        ("(softmax x :temperature 2)", "softmax has no keyword `:temperature`"),
        (
            "(cross-entropy x ids :reduce :product)",
            "cross-entropy: `:reduce` is `:mean`, `:sum` or `:none`, not :product",
        ),
        ("(linear x w)", "linear: inner dims differ: [2, 4] x [6, 3, 3, 3]"),
        ("(embedding x x)", "embedding: `ids` takes a tensor of integers, and `x` is [2, 4] f32"),
    ];
    let mut wrong = Vec::new();
    for (call, expected) in cases {
        let text = format!(
            "(import sx/nn) (defgraph g ((x [2 4]) (ids [2] :i32) (p [1 3 8 8]) (nhwc [1 8 8 3]) (w [6 3 3 3])) {call})"
        );
        let told = traced(&text, &[]).err().unwrap_or_default();
        if !told.contains(&format!("]: {expected}")) || told.lines().count() > 12 {
            wrong.push(format!("{call}\n{told}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
