//! The coordinates of a kernel: merged where every access allows it, and cut into blocks.
//!
//! Coordinates come in groups (rows and reduced axes; batch, m, n; …). Within a group, neighbouring axes that
//! every access crosses as one are merged, axes of size 1 are dropped, and each group keeps at least one axis.

use std::ops::Range;
use sx_artifact::kernel::Affine;

/// Lanes of a block: registers of it stay in the nearest cache.
pub(super) const BLOCK: u64 = 1024;
/// Lanes of a block whose folds run across them: each takes an accumulator's row for every lane.
const COLUMNS: u64 = 256;
/// A block takes in further axes until it has this many lanes.
const ENOUGH: u64 = 256;
/// The most axes of a block.
pub(super) const MAX_TILE: usize = 4;

/// Axes after merging.
#[derive(Clone, Debug)]
pub(super) struct Space {
    /// The size of each axis.
    pub(super) sizes: Vec<u64>,
    /// The axes of each group.
    pub(super) groups: Vec<Range<usize>>,
    /// For each axis the coordinate whose stride is the axis's, or `None` where the axis stands for nothing.
    from: Vec<Option<usize>>,
}

impl Space {
    /// Merges the coordinates of `groups` as far as all of `affines` allow.
    pub(super) fn merged(groups: &[Vec<u64>], affines: &[&Affine]) -> Space {
        let mut space = Space { sizes: Vec::new(), groups: Vec::new(), from: Vec::new() };
        let mut first = 0;
        for group in groups {
            let start = space.sizes.len();
            for (i, &size) in group.iter().enumerate() {
                let coordinate = first + i;
                if size == 1 {
                    continue;
                }
                let outer = (space.sizes.len() > start).then(|| space.from[space.from.len() - 1]).flatten();
                let joins = outer.is_some_and(|outer| {
                    affines
                        .iter()
                        .all(|at| at.strides[coordinate].checked_mul(size as i64) == Some(at.strides[outer]))
                });
                if joins {
                    let last = space.sizes.len() - 1;
                    space.sizes[last] = space.sizes[last].saturating_mul(size);
                    space.from[last] = Some(coordinate);
                } else {
                    space.sizes.push(size);
                    space.from.push(Some(coordinate));
                }
            }
            if space.sizes.len() == start {
                space.sizes.push(1);
                space.from.push(None);
            }
            first += group.len();
            space.groups.push(start..space.sizes.len());
        }
        space
    }

    /// The strides of an affine integer along the merged axes.
    pub(super) fn strides(&self, at: &Affine) -> Vec<i64> {
        self.from.iter().map(|from| from.map_or(0, |coordinate| at.strides[coordinate])).collect()
    }

    /// The axis of a group that has only one.
    pub(super) fn only(&self, group: usize) -> Option<usize> {
        let range = &self.groups[group];
        (range.len() == 1).then_some(range.start)
    }

    /// How many points `axes` have.
    pub(super) fn count(&self, axes: &[usize]) -> u64 {
        axes.iter().map(|&a| self.sizes[a]).product()
    }

    /// The flat range `range` of a group's points as boxes, each the bounds of the group's axes.
    pub(super) fn boxes(&self, group: usize, range: Range<u64>) -> Vec<Vec<Range<u64>>> {
        let mut found = Vec::new();
        split(&self.sizes[self.groups[group].clone()], range, &mut Vec::new(), &mut found);
        found
    }
}

/// Cuts a flat range over `sizes` into boxes, outermost axis first.
fn split(sizes: &[u64], range: Range<u64>, outer: &mut Vec<Range<u64>>, found: &mut Vec<Vec<Range<u64>>>) {
    if range.is_empty() {
        return;
    }
    let [_, inner @ ..] = sizes else {
        found.push(outer.clone());
        return;
    };
    let each: u64 = inner.iter().product();
    let (from, to) = (range.start.div_ceil(each), range.end / each);
    let mut part = |at: Range<u64>, rest: Range<u64>| {
        outer.push(at);
        split(inner, rest, outer, found);
        outer.pop();
    };
    if from > to {
        // Within one point of the outermost axis.
        part(to..to + 1, range.start - to * each..range.end - to * each);
        return;
    }
    if range.start < from * each {
        part(from - 1..from, range.start - (from - 1) * each..each);
    }
    if from < to {
        part(from..to, 0..each);
    }
    if to * each < range.end {
        part(to..to + 1, 0..range.end - to * each);
    }
}

/// What the choice of a block looks at: the strides of a load or store along the axes.
pub(super) struct Pattern {
    pub(super) strides: Vec<i64>,
    /// The axes that computed indices follow, one bit each; 0 where there are none.
    pub(super) gathered: u64,
    pub(super) guarded: bool,
}

