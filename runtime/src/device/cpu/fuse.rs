//! Functions that stand for several instructions: fewer passes over a block, and the same bits.
//!
//! A block of values passes through memory once for each instruction, so two operations in one loop cost little more
//! than one. That is so of this machine alone; nothing here knows how a function of the library is composed. What a
//! fused function absorbs it computes itself: one cheap operation, which may be absorbed more than once.

use super::lanes::{self, F3, LaneFn};
use sx_artifact::kernel::{Body, Inst, ScalarType, Val};
use sx_artifact::maths;
use sx_artifact::scalar::ScalarFn;

/// A function of up to three `f32` values; what each computes stands in [`Fused::lanes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fused {
    MulAdd,
    MulSub,
    SubMulled,
    AddAdd,
    AddMul,
    SubMul,
    MulMul,
    SubSquared,
    ExpSub,
}

/// A fused function that an instruction becomes.
#[derive(Clone, Debug)]
pub(super) struct Fusion {
    pub(super) function: Fused,
    /// Its operands, as many as it takes.
    pub(super) args: Vec<Val>,
}

/// The loop of a function of three floats, each of which varies over lanes where `many` says so.
macro_rules! f3 {
    ($many:expr, |$x:ident, $y:ident, $z:ident| $e:expr) => {{
        struct F;
        impl F3 for F {
            type C = f32;
            type A = f32;
            type R = f32;
            #[inline(always)]
            fn at($x: f32, $y: f32, $z: f32) -> f32 {
                $e
            }
        }
        lanes::ternary::<F>($many)
    }};
}

impl Fused {
    /// Its loop over lanes; `many` says which operands vary over them.
    pub(super) fn lanes(self, many: [bool; 3]) -> LaneFn {
        match self {
            Fused::MulAdd => f3!(many, |x, y, z| x * y + z),
            Fused::MulSub => f3!(many, |x, y, z| x * y - z),
            Fused::SubMulled => f3!(many, |x, y, z| z - x * y),
            Fused::AddAdd => f3!(many, |x, y, z| (x + y) + z),
            Fused::AddMul => f3!(many, |x, y, z| (x + y) * z),
            Fused::SubMul => f3!(many, |x, y, z| (x - y) * z),
            Fused::MulMul => f3!(many, |x, y, z| (x * y) * z),
            // The third operand is the second again.
            Fused::SubSquared => f3!(many, |x, y, _z| (x - y) * (x - y)),
            Fused::ExpSub => f3!(many, |x, y, _z| maths::exp(x - y)),
        }
    }

    /// Roughly how many simple operations it costs.
    pub(super) fn weight(self) -> u64 {
        match self {
            Fused::ExpSub => 18,
            _ => 2,
        }
    }
}

/// What each instruction becomes, where it can be fused with some that it uses.
pub(super) fn fusions(body: &Body, regs: &[ScalarType], live: &[bool]) -> Vec<Option<Fusion>> {
    let finder = Finder { body, regs };
    (0..regs.len()).map(|v| if live[v] { finder.find(Val(v as u32)) } else { None }).collect()
}

struct Finder<'a> {
    body: &'a Body,
    regs: &'a [ScalarType],
}

impl Finder<'_> {
    /// What `v` becomes.
    fn find(&self, v: Val) -> Option<Fusion> {
        if self.regs[v.0 as usize] != ScalarType::F32 {
            return None;
        }
        let (function, args) = self.pair(v)?;
        Some(Fusion { function, args: args.to_vec() })
    }

    /// The operands of `v`, if it is a call of `f`.
    fn call(&self, v: Val, f: ScalarFn) -> Option<&[Val]> {
        match &self.body.insts[v.0 as usize] {
            Inst::Call { f: found, args } if *found == f => Some(args),
            _ => None,
        }
    }

    fn two(&self, v: Val, f: ScalarFn) -> Option<[Val; 2]> {
        self.call(v, f)?.try_into().ok()
    }

    fn one(&self, v: Val, f: ScalarFn) -> Option<Val> {
        self.call(v, f)?.first().copied()
    }

    /// `v` as two operations in one. A sum or product of two takes its operands in either order.
    fn pair(&self, v: Val) -> Option<(Fused, [Val; 3])> {
        use ScalarFn::{Add, Exp, Mul, Sub};
        let inner =
            |p: Val, q: Val, f: ScalarFn, fused: Fused| self.two(p, f).map(|[a, b]| (fused, [a, b, q]));
        if let Some([p, q]) = self.two(v, Add) {
            return inner(p, q, Mul, Fused::MulAdd)
                .or_else(|| inner(q, p, Mul, Fused::MulAdd))
                .or_else(|| inner(p, q, Add, Fused::AddAdd))
                .or_else(|| inner(q, p, Add, Fused::AddAdd));
        }
        if let Some([p, q]) = self.two(v, Sub) {
            return inner(p, q, Mul, Fused::MulSub).or_else(|| inner(q, p, Mul, Fused::SubMulled));
        }
        if let Some([p, q]) = self.two(v, Mul) {
            if p == q {
                return self.two(p, Sub).map(|[a, b]| (Fused::SubSquared, [a, b, b]));
            }
            return [(Sub, Fused::SubMul), (Add, Fused::AddMul), (Mul, Fused::MulMul)]
                .into_iter()
                .find_map(|(f, fused)| inner(p, q, f, fused).or_else(|| inner(q, p, f, fused)));
        }
        let [a, b] = self.two(self.one(v, Exp)?, Sub)?;
        Some((Fused::ExpSub, [a, b, b]))
    }
}
