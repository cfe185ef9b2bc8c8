//! The words that are neither forms nor functions: those of types and of parameter lists. For documentation.

/// A word.
pub(super) struct Word {
    pub(super) name: &'static str,
    /// How it is written.
    pub(super) signature: &'static str,
    /// What it means, in one line.
    pub(super) summary: &'static str,
    /// A use, with its value where it has one.
    pub(super) example: &'static str,
}

/// Every one of them.
pub(super) static WORDS: [Word; 32] = [
    Word {
        name: "Real",
        signature: "Real",
        summary: "a domain: any number",
        example: "(defun f ((x [n] Real)) x)",
    },
    Word {
        name: "NonNeg",
        signature: "NonNeg",
        summary: "a domain: [0, inf)",
        example: "(defun f ((x [n] NonNeg)) (sqrt x))",
    },
    Word {
        name: "Pos",
        signature: "Pos",
        summary: "a domain: (0, inf)",
        example: "(defun f ((x [n] Pos)) (log x))",
    },
    Word {
        name: "Unit",
        signature: "Unit",
        summary: "a domain: [0, 1]",
        example: "(defgraph f ((x [8] Unit)) (- 1 x))",
    },
    Word {
        name: "Signed",
        signature: "Signed",
        summary: "a domain: [-1, 1]",
        example: "(defgraph f ((x [8] Signed)) (acos x))",
    },
    Word {
        name: "Logit",
        signature: "(Logit :over AXIS)",
        summary: "a domain: unnormalised log-probabilities over an axis, a name or a position; `Logit` alone takes the last",
        example: "(defun f ((x [b C] (Logit :over C))) (to x Prob))",
    },
    Word {
        name: "Prob",
        signature: "(Prob :over AXIS)",
        summary: "a domain: probabilities that sum to 1 over an axis, a name or a position; `Prob` alone takes the last",
        example: "(defgraph f ((x [4 3])) (-> [4 3] (Prob :over 1)) (softmax x))",
    },
    Word {
        name: "LogProb",
        signature: "(LogProb :over AXIS)",
        summary: "a domain: logarithms of probabilities over an axis, a name or a position; `LogProb` alone takes the last",
        example: "(defgraph f ((x [4 3])) (-> [4 3] (LogProb :over 1)) (log-softmax x))",
    },
    Word {
        name: "Mask",
        signature: "Mask",
        summary: "a domain: truth values, of dtype bool",
        example: "(defun f ((x [n]) (keep [n] Mask)) (where keep x 0))",
    },
    Word {
        name: "Binary",
        signature: "Binary",
        summary: "a domain: 0 or 1, as numbers",
        example: "(defun f ((keep [n] Mask)) (to keep Binary))",
    },
    Word {
        name: "Additive",
        signature: "Additive",
        summary: "a domain: 0 or -inf, to be added to scores",
        example: "(defun f ((keep [n] Mask)) (to keep Additive))",
    },
    Word {
        name: "Index",
        signature: "(Index AXIS)",
        summary: "a domain: positions on an axis, a name or a size; i64 where no dtype is written, and i32 values are taken too",
        example: "(defun f ((table [V D]) (ids [n] (Index V))) (index table ids))",
    },
    Word {
        name: "record",
        signature: "(name (record (field TYPE...)...))",
        summary: "a parameter of several named tensors: a graph is fed them as `name.field`, and `field` reads them",
        example: "(defgraph f ((batch (record (x [8 4]) (y [8] (Index 4))))) (field batch :x))",
    },
    Word {
        name: "->",
        signature: "(-> TYPE...)",
        summary: "behind the parameters: the types of the results",
        example: "(defun double ((x [n])) (-> [n]) (* 2 x))",
    },
    Word {
        name: "&optional",
        signature: "(params... &optional name (name default)...)",
        summary: "in a list of parameters: those behind it may be left out, and are then their default or nil",
        example: "((lambda (a &optional (b 2)) (+ a b)) 1) ; => 3",
    },
    Word {
        name: "&key",
        signature: "(params... &key name (name default)...)",
        summary: "in a list of parameters: those behind it are given by name, in any order, and may be left out",
        example: "((lambda (a &key (b 2)) (+ a b)) 1 :b 5) ; => 6",
    },
    Word {
        name: "&rest",
        signature: "(params... &rest name)",
        summary: "in a list of parameters: the name has all further arguments, a list",
        example: "((lambda (a &rest more) more) 1 2 3) ; => (2 3)",
    },
    Word {
        name: "&context",
        signature: "(params... &context name)",
        summary: "in a graph's list of parameters: the name has what the runtime counts, `(getf name :step)` and `(getf name :microbatch)`",
        example: "(defgraph f ((x [2]) &context ctx) (* x (cast (getf ctx :step) :f32)))",
    },
    Word {
        name: "_",
        signature: "_",
        summary: "in a shape: an axis of any size",
        example: "(defun f ((x [_ 4])) x)",
    },
    Word {
        name: "...",
        signature: "...",
        summary: "first in a shape: any number of leading axes",
        example: "(defun f ((x [... n])) x)",
    },
    Word {
        name: "else",
        signature: "(else body...)",
        summary: "the clause of `cond` or `case` that is taken where no other is",
        example: "(cond (false 1) (else 2)) ; => 2",
    },
    Word {
        name: "true",
        signature: "true",
        summary: "the truth value; everything but `false` and `nil` counts as true",
        example: "(not true) ; => false",
    },
    Word {
        name: "false",
        signature: "false",
        summary: "the other truth value",
        example: "(not false) ; => true",
    },
    Word {
        name: "nil",
        signature: "nil",
        summary: "the empty list, and what is left out; with `false` it is what counts as not true",
        example: "(if nil 1 2) ; => 2",
    },
    Word {
        name: "inf",
        signature: "inf",
        summary: "infinity, a float; `-inf` is below every number",
        example: "(max 1 inf) ; => inf",
    },
    Word {
        name: "nan",
        signature: "nan",
        summary: "the float that is no number",
        example: "(= nan nan) ; => false",
    },
    Word {
        name: ":f32",
        signature: ":f32",
        summary: "a dtype: floats of 32 bits",
        example: "(zeros [2] :dtype :f32)",
    },
    Word {
        name: ":bf16",
        signature: ":bf16",
        summary: "a dtype: floats of 16 bits with the range of f32",
        example: "(cast x :bf16)",
    },
    Word {
        name: ":i32",
        signature: ":i32",
        summary: "a dtype: integers of 32 bits",
        example: "(iota [4] :dtype :i32)",
    },
    Word {
        name: ":i64",
        signature: ":i64",
        summary: "a dtype: integers of 64 bits",
        example: "(iota [4] :dtype :i64)",
    },
    Word {
        name: ":bool",
        signature: ":bool",
        summary: "a dtype: truth values",
        example: "(full [2] true :dtype :bool)",
    },
    Word {
        name: ":any",
        signature: ":any",
        summary: "in a type: any dtype",
        example: "(defun f ((x [n] :any)) x)",
    },
];
