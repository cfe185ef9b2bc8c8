//! Index arithmetic: positions on an axis as affine forms of loop coordinates and gathered values.

use sx_artifact::kernel::{Affine, Val};

/// What a position may depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Term {
    /// A loop coordinate, by its number in the kernel's [`Space`].
    Coord(u32),
    /// A bounded value in `0..size`.
    Gathered(Val, u64),
}

/// A position on an axis: `offset + sum(factor * term)`; terms ascending, factors positive.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Idx {
    /// The constant part.
    pub offset: i64,
    /// The terms with their factors.
    pub terms: Vec<(Term, i64)>,
}

impl Idx {
    /// A constant position.
    pub fn constant(offset: i64) -> Idx {
        Idx { offset, terms: Vec::new() }
    }

    /// One term.
    pub fn term(term: Term) -> Idx {
        Idx { offset: 0, terms: vec![(term, 1)] }
    }

    /// The same position, further along.
    pub fn shifted(&self, by: i64) -> Idx {
        Idx { offset: self.offset + by, terms: self.terms.clone() }
    }

    /// Adds `factor * other`.
    pub fn add_scaled(&mut self, other: &Idx, factor: i64) {
        if factor == 0 {
            return;
        }
        self.offset += other.offset * factor;
        for &(term, f) in &other.terms {
            match self.terms.binary_search_by_key(&term, |t| t.0) {
                Ok(at) => self.terms[at].1 += f * factor,
                Err(at) => self.terms.insert(at, (term, f * factor)),
            }
        }
    }

    /// The coordinates it depends on.
    pub fn coords(&self) -> impl Iterator<Item = u32> + '_ {
        self.terms.iter().filter_map(|(term, _)| match term {
            Term::Coord(c) => Some(*c),
            Term::Gathered(..) => None,
        })
    }

    /// True where it depends on a gathered value.
    pub fn is_gathered(&self) -> bool {
        self.terms.iter().any(|(term, _)| matches!(term, Term::Gathered(..)))
    }

    /// The part that follows coordinates, with one stride for each of `coords` coordinates.
    pub fn affine(&self, coords: usize) -> Affine {
        let mut strides = vec![0; coords];
        for &(term, factor) in &self.terms {
            if let Term::Coord(c) = term {
                strides[c as usize] = factor;
            }
        }
        Affine { offset: self.offset, strides }
    }

    /// The part that follows gathered values.
    pub fn gathered(&self) -> Vec<(Val, i64)> {
        let pick = |&(term, factor): &(Term, i64)| match term {
            Term::Gathered(value, _) => Some((value, factor)),
            Term::Coord(_) => None,
        };
        self.terms.iter().filter_map(pick).collect()
    }
}

/// The loop coordinates of a kernel while it is being lowered. Size-1 axes have none.
#[derive(Clone, Debug, Default)]
pub struct Space {
    sizes: Vec<u64>,
}

impl Space {
    /// How many coordinates there are.
    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// True if there is no coordinate.
    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }

    /// How many positions a coordinate has.
    pub fn size(&self, coord: u32) -> u64 {
        self.sizes[coord as usize]
    }

    /// Adds coordinates whose sizes multiply to an axis, and gives the position on that axis.
    pub fn axis(&mut self, pieces: &[u64]) -> Idx {
        let mut position = Idx::default();
        let mut stride: i64 = pieces.iter().map(|&n| n as i64).product();
        for &size in pieces {
            if size != 1 {
                stride = if size == 0 { 0 } else { stride / size as i64 };
                position.add_scaled(&Idx::term(Term::Coord(self.sizes.len() as u32)), stride.max(1));
                self.sizes.push(size);
            }
        }
        position
    }

    fn extent(&self, term: Term) -> u64 {
        match term {
            Term::Coord(c) => self.size(c),
            Term::Gathered(_, size) => size,
        }
    }

    /// The largest position, given that the smallest is the offset.
    pub fn max(&self, idx: &Idx) -> i64 {
        idx.offset + idx.terms.iter().map(|&(t, f)| f * (self.extent(t) as i64 - 1).max(0)).sum::<i64>()
    }
}

