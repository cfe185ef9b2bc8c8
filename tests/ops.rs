//! Every operation against NumPy's answers: exact ones bit for bit, bounded ones within the operation's bound.

use std::collections::BTreeSet;
use sx_artifact::dtype::DType;
use sx_artifact::scalar::ScalarFn;
use sx_compiler::ops::scalar::{Kind, def};
use sx_tests::cases;
use sx_tests::close::{Leeway, hold};

#[test]
fn the_reference_agrees() {
    let cases = cases::all();
    hold("reference", Leeway::NONE, &cases, |case| sx_tests::reference(&case.graph, &case.inputs));
}

/// An operation that is added without answers to test it against is found here.
#[test]
fn every_operation_and_dtype_has_cases() {
    let kinds: BTreeSet<String> = cases::all().into_iter().map(|case| case.kind).collect();
    for &f in ScalarFn::ALL {
        for dtype in DType::ALL.into_iter().filter(|&dtype| def(f).takes.holds(dtype)) {
            let first = if def(f).takes == Kind::MaskThenAny { DType::Bool } else { dtype };
            let kind = format!("map {} {first}", f.name());
            assert!(kinds.contains(&kind), "no case for `{kind}`: see ops/expected.py");
        }
    }
}
