//! Runs a function of the maths library on symbols, and keeps the operations it asked for.
//!
//! The library's lanes are copied freely and combined by operators, so a symbol can only be a number; the
//! operations it stands for are on a tape of this thread, which [`record`] takes away when the function ends.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Sub};
use sx_artifact::maths::lane::{BitLane, Lane};

/// The value of a step: its position.
pub(super) type Id = u32;

/// What a step's value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Ty {
    F32,
    U32,
    Bool,
}

/// An operation of two values of one type, which it keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Bin {
    Add,
    Sub,
    Mul,
    Div,
    And,
    Or,
    Xor,
    /// Both 32-bit; shifts take the second as an amount below 32.
    Shl,
    Shr,
    Sar,
    MulHigh,
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Cmp {
    Eq,
    Lt,
    /// Less, as two's complement.
    Less,
}

/// One operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Op {
    /// An argument of the function, by position.
    Arg(u32),
    /// A float by its bits.
    Float(u32),
    Word(u32),
    Bin(Bin, Id, Id),
    Cmp(Cmp, Id, Id),
    /// The product of the first two, plus the third.
    MulAdd(Id, Id, Id),
    Neg(Id),
    Abs(Id),
    Sqrt(Id),
    IsNan(Id),
    Opaque(Id),
    Not(Id),
    /// The bits of a float as an integer, and back.
    Bits(Id),
    FromBits(Id),
    /// The float nearest to a two's complement integer.
    FromSigned(Id),
    /// The second where the first holds, else the third.
    Select(Id, Id, Id),
}

/// An operation and the type of its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Step {
    pub(super) op: Op,
    pub(super) ty: Ty,
}

/// A function as straight-line code without repetitions or unused steps.
pub(super) struct Recorded {
    pub(super) arity: u32,
    pub(super) steps: Vec<Step>,
    /// The value of the function, the last step.
    pub(super) result: Id,
}

#[derive(Default)]
struct Tape {
    steps: Vec<Step>,
    /// Equal steps have equal values.
    seen: HashMap<Step, Id>,
}

thread_local! {
    static TAPE: RefCell<Tape> = RefCell::default();
}

fn push(op: Op, ty: Ty) -> Id {
    TAPE.with_borrow_mut(|tape| {
        let step = Step { op, ty };
        *tape.seen.entry(step).or_insert_with(|| {
            tape.steps.push(step);
            (tape.steps.len() - 1) as Id
        })
    })
}

/// Records a function of one float.
pub(super) fn record1(f: fn(Float) -> Float) -> Recorded {
    record(1, || f(Float::arg(0)))
}

/// Records a function of two floats.
pub(super) fn record2(f: fn(Float, Float) -> Float) -> Recorded {
    record(2, || f(Float::arg(0), Float::arg(1)))
}

fn record(arity: u32, f: impl FnOnce() -> Float) -> Recorded {
    TAPE.take();
    let Float(result) = f();
    prune(arity, TAPE.take().steps, result)
}

/// Keeps only the steps that `result` needs.
fn prune(arity: u32, steps: Vec<Step>, result: Id) -> Recorded {
    let mut used = vec![false; steps.len()];
    used[result as usize] = true;
    for i in (0..steps.len()).rev().filter(|&i| i <= result as usize) {
        if used[i] {
            steps[i].op.map(|id| {
                used[id as usize] = true;
                id
            });
        }
    }
    let mut place = vec![0; steps.len()];
    let mut kept = Vec::new();
    for (i, step) in steps.iter().enumerate().filter(|(i, _)| used[*i]) {
        place[i] = kept.len() as Id;
        kept.push(Step { op: step.op.map(|id| place[id as usize]), ty: step.ty });
    }
    Recorded { arity, steps: kept, result: place[result as usize] }
}

impl Op {
    /// The same operation of other values.
    pub(super) fn map(self, mut to: impl FnMut(Id) -> Id) -> Op {
        match self {
            Op::Arg(_) | Op::Float(_) | Op::Word(_) => self,
            Op::Bin(bin, a, b) => Op::Bin(bin, to(a), to(b)),
            Op::Cmp(cmp, a, b) => Op::Cmp(cmp, to(a), to(b)),
            Op::MulAdd(a, b, c) => Op::MulAdd(to(a), to(b), to(c)),
            Op::Neg(a) => Op::Neg(to(a)),
            Op::Abs(a) => Op::Abs(to(a)),
            Op::Sqrt(a) => Op::Sqrt(to(a)),
            Op::IsNan(a) => Op::IsNan(to(a)),
            Op::Opaque(a) => Op::Opaque(to(a)),
            Op::Not(a) => Op::Not(to(a)),
            Op::Bits(a) => Op::Bits(to(a)),
            Op::FromBits(a) => Op::FromBits(to(a)),
            Op::FromSigned(a) => Op::FromSigned(to(a)),
            Op::Select(mask, yes, no) => Op::Select(to(mask), to(yes), to(no)),
        }
    }
}

