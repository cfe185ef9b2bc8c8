//! Elements of tensors as JSON.

use serde_json::{Value, json};
use sx_artifact::tensor::{Data, Tensor, float_text};

/// The elements, flat, row-major. JSON has no NaN and no infinities: those are text, `"nan"`, `"inf"`, `"-inf"`.
pub fn elements(tensor: &Tensor) -> Vec<Value> {
    match tensor.data() {
        Data::F32(values) => values.iter().map(|&x| float(x)).collect(),
        Data::Bf16(values) => values.iter().map(|x| float(x.to_f32())).collect(),
        Data::I32(values) => values.iter().map(|&x| json!(x)).collect(),
        Data::I64(values) => values.iter().map(|&x| json!(x)).collect(),
        Data::Bool(values) => values.iter().map(|&x| json!(x)).collect(),
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
