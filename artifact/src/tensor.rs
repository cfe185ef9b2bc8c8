//! Dense tensors in host memory: what constants, inputs and outputs are outside a device.

use crate::dtype::DType;
use half::bf16;

/// A dense tensor, row-major, little-endian. `bool` elements are bytes 0 and 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    dtype: DType,
    shape: Vec<u64>,
    data: Data,
}

/// The elements of a tensor, typed.
#[derive(Clone, Debug)]
pub enum Data {
    /// Elements of an `f32` tensor.
    F32(Vec<f32>),
    /// Elements of a `bf16` tensor.
    Bf16(Vec<bf16>),
    /// Elements of an `i32` tensor.
    I32(Vec<i32>),
    /// Elements of an `i64` tensor.
    I64(Vec<i64>),
    /// Elements of a `bool` tensor.
    Bool(Vec<bool>),
}

/// Elements are equal when their bits are: NaN equals itself, 0.0 differs from -0.0.
impl PartialEq for Data {
    fn eq(&self, other: &Data) -> bool {
        match (self, other) {
            (Data::F32(a), Data::F32(b)) => a.iter().map(|x| x.to_bits()).eq(b.iter().map(|x| x.to_bits())),
            (Data::Bf16(a), Data::Bf16(b)) => a.iter().map(|x| x.to_bits()).eq(b.iter().map(|x| x.to_bits())),
            (Data::I32(a), Data::I32(b)) => a == b,
            (Data::I64(a), Data::I64(b)) => a == b,
            (Data::Bool(a), Data::Bool(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Data {}

impl Data {
    /// The dtype of these elements.
    pub fn dtype(&self) -> DType {
        match self {
            Data::F32(_) => DType::F32,
            Data::Bf16(_) => DType::Bf16,
            Data::I32(_) => DType::I32,
            Data::I64(_) => DType::I64,
            Data::Bool(_) => DType::Bool,
        }
    }

    /// How many elements there are.
    pub fn len(&self) -> usize {
        match self {
            Data::F32(v) => v.len(),
            Data::Bf16(v) => v.len(),
            Data::I32(v) => v.len(),
            Data::I64(v) => v.len(),
            Data::Bool(v) => v.len(),
        }
    }

    /// True when there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The element at a flat position as the shortest text that reads back as it.
    pub fn element(&self, at: usize) -> String {
        match self {
            Data::F32(values) => float_text(values[at]),
            Data::Bf16(values) => float_text(values[at].to_f32()),
            Data::I32(values) => values[at].to_string(),
            Data::I64(values) => values[at].to_string(),
            Data::Bool(values) => values[at].to_string(),
        }
    }
}

/// The shortest text that reads back as `x`.
pub fn float_text(x: f32) -> String {
    match x {
        _ if x.is_nan() => "nan".to_owned(),
        f32::INFINITY => "inf".to_owned(),
        f32::NEG_INFINITY => "-inf".to_owned(),
        _ => format!("{x:?}"),
    }
}

impl Tensor {
    /// A tensor of `shape` with these elements, row-major; `None` unless their number is the shape's.
    pub fn try_new(shape: &[u64], data: Data) -> Option<Tensor> {
        let count = shape.iter().try_fold(1u64, |n, &size| n.checked_mul(size));
        (count == Some(data.len() as u64)).then(|| Tensor {
            dtype: data.dtype(),
            shape: shape.to_vec(),
            data,
        })
    }

    /// A tensor of `shape` with these elements, row-major.
    ///
    /// # Panics
    ///
    /// Where their number is not the shape's. [`Tensor::try_new`] says so instead.
    pub fn new(shape: &[u64], data: Data) -> Tensor {
        let count = data.len();
        Tensor::try_new(shape, data)
            .unwrap_or_else(|| panic!("{count} elements are not those of the shape {shape:?}"))
    }

    /// A tensor from `count * dtype.size()` little-endian bytes, or `None` when their number does not fit
    /// or a `bool` is neither 0 nor 1.
    pub fn from_bytes(dtype: DType, shape: &[u64], bytes: &[u8]) -> Option<Tensor> {
        let count = shape.iter().try_fold(1u64, |n, &size| n.checked_mul(size))?;
        if count.checked_mul(dtype.size() as u64)? != bytes.len() as u64 {
            return None;
        }
        let data = match dtype {
            DType::F32 => Data::F32(bytemuck::allocation::pod_collect_to_vec(bytes)),
            DType::Bf16 => Data::Bf16(bytemuck::allocation::pod_collect_to_vec(bytes)),
            DType::I32 => Data::I32(bytemuck::allocation::pod_collect_to_vec(bytes)),
            DType::I64 => Data::I64(bytemuck::allocation::pod_collect_to_vec(bytes)),
            DType::Bool if bytes.iter().all(|&byte| byte <= 1) => {
                Data::Bool(bytes.iter().map(|&byte| byte == 1).collect())
            }
            DType::Bool => return None,
        };
        Some(Tensor { dtype, shape: shape.to_vec(), data })
    }

    /// The elements as little-endian bytes, row-major: what a buffer on a device holds.
    pub fn bytes(&self) -> &[u8] {
        match &self.data {
            Data::F32(v) => bytemuck::cast_slice(v),
            Data::Bf16(v) => bytemuck::cast_slice(v),
            Data::I32(v) => bytemuck::cast_slice(v),
            Data::I64(v) => bytemuck::cast_slice(v),
            Data::Bool(v) => bytemuck::cast_slice(v),
        }
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The size of each axis.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The elements.
    pub fn data(&self) -> &Data {
        &self.data
    }

    /// The elements, to keep or to write over.
    pub fn into_data(self) -> Data {
        self.data
    }

    /// How many elements there are.
    pub fn len(&self) -> usize {
        self.data.len()
    }

    /// True when an axis has size 0.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// The same elements in another shape. Panics unless the counts agree.
    pub fn reshaped(self, shape: &[u64]) -> Tensor {
        Tensor::new(shape, self.data)
    }
}

macro_rules! from_elements {
    ($($element:ty => $variant:ident),*) => {$(
        impl From<Vec<$element>> for Data {
            fn from(elements: Vec<$element>) -> Data {
                Data::$variant(elements)
            }
        }
    )*};
}
from_elements!(f32 => F32, bf16 => Bf16, i32 => I32, i64 => I64, bool => Bool);
