//! `(acos x)`

use super::family::Function;
use super::{Scalar, Valid};
use crate::ir::Interval;

pub(super) static RECORD: Scalar = Function {
    signature: "(acos x)",
    summary: "the angle in [0, pi] whose cosine is `x`; NaN outside [-1, 1]",
    example: "(acos (ones [2])) ; => [0.0 0.0]",
    valid: &[Valid::Within(Interval::SIGNED, "in [-1, 1]")],
    range: "at the ends within [-1, 1], else Real",
    image: |x, _| x[0].falling(f64::acos),
    eval: f64::acos,
}
.record();
