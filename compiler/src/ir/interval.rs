//! Ranges of real numbers and their arithmetic: the vocabulary of range inference.
//!
//! An infinite end is open. Corner products that meet an infinity and a zero are zero, because the infinity
//! is never reached. Ends are exact here; [`Interval::outward`] widens them to what a dtype can hold.

use half::bf16;
use std::fmt;
use sx_artifact::dtype::DType;

/// A range of real numbers. An infinite end is open for the checker.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub lo: f64,
    /// The upper end.
    pub hi: f64,
    /// Whether `lo` is excluded.
    pub lo_open: bool,
    /// Whether `hi` is excluded.
    pub hi_open: bool,
}

/// One end of a range: a number, and whether it is excluded.
#[derive(Clone, Copy, Debug, PartialEq)]
struct End {
    at: f64,
    open: bool,
}

impl Interval {
    /// Every number.
    pub const REAL: Interval =
        Interval { lo: f64::NEG_INFINITY, hi: f64::INFINITY, lo_open: true, hi_open: true };
    /// `[0, inf)`
    pub const NON_NEG: Interval = Interval { lo: 0.0, hi: f64::INFINITY, lo_open: false, hi_open: true };
    /// `(0, inf)`
    pub const POS: Interval = Interval { lo: 0.0, hi: f64::INFINITY, lo_open: true, hi_open: true };
    /// `[0, 1]`
    pub const UNIT: Interval = Interval { lo: 0.0, hi: 1.0, lo_open: false, hi_open: false };
    /// `[-1, 1]`
    pub const SIGNED: Interval = Interval { lo: -1.0, hi: 1.0, lo_open: false, hi_open: false };
    /// `(-inf, 0]`
    pub const NON_POS: Interval = Interval { lo: f64::NEG_INFINITY, hi: 0.0, lo_open: true, hi_open: false };
    /// `(-inf, 0)`
    pub const NEG: Interval = Interval { lo: f64::NEG_INFINITY, hi: 0.0, lo_open: true, hi_open: true };

