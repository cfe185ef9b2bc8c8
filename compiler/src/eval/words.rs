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

macro_rules! word {
    ($name:literal $signature:literal $summary:literal $example:literal) => {
        Word { name: $name, signature: $signature, summary: $summary, example: $example }
    };
}

/// Every one of them.
pub(super) static WORDS: [Word; 32] = [
    word!("Real" "Real" "a domain: any number" "(defun f ((x [n] Real)) x)"),
    word!("NonNeg" "NonNeg" "a domain: [0, inf)" "(defun f ((x [n] NonNeg)) (sqrt x))"),
    word!("Pos" "Pos" "a domain: (0, inf)" "(defun f ((x [n] Pos)) (log x))"),
    word!("Unit" "Unit" "a domain: [0, 1]" "(defgraph f ((x [8] Unit)) (- 1 x))"),
    word!("Signed" "Signed" "a domain: [-1, 1]" "(defgraph f ((x [8] Signed)) (acos x))"),
    word!("Logit" "(Logit :over AXIS)" "a domain: unnormalised log-probabilities over an axis, a name or a position; `Logit` alone takes the last" "(defun f ((x [b C] (Logit :over C))) (to x Prob))"),
    word!("Prob" "(Prob :over AXIS)" "a domain: probabilities that sum to 1 over an axis, a name or a position; `Prob` alone takes the last" "(defgraph f ((x [4 3])) (-> [4 3] (Prob :over 1)) (softmax x))"),
    word!("LogProb" "(LogProb :over AXIS)" "a domain: logarithms of probabilities over an axis, a name or a position; `LogProb` alone takes the last" "(defgraph f ((x [4 3])) (-> [4 3] (LogProb :over 1)) (log-softmax x))"),
    word!("Mask" "Mask" "a domain: truth values, of dtype bool" "(defun f ((x [n]) (keep [n] Mask)) (where keep x 0))"),
    word!("Binary" "Binary" "a domain: 0 or 1, as numbers" "(defun f ((keep [n] Mask)) (to keep Binary))"),
    word!("Additive" "Additive" "a domain: 0 or -inf, to be added to scores" "(defun f ((keep [n] Mask)) (to keep Additive))"),
    word!("Index" "(Index AXIS)" "a domain: positions on an axis, a name or a size; i64 where no dtype is written, and i32 values are taken too" "(defun f ((table [V D]) (ids [n] (Index V))) (index table ids))"),
    word!("record" "(name (record (field TYPE...)...))" "a parameter of several named tensors: a graph is fed them as `name.field`, and `field` reads them" "(defgraph f ((batch (record (x [8 4]) (y [8] (Index 4))))) (field batch :x))"),
    word!("->" "(-> TYPE...)" "behind the parameters: the types of the results" "(defun double ((x [n])) (-> [n]) (* 2 x))"),
    word!("&optional" "(params... &optional name (name default)...)" "in a list of parameters: those behind it may be left out, and are then their default or nil" "((lambda (a &optional (b 2)) (+ a b)) 1) ; => 3"),
    word!("&key" "(params... &key name (name default)...)" "in a list of parameters: those behind it are given by name, in any order, and may be left out" "((lambda (a &key (b 2)) (+ a b)) 1 :b 5) ; => 6"),
    word!("&rest" "(params... &rest name)" "in a list of parameters: the name has all further arguments, a list" "((lambda (a &rest more) more) 1 2 3) ; => (2 3)"),
    word!("&context" "(params... &context name)" "in a graph's list of parameters: the name has what the runtime counts, `(getf name :step)` and `(getf name :microbatch)`" "(defgraph f ((x [2]) &context ctx) (* x (cast (getf ctx :step) :f32)))"),
    word!("_" "_" "in a shape: an axis of any size" "(defun f ((x [_ 4])) x)"),
    word!("..." "..." "first in a shape: any number of leading axes" "(defun f ((x [... n])) x)"),
    word!("else" "(else body...)" "the clause of `cond` or `case` that is taken where no other is" "(cond (false 1) (else 2)) ; => 2"),
    word!("true" "true" "the truth value; everything but `false` and `nil` counts as true" "(not true) ; => false"),
    word!("false" "false" "the other truth value" "(not false) ; => true"),
    word!("nil" "nil" "the empty list, and what is left out; with `false` it is what counts as not true" "(if nil 1 2) ; => 2"),
    word!("inf" "inf" "infinity, a float; `-inf` is below every number" "(max 1 inf) ; => inf"),
    word!("nan" "nan" "the float that is no number" "(= nan nan) ; => false"),
    word!(":f32" ":f32" "a dtype: floats of 32 bits" "(zeros [2] :dtype :f32)"),
    word!(":bf16" ":bf16" "a dtype: floats of 16 bits with the range of f32" "(cast x :bf16)"),
    word!(":i32" ":i32" "a dtype: integers of 32 bits" "(iota [4] :dtype :i32)"),
    word!(":i64" ":i64" "a dtype: integers of 64 bits" "(iota [4] :dtype :i64)"),
    word!(":bool" ":bool" "a dtype: truth values" "(full [2] true :dtype :bool)"),
    word!(":any" ":any" "in a type: any dtype" "(defun f ((x [n] :any)) x)"),
];
