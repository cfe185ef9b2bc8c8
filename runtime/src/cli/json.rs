//! JSON documents.

use serde_json::Value;

/// A document with a line end.
pub(super) fn document(value: &Value) -> String {
    format!("{value:#}\n")
}
