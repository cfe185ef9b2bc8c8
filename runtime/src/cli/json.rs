//! Tensors as JSON.

use serde_json::{Value, json};
use sx_files::tensors::json::elements;
use sx_runtime::Tensor;

/// Dtype, shape, and the elements, flat.
pub(super) fn tensor(tensor: &Tensor) -> Value {
    json!({ "dtype": tensor.dtype().name(), "shape": tensor.shape(), "elements": elements(tensor) })
}

/// A document with a line end.
pub(super) fn document(value: &Value) -> String {
    format!("{value:#}\n")
}
