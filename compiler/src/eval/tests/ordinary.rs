//! Ordinary values: every form, numbers, lists, text, macros.

use super::{traced, value_of};
use crate::eval::types::DOMAINS;
use crate::eval::{builtin, documented};
use sx_artifact::dtype::DType;

#[test]
fn expressions_have_their_values() {
    let cases = [
        // numbers
        ("(/ 8 2)", "4"),
        ("(/ 7 2)", "3.5"),
        ("(/ 1.0 0)", "inf"),
        ("(/ 4)", "0.25"),
        ("(- 3)", "-3"),
        ("(- 10 1 2)", "7"),
        ("(div -7 2)", "-3"),
        ("(div 7 -2)", "-3"),
        ("(list (mod 7 3) (mod -7 3) (mod 7 -3) (mod -7 -3) (mod 5.5 -2))", "(1 2 -2 -1 -0.5)"),
        ("(+)", "0"),
        ("(*)", "1"),
        ("(+ 1 2.5)", "3.5"),
        ("(pow 2 10)", "1024"),
        ("(pow 2 -1)", "0.5"),
        ("(sqrt 16)", "4.0"),
        ("(list (floor -2.5) (ceil -2.5) (round 2.5) (round 3.5) (round -0.5))", "(-3 -2 2 4 0)"),
        ("(list (max 1 5 2.5) (min [3 1 2]) (sum '(1 2 3)) (prod [2 3 4]))", "(5 1 6 24)"),
        ("(< 1 2 3)", "true"),
        ("(< 1 3 2)", "false"),
        ("(<= 1 1 2)", "true"),
        ("(= 1 1.0)", "true"),
        ("(= '(1 [2 \"a\"]) (list 1 (vector 2 \"a\")))", "true"),
        ("(= :f32 :f32)", "true"),
        ("(!= 'a 'b)", "true"),
        ("(= nan nan)", "false"),
        ("(> inf 1)", "true"),
        // truth
        ("(if 0 :yes :no)", ":yes"),
        ("(if nil :yes :no)", ":no"),
        ("(if '() :yes :no)", ":no"),
        ("(if false 1)", "nil"),
        ("(and 1 nil (error \"never\"))", "nil"),
        ("(or nil false 3 (error \"never\"))", "3"),
        ("(and)", "true"),
        ("(or)", "false"),
        ("(not nil)", "true"),
        ("(cond (nil 1) ((= 1 1) 2 3) (else 4))", "3"),
        ("(cond (nil 1) (7))", "7"),
        ("(case :b ((:a :b) 1) (:c 2) (else 3))", "1"),
        ("(case 9 (1 1) (else 3))", "3"),
        ("(when nil 1)", "nil"),
        ("(unless nil 1 2)", "2"),
        // binding and loops
        ("(let ((x 1)) (let ((x 2) (y x)) (list x y)))", "(2 1)"),
        ("(let* ((x 1) (y (+ x 1)) (x (* y 10))) (list x y))", "(20 2)"),
        ("(let ((n 0)) (dotimes (i 5) (set! n (+ n i))) n)", "10"),
        ("(let ((n nil)) (dolist (x [1 2 3]) (set! n (cons x n))) n)", "(3 2 1)"),
        ("(do ((i 0 (+ i 1)) (a 0 b) (b 1 (+ a b))) ((= i 10) a))", "55"),
        ("(multiple-value-bind (a b) (values 1 2 3) (list a b))", "(1 2)"),
        ("(+ 1 (values 2 3))", "3"),
        ("(let ((f (let ((n 0)) (lambda () (set! n (+ n 1)) n)))) (f) (f))", "2"),
        // functions
        (
            "(defun f (a &optional (b 2) c) (list a b c)) (list (f 1) (f 1 5) (f 1 5 6))",
            "((1 2 nil) (1 5 nil) (1 5 6))",
        ),
        (
            "(defun f (a &key (b 2) (c b)) (list a b c)) (list (f 1) (f 1 :c 7) (f 1 :c 1 :b 9))",
            "((1 2 2) (1 2 7) (1 9 1))",
        ),
        ("(defun f (a &rest xs) (list a xs)) (list (f 1) (f 1 2 3))", "((1 nil) (1 (2 3)))"),
        ("(defun f (:optional) 1)", "E-FORM-001: a parameter is `name` or `(name TYPE…)`"),
        ("(defun fib (n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2))))) (fib 15)", "610"),
        (
            "(defun even (n) (if (= n 0) true (odd (- n 1)))) (defun odd (n) (if (= n 0) false (even (- n 1)))) (even 10)",
            "true",
        ),
        ("(def width 4) (defun area () (* width width)) (area)", "16"),
        ("(funcall (lambda (x &optional y) (list x y)) 1)", "(1 nil)"),
        ("(apply + 1 2 '(3 4))", "10"),
        // lists
        (
            "(list (cons 1 nil) (first '()) (rest '(1)) (nth -1 [1 2 3]) (length \"héé\") (reverse '(1 2)))",
            "((1) nil nil 3 3 (2 1))",
        ),
        ("(list (append '(1) [2]) (append [1] '(2)) (append))", "((1 2) [1 2] nil)"),
        ("(list (range 3) (range 1 4) (range 6 0 -2) (range 0))", "((0 1 2) (1 2 3) (6 4 2) nil)"),
        ("(map (lambda (x y) (* x y)) '(1 2 3) [4 5])", "(4 10)"),
        ("(filter (lambda (x) (= (mod x 2) 0)) [1 2 3 4])", "[2 4]"),
        ("(reduce (lambda (a b) (+ (* 10 a) b)) '(1 2 3))", "123"),
        ("(zip '(1 2) '(a b))", "((1 a) (2 b))"),
        ("(list (getf '(:a 1 :b 2) :b) (getf '(:a 1) :c) (getf nil :c 7) (field '(:a 1) :a))", "(2 nil 7 1)"),
        (
            "(list (sublist [1 2 3] 1) (sublist '(1 2 3) 0 2) (member 2 '(1 2)) (null nil) (null 0))",
            "([2 3] (1 2) true true false)",
        ),
        // text
        ("(format \"layer.~a ~s~~\" 3 \"x\")", "\"layer.3 \\\"x\\\"~\""),
        ("(format nil \"~a\" 1)", "\"1\""),
        ("(join \".\" (split \"-\" \"a-b\"))", "\"a.b\""),
        // code as data
        ("`(a ,(+ 1 2) ,@(list 4 5) [b ,(* 2 3)])", "(a 3 4 5 [b 6])"),
        ("`(1 `(2 ,(3 ,(+ 2 2))))", "(1 (quasiquote (2 (unquote (3 4)))))"),
        ("(defmacro twice (x) `(progn ,x ,x)) (let ((n 0)) (twice (set! n (+ n 1))) n)", "2"),
        (
            "(defmacro my-let (name value &rest body) `((lambda (,name) ,@body) ,value)) (my-let x 3 (* x x))",
            "9",
        ),
        ("(defmacro constant (name) `(def ,name 5)) (constant five) five", "5"),
        ("(mean '(1 2 6))", "3"),
        ("(defaxis V 7) (list V (+ V 1) (= V 7) [V])", "(7 8 true [7])"),
    ];
    for (program, printed) in cases {
        assert_eq!(value_of(program), printed, "{program}");
    }
}