/// How a space is walked: for each row, for each block of it, all lanes at once.
#[derive(Clone, Debug)]
pub(super) struct Walk {
    /// The axes of rows, outermost first.
    pub(super) rows: Vec<usize>,
    /// The axes that are walked for each row.
    pub(super) blocks: Vec<usize>,
    /// The axes whose points are lanes, all among `rows` or all among `blocks`.
    pub(super) tile: Vec<usize>,
    /// How far a step goes along each axis: more than 1 only along those of `tile`.
    pub(super) step: Vec<u64>,
    /// Whether folds run across lanes (`tile` among `rows`).
    pub(super) columns: bool,
}

impl Walk {
    /// The lanes of a full block.
    pub(super) fn lanes(&self) -> usize {
        self.tile.iter().map(|&a| self.step[a] as usize).product()
    }

    /// A walk over `space` without reduced axes.
    pub(super) fn map(space: &Space, patterns: &[Pattern]) -> Walk {
        let axes: Vec<usize> = (0..space.sizes.len()).collect();
        let (tile, step) = transposing(space, patterns)
            .unwrap_or_else(|| trailing(space, &axes, BLOCK, enough(&axes, patterns)));
        let rows = axes.iter().copied().filter(|a| !tile.contains(a)).collect();
        Walk { rows, blocks: tile.clone(), tile, step, columns: false }
    }

    /// A walk over `space` whose last group is reduced.
    pub(super) fn reduction(space: &Space, patterns: &[Pattern]) -> Walk {
        let along: Vec<usize> = space.groups[space.groups.len() - 1].clone().collect();
        let rows: Vec<usize> = (0..along[0]).collect();
        let columns = across(space, &rows, &along, patterns);
        let (tile, step) = if columns {
            trailing(space, &rows, COLUMNS, COLUMNS / 4)
        } else {
            trailing(space, &along, BLOCK, enough(&along, patterns))
        };
        Walk { rows, blocks: along, tile, step, columns }
    }
}

/// Whether lanes should be rows (the fold runs across them) rather than the reduced elements.
fn across(space: &Space, rows: &[usize], along: &[usize], patterns: &[Pattern]) -> bool {
    let (Some(&row), Some(&inner)) = (rows.last(), along.last()) else { return false };
    let (width, length) = (space.count(rows), space.count(along));
    let contiguous = |axis: usize| patterns.iter().filter(|p| p.strides[axis] == 1).count();
    let scattered = patterns.iter().any(|p| p.strides[inner].abs() > 1);
    if scattered && space.sizes[row] >= 16 && contiguous(row) > contiguous(inner) {
        return true;
    }
    length < 32 && width >= 4 * length
}

/// When a block along `axes` has enough lanes: early where computed indices stay the same along the inner
/// axis, so that it is copied by whole segments.
fn enough(axes: &[usize], patterns: &[Pattern]) -> u64 {
    let inner = axes[axes.len() - 1];
    let by_rows = patterns.iter().any(|p| p.gathered != 0 && p.gathered & (1 << inner) == 0);
    if by_rows { 32 } else { ENOUGH }
}

/// A block of the last axes, of at most `most` lanes.
fn trailing(space: &Space, axes: &[usize], most: u64, enough: u64) -> (Vec<usize>, Vec<u64>) {
    let mut step = vec![1; space.sizes.len()];
    let (mut tile, mut lanes) = (Vec::new(), 1);
    for &axis in axes.iter().rev() {
        if !tile.is_empty() && (lanes >= enough || 2 * lanes > most || tile.len() == MAX_TILE) {
            break;
        }
        step[axis] = space.sizes[axis].clamp(1, most / lanes);
        tile.insert(0, axis);
        lanes *= step[axis];
        if step[axis] < space.sizes[axis] {
            break;
        }
    }
    (tile, step)
}

/// A square block where a load runs along another axis than the stores do: each line of memory is used whole.
fn transposing(space: &Space, patterns: &[Pattern]) -> Option<(Vec<usize>, Vec<u64>)> {
    const SHORT: u64 = 16;
    const LONG: u64 = 64;
    let inner = space.sizes.len() - 1;
    let other = patterns.iter().find_map(|p| {
        let crosses = p.strides[inner].abs() > 1 && p.gathered == 0 && !p.guarded;
        let axis = p.strides.iter().position(|&s| s == 1)?;
        (crosses && space.sizes[axis] >= SHORT && space.sizes[inner] >= SHORT).then_some(axis)
    })?;
    let mut step = vec![1; space.sizes.len()];
    step[other] = SHORT;
    step[inner] = space.sizes[inner].min(LONG);
    Some((vec![other, inner], step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_cover_a_flat_range_once_and_in_order() {
        let sizes = vec![3, 4, 5];
        let space =
            Space { sizes: sizes.clone(), groups: std::iter::once(0..3).collect(), from: vec![None; 3] };
        for start in 0..=60 {
            for end in start..=60 {
                let mut points = Vec::new();
                for b in space.boxes(0, start..end) {
                    for i in b[0].clone() {
                        for j in b[1].clone() {
                            points.extend(b[2].clone().map(|k| (i * 4 + j) * 5 + k));
                        }
                    }
                }
                assert_eq!(points, (start..end).collect::<Vec<_>>());
            }
        }
    }
}
