//! Affine integers: how they are made, where they can lie, and what a guard says about them.

use super::{Affine, Body, Inst, Val};
use crate::scalar::ScalarFn;

impl Affine {
    /// A constant over `rank` coordinates.
    pub fn constant(offset: i64, rank: usize) -> Affine {
        Affine { offset, strides: vec![0; rank] }
    }

    /// The position in a dense tensor of these sizes.
    pub fn row_major(sizes: &[u64]) -> Affine {
        Affine { offset: 0, strides: row_major(sizes) }
    }

    /// The same over these coordinates alone, in this order; those that it does not have count nothing.
    pub fn select(&self, coords: &[u32]) -> Affine {
        let stride = |&coord: &u32| self.strides.get(coord as usize).copied().unwrap_or(0);
        Affine { offset: self.offset, strides: coords.iter().map(stride).collect() }
    }

    /// Its value at a point.
    pub fn at(&self, point: &[u64]) -> i64 {
        let terms = self.strides.iter().zip(point).map(|(&stride, &at)| stride * at as i64);
        self.offset + terms.sum::<i64>()
    }

    /// Its values at all points, row-major.
    pub fn over(&self, sizes: &[u64]) -> Vec<i64> {
        if sizes.contains(&0) {
            return Vec::new();
        }
        let mut all = vec![self.offset];
        for (&size, &stride) in sizes.iter().zip(&self.strides) {
            let wider = |base: i64| (0..size as i64).map(move |at| base + at * stride);
            all = all.into_iter().flat_map(wider).collect();
        }
        all
    }

    /// The coordinates that it follows, one bit each; those beyond the 64th share the last bit.
    pub fn follows(&self) -> u64 {
        let followed = self.strides.iter().enumerate().filter(|(_, stride)| **stride != 0);
        followed.fold(0, |bits, (coord, _)| bits | 1 << coord.min(63))
    }

    /// Whether it crosses coordinates `outer` and `inner`, of which the inner has `size` points, as if they were one.
    pub fn crosses_as_one(&self, outer: usize, inner: usize, size: u64) -> bool {
        let size = i64::try_from(size).ok();
        size.and_then(|size| self.strides[inner].checked_mul(size)) == Some(self.strides[outer])
    }
}

/// Row-major strides of these sizes, in elements.
pub fn row_major(sizes: &[u64]) -> Vec<i64> {
    let mut strides = vec![0; sizes.len()];
    let mut stride = 1i64;
    for (place, &size) in strides.iter_mut().zip(sizes).rev() {
        *place = stride;
        stride = stride.saturating_mul(size as i64);
    }
    strides
}

/// A comparison of an index with a constant: `f(at, bound)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comparison<'a> {
    /// `Lt`, `Le`, `Gt`, `Ge` or `Eq`.
    pub f: ScalarFn,
    /// The index, on the left.
    pub at: &'a Affine,
    /// The constant, on the right.
    pub bound: i64,
}

impl<'a> Comparison<'a> {
    /// What `inst`, an instruction of `body`, compares, if it is such a comparison; the index comes to the left.
    pub fn of(body: &'a Body, inst: &Inst) -> Option<Comparison<'a>> {
        let Inst::Call { f, args } = inst else { return None };
        let &[left, right] = args.as_slice() else { return None };
        let operand = |value: Val| body.insts.get(value.0 as usize);
        let index = |value: Val| match operand(value)? {
            Inst::Index { at, .. } => Some(at),
            _ => None,
        };
        let number = |value: Val| operand(value)?.constant()?.integer();
        match (index(left), number(right), number(left), index(right)) {
            (Some(at), Some(bound), ..) => Some(Comparison { f: ordered(*f)?, at, bound }),
            (.., Some(bound), Some(at)) => Some(Comparison { f: mirrored(ordered(*f)?), at, bound }),
            _ => None,
        }
    }

    /// The values of the index for which it is true.
    fn range(&self) -> Range {
        let (lowest, highest, bound) = (i128::from(i64::MIN), i128::from(i64::MAX), i128::from(self.bound));
        match self.f {
            ScalarFn::Lt => Range::new(lowest, bound - 1),
            ScalarFn::Le => Range::new(lowest, bound),
            ScalarFn::Gt => Range::new(bound + 1, highest),
            ScalarFn::Ge => Range::new(bound, highest),
            _ => Range::new(bound, bound),
        }
    }

    /// What it is everywhere over these coordinates, where it is the same everywhere.
    pub fn outcome(&self, sizes: &[u64]) -> Option<bool> {
        if sizes.contains(&0) {
            return None;
        }
        let (found, wanted) = (values(self.at, &coordinates(sizes)), self.range());
        match found.within(wanted) {
            true => Some(true),
            false => found.meet(wanted).is_empty().then_some(false),
        }
    }

    /// Where along `coord` it changes from one truth value to the other, if it follows no other coordinate and that
    /// one upwards by one.
    pub fn changes_at(&self, coord: usize) -> Option<u64> {
        let alone = self.at.strides.iter().enumerate().all(|(i, &stride)| stride == i64::from(i == coord));
        let first = self.bound.checked_sub(self.at.offset)?;
        let first = match self.f {
            ScalarFn::Lt | ScalarFn::Ge => first,
            ScalarFn::Le | ScalarFn::Gt => first.checked_add(1)?,
            _ => return None,
        };
        if alone { u64::try_from(first).ok() } else { None }
    }
}

/// The comparisons that say something of an order.
fn ordered(f: ScalarFn) -> Option<ScalarFn> {
    matches!(f, ScalarFn::Lt | ScalarFn::Le | ScalarFn::Gt | ScalarFn::Ge | ScalarFn::Eq).then_some(f)
}

/// An inclusive range of integers, exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The lowest.
    pub low: i128,
    /// The highest.
    pub high: i128,
}

