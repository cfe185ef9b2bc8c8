//! Domains: which values an element may have, and how messages show them.

use super::interval::Interval;
use super::ty::Dim;
use std::sync::Arc;
use sx_artifact::dtype::DType;

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

/// A range that the program gave a name (`defdomain`).
#[derive(Clone, Debug, PartialEq)]
pub struct UserDomain {
    /// Its name.
    pub name: Arc<str>,
    /// Its values.
    pub range: Interval,
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

    /// The dtype of a type that gives only this domain.
    pub fn implied_dtype(&self) -> DType {
        match self {
            Domain::Mask => DType::Bool,
            Domain::Index(_) => DType::I64,
            Domain::Range(_)
            | Domain::Logit { .. }
            | Domain::Prob { .. }
            | Domain::LogProb { .. }
            | Domain::Binary
            | Domain::Additive => DType::F32,
        }
    }

    /// The numbers an element may be, as a range. A mask has none: `[0, 1]` is what it becomes as numbers.
    pub fn range(&self) -> Interval {
        match self {
            Domain::Range(range) => *range,
            Domain::Logit { .. } => Interval::REAL,
            Domain::Prob { .. } | Domain::Mask | Domain::Binary => Interval::UNIT,
            Domain::LogProb { .. } | Domain::Additive => Interval::NON_POS,
            Domain::Index(dim) => Interval::closed(0.0, dim.size.saturating_sub(1) as f64),
        }
    }

    /// The axis that a semantic domain is about.
    pub fn over(&self) -> Option<usize> {
        match self {
            Domain::Logit { over } | Domain::Prob { over } | Domain::LogProb { over } => Some(*over),
            Domain::Range(_) | Domain::Mask | Domain::Binary | Domain::Additive | Domain::Index(_) => None,
        }
    }

    /// The same domain over where its axis went, or its range where the axis is gone. Domains that are about
    /// no axis stay.
    pub fn moved(&self, to: impl Fn(usize) -> Option<usize>) -> Domain {
        let Some(from) = self.over() else { return self.clone() };
        match (self, to(from)) {
            (Domain::Logit { .. }, Some(over)) => Domain::Logit { over },
            (Domain::Prob { .. }, Some(over)) => Domain::Prob { over },
            (Domain::LogProb { .. }, Some(over)) => Domain::LogProb { over },
            _ => Domain::Range(self.range()),
        }
    }

    /// The domain as messages show it, or nothing for `Real`: `Prob over C`, `Index[V]`, `[0, 2]`, `Unit`.
    /// `dims` are those of the type; ranges that `names` lists go by their names.
    pub fn shown(&self, dims: &[Dim], names: &[UserDomain]) -> Option<String> {
        let over = |name: &str, over: usize| {
            let axis = dims.get(over).and_then(|dim| dim.axis.as_ref());
            Some(match axis {
                Some(axis) => format!("{name} over {}", axis.name),
                None => format!("{name} over {over}"),
            })
        };
        match self {
            Domain::Range(range) if *range == Interval::REAL => None,
            Domain::Range(range) => Some(range_name(range, names)),
            Domain::Logit { over: axis } => over("Logit", *axis),
            Domain::Prob { over: axis } => over("Prob", *axis),
            Domain::LogProb { over: axis } => over("LogProb", *axis),
            Domain::Mask => Some("Mask".to_owned()),
            Domain::Binary => Some("Binary".to_owned()),
            Domain::Additive => Some("Additive".to_owned()),
            Domain::Index(dim) => Some(format!("Index[{dim}]")),
        }
    }
}

fn range_name(range: &Interval, names: &[UserDomain]) -> String {
    let built_in = Interval::NAMED.iter().find(|(_, named)| named == range).map(|(name, _)| *name);
    let user = || names.iter().find(|named| named.range == *range).map(|named| &*named.name);
    built_in.or_else(user).map_or_else(|| range.to_string(), str::to_owned)
}