#[test]
fn documented_examples_print_what_they_say() {
    let mut ran = 0;
    for doc in documented() {
        let written = doc.signature.starts_with(['(', '\'', '`']) || doc.signature == doc.name;
        assert!(!doc.summary.is_empty() && written, "{doc:?}");
        for (program, value) in doc.example.lines().filter_map(|line| line.split_once(" ; => ")) {
            let given = value_of(&format!("(import sx/nn) {program}"));
            // Those of tensors are run by another test.
            if !given.starts_with("E-FLOW-003") {
                assert_eq!(given, value, "{}", doc.name);
                ran += 1;
            }
        }
    }
    assert!(ran > 60, "only {ran} examples have values");
}

/// The names that programs write are documented: each dtype, each domain, and what marks parameters.
#[test]
fn every_word_of_types_and_parameters_is_documented() {
    let all = documented();
    let dtypes = DType::ALL.map(|dtype| format!(":{dtype}"));
    let marks = ["&optional", "&key", "&rest", "&context", "->", "record", "_", "..."];
    for name in DOMAINS.into_iter().chain(marks).chain(dtypes.iter().map(String::as_str)) {
        assert_eq!(all.iter().filter(|doc| doc.name == name).count(), 1, "{name}");
    }
    for doc in all.iter().filter(|doc| doc.chapter.is_none() && doc.example.starts_with("(def")) {
        let built = traced(&format!("(import sx/nn)\n{}", doc.example), &[]);
        assert!(built.is_ok() || doc.name == "defrun", "{}", built.err().unwrap_or_default());
    }
}

/// A signature says what may be left out, as a call counts it.
#[test]
fn signatures_say_what_may_be_left_out() {
    let all = documented();
    for builtin in builtin::all().filter(|b| b.signature.starts_with('(') && !b.name.starts_with('%')) {
        let doc = all.iter().find(|doc| doc.name == builtin.name).expect("every builtin is documented");
        let (keys, others): (Vec<_>, Vec<_>) =
            doc.optional.iter().partition(|it| builtin.keys.iter().any(|key| it.name == format!(":{key}")));
        let named: Vec<&str> = keys.iter().map(|it| &it.name[1..]).collect();
        assert_eq!(named, builtin.keys, "{doc:?}");
        assert!(keys.iter().all(|it| it.default.is_some()), "{doc:?}");
        if let Some(most) = builtin.most {
            assert_eq!(others.len(), most - builtin.least, "{doc:?}");
        }
    }
    let shown = |name: &str| {
        let doc = all.iter().find(|doc| doc.name == name).expect("it is documented");
        let optional = doc.optional.iter().map(|it| (it.name.as_str(), it.default.as_deref()));
        (doc.signature.as_str(), optional.collect::<Vec<_>>())
    };
    let norm =
        ("(layer-norm x scale &optional shift :eps 1e-5)", vec![("shift", None), (":eps", Some("1e-5"))]);
    assert_eq!(shown("layer-norm"), norm);
    assert_eq!(shown("linear"), ("(linear x w &optional b)", vec![("b", None)]));
    assert_eq!(shown("einsum").0, "(einsum spec xs...)");
}