impl Range {
    /// From `low` to `high`; nothing where `low` is larger.
    pub fn new(low: i128, high: i128) -> Range {
        Range { low, high }
    }

    /// The values of `self + factor * other`, or `None` where they do not fit.
    fn checked_plus(self, factor: i128, other: Range) -> Option<Range> {
        let (a, b) = (factor.checked_mul(other.low)?, factor.checked_mul(other.high)?);
        Some(Range { low: self.low.checked_add(a.min(b))?, high: self.high.checked_add(a.max(b))? })
    }

    /// The values of `self + factor * other`, of factors and ranges that [`is_exact`] bounds.
    pub(crate) fn plus(self, factor: i128, other: Range) -> Range {
        self.checked_plus(factor, other).expect("what is below 2^62 times what is below 2^62 fits 128 bits")
    }

    fn meet(self, other: Range) -> Range {
        Range { low: self.low.max(other.low), high: self.high.min(other.high) }
    }

    fn is_empty(self) -> bool {
        self.low > self.high
    }

    pub(crate) fn within(self, other: Range) -> bool {
        other.low <= self.low && self.high <= other.high
    }
}

/// How far an affine integer and its parts may reach from 0, so that 64-bit arithmetic on them is exact wherever it
/// starts, ends or is cut: the offset and each stride times the whole size of its coordinate, taken absolutely, sum
/// to less.
const MAX_REACH: u128 = 1 << 62;

/// Whether `at`, together with computed indices (each its stride and size), stays below [`MAX_REACH`].
pub(crate) fn is_exact(at: &Affine, sizes: &[u64], gathered: impl Iterator<Item = (i64, u64)>) -> bool {
    let terms = at.strides.iter().copied().zip(sizes.iter().copied()).chain(gathered);
    let reach = terms.into_iter().try_fold(u128::from(at.offset.unsigned_abs()), |sum, (stride, size)| {
        sum.checked_add(u128::from(stride.unsigned_abs()).checked_mul(u128::from(size.max(1)))?)
    });
    reach.is_some_and(|reach| reach < MAX_REACH)
}

/// `at` lies in `range`, wherever a guard is true.
struct Fact<'a> {
    at: &'a Affine,
    range: Range,
}

/// The range of each coordinate. One that has no values counts as 0: whether anything runs at all is asked
/// before this.
pub(crate) fn coordinates(sizes: &[u64]) -> Vec<Range> {
    sizes.iter().map(|&size| Range::new(0, i128::from(size.max(1)) - 1)).collect()
}

/// The values that `at` takes over these coordinates.
pub(crate) fn values(at: &Affine, coords: &[Range]) -> Range {
    let offset = i128::from(at.offset);
    let terms = at.strides.iter().zip(coords);
    terms.fold(Range::new(offset, offset), |sum, (&stride, &coord)| sum.plus(i128::from(stride), coord))
}

/// The values that `at` takes where the guard is true, or `None` where it never is. A sound bound: it can be
/// wider than what is taken.
pub(crate) fn values_under(at: &Affine, sizes: &[u64], body: &Body, guard: Val) -> Option<Range> {
    let mut coords = coordinates(sizes);
    let facts = facts(body, guard);
    for fact in &facts {
        narrow(&mut coords, fact);
        if coords.iter().any(|coord| coord.is_empty()) {
            return None;
        }
    }
    let mut range = values(at, &coords);
    for fact in &facts {
        range = by_fact(at, &coords, fact).into_iter().fold(range, Range::meet);
    }
    (!range.is_empty()).then_some(range)
}

