//! Types: dtype, dimensions with axis identity, domain.

use super::domain::{Domain, UserDomain};
use std::fmt;
use std::sync::Arc;
use sx_artifact::dtype::DType;

/// A named axis (`defaxis`, or a size given on the command line): equal only to itself, whatever its name.
#[derive(Clone, Debug)]
pub struct Axis {
    /// Which axis it is.
    pub id: u32,
    /// What it is called.
    pub name: Arc<str>,
}

impl PartialEq for Axis {
    fn eq(&self, other: &Axis) -> bool {
        self.id == other.id
    }
}

impl Eq for Axis {}

/// One dimension: a size and, where it has one, an identity that operations keep while they keep the dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dim {
    /// How many positions.
    pub size: u64,
    /// Which axis it is, or none for a bare number.
    pub axis: Option<Axis>,
}

impl Dim {
    /// A dimension without identity.
    pub fn of(size: u64) -> Dim {
        Dim { size, axis: None }
    }
}

/// The axis by its name, or the size: `C`, `8`.
impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.axis {
            Some(axis) => f.write_str(&axis.name),
            None => write!(f, "{}", self.size),
        }
    }
}

/// The type of a value in a graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Type {
    /// How elements are stored.
    pub dtype: DType,
    /// The dimensions, outermost first.
    pub dims: Vec<Dim>,
    /// What elements may be.
    pub domain: Domain,
}

impl Type {
    /// A type without axis identities whose domain is the widest that `dtype` has.
    pub fn plain(dtype: DType, shape: &[u64]) -> Type {
        Type { dtype, dims: shape.iter().map(|&n| Dim::of(n)).collect(), domain: Domain::widest(dtype) }
    }

    /// The sizes alone.
    pub fn shape(&self) -> Vec<u64> {
        self.dims.iter().map(|d| d.size).collect()
    }

    /// How many axes.
    pub fn rank(&self) -> usize {
        self.dims.len()
    }

    /// How many elements.
    pub fn count(&self) -> u64 {
        self.dims.iter().map(|d| d.size).product()
    }

    /// As domain messages print it: `[b C] Prob over C`, `[b t] Index[V]`, `[8 3] i32`. The dtype is shown only
    /// where the domain implies another, the domain only where it says something.
    pub fn shown(&self, names: &[UserDomain]) -> String {
        let dims: Vec<String> = self.dims.iter().map(Dim::to_string).collect();
        let mut text = format!("[{}]", dims.join(" "));
        if self.dtype != self.domain.implied_dtype() {
            text += &format!(" {}", self.dtype);
        }
        if let Some(domain) = self.domain.shown(&self.dims, names) {
            text += &format!(" {domain}");
        }
        text
    }
}

/// As shape messages print it: `[2, 16] f32`.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {}", self.shape(), self.dtype)
    }
}