/// A float on the tape.
#[derive(Clone, Copy)]
pub(in crate::codegen) struct Float(Id);

/// An integer on the tape.
#[derive(Clone, Copy)]
pub(in crate::codegen) struct Word(Id);

/// A truth value on the tape.
#[derive(Clone, Copy)]
pub(in crate::codegen) struct Mask(Id);

impl Float {
    fn arg(position: u32) -> Float {
        Float(push(Op::Arg(position), Ty::F32))
    }
}

macro_rules! operators {
    ($($lane:ident $ty:ident: $($operator:ident $method:ident $bin:ident),*;)*) => {
        $($(impl $operator for $lane {
            type Output = $lane;
            fn $method(self, other: $lane) -> $lane {
                $lane(push(Op::Bin(Bin::$bin, self.0, other.0), Ty::$ty))
            }
        })*)*
    };
}

operators! {
    Float F32: Add add Add, Sub sub Sub, Mul mul Mul, Div div Div;
    Word U32: Add add Add, Sub sub Sub, Mul mul Mul, BitAnd bitand And, BitOr bitor Or, BitXor bitxor Xor;
    Mask Bool: BitAnd bitand And, BitOr bitor Or;
}

impl Neg for Float {
    type Output = Float;
    fn neg(self) -> Float {
        Float(push(Op::Neg(self.0), Ty::F32))
    }
}

impl Not for Mask {
    type Output = Mask;
    fn not(self) -> Mask {
        Mask(push(Op::Not(self.0), Ty::Bool))
    }
}

impl Lane for Float {
    type Bits = Word;
    type Mask = Mask;

    fn of(value: f32) -> Float {
        Float(push(Op::Float(value.to_bits()), Ty::F32))
    }
    fn bits(self) -> Word {
        Word(push(Op::Bits(self.0), Ty::U32))
    }
    fn mul_add(self, by: Float, plus: Float) -> Float {
        Float(push(Op::MulAdd(self.0, by.0, plus.0), Ty::F32))
    }
    fn abs(self) -> Float {
        Float(push(Op::Abs(self.0), Ty::F32))
    }
    fn sqrt(self) -> Float {
        Float(push(Op::Sqrt(self.0), Ty::F32))
    }
    fn is_nan(self) -> Mask {
        Mask(push(Op::IsNan(self.0), Ty::Bool))
    }
    fn opaque(self) -> Float {
        Float(push(Op::Opaque(self.0), Ty::F32))
    }
    fn lt(self, other: Float) -> Mask {
        Mask(push(Op::Cmp(Cmp::Lt, self.0, other.0), Ty::Bool))
    }
    fn eq(self, other: Float) -> Mask {
        Mask(push(Op::Cmp(Cmp::Eq, self.0, other.0), Ty::Bool))
    }
    fn select(mask: Mask, yes: Float, no: Float) -> Float {
        Float(push(Op::Select(mask.0, yes.0, no.0), Ty::F32))
    }
}

impl Word {
    fn with(self, bin: Bin, other: Word) -> Word {
        Word(push(Op::Bin(bin, self.0, other.0), Ty::U32))
    }

    fn is(self, cmp: Cmp, other: Word) -> Mask {
        Mask(push(Op::Cmp(cmp, self.0, other.0), Ty::Bool))
    }
}

impl BitLane for Word {
    type Float = Float;
    type Mask = Mask;