/// What is known where `guard` is true: comparisons of an index with a constant, joined by `and`.
fn facts(body: &Body, guard: Val) -> Vec<Fact<'_>> {
    // A hostile body could share the parts of a conjunction so that walking it as a tree never ends.
    const MOST: usize = 256;
    let mut facts = Vec::new();
    let mut open = vec![guard];
    for _ in 0..MOST {
        let Some(value) = open.pop() else { break };
        let Some(inst) = body.insts.get(value.0 as usize) else { continue };
        if let Inst::Call { f: ScalarFn::And, args } = inst {
            open.extend(args);
        }
        let comparison = Comparison::of(body, inst);
        facts.extend(comparison.map(|comparison| Fact { at: comparison.at, range: comparison.range() }));
    }
    facts
}

/// The comparison with its operands exchanged.
fn mirrored(f: ScalarFn) -> ScalarFn {
    match f {
        ScalarFn::Lt => ScalarFn::Gt,
        ScalarFn::Le => ScalarFn::Ge,
        ScalarFn::Gt => ScalarFn::Lt,
        ScalarFn::Ge => ScalarFn::Le,
        other => other,
    }
}

/// Narrows each coordinate by a fact: what the others leave to it.
fn narrow(coords: &mut [Range], fact: &Fact<'_>) {
    for axis in 0..coords.len().min(fact.at.strides.len()) {
        let stride = i128::from(fact.at.strides[axis]);
        if stride == 0 {
            continue;
        }
        // stride * coord = fact - (all other terms)
        let mut others = values(fact.at, coords);
        let own = Range::new(0, 0).plus(stride, coords[axis]);
        others = Range::new(others.low - own.low, others.high - own.high);
        let (low, high) = (fact.range.low - others.high, fact.range.high - others.low);
        let by_stride = match stride > 0 {
            true => Range::new(ceil_div(low, stride), low_div(high, stride)),
            false => Range::new(ceil_div(-high, -stride), low_div(-low, -stride)),
        };
        coords[axis] = coords[axis].meet(by_stride);
        if coords[axis].is_empty() {
            return;
        }
    }
}

/// The values of `at`, written as a multiple of the fact and a rest, once for each coordinate that allows it: exact
/// where a reshape has split the axis that a guard looks at. A form whose numbers do not fit says nothing.
fn by_fact(at: &Affine, coords: &[Range], fact: &Fact<'_>) -> Vec<Range> {
    let multiple = |(&stride, &known): (&i64, &i64)| {
        let (stride, known) = (i128::from(stride), i128::from(known));
        (known != 0 && stride != 0 && stride % known == 0).then(|| stride / known)
    };
    let factors = at.strides.iter().zip(&fact.at.strides).filter_map(multiple);
    factors.filter_map(|factor| as_multiple(at, coords, fact, factor)).collect()
}

/// The values of `factor * fact + rest`, of the rest that makes it `at`.
fn as_multiple(at: &Affine, coords: &[Range], fact: &Fact<'_>, factor: i128) -> Option<Range> {
    let offset = i128::from(at.offset);
    let mut rest = Range::new(offset, offset);
    for ((&stride, &known), &coord) in at.strides.iter().zip(&fact.at.strides).zip(coords) {
        rest =
            rest.checked_plus(i128::from(stride).checked_sub(factor.checked_mul(known.into())?)?, coord)?;
    }
    let offset = i128::from(fact.at.offset);
    rest.checked_plus(factor, Range::new(fact.range.low - offset, fact.range.high - offset))
}

fn low_div(a: i128, b: i128) -> i128 {
    a.div_euclid(b)
}

fn ceil_div(a: i128, b: i128) -> i128 {
    -(-a).div_euclid(b)
}

