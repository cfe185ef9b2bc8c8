//! Domains: which values an element may have.

use super::ty::Dim;
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

    /// `[lo, hi]`
    pub fn closed(lo: f64, hi: f64) -> Interval {
        Interval { lo, hi, lo_open: lo.is_infinite(), hi_open: hi.is_infinite() }
    }

    /// True where every value of `other` is a value of `self`.
    pub fn contains(&self, other: &Interval) -> bool {
        let low = self.lo < other.lo || (self.lo == other.lo && (!self.lo_open || other.lo_open));
        let high = other.hi < self.hi || (self.hi == other.hi && (!self.hi_open || other.hi_open));
        low && high
    }
}

/// What an element may be. Semantic domains name an axis by its position in the type.
#[derive(Clone, Debug, PartialEq)]
pub enum Domain {
    /// A range of numbers; [`Interval::REAL`] is `Real`.
    Range(Interval),
    /// Unnormalised log-probabilities over an axis.
    Logit {
        /// The axis.
        over: usize,
    },
    /// Probabilities that sum to 1 over an axis.
    Prob {
        /// The axis.
        over: usize,
    },
    /// Logarithms of probabilities over an axis.
    LogProb {
        /// The axis.
        over: usize,
    },
    /// Truth values.
    Mask,
    /// 0 or 1, as numbers.
    Binary,
    /// 0 or -inf, to be added to scores.
    Additive,
    /// Positions on an axis.
    Index(Dim),
}

impl Domain {
    /// `Real`
    pub const REAL: Domain = Domain::Range(Interval::REAL);

    /// The domain that says nothing beyond the dtype: `Mask` of `bool`, else `Real`.
    pub fn widest(dtype: DType) -> Domain {
        match dtype {
            DType::Bool => Domain::Mask,
            DType::F32 | DType::Bf16 | DType::I32 | DType::I64 => Domain::REAL,
        }
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (open, close) = (if self.lo_open { '(' } else { '[' }, if self.hi_open { ')' } else { ']' });
        write!(f, "{open}{}, {}{close}", self.lo, self.hi)
    }
}
