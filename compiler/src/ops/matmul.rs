//! Batched matrix products.

use super::fault::InsteadOfMask;
use super::walk::to_bf16;
use super::{About, Fault, Rules, Tolerance, Trap, shape};
use crate::ir::op::Matmul;
use crate::ir::{Dim, Domain, Type};
use half::bf16;
use sx_artifact::dtype::DType;
use sx_artifact::tensor::{Data, Tensor};

/// The leading dimensions are equal: `Builder::matmul` broadcasts them by nodes.
impl Rules for Matmul {
    fn about(&self) -> About<'_> {
        About {
            name: "matmul",
            signature: "(matmul a b)",
            summary: "the product of matrices, the last two axes; leading axes broadcast; integers wrap; bf16 is accumulated in \
         f32 and rounded once, with `:out :f32` not at all",
            takes: "f32, bf16, i32 or i64, both the same",
            domain: "Real",
            example: "(matmul (iota [2 2] :axis 1) (iota [2 2] :axis 1)) ; => [[0 1] [0 1]]",
            tolerance: Tolerance::Dot,
        }
    }

    fn infer(&self, args: &[Type]) -> Result<Vec<Type>, Fault> {
        let [a, b] = shape::operands(args, "2")?;
        check(args, *self)?;
        if leading(a).iter().map(|dim| dim.size).ne(leading(b).iter().map(|dim| dim.size)) {
            return Err(Fault::LeadingDims { left: a.shape(), right: b.shape() });
        }
        let mut dims = super::broadcast::dims(&[leading(a), leading(b)])?;
        dims.extend([a.dims[a.rank() - 2].clone(), b.dims[b.rank() - 1].clone()]);
        shape::countable(&dims)?;
        let dtype = if self.out_f32 { DType::F32 } else { a.dtype };
        Ok(vec![Type { dtype, dims, domain: Domain::REAL }])
    }

    fn reference(&self, args: &[&Tensor]) -> Result<Vec<Tensor>, Trap> {
        let (a, b) = (args[0], args[1]);
        let rank = a.shape().len();
        let sizes = Sizes {
            m: a.shape()[rank - 2] as usize,
            k: a.shape()[rank - 1] as usize,
            n: b.shape()[rank - 1] as usize,
            batch: a.shape()[..rank - 2].iter().product::<u64>() as usize,
        };
        let data: Data = match (a.data(), b.data()) {
            (Data::F32(x), Data::F32(y)) => rounded(&sizes, &wide(x), &wide(y), |x| x as f32).into(),
            (Data::Bf16(x), Data::Bf16(y)) if self.out_f32 => {
                rounded(&sizes, &wide(x), &wide(y), |x| x as f32).into()
            }
            (Data::Bf16(x), Data::Bf16(y)) => rounded(&sizes, &wide(x), &wide(y), to_bf16).into(),
            (Data::I32(x), Data::I32(y)) => {
                product(&sizes, x, y, 0, |acc, x, y| acc.wrapping_add(x.wrapping_mul(y))).into()
            }
            (Data::I64(x), Data::I64(y)) => {
                product(&sizes, x, y, 0, |acc, x, y| acc.wrapping_add(x.wrapping_mul(y))).into()
            }
            (x, y) => {
                panic!("a matrix product of {} and {}, which its type rule refuses", x.dtype(), y.dtype())
            }
        };
        let mut shape = a.shape().to_vec();
        shape[rank - 1] = sizes.n as u64;
        Ok(vec![Tensor::new(&shape, data)])
    }
}

/// Refuses dtypes, ranks and inner dimensions; the leading dimensions are not looked at.
pub fn check(args: &[Type], op: Matmul) -> Result<(), Fault> {
    let [a, b] = shape::operands(args, "2")?;
    shape::no_masks(args, InsteadOfMask::Binary)?;
    if a.dtype != b.dtype {
        return Err(Fault::DtypesDiffer { left: a.dtype, right: b.dtype, arg: 1 });
    }
    if op.out_f32 && a.dtype != DType::Bf16 {
        return Err(Fault::OutF32 { got: a.dtype });
    }
    if let Some(arg) = args.iter().position(|arg| arg.rank() < 2) {
        return Err(Fault::Rank { arg, got: args[arg].rank(), least: 2 });
    }
    if a.dims[a.rank() - 1].size != b.dims[b.rank() - 2].size {
        return Err(Fault::InnerDims { left: a.shape(), right: b.shape() });
    }
    Ok(())
}

/// The dimensions before the last two.
pub fn leading(ty: &Type) -> &[Dim] {
    &ty.dims[..ty.rank().saturating_sub(2)]
}

struct Sizes {
    batch: usize,
    m: usize,
    k: usize,
    n: usize,
}

/// A float that is multiplied and summed in f64.
trait Float: Copy {
    fn wide(self) -> f64;
}

impl Float for f32 {
    fn wide(self) -> f64 {
        f64::from(self)
    }
}

impl Float for bf16 {
    fn wide(self) -> f64 {
        self.to_f64()
    }
}

fn wide<T: Float>(x: &[T]) -> Vec<f64> {
    x.iter().map(|x| x.wide()).collect()
}

fn rounded<T>(sizes: &Sizes, x: &[f64], y: &[f64], narrow: fn(f64) -> T) -> Vec<T> {
    product(sizes, x, y, 0.0, |acc, x, y| acc + x * y).into_iter().map(narrow).collect()
}

fn product<T: Copy>(sizes: &Sizes, x: &[T], y: &[T], zero: T, step: impl Fn(T, T, T) -> T) -> Vec<T> {
    let Sizes { batch, m, k, n } = *sizes;
    let mut result = vec![zero; batch * m * n];
    for row in 0..batch * m {
        let into = &mut result[row * n..(row + 1) * n];
        for at in 0..k {
            let factor = x[row * k + at];
            let from = (row / m * k + at) * n;
            for (acc, &y) in into.iter_mut().zip(&y[from..from + n]) {
                *acc = step(*acc, factor, y);
            }
        }
    }
    result
}