/// Whether `at` differs at any two points, by a rule that holds for every dense or sliced layout: with the
/// strides in rising order, each is larger than everything below it reaches.
pub(crate) fn distinct(at: &Affine, sizes: &[u64]) -> bool {
    let mut terms: Vec<(u128, u128)> = (at.strides.iter().zip(sizes))
        .filter(|&(_, &size)| size > 1)
        .map(|(&stride, &size)| (i128::from(stride).unsigned_abs(), u128::from(size)))
        .collect();
    terms.sort_unstable();
    let mut reach = 0u128;
    terms.into_iter().all(|(stride, size)| {
        let apart = stride > reach;
        reach = reach.saturating_add(stride.saturating_mul(size - 1));
        apart
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Const, ScalarType};

    fn affine(offset: i64, strides: &[i64]) -> Affine {
        Affine { offset, strides: strides.to_vec() }
    }

    fn index(offset: i64, strides: &[i64]) -> Inst {
        Inst::Index { at: affine(offset, strides), reg: ScalarType::I64 }
    }

    fn call(f: ScalarFn, args: &[u32]) -> Inst {
        Inst::Call { f, args: args.iter().map(|&arg| Val(arg)).collect() }
    }

    /// Every guard over small boxes: the bound holds each value that the guard lets through.
    #[test]
    fn bounds_hold_what_the_guard_lets_through() {
        let sizes = [3u64, 4];
        let comparisons = [ScalarFn::Lt, ScalarFn::Le, ScalarFn::Gt, ScalarFn::Ge, ScalarFn::Eq];
        for f in comparisons {
            for guard in [[4, 1], [0, 1], [-2, 0], [1, -1]] {
                for bound in -6..12i64 {
                    for access in [[4, 1], [8, 2], [1, 0], [-1, 3]] {
                        let body = Body {
                            insts: vec![index(0, &guard), Inst::Const(Const::I64(bound)), call(f, &[0, 1])],
                        };
                        let at = affine(-5, &access);
                        let range = values_under(&at, &sizes, &body, Val(2));
                        for i in 0..3i64 {
                            for j in 0..4i64 {
                                let x = guard[0] * i + guard[1] * j;
                                let lets = match f {
                                    ScalarFn::Lt => x < bound,
                                    ScalarFn::Le => x <= bound,
                                    ScalarFn::Gt => x > bound,
                                    ScalarFn::Ge => x >= bound,
                                    _ => x == bound,
                                };
                                let value = i128::from(-5 + access[0] * i + access[1] * j);
                                let held = range.is_some_and(|r| r.low <= value && value <= r.high);
                                assert!(!lets || held, "{f:?} {guard:?} {bound} {access:?} at {i} {j}");
                            }
                        }
                    }
                }
            }
        }
    }

    /// The parts of a concatenation, also through a split axis: `4 <= 4 i + j < 10` reads elements 0 to 5.
    #[test]
    fn parts_of_a_concatenation_are_bounded_exactly() {
        let body = Body {
            insts: vec![
                index(0, &[4, 1]),
                Inst::Const(Const::I64(4)),
                Inst::Const(Const::I64(10)),
                call(ScalarFn::Ge, &[0, 1]),
                call(ScalarFn::Gt, &[2, 0]),
                call(ScalarFn::And, &[3, 4]),
            ],
        };
        let range = values_under(&affine(-4, &[4, 1]), &[4, 4], &body, Val(5));
        assert_eq!(range, Some(Range::new(0, 5)));
    }

    /// `factor * known` is far beyond 128 bits here: the fact says nothing, and the plain bound holds.
    #[test]
    fn a_fact_whose_numbers_do_not_fit_says_nothing() {
        let far = 1i64 << 61;
        let body = Body {
            insts: vec![index(0, &[1, far]), Inst::Const(Const::I64(i64::MAX)), call(ScalarFn::Le, &[0, 1])],
        };
        let range = values_under(&affine(0, &[far, 1]), &[2, 2], &body, Val(2));
        assert_eq!(range, Some(Range::new(0, i128::from(far) + 1)));
    }

    #[test]
    fn what_reaches_far_is_not_exact() {
        let none = || std::iter::empty();
        assert!(is_exact(&affine(-4, &[4, 1]), &[3, 4], none()));
        assert!(is_exact(&affine(0, &[0]), &[u64::MAX], none()));
        assert!(!is_exact(&affine(i64::MIN, &[0]), &[1], none()));
        assert!(!is_exact(&affine(0, &[i64::MIN]), &[0], none()));
        assert!(!is_exact(&affine(0, &[1 << 40]), &[1 << 40], none()));
        assert!(!is_exact(&affine(0, &[i64::MIN, i64::MIN]), &[u64::MAX, u64::MAX], none()));
        assert!(!is_exact(&affine(0, &[]), &[], std::iter::once((i64::MAX, u64::MAX))));
    }

    #[test]
    fn distinct_points() {
        assert!(distinct(&affine(0, &[4, 1]), &[3, 4]));
        assert!(distinct(&affine(9, &[1, -3]), &[3, 4]));
        assert!(distinct(&affine(0, &[0, 1]), &[1, 4]));
        assert!(!distinct(&affine(0, &[3, 1]), &[3, 4]));
        assert!(!distinct(&affine(0, &[0, 1]), &[2, 4]));
    }
}