/// The row-major strides of a shape, in elements.
pub fn row_major(shape: &[u64]) -> Vec<i64> {
    let mut strides = vec![1i64; shape.len()];
    for axis in (0..shape.len().saturating_sub(1)).rev() {
        strides[axis] = strides[axis + 1] * shape[axis + 1] as i64;
    }
    strides
}

/// The flat row-major position of an element.
pub fn flatten(position: &[Idx], shape: &[u64]) -> Idx {
    let mut flat = Idx::default();
    for ((idx, stride), &size) in position.iter().zip(row_major(shape)).zip(shape) {
        if size != 1 {
            flat.add_scaled(idx, stride);
        }
    }
    flat
}

/// Why a flat position is not affine on every axis of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unaligned {
    /// It would be if this coordinate were two, the inner one of this size.
    Split {
        /// The coordinate.
        coord: u32,
        /// The size of its inner part.
        inner: u64,
    },
    /// It is not.
    Never,
}

/// The position on each axis of `shape` of the element at `flat`.
pub fn unflatten(flat: &Idx, shape: &[u64], space: &Space) -> Result<Vec<Idx>, Unaligned> {
    let mut position = vec![Idx::default(); shape.len()];
    if shape.contains(&0) {
        return Ok(position);
    }
    let strides = row_major(shape);
    if flat.offset < 0 {
        return Err(Unaligned::Never);
    }
    for (axis, &size) in shape.iter().enumerate() {
        position[axis].offset = (flat.offset / strides[axis]) % size as i64;
    }
    for &(term, factor) in &flat.terms {
        let Some(axis) = (0..shape.len()).find(|&a| shape[a] != 1 && strides[a] <= factor) else {
            return Err(Unaligned::Never);
        };
        let whole = strides[axis] * shape[axis] as i64;
        if factor % strides[axis] != 0 || factor >= whole {
            return Err(Unaligned::Never);
        }
        if factor * (space.extent(term) as i64 - 1) >= whole {
            return Err(split(term, whole, factor, space));
        }
        position[axis].add_scaled(&Idx::term(term), factor / strides[axis]);
    }
    let carries = |(idx, &size): (&Idx, &u64)| space.max(idx) >= size as i64;
    if position.iter().zip(shape).any(carries) { Err(Unaligned::Never) } else { Ok(position) }
}

/// The split of `term` that keeps its inner part within `whole`.
fn split(term: Term, whole: i64, factor: i64, space: &Space) -> Unaligned {
    let inner = (whole / factor) as u64;
    match term {
        Term::Coord(coord) if whole % factor == 0 && inner > 1 && space.size(coord).is_multiple_of(inner) => {
            Unaligned::Split { coord, inner }
        }
        Term::Coord(_) | Term::Gathered(..) => Unaligned::Never,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_split_out_of_the_width() {
        // [8, 384] read as [8, 12, 32]: the width's coordinate must become two.
        let mut space = Space::default();
        let position = [space.axis(&[8]), space.axis(&[384])];
        let flat = flatten(&position, &[8, 384]);
        assert_eq!(unflatten(&flat, &[8, 12, 32], &space), Err(Unaligned::Split { coord: 1, inner: 32 }));
        let mut space = Space::default();
        let position = [space.axis(&[8]), space.axis(&[12, 32])];
        let split = unflatten(&flatten(&position, &[8, 384]), &[8, 12, 32], &space).expect("aligned");
        assert_eq!(split[1], Idx::term(Term::Coord(1)));
        assert_eq!(split[2], Idx::term(Term::Coord(2)));
    }

    #[test]
    fn merged_axes_need_no_split() {
        let mut space = Space::default();
        let position = [space.axis(&[2]), space.axis(&[3])];
        let merged = unflatten(&flatten(&position, &[2, 3]), &[6], &space).expect("aligned");
        assert_eq!(merged[0].terms, vec![(Term::Coord(0), 3), (Term::Coord(1), 1)]);
    }

    #[test]
    fn a_ragged_reshape_is_never_affine() {
        let mut space = Space::default();
        let position = [space.axis(&[6]), space.axis(&[4])];
        let flat = flatten(&position, &[6, 4]);
        assert_eq!(unflatten(&flat, &[8, 3], &space), Err(Unaligned::Never));
    }
}
