//! Attention as one node: a softmax of scores between two matrix products.

use super::{About, Fault, Rules, Tolerance, Trap, region, shape};
use crate::ir::op::{Attention, Matmul};
use crate::ir::{Dim, Domain, Type};
use sx_artifact::dtype::DType;
use sx_artifact::tensor::{Data, Tensor};

const PRODUCT: Matmul = Matmul { out_f32: false };

impl Rules for Attention {
    fn about(&self) -> About<'_> {
        About {
            name: "attention",
            signature: "",
            summary: "softmax(score(q k)) v with the scores as a region; a pass makes it from its parts",
            takes: "f32",
            domain: "Real",
            example: "",
            tolerance: Tolerance::Region,
        }
    }

    fn infer(&self, args: &[Type]) -> Result<Vec<Type>, Fault> {
        let [q, k, v, rest @ ..] = args else {
            return Err(Fault::Operands { want: "at least 3", got: args.len() });
        };
        let dots = PRODUCT.infer(&[q.clone(), k.clone()])?.remove(0);
        let inputs: Vec<Type> = std::iter::once(&dots).chain(rest).cloned().collect();
        region::check(&self.score, &inputs)?;
        let weights = Type::plain(DType::F32, &dots.shape());
        let result = PRODUCT.infer(&[weights, v.clone()])?.remove(0);
        let dims: Vec<Dim> = [&q.dims[..q.rank() - 1], &v.dims[v.rank() - 1..]].concat();
        shape::countable(&dims)?;
        Ok(vec![Type { dims, domain: Domain::REAL, ..result }])
    }

    fn reference(&self, args: &[&Tensor]) -> Result<Vec<Tensor>, Trap> {
        let dots = PRODUCT.reference(&args[..2])?;
        let inputs: Vec<&Tensor> = dots.iter().chain(args[3..].iter().copied()).collect();
        let scores = region::apply(&self.score, &inputs)?;
        let weights = softmax(&scores[0], self.zero_hidden_rows);
        PRODUCT.reference(&[&weights, args[2]])
    }
}

/// The softmax of each row in f64, rounded once.
fn softmax(scores: &Tensor, zero_hidden_rows: bool) -> Tensor {
    let Data::F32(elements) = scores.data() else {
        unreachable!("the type rule asks for f32 scores");
    };
    let width = scores.shape().last().map_or(1, |&size| size as usize).max(1);
    let mut weights = Vec::with_capacity(elements.len());
    for row in elements.chunks(width) {
        let most = row.iter().fold(f64::NEG_INFINITY, |most, &x| super::scalar::larger(most, f64::from(x)));
        if zero_hidden_rows && most == f64::NEG_INFINITY {
            weights.extend(row.iter().map(|_| 0f32));
            continue;
        }
        let powers: Vec<f64> = row.iter().map(|&x| (f64::from(x) - most).exp()).collect();
        let total: f64 = powers.iter().sum();
        weights.extend(powers.iter().map(|power| (power / total) as f32));
    }
    Tensor::new(scores.shape(), weights.into())
}
