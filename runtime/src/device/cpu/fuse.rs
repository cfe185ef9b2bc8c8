//! Functions that stand for several instructions: fewer passes over a block, and the same bits.
//!
//! What a fused function absorbs it computes itself. An instruction of one cheap operation may be absorbed more than
//! once; an expensive one only where every use of it is absorbed with it.

use super::lanes::{self, F1, F3, LaneFn};
use sx_artifact::kernel::{Body, Const, Inst, ScalarType, Store, Val};
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
    Sigmoid,
    Gelu,
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

/// The loop of a function of one float.
macro_rules! f1 {
    (|$x:ident| $e:expr) => {{
        struct F;
        impl F1 for F {
            type A = f32;
            type R = f32;
            const HEAVY: bool = true;
            #[inline(always)]
            fn at($x: f32) -> f32 {
                $e
            }
        }
        lanes::unary::<F>()
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
            Fused::Sigmoid => f1!(|x| sigmoid(x)),
            Fused::Gelu => f1!(|x| (0.5 * x) * (1.0 + maths::erf(std::f32::consts::FRAC_1_SQRT_2 * x))),
        }
    }

    /// Roughly how many simple operations it costs.
    pub(super) fn weight(self) -> u64 {
        match self {
            Fused::ExpSub | Fused::Gelu => 18,
            Fused::Sigmoid => 24,
            _ => 2,
        }
    }
}

/// `1 / (1 + exp(-x))` by an exponential of what is not positive, as the prelude has it.
#[inline(always)]
fn sigmoid(x: f32) -> f32 {
    let positive = x >= 0.0;
    let e = maths::exp(if positive { -x } else { x });
    (if positive { 1.0 } else { e }) / (1.0 + e)
}

/// What each instruction becomes, where it can be fused with some that it uses.
pub(super) fn fusions(
    body: &Body,
    regs: &[ScalarType],
    live: &[bool],
    stores: &[Store],
) -> Vec<Option<Fusion>> {
    let mut uses = vec![0; regs.len()];
    for (inst, _) in body.insts.iter().zip(live).filter(|(_, live)| **live) {
        super::analyse::operands(inst).iter().for_each(|used| uses[used.0 as usize] += 1);
    }
    stores.iter().for_each(|store| uses[store.value.0 as usize] += 1);
    let finder = Finder { body, regs, uses };
    (0..regs.len()).map(|v| if live[v] { finder.find(Val(v as u32)) } else { None }).collect()
}

struct Finder<'a> {
    body: &'a Body,
    regs: &'a [ScalarType],
    /// How often each value is used.
    uses: Vec<usize>,
}

impl Finder<'_> {
    /// What `v` becomes: the most specific function first.
    fn find(&self, v: Val) -> Option<Fusion> {
        if self.regs[v.0 as usize] != ScalarType::F32 {
            return None;
        }
        let found = self.sigmoid(v).or_else(|| self.gelu(v));
        if let Some((function, x)) = found {
            return Some(Fusion { function, args: vec![x] });
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

    fn is(&self, v: Val, number: f32) -> bool {
        matches!(self.body.insts[v.0 as usize], Inst::Const(Const::F32(bits)) if bits == number.to_bits())
    }

    fn used(&self, v: Val, times: usize) -> bool {
        self.uses[v.0 as usize] == times
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

    /// `where(x >= 0, 1, e) / (1 + e)` with `e = exp(where(x >= 0, -x, x))`.
    fn sigmoid(&self, v: Val) -> Option<(Fused, Val)> {
        let [chosen, sum] = self.two(v, ScalarFn::Div)?;
        let &[positive, one, e] = self.call(chosen, ScalarFn::Where)? else { return None };
        let [x, zero] = self.two(positive, ScalarFn::Ge)?;
        let inside = self.one(e, ScalarFn::Exp)?;
        let negated = self.call(inside, ScalarFn::Where)?.get(1).copied()?;
        let matches = self.call(inside, ScalarFn::Where)? == [positive, negated, x]
            && self.one(negated, ScalarFn::Neg)? == x
            && self.two(sum, ScalarFn::Add).is_some_and(|sum| sum == [one, e] || sum == [e, one])
            && self.is(one, 1.0)
            && self.is(zero, 0.0)
            && self.regs[x.0 as usize] == ScalarType::F32;
        let inner = [(chosen, 1), (sum, 1), (positive, 2), (e, 2), (inside, 1), (negated, 1)];
        (matches && inner.iter().all(|&(v, times)| self.used(v, times))).then_some((Fused::Sigmoid, x))
    }

    /// `(0.5 x) (1 + erf(x / sqrt(2)))`.
    fn gelu(&self, v: Val) -> Option<(Fused, Val)> {
        let [half, share] = self.two(v, ScalarFn::Mul)?;
        let [a, x] = self.two(half, ScalarFn::Mul)?;
        let [one, erf] = self.two(share, ScalarFn::Add)?;
        let scaled = self.one(erf, ScalarFn::Erf)?;
        let [b, y] = self.two(scaled, ScalarFn::Mul)?;
        let matches = x == y
            && self.is(a, 0.5)
            && self.is(one, 1.0)
            && self.is(b, std::f32::consts::FRAC_1_SQRT_2)
            && [half, share, erf, scaled].iter().all(|&v| self.used(v, 1));
        matches.then_some((Fused::Gelu, x))
    }
}
