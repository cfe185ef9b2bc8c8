//! Memory for the tensors that a call gives.

#[cfg(feature = "wgpu")]
use super::pages;
use super::pages::prefer_large;
use crate::error::Error;
use bytemuck::Zeroable;
use bytemuck::allocation::try_zeroed_vec;
#[cfg(feature = "wgpu")]
use rayon::prelude::*;
use sx_artifact::dtype::DType;
use sx_artifact::program::Resource;
use sx_artifact::tensor::{Data, Tensor};

/// Room for an output: that of `spare` where it fits, else zeros. What it holds is written over.
pub(super) fn room(resource: &Resource, spare: Option<Tensor>) -> Result<Data, Error> {
    let count = usize::try_from(resource.count()).ok();
    if let Some(spare) = spare
        && spare.dtype() == resource.dtype
        && Some(spare.len()) == count
    {
        return Ok(spare.into_data());
    }
    let zeroed = count.and_then(|count| match resource.dtype {
        DType::F32 => zeros(count).map(Data::F32),
        DType::Bf16 => zeros(count).map(Data::Bf16),
        DType::I32 => zeros(count).map(Data::I32),
        DType::I64 => zeros(count).map(Data::I64),
        DType::Bool => zeros(count).map(Data::Bool),
    });
    zeroed.ok_or_else(|| {
        Error::Device(format!(
            "there is no memory for output `{}` of shape {:?}; use smaller sizes or another machine",
            resource.name, resource.shape
        ))
    })
}

fn zeros<T: Zeroable>(count: usize) -> Option<Vec<T>> {
    let mut zeros = try_zeroed_vec(count).ok()?;
    prefer_large(&mut zeros);
    Some(zeros)
}

/// The output that `bytes` are, in the memory of `spare` where that fits.
#[cfg(feature = "wgpu")]
pub(super) fn of_bytes(resource: &Resource, spare: Option<Tensor>, bytes: &[u8]) -> Result<Tensor, Error> {
    let mut data = room(resource, spare)?;
    match &mut data {
        Data::F32(v) => copy(bytemuck::cast_slice_mut(v), bytes),
        Data::Bf16(v) => copy(bytemuck::cast_slice_mut(v), bytes),
        Data::I32(v) => copy(bytemuck::cast_slice_mut(v), bytes),
        Data::I64(v) => copy(bytemuck::cast_slice_mut(v), bytes),
        Data::Bool(v) => {
            if bytes.iter().any(|&byte| byte > 1) {
                let what = format!("output `{}` holds what is not {}", resource.name, resource.dtype);
                return Err(Error::Device(what));
            }
            v.iter_mut().zip(bytes).for_each(|(to, &from)| *to = from == 1);
        }
    }
    Ok(Tensor::new(&resource.shape, data))
}

/// Bytes that one thread copies.
#[cfg(feature = "wgpu")]
const PIECE: usize = 1 << 20;

#[cfg(feature = "wgpu")]
fn copy(to: &mut [u8], from: &[u8]) {
    if from.len() <= PIECE {
        return pages::copy(to, from);
    }
    let pieces = to.par_chunks_mut(PIECE).zip(from.par_chunks(PIECE));
    pieces.for_each(|(to, from)| pages::copy(to, from));
}

/// Where the elements start.
#[cfg(feature = "cpu")]
pub(super) fn start(data: &mut Data) -> *mut u8 {
    match data {
        Data::F32(v) => v.as_mut_ptr().cast(),
        Data::Bf16(v) => v.as_mut_ptr().cast(),
        Data::I32(v) => v.as_mut_ptr().cast(),
        Data::I64(v) => v.as_mut_ptr().cast(),
        Data::Bool(v) => v.as_mut_ptr().cast(),
    }
}
