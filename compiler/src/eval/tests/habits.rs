//! Programs as people write them who come from other languages: each gives one error, which helps.

use super::{EvalOptions, Files, Sink, Sources, evaluate};
use std::collections::HashMap;

/// The messages of a program's diagnostics, each with its help.
fn told(text: &str) -> Vec<String> {
    let (mut sources, mut sink) = (Sources::default(), Sink::default());
    let root = sources.add("test.sx", text);
    evaluate(&mut sources, &mut sink, root, &mut Files(HashMap::new()), &EvalOptions::default());
    let told = sink.diagnostics().iter();
    told.map(|d| format!("{} => {}", d.message, d.help.as_deref().unwrap_or("nothing"))).collect()
}

#[test]
fn spellings_of_other_languages_get_one_helpful_error() {
    let expressions = [
        ("(== x x)", "`==` is not defined => here that is `(= a b...)`"),
        ("(/= x x)", "`/=` is not defined => here that is `(!= a b)`"),
        ("(=> x x)", "`=>` is not defined => here that is `(>= a b...)`"),
        ("(** x 2)", "`**` is not defined => here that is `(pow a b)`"),
        ("(expt x 2)", "`expt` is not defined => here that is `(pow a b)`"),
        ("(% x 2)", "`%` is not defined => here that is `(mod a b)`"),
        ("(np.exp x)", "`np.exp` is not defined => names have no prefix here: write `exp`"),
        (
            "(torch.nn.functional.softmax x)",
            "`torch.nn.functional.softmax` is not defined => names have no prefix here: write `softmax`",
        ),
        ("(torch.mm x x)", "`torch.mm` is not defined => here that is `(matmul a b :out nil)`"),
        (
            "(conv2d x x)",
            "`conv2d` is not defined => here that is `(conv x w :stride 1 :padding 0 :groups 1)`, with `(import sx/nn)`",
        ),
        ("(zeros_like x)", "`zeros_like` is not defined => a similar name is `zeros-like`"),
        ("(view x [4])", "`view` is not defined => here that is `(reshape x [sizes])`"),
        ("(cat 0 [x x])", "`cat` is not defined => here that is `(concat axis [a b...])`"),
        ("(len [1 2])", "`len` is not defined => here that is `(length xs)`"),
        ("(car '(1 2))", "`car` is not defined => here that is `(first xs)`"),
        ("(begin 1 x)", "`begin` is not defined => here that is `(progn body...)`"),
        ("(if None x x)", "`None` is not defined => here that is `nil`"),
        ("(if (equal? 1 2) nil x)", "`equal?` is not defined => here that is `(= a b...)`"),
        ("(fn [a] (* a q))", "`fn` is not defined => here that is `(lambda (params...) body...)`"),
        (
            "(for [i (range 3)] (* i x))",
            "`for` is not defined => here that is `(dolist (name list) body...)`",
        ),
        ("(setq x 3)", "`setq` is not defined => here that is `(set! name value)`"),
        ("(+ x Mask)", "`Mask` is not defined => `Mask` is a domain: truth values, of dtype bool: `Mask`"),
        ("(+ x q)", "`q` is not defined => nothing"),
        (
            "(let (y (relu x)) (* y y))",
            "this form is written `(let ((name value)...) body...)` => write `((y (relu x)))`",
        ),
        (
            "(let [y x z 2] (* y z))",
            "this form is written `(let ((name value)...) body...)` => write `((y x) (z 2))`",
        ),
        (
            "(let* (y 2 z 3) (* y z))",
            "this form is written `(let* ((name value)...) body...)` => write `((y 2) (z 3))`",
        ),
        (
            "(let ((y x) (z (+ y 1))) (* y z))",
            "`y` is not defined => `let` binds its names all at once; in `let*` each value sees `y`",
        ),
        ("((lambda [a] (* a 2)) x)", "a list of parameters was expected here => write `(a)`"),
    ];
    let mut wrong = Vec::new();
    for (expression, expected) in expressions {
        let got = told(&format!("(defgraph g ((x [4])) {expression})"));
        wrong.extend((got != [expected]).then_some((expression, got)));
    }
    let define = "here that is `(defun name (params...) body...)`; `(def name value)` defines a value";
    let files = [
        ("(defn f (x) (* 2 x))", "`defn` is not defined => here that is `(defun name (params...) body...)`".to_string()),
        ("(defn f [x] (* 2 x))", "`defn` is not defined => here that is `(defun name (params...) body...)`".to_string()),
        ("(define (f x) (* 2 x))", format!("`define` is not defined => {define}")),
        ("(define f (lambda (x) (* 2 x)))", format!("`define` is not defined => {define}")),
        ("(def f (x) (* 2 x))", "this form is written `(def name value)` => a function is defined by `(defun name (params...) body...)`".to_string()),
        ("(defun f [x] (* 2 x))", "a list of parameters was expected here => write `(x)`".to_string()),
        ("(defun f ((x [4])) -> [4] (* 2 x))", "the types of the results stand in brackets of their own => write `(-> [4])`".to_string()),
        ("(defun f ((x [4])) -> [4] :f32 x)", "the types of the results stand in brackets of their own => write `(-> [4] :f32)`".to_string()),
    ];
    for (definition, expected) in files {
        let text = format!("{definition} (defgraph g ((x [4])) (f x))");
        let got = told(&text);
        wrong.extend((got != [expected]).then_some((definition, got)));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
