//! `(erfc x)`

use super::erf::erfc;
use super::family::Function;
use super::{Scalar, Valid};

pub(super) static RECORD: Scalar = Function {
    signature: "(erfc x)",
    summary: "`1 - erf(x)`, without the cancellation",
    example: "(erfc (zeros [2])) ; => [1.0 1.0]",
    valid: &[Valid::Everywhere],
    range: "at the ends; [0, 2] of Real",
    image: |x, _| x[0].falling(erfc).closure(),
    eval: erfc,
}
.record();
