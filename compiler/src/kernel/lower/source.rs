//! Where a walk ends: constants, and loads of what is stored.

use super::Lowering;
use crate::ir::Value;
use crate::kernel::analysis::is_source;
use crate::kernel::index::{Idx, flatten};
use sx_artifact::kernel::{Const, Val};
use sx_artifact::tensor::{Data, Tensor};

impl Lowering<'_> {
    pub(super) fn is_source(&self, v: Value) -> bool {
        is_source(self.graph, v)
    }

    pub(super) fn constant(&mut self, v: Value, value: &Tensor, at: &[Idx], guard: Option<Val>) -> Val {
        match uniform(value) {
            Some(scalar) => self.body.constant(scalar),
            None => self.load(v, &flatten(at, &self.graph.ty(v).shape()), guard),
        }
    }

    pub(super) fn load(&mut self, v: Value, flat: &Idx, guard: Option<Val>) -> Val {
        let arg = match self.reads.iter().position(|&read| read == v) {
            Some(known) => known,
            None => {
                self.reads.push(v);
                self.reads.len() - 1
            }
        };
        let dtype = self.graph.ty(v).dtype;
        self.body.load(arg as u32, dtype, flat, guard, &self.space)
    }
}

/// The one scalar that a tensor repeats, if it does.
pub(super) fn uniform(tensor: &Tensor) -> Option<Const> {
    fn same<T: Copy, K: PartialEq>(elements: &[T], key: impl Fn(T) -> K) -> Option<T> {
        let (&first, rest) = elements.split_first()?;
        rest.iter().all(|&x| key(x) == key(first)).then_some(first)
    }
    match tensor.data() {
        Data::F32(v) => same(v, f32::to_bits).map(|x| Const::F32(x.to_bits())),
        Data::Bf16(v) => same(v, |x| x.to_bits()).map(|x| Const::F32(x.to_f32().to_bits())),
        Data::I32(v) => same(v, |x| x).map(Const::I32),
        Data::I64(v) => same(v, |x| x).map(Const::I64),
        Data::Bool(v) => same(v, |x| x).map(Const::Bool),
    }
}
