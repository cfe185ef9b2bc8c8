//! Tensors as JSON.

use serde_json::{Value, json};
use sx_artifact::tensor_file::print;
use sx_runtime::{Data, Tensor};

/// Dtype, shape, and the elements, flat. JSON has no NaN and no infinities: those are strings.
pub(super) fn tensor(tensor: &Tensor) -> Value {
    let float = |x: f32| if x.is_finite() { json!(x) } else { json!(print::float(x)) };
    let elements: Vec<Value> = match tensor.data() {
        Data::F32(values) => values.iter().map(|&x| float(x)).collect(),
        Data::Bf16(values) => values.iter().map(|x| float(x.to_f32())).collect(),
        Data::I32(values) => values.iter().map(|&x| json!(x)).collect(),
        Data::I64(values) => values.iter().map(|&x| json!(x)).collect(),
        Data::Bool(values) => values.iter().map(|&x| json!(x)).collect(),
    };
    json!({ "dtype": tensor.dtype().name(), "shape": tensor.shape(), "elements": elements })
}

/// A document with a line end.
pub(super) fn document(value: &Value) -> String {
    format!("{value:#}\n")
}
