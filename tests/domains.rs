//! Which domain and which axes a result has: the rules of the domain page, one line each.

use sx_compiler::ir::text::read;
use sx_compiler::ir::{Interval, Type, UserDomain};
use sx_compiler::ops::rules;

/// The type that `operation` gives of operands of these types, as messages show it.
fn given(operands: &[&str], operation: &str) -> String {
    let mut text = "graph \"case\" (".to_owned();
    let inputs: Vec<String> = (0..operands.len()).map(|at| format!("%{at}")).collect();
    text += &format!("{})\n axes b=0 C=1 V=2 W=3 t=4\n", inputs.join(" "));
    for (at, ty) in operands.iter().enumerate() {
        text += &format!(" %{at} = input \"x{at}\"  {ty}\n");
    }
    let result = if operation.contains("  ") { "" } else { "  [] f32 Real" };
    text += &format!(" %{} = {operation}{result}\n return\n", operands.len());
    let graph = read(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let node = graph.nodes().last().expect("the operation");
    let types: Vec<Type> = node.args.iter().map(|&arg| graph.ty(arg).clone()).collect();
    match rules(&node.op).infer(&types) {
        Ok(results) => results[0].shown(&[]),
        Err(fault) => format!("{fault:?}"),
    }
}

#[test]
fn results_have_the_domains_of_the_rules() {
    const PROB: &str = "[b=2 C=3] f32 Prob over 1";
    const LOGIT: &str = "[b=2 C=3] f32 Logit over 1";
    const UNIT: &str = "[b=2 C=3] f32 Unit";
    const MASK: &str = "[b=2 C=3] bool Mask";
    const BINARY: &str = "[b=2 C=3] f32 Binary";
    const ADDITIVE: &str = "[b=2 C=3] f32 Additive";
    const IDS: &str = "[t=4] i64 Index[V=9]";
    let cases: &[(&[&str], &str, &str)] = &[
        // Logits shifted or scaled by plain numbers stay logits, and so do negated ones.
        (&[LOGIT, "[2 3] f32 [2, 2]"], "* %0 %1", "[b C] Logit over C"),
        (&["[2 3] f32 [2, 2]", LOGIT], "+ %0 %1", "[b C] Logit over C"),
        (&[LOGIT, "[2 3] f32 [2, 2]"], "/ %0 %1", "[b C] Logit over C"),
        (&["[2 3] f32 [2, 2]", LOGIT], "/ %0 %1", "[b C]"),
        (&[LOGIT, UNIT], "* %0 %1", "[b C]"),
        (&[LOGIT, LOGIT], "+ %0 %1", "[b C]"),
        (&[LOGIT], "neg %0", "[b C] Logit over C"),
        (&[MASK, LOGIT, "[2 3] f32 Real"], "where %0 %1 %2", "[b C] Logit over C"),
        (&[MASK, PROB, PROB], "where %0 %1 %2", "[b C] Unit"),
        (&[MASK, UNIT, "[2 3] f32 [2, 3]"], "where %0 %1 %2", "[b C] [0, 3]"),
        // Prob and LogProb become their ranges under arithmetic.
        (&[PROB, PROB], "* %0 %1", "[b C] Unit"),
        (&[PROB], "neg %0", "[b C] [-1, 0]"),
        (&["[b=2 C=3] f32 LogProb over 1"], "exp %0", "[b C] (0, 1]"),
        // Reductions over another axis keep logits; removing the axis leaves the range.
        (&[LOGIT], "sum %0 axes=[0]", "[C] Logit over C"),
        (&[LOGIT], "max %0 axes=[0] keepdims", "[1 C] Logit over C"),
        (&[LOGIT], "max %0 axes=[1]", "[b]"),
        (&[PROB], "max %0 axes=[0]", "[C] Unit"),
        (&[PROB], "sum %0 axes=[1]", "[b] NonNeg"),
        (&[PROB], "sum %0 axes=[]", "[b C] Prob over C"),
        // Sums and products keep only the sign.
        (&["[b=2 C=3] f32 Pos"], "sum %0 axes=[0]", "[C] Pos"),
        (&["[0 3] f32 Pos"], "sum %0 axes=[0]", "[3] NonNeg"),
        (&["[b=2 C=3] f32 Signed"], "sum %0 axes=[0]", "[C]"),
        (&["[b=2 C=3] f32 Unit"], "prod %0 axes=[0]", "[C] NonNeg"),
        (&["[b=2 C=3] f32 [-2, 3]"], "max %0 axes=[0]", "[C] [-2, 3]"),
        (&["[7] i32 NonNeg"], "sum %0 axes=[0]", "[] i32"),
        (&["[7] i32 Binary"], "sum %0 axes=[0]", "[] i32 NonNeg"),
        // Masks come from comparisons, and, or, not, any, all.
        (&[UNIT, UNIT], "< %0 %1", "[b C] Mask"),
        (&[MASK, MASK], "and %0 %1", "[b C] Mask"),
        (&[MASK], "any %0 axes=[1]", "[b] Mask"),
        // Binary times Binary, their maximum and minimum, magnitude and rounding stay Binary.
        (&[BINARY, BINARY], "* %0 %1", "[b C] Binary"),
        (&[BINARY, BINARY], "maximum %0 %1", "[b C] Binary"),
        (&[BINARY], "abs %0", "[b C] Binary"),
        (&[BINARY], "round %0", "[b C] Binary"),
        (&[BINARY, BINARY], "+ %0 %1", "[b C] [0, 2]"),
        (&[ADDITIVE, ADDITIVE], "+ %0 %1", "[b C] Additive"),
        (&[ADDITIVE, UNIT], "+ %0 %1", "[b C] (-inf, 1]"),
        (&[MASK], "cast %0  [2 3] f32 Real", "[b C] Binary"),
        (&[MASK], "cast %0  [2 3] i32 Real", "[b C] i32 Binary"),
        (&[BINARY], "cast %0  [2 3] bool Mask", "[b C] Mask"),
        // Indices.
        (&[IDS], "cast %0  [4] i32 Real", "[t] i32 Index[V]"),
        (&[IDS], "cast %0  [4] f32 Real", "[t] [0, 8]"),
        (&[IDS, "[t=4] i64 [1, 1]"], "+ %0 %1", "[t] i64 [1, 9]"),
        (&["[V=9 W=5] f32 Real", IDS], "index %0 %1", "[t W]"),
        (&["[V=9 C=3] f32 Prob over 1", IDS], "index %0 %1", "[t C] Prob over C"),
        (&["[V=9 C=3] f32 Prob over 0", IDS], "index %0 %1", "[t C] Unit"),
        (&["[V=9] f32 Logit over 0", IDS], "gather %0 %1 axis=0", "[t]"),
        (&[], "iota axis=0  [V=9 2] i32 Real", "[V 2] i32 [0, 8]"),
        // Movement keeps what it keeps.
        (&[PROB], "transpose %0 order=[1 0]", "[C b] Prob over C"),
        (&[PROB], "slice %0 axis=0 start=1 stop=2", "[1 C] Prob over C"),
        (&[PROB], "slice %0 axis=0 start=0 stop=2", "[b C] Prob over C"),
        (&[PROB], "slice %0 axis=1 start=0 stop=2", "[b 2] Unit"),
        (&[PROB, PROB], "concat %0 %1 axis=0", "[4 C] Prob over C"),
        (&[PROB, PROB], "concat %0 %1 axis=1", "[b 6] Unit"),
        (&[PROB, "[2 3] f32 [2, 2]"], "concat %0 %1 axis=0", "[4 C] [0, 2]"),
        (&[PROB], "reshape %0  [1 2 3] f32 Real", "[1 b C] Prob over C"),
        (&[PROB], "reshape %0  [6] f32 Real", "[6] Unit"),
        (&[PROB], "broadcast %0  [5 2 3] f32 Real", "[5 b C] Prob over C"),
        (&["[b=2 1] f32 Prob over 1"], "broadcast %0  [2 3] f32 Real", "[b 3] Unit"),
        (&[LOGIT, "[C=3 W=5] f32 Real"], "matmul %0 %1", "[b W]"),
        (&[UNIT], "as %0  [2 3] f32 Prob over 1", "[b C] Prob over C"),
        (&[UNIT], "cast %0  [2 3] bf16 Real", "[b C] bf16 Unit"),
        (&[PROB], "cast %0  [2 3] bf16 Real", "[b C] bf16 Prob over C"),
        (&["[3] f32 [-1.5, 2.5]"], "cast %0  [3] i32 Real", "[3] i32 [-1, 2]"),
        (&["[3] f32 [1e10, 1e11]"], "cast %0  [3] i32 Real", "[3] i32"),
        // A constant is as narrow as its elements.
        (&[], "constant value=[0.5 2.0]  [2] f32 Real", "[2] [0.5, 2]"),
        (&[], "constant value=[-inf 0.0]  [2] f32 Real", "[2] (-inf, 0]"),
        (&[], "constant value=[nan]  [1] f32 Real", "[1]"),
    ];
    for (operands, operation, want) in cases {
        assert_eq!(given(operands, operation), *want, "{operation} of {operands:?}");
    }
}

#[test]
fn user_domains_are_shown_by_name() {
    let range = Interval { lo: 0.05, ..Interval::UNIT };
    let names = [UserDomain { name: "Temp".into(), range }];
    let ty = Type {
        domain: sx_compiler::ir::Domain::Range(range),
        ..Type::plain(sx_artifact::dtype::DType::Bf16, &[2, 3])
    };
    assert_eq!(ty.shown(&names), "[2 3] bf16 Temp");
    assert_eq!(ty.shown(&[]), "[2 3] bf16 [0.05, 1]");
}
