//! What other languages call things, and what to write instead: for help with names that nothing defines.

/// Names from elsewhere, with the one that means the same here.
struct Habit {
    written: &'static [&'static str],
    /// A name of the language or its library; what comes behind it in brackets is how it is used.
    here: &'static str,
    /// What there is to say beside how it is written.
    more: &'static str,
}

const fn habit(written: &'static [&'static str], here: &'static str) -> Habit {
    Habit { written, here, more: "" }
}

/// From C, Python, NumPy, PyTorch, JAX, Clojure, Scheme and Common Lisp.
static HABITS: [Habit; 67] = [
    // Forms
    Habit { written: &["define"], here: "defun", more: "`(def name value)` defines a value" },
    habit(&["defn", "def-fn", "deffn", "defmethod", "defgeneric", "fun"], "defun"),
    habit(&["defvar", "defparameter", "defconstant", "defconst", "const", "val"], "def"),
    habit(&["define-syntax", "define-macro", "defsyntax"], "defmacro"),
    habit(&["fn", "λ", "function"], "lambda"),
    habit(&["begin", "block"], "progn"),
    habit(&["letrec", "let-values", "let*-values", "letfn"], "let*"),
    habit(&["setq", "setf", "set"], "set!"),
    habit(&["for", "doseq", "loop", "for-each", "foreach"], "dolist"),
    habit(&["while", "until"], "do"),
    habit(&["switch", "match"], "case"),
    habit(&["call-with-values", "receive"], "multiple-value-bind"),
    habit(&["require", "use", "include", "load", "from"], "import"),
    habit(&["elif", "elsif", "elseif"], "cond"),
    // Words
    habit(&["True"], "true"),
    habit(&["False"], "false"),
    habit(&["None"], "nil"),
    habit(&["null?", "nil?", "empty?"], "null"),
    habit(&["Inf", "infinity"], "inf"),
    habit(&["NaN", "NAN"], "nan"),
    // Operators
    habit(&["==", "===", "eq", "eq?", "eqv?", "equal", "equal?", "eql"], "="),
    habit(&["/=", "<>", "!==", "not=", "≠", "ne"], "!="),
    habit(&["=<", "≤", "lte", "le"], "<="),
    habit(&["=>", "≥", "gte", "ge"], ">="),
    habit(&["lt", "less"], "<"),
    habit(&["gt", "greater"], ">"),
    habit(&["**", "^", "expt", "power"], "pow"),
    habit(&["%", "rem", "remainder", "modulo", "fmod"], "mod"),
    habit(&["//", "quotient", "quot", "floor-divide", "floor_divide", "idiv"], "div"),
    habit(&["dot", "mm", "bmm", "vecdot", "tensordot"], "matmul"),
    habit(&["add", "plus"], "+"),
    habit(&["sub", "subtract", "minus"], "-"),
    habit(&["mul", "multiply", "times"], "*"),
    habit(&["divide", "true-divide", "true_divide"], "/"),
    habit(&["&&", "&", "logical-and", "logical_and"], "and"),
    habit(&["||", "|", "logical-or", "logical_or"], "or"),
    habit(&["!", "~", "logical-not", "logical_not"], "not"),
    habit(&["negative", "negate"], "neg"),
    habit(&["inc", "++"], "+"),
    habit(&["dec", "--"], "-"),
    // Functions of numbers and tensors
    habit(&["ln"], "log"),
    habit(&["fabs", "absolute"], "abs"),
    habit(&["clip"], "clamp"),
    habit(&["sqr"], "square"),
    habit(&["logistic", "expit"], "sigmoid"),
    habit(&["swish"], "silu"),
    habit(&["avg", "average"], "mean"),
    habit(&["amax"], "max"),
    habit(&["amin"], "min"),
    habit(&["fmax"], "maximum"),
    habit(&["fmin"], "minimum"),
    habit(&["view", "resize", "flatten", "squeeze", "unsqueeze", "expand-dims", "expand_dims"], "reshape"),
    habit(&["permute", "swapaxes", "swap-axes"], "transpose"),
    habit(&["expand", "broadcast", "tile", "repeat"], "broadcast-to"),
    habit(&["cat", "concatenate", "hstack", "vstack", "stack"], "concat"),
    habit(&["take", "lookup"], "index"),
    habit(&["take-along-axis", "take_along_axis"], "gather"),
    habit(&["arange", "linspace"], "iota"),
    habit(&["astype", "convert", "float", "int", "type-as"], "cast"),
    habit(&["empty", "zero"], "zeros"),
    habit(&["select", "ifelse", "if-else"], "where"),
    habit(&["ndim"], "rank"),
    habit(&["size", "count"], "numel"),
    habit(&["conv1d", "conv2d", "convolve", "Conv2d"], "conv"),
    habit(&["maxpool", "max_pool2d", "MaxPool2d"], "max-pool"),
    // Lists and text
    habit(&["len"], "length"),
    habit(&["car", "head", "hd"], "first"),
];

/// The name that means here what `name` means elsewhere.
pub(super) fn here(name: &str) -> Option<&'static str> {
    HABITS.iter().find(|habit| habit.written.contains(&name)).map(|habit| habit.here)
}

/// What to write for a name that other languages have.
pub(super) fn help(name: &str) -> Option<String> {
    let habit = HABITS.iter().find(|habit| habit.written.contains(&name))?;
    let doc = super::doc(habit.here)?;
    let import = doc.module.map_or(String::new(), |module| format!(", with `(import {module})`"));
    let more = if habit.more.is_empty() { String::new() } else { format!("; {}", habit.more) };
    Some(format!("here that is `{}`{import}{more}", doc.signature))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_habit_leads_to_a_name_there_is_and_stands_once() {
        let known: HashSet<String> = super::super::documented().into_iter().map(|doc| doc.name).collect();
        let mut seen = HashSet::new();
        for habit in &HABITS {
            assert!(known.contains(habit.here), "{}", habit.here);
            for name in habit.written {
                assert!(!known.contains(*name), "`{name}` is a name of the language");
                assert!(seen.insert(name), "`{name}` stands twice");
            }
        }
    }
}