    fn of(value: u32) -> Word {
        Word(push(Op::Word(value), Ty::U32))
    }
    fn float(self) -> Float {
        Float(push(Op::FromBits(self.0), Ty::F32))
    }
    fn signed_to_float(self) -> Float {
        Float(push(Op::FromSigned(self.0), Ty::F32))
    }
    fn shl(self, by: u32) -> Word {
        self.with(Bin::Shl, Word::of(by))
    }
    fn shr(self, by: u32) -> Word {
        self.with(Bin::Shr, Word::of(by))
    }
    fn sar(self, by: u32) -> Word {
        self.with(Bin::Sar, Word::of(by))
    }
    fn shl_lane(self, by: Word) -> Word {
        self.with(Bin::Shl, by)
    }
    fn shr_lane(self, by: Word) -> Word {
        self.with(Bin::Shr, by)
    }
    fn mul_high(self, other: Word) -> Word {
        self.with(Bin::MulHigh, other)
    }
    fn eq(self, other: Word) -> Mask {
        self.is(Cmp::Eq, other)
    }
    fn below(self, other: Word) -> Mask {
        self.is(Cmp::Lt, other)
    }
    fn less(self, other: Word) -> Mask {
        self.is(Cmp::Less, other)
    }
    fn select(mask: Mask, yes: Word, no: Word) -> Word {
        Word(push(Op::Select(mask.0, yes.0, no.0), Ty::U32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sx_artifact::maths;

    /// Computes a recorded function, one step at a time, on bits.
    fn run(code: &Recorded, args: &[f32]) -> f32 {
        let mut values: Vec<u32> = Vec::new();
        for step in &code.steps {
            let word = |id: Id| values[id as usize];
            let float = |id: Id| f32::from_bits(word(id));
            values.push(match step.op {
                Op::Arg(i) => args[i as usize].to_bits(),
                Op::Float(bits) | Op::Word(bits) => bits,
                Op::Bin(bin, a, b) if step.ty == Ty::F32 => {
                    let (a, b) = (float(a), float(b));
                    match bin {
                        Bin::Add => a + b,
                        Bin::Sub => a - b,
                        Bin::Mul => a * b,
                        Bin::Div => a / b,
                        _ => unreachable!("an operation of words"),
                    }
                    .to_bits()
                }
                Op::Bin(bin, a, b) => {
                    let (a, b) = (word(a), word(b));
                    match bin {
                        Bin::Add => a.wrapping_add(b),
                        Bin::Sub => a.wrapping_sub(b),
                        Bin::Mul => a.wrapping_mul(b),
                        Bin::And => a & b,
                        Bin::Or => a | b,
                        Bin::Xor => a ^ b,
                        Bin::Shl => a << (b & 31),
                        Bin::Shr => a >> (b & 31),
                        Bin::Sar => ((a as i32) >> (b & 31)) as u32,
                        Bin::MulHigh => ((u64::from(a) * u64::from(b)) >> 32) as u32,
                        Bin::Div => unreachable!("an operation of floats"),
                    }
                }
                Op::Cmp(cmp, a, b) => {
                    let floats = code.steps[a as usize].ty == Ty::F32;
                    u32::from(match cmp {
                        Cmp::Eq if floats => float(a) == float(b),
                        Cmp::Lt if floats => float(a) < float(b),
                        Cmp::Eq => word(a) == word(b),
                        Cmp::Lt => word(a) < word(b),
                        Cmp::Less => (word(a) as i32) < (word(b) as i32),
                    })
                }
                Op::MulAdd(a, b, c) => float(a).mul_add(float(b), float(c)).to_bits(),
                Op::Neg(a) => (-float(a)).to_bits(),
                Op::Abs(a) => float(a).abs().to_bits(),
                Op::Sqrt(a) => float(a).sqrt().to_bits(),
                Op::IsNan(a) => u32::from(float(a).is_nan()),
                Op::Not(a) => 1 - word(a),
                Op::Opaque(a) | Op::Bits(a) | Op::FromBits(a) => word(a),
                Op::FromSigned(a) => (word(a) as i32 as f32).to_bits(),
                Op::Select(mask, yes, no) => word(if word(mask) == 1 { yes } else { no }),
            });
        }
        f32::from_bits(values[code.result as usize])
    }

    #[test]
    fn what_is_recorded_is_what_the_cpu_runs() {
        let same = |got: f32, want: f32| got.to_bits() == want.to_bits() || (got.is_nan() && want.is_nan());
        let functions: [fn(f32) -> f32; 6] =
            [maths::exp, maths::log1p, maths::sin, maths::erf, maths::gelu_tanh, maths::softplus];
        let codes = [
            record1(maths::exp),
            record1(maths::log1p),
            record1(maths::sin),
            record1(maths::erf),
            record1(maths::gelu_tanh),
            record1(maths::softplus),
        ];
        let pow = record2(maths::pow);
        for bits in (0..=u32::MAX).step_by(2_000_003) {
            let x = f32::from_bits(bits);
            for (f, code) in functions.iter().zip(&codes) {
                assert!(same(run(code, &[x]), f(x)), "of {x:e}: {:e}, not {:e}", run(code, &[x]), f(x));
            }
            let y = f32::from_bits(bits.rotate_left(7)) % 64.0;
            assert!(same(run(&pow, &[x, y]), maths::pow(x, y)), "pow of {x:e} and {y:e}");
        }
    }
}
