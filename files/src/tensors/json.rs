//! Outputs of graphs as JSON, written element by element: nothing is held but the text.

use serde::ser::{Serialize, SerializeMap, SerializeStruct, Serializer};
use serde_json::{Value, json};
use sx_artifact::tensor::{Data, Tensor, float_text};

/// What a run gave, as both commands print it: `{"graph", "device", "outputs": {NAME: {"dtype", "shape", "elements"}}}`.
pub struct Outputs<'a> {
    /// The graph.
    pub graph: &'a str,
    /// What ran it.
    pub device: &'a str,
    /// Its outputs, in order.
    pub outputs: Vec<(&'a str, &'a Tensor)>,
}

impl Serialize for Outputs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut document = serializer.serialize_struct("Outputs", 3)?;
        document.serialize_field("graph", self.graph)?;
        document.serialize_field("device", self.device)?;
        document.serialize_field("outputs", &Named(&self.outputs))?;
        document.end()
    }
}

struct Named<'a>(&'a [(&'a str, &'a Tensor)]);

impl Serialize for Named<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, tensor) in self.0 {
            map.serialize_entry(name, &Whole(tensor))?;
        }
        map.end()
    }
}

/// Dtype, shape, and the elements, flat, row-major.
struct Whole<'a>(&'a Tensor);

impl Serialize for Whole<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut tensor = serializer.serialize_struct("Tensor", 3)?;
        tensor.serialize_field("dtype", self.0.dtype().name())?;
        tensor.serialize_field("shape", self.0.shape())?;
        tensor.serialize_field("elements", &Elements(self.0))?;
        tensor.end()
    }
}

/// JSON has no NaN and no infinities: those are text, `"nan"`, `"inf"`, `"-inf"`.
struct Elements<'a>(&'a Tensor);

impl Serialize for Elements<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.data() {
            Data::F32(values) => serializer.collect_seq(values.iter().map(|&x| float(x))),
            Data::Bf16(values) => serializer.collect_seq(values.iter().map(|x| float(x.to_f32()))),
            Data::I32(values) => serializer.collect_seq(values.iter()),
            Data::I64(values) => serializer.collect_seq(values.iter()),
            Data::Bool(values) => serializer.collect_seq(values.iter()),
        }
    }
}

/// The number with the shortest digits that read back as `x`. A number in JSON is an f64, and that of those
/// digits prints them again: there are at most nine, and an f64 keeps fifteen apart.
fn float(x: f32) -> Value {
    let text = float_text(x);
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => json!(number),
        _ => json!(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_have_their_shortest_digits() {
        let printed = |x: f32| float(x).to_string();
        let cases = [
            (0.1, "0.1"),
            (2.0, "2.0"),
            (-0.0, "-0.0"),
            (16_777_216.0, "16777216.0"),
            (f32::MAX, "3.4028235e+38"),
            (f32::from_bits(1), "1e-45"),
            (f32::NAN, "\"nan\""),
            (f32::NEG_INFINITY, "\"-inf\""),
        ];
        for (x, text) in cases {
            assert_eq!(printed(x), text);
        }
        // Every exponent, and digits all over: as many digits as Rust's own shortest, read as f32 or as f64.
        for bits in (0..=u32::MAX).step_by(7919) {
            let x = f32::from_bits(bits);
            if x.is_finite() {
                let text = printed(x);
                assert_eq!(text.parse::<f32>().map(f32::to_bits), Ok(bits), "{text}");
                assert_eq!(text.parse::<f64>().map(|wide| (wide as f32).to_bits()), Ok(bits), "{text}");
                let digits = |text: &str| {
                    let mantissa = text.split('e').next().unwrap_or_default();
                    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
                    digits.trim_matches('0').to_owned()
                };
                assert_eq!(digits(&text), digits(&float_text(x)), "{text}");
            }
        }
    }
}