    /// The ranges that have a name of their own.
    pub const NAMED: [(&'static str, Interval); 5] = [
        ("Real", Interval::REAL),
        ("NonNeg", Interval::NON_NEG),
        ("Pos", Interval::POS),
        ("Unit", Interval::UNIT),
        ("Signed", Interval::SIGNED),
    ];

    /// `[lo, hi]`, open at infinite ends.
    pub fn closed(lo: f64, hi: f64) -> Interval {
        Interval { lo, hi, lo_open: lo.is_infinite(), hi_open: hi.is_infinite() }
    }

    /// The range that holds `value` alone; every number if it is not finite.
    pub fn point(value: f64) -> Interval {
        if value.is_finite() { Interval::closed(value, value) } else { Interval::REAL }
    }

    /// The only value of the range, if there is just one.
    pub fn value(&self) -> Option<f64> {
        (self.lo == self.hi && !self.lo_open && !self.hi_open).then_some(self.lo)
    }

    /// True where every value of `other` is a value of `self`.
    pub fn contains(&self, other: &Interval) -> bool {
        let low = self.lo < other.lo || (self.lo == other.lo && (!self.lo_open || other.lo_open));
        let high = other.hi < self.hi || (self.hi == other.hi && (!self.hi_open || other.hi_open));
        low && high
    }

    /// True where `value` is a value of `self`.
    pub fn holds(&self, value: f64) -> bool {
        let low = self.lo < value || (self.lo == value && !self.lo_open);
        let high = value < self.hi || (self.hi == value && !self.hi_open);
        low && high
    }

    /// The smallest range that holds both.
    pub fn hull(self, other: Interval) -> Interval {
        Interval::between([self.low(), other.low()], [self.high(), other.high()])
    }

    /// The values of both, or `self` where they have none in common.
    pub fn clip(self, other: Interval) -> Interval {
        let lo = outer(self.low(), other.low(), f64::gt);
        let hi = outer(self.high(), other.high(), f64::lt);
        if lo.at <= hi.at { Interval::from_ends(lo, hi) } else { self }
    }

    /// The image under a function that never falls.
    pub fn rising(self, f: impl Fn(f64) -> f64) -> Interval {
        let ends = |end: End| End { at: f(end.at), open: end.open };
        Interval::from_ends(ends(self.low()), ends(self.high()))
    }

    /// The image under a function that never rises.
    pub fn falling(self, f: impl Fn(f64) -> f64) -> Interval {
        let ends = |end: End| End { at: f(end.at), open: end.open };
        Interval::from_ends(ends(self.high()), ends(self.low()))
    }

    /// Both finite ends included: for functions that round, whose values may reach the limit.
    pub fn closure(self) -> Interval {
        Interval::closed(self.lo, self.hi)
    }

    /// Every `-x`.
    pub fn negated(self) -> Interval {
        self.falling(|x| 0.0 - x)
    }

    /// Every `x + y`.
    pub fn plus(self, other: Interval) -> Interval {
        let sum = |a: End, b: End| End { at: a.at + b.at, open: a.open || b.open };
        Interval::from_ends(sum(self.low(), other.low()), sum(self.high(), other.high()))
    }

    /// Every `x * y`.
    pub fn times(self, other: Interval) -> Interval {
        self.corners(other, |a, b| {
            let zero = (a.at == 0.0 && !a.open) || (b.at == 0.0 && !b.open);
            let at = if a.at == 0.0 || b.at == 0.0 { 0.0 } else { a.at * b.at };
            End { at, open: !zero && (a.open || b.open) }
        })
    }

    /// Every `1 / x`; every number unless zero is excluded.
    pub fn reciprocal(self) -> Interval {
        if self.lo > 0.0 || self == Interval::POS || (self.lo == 0.0 && self.lo_open) {
            let hi =
                End { at: if self.lo == 0.0 { f64::INFINITY } else { 1.0 / self.lo }, open: self.lo_open };
            return Interval::from_ends(End { at: 1.0 / self.hi, open: self.hi_open }, hi);
        }
        if self.hi < 0.0 || (self.hi == 0.0 && self.hi_open) {
            return self.negated().reciprocal().negated();
        }
        Interval::REAL
    }

    /// Every `|x|`.
    pub fn magnitude(self) -> Interval {
        if self.lo >= 0.0 {
            return self;
        }
        if self.hi <= 0.0 {
            return self.negated();
        }
        let negated = self.negated();
        let hi = widest(self.high(), negated.high(), f64::gt);
        Interval::from_ends(End { at: 0.0, open: false }, hi)
    }

    /// The larger of any two values.
    pub fn larger(self, other: Interval) -> Interval {
        let lo = outer(self.low(), other.low(), f64::gt);
        Interval::from_ends(lo, widest(self.high(), other.high(), f64::gt))
    }

    /// The smaller of any two values.
    pub fn smaller(self, other: Interval) -> Interval {
        self.negated().larger(other.negated()).negated()
    }

    /// The range spanned by what `f` gives at the four pairs of ends.
    fn corners(self, other: Interval, f: impl Fn(End, End) -> End) -> Interval {
        let (a, b) = ([self.low(), self.high()], [other.low(), other.high()]);
        let corners = [f(a[0], b[0]), f(a[0], b[1]), f(a[1], b[0]), f(a[1], b[1])];
        Interval::between(corners, corners)
    }

    /// The range spanned by `f` at the four pairs of ends, an end excluded where either was.
    pub fn spanned(self, other: Interval, f: impl Fn(f64, f64) -> f64) -> Interval {
        self.corners(other, |a, b| End { at: f(a.at, b.at), open: a.open || b.open })
    }

    /// The ends widened to numbers that `dtype` can hold. Those of integers are whole, and beyond 2^53 widened by
    /// a unit in the last place of the f64 that holds them.
    pub fn outward(self, dtype: DType) -> Interval {
        let (lo, hi) = match dtype {
            DType::F32 => (down_f32(self.lo), -down_f32(-self.hi)),
            DType::Bf16 => (down_bf16(self.lo), -down_bf16(-self.hi)),
            DType::I32 | DType::I64 | DType::Bool => (down_int(self.lo), -down_int(-self.hi)),
        };
        // -0 and 0 are one number; it is printed as 0.
        Interval::from_ends(
            End { at: lo + 0.0, open: self.lo_open },
            End { at: hi + 0.0, open: self.hi_open },
        )
    }

    fn low(self) -> End {
        End { at: self.lo, open: self.lo_open }
    }

    fn high(self) -> End {
        End { at: self.hi, open: self.hi_open }
    }

    /// A range from two ends: infinite ends are open, and an end that is not a number is infinite.
    fn from_ends(lo: End, hi: End) -> Interval {
        let lo_at = if lo.at.is_nan() { f64::NEG_INFINITY } else { lo.at };
        let hi_at = if hi.at.is_nan() { f64::INFINITY } else { hi.at };
        Interval {
            lo: lo_at + 0.0,
            hi: hi_at + 0.0,
            lo_open: lo.open || lo_at.is_infinite(),
            hi_open: hi.open || hi_at.is_infinite(),
        }
    }

    fn between<const N: usize>(lows: [End; N], highs: [End; N]) -> Interval {
        let fold = |ends: [End; N], beyond: fn(&f64, &f64) -> bool| {
            ends.into_iter().reduce(|a, b| widest(a, b, beyond)).expect("at least one end")
        };
        Interval::from_ends(fold(lows, f64::lt), fold(highs, f64::gt))
    }
}

/// The end further out; of equal ones the included one.
fn widest(a: End, b: End, beyond: fn(&f64, &f64) -> bool) -> End {
    if a.at.is_nan() || b.at.is_nan() {
        return End { at: f64::NAN, open: true };
    }
    match (beyond(&a.at, &b.at), beyond(&b.at, &a.at)) {
        (true, _) => a,
        (_, true) => b,
        _ => End { at: a.at, open: a.open && b.open },
    }
}

/// The end for which `beyond` holds against the other; of equal ones the excluded one.
fn outer(a: End, b: End, beyond: fn(&f64, &f64) -> bool) -> End {
    match (beyond(&a.at, &b.at), beyond(&b.at, &a.at)) {
        (true, _) => a,
        (_, true) => b,
        _ => End { at: a.at, open: a.open || b.open },
    }
}

fn down_f32(x: f64) -> f64 {
    let near = x as f32;
    if f64::from(near) <= x || x.is_nan() { f64::from(near) } else { f64::from(near.next_down()) }
}

fn down_bf16(x: f64) -> f64 {
    let floor = down_f32(x) as f32;
    if !floor.is_finite() {
        return f64::from(floor);
    }
    // Cutting the low half rounds towards zero, which is down for what is not negative.
    let cut = bf16::from_bits((floor.to_bits() >> 16) as u16);
    if cut.to_f32() <= floor {
        return cut.to_f64();
    }
    bf16::from_bits(cut.to_bits() + 1).to_f64()
}

fn down_int(x: f64) -> f64 {
    let floor = x.floor();
    if floor.abs() <= (1u64 << 53) as f64 || floor.is_infinite() { floor } else { floor.next_down() }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (open, close) = (if self.lo_open { '(' } else { '[' }, if self.hi_open { ')' } else { ']' });
        write!(f, "{open}{}, {}{close}", number(self.lo), number(self.hi))
    }
}

