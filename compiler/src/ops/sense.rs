//! Which domains a type may have (`E0503`).

use super::Fault;
use super::fault::axes_in_words;
use crate::ir::{Domain, Type};
use sx_artifact::dtype::DType;

/// Refuses a domain that makes no sense for the dtype or rank of `ty`; `ty.domain` is not looked at.
pub fn check(domain: &Domain, ty: &Type) -> Result<(), Fault> {
    match reason(domain, ty) {
        None => Ok(()),
        Some(_) => Err(Fault::DomainSense { domain: domain.clone(), ty: ty.clone().into() }),
    }
}

/// Why `domain` makes no sense for the dtype or rank of `ty`, if it does not.
pub fn reason(domain: &Domain, ty: &Type) -> Option<String> {
    if let Some(over) = domain.over()
        && ty.rank() <= over
    {
        return Some(format!("there is no axis {over}: the type has {}", axes_in_words(ty.rank())));
    }
    let fits = match domain {
        Domain::Range(_) | Domain::Binary => ty.dtype != DType::Bool,
        Domain::Logit { .. } | Domain::Prob { .. } | Domain::LogProb { .. } | Domain::Additive => {
            ty.dtype.is_float()
        }
        Domain::Mask => ty.dtype == DType::Bool,
        Domain::Index(_) => ty.dtype.is_int(),
    };
    if fits {
        return None;
    }
    Some(match domain {
        Domain::Range(_) | Domain::Binary => "numbers are f32, bf16, i32 or i64".to_owned(),
        Domain::Logit { .. } | Domain::Prob { .. } | Domain::LogProb { .. } | Domain::Additive => {
            "its values are fractions or infinite: f32 or bf16".to_owned()
        }
        Domain::Mask => "truth values are bool".to_owned(),
        Domain::Index(_) => "positions are i32 or i64".to_owned(),
    })
}
