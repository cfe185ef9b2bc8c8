//! Axes and shapes: what the rules of several operations share.

use super::Fault;
use super::fault::InsteadOfMask;
use crate::ir::{Dim, Type};
use sx_artifact::dtype::DType;

/// The axis that `axis` names in a tensor of `rank`; negative ones count from the end.
pub fn axis(axis: i64, rank: usize) -> Result<usize, Fault> {
    let positive = if axis < 0 { axis.checked_add(rank as i64) } else { Some(axis) };
    match positive {
        Some(found) if 0 <= found && found < rank as i64 => Ok(found as usize),
        _ => Err(Fault::Axis { axis, rank }),
    }
}

/// The axes that a list names, ascending; one that stands twice, also as 1 and -1, is refused.
pub fn axes(list: &[i64], rank: usize) -> Result<Vec<usize>, Fault> {
    let mut found = Vec::with_capacity(list.len());
    for &written in list {
        let is = axis(written, rank)?;
        if found.contains(&is) {
            return Err(Fault::AxisTwice { axis: written, is });
        }
        found.push(is);
    }
    found.sort_unstable();
    Ok(found)
}

/// Refuses a number of operands other than `N`.
pub fn operands<'a, const N: usize>(args: &'a [Type], want: &'static str) -> Result<&'a [Type; N], Fault> {
    args.try_into().map_err(|_| Fault::Operands { want, got: args.len() })
}

/// The most axes of a tensor: what a kernel computes has at most twice as many coordinates, which the artifact holds.
const MOST_AXES: usize = 32;

/// Refuses a shape of too many axes, or whose elements, in bytes, overflow what can be addressed.
pub fn countable(dims: &[Dim]) -> Result<(), Fault> {
    if dims.len() > MOST_AXES {
        return Err(Fault::TooManyAxes { rank: dims.len(), most: MOST_AXES });
    }
    let bytes = dims.iter().try_fold(8u64, |n, dim| n.checked_mul(dim.size.max(1)));
    match bytes {
        Some(bytes) if bytes <= i64::MAX as u64 => Ok(()),
        _ => Err(Fault::TooLarge { shape: sizes(dims) }),
    }
}

/// The sizes alone.
pub fn sizes(dims: &[Dim]) -> Vec<u64> {
    dims.iter().map(|dim| dim.size).collect()
}

/// `to`, with the identity of `from` where it has none of its own and the size is the same.
pub fn identified(to: &Dim, from: &Dim) -> Dim {
    let axis = to.axis.clone().or_else(|| from.axis.clone().filter(|_| from.size == to.size));
    Dim { size: to.size, axis }
}

/// Refuses operand `arg` unless it is a mask.
pub fn mask(args: &[Type], arg: usize) -> Result<(), Fault> {
    match args[arg].dtype {
        DType::Bool => Ok(()),
        DType::F32 | DType::Bf16 | DType::I32 | DType::I64 => {
            Err(Fault::MaskNeeded { arg, got: args[arg].clone() })
        }
    }
}

/// Refuses operands that are masks.
pub fn no_masks(args: &[Type], instead: InsteadOfMask) -> Result<(), Fault> {
    let masks: Vec<usize> = (0..args.len()).filter(|&arg| args[arg].dtype == DType::Bool).collect();
    if masks.is_empty() {
        Ok(())
    } else {
        Err(Fault::MaskArithmetic { masks, operands: args.len(), instead })
    }
}