/// A number as short as it can be and still be read back: as an f32 if it is one.
pub fn number(x: f64) -> String {
    let narrow = x as f32;
    let plain = x == 0.0 || x.is_infinite() || (1e-4..1e16).contains(&x.abs());
    match (f64::from(narrow) == x, plain) {
        (true, true) => format!("{narrow}"),
        (true, false) => format!("{narrow:e}"),
        (false, true) => format!("{x}"),
        (false, false) => format!("{x:e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_of_ends() {
        let (unit, pos, real, signed) = (Interval::UNIT, Interval::POS, Interval::REAL, Interval::SIGNED);
        let cases = [
            (unit.times(Interval::point(2.0)).plus(Interval::point(-1.0)), "[-1, 1]"),
            (signed.plus(signed.negated()), "[-2, 2]"),
            (unit.times(pos), "[0, inf)"),
            (pos.times(pos), "(0, inf)"),
            (real.times(Interval::point(0.0)), "[0, 0]"),
            (pos.reciprocal(), "(0, inf)"),
            (unit.reciprocal(), "(-inf, inf)"),
            (Interval::closed(-4.0, -2.0).reciprocal(), "[-0.5, -0.25]"),
            (signed.magnitude(), "[0, 1]"),
            (signed.larger(Interval::point(0.0)), "[0, 1]"),
            (real.smaller(unit), "(-inf, 1]"),
            (unit.hull(Interval::point(3.0)), "[0, 3]"),
            (Interval::closed(0.1, 0.2).outward(DType::F32), "[0.099999994, 0.2]"),
            (Interval::closed(1.0, 257.0).outward(DType::Bf16), "[1, 258]"),
            (Interval::closed(-257.0, -1.0).outward(DType::Bf16), "[-258, -1]"),
        ];
        for (got, want) in cases {
            assert_eq!(got.to_string(), want);
        }
    }
}
