//! Which words are numbers, and which only look like one.

/// What a word is, seen as a number.
pub(super) enum Number {
    /// A 64-bit integer.
    Int(i64),
    /// A 64-bit float.
    Float(f64),
    /// It begins as a number does and is none.
    Wrong {
        /// Why.
        message: String,
        /// What to write instead.
        help: Option<String>,
    },
    /// A word of another kind.
    Not,
}

/// Reads `word` as a number.
///
/// A word that begins with a digit, or with a sign or a point and a digit, has to be one: a name that looks
/// like a number is a slip.
pub(super) fn read(word: &str) -> Number {
    match word {
        "inf" | "+inf" => return Number::Float(f64::INFINITY),
        "-inf" => return Number::Float(f64::NEG_INFINITY),
        "nan" => return Number::Float(f64::NAN),
        _ => {}
    }
    let unsigned = word.strip_prefix(['+', '-']).unwrap_or(word);
    if !unsigned.strip_prefix('.').unwrap_or(unsigned).starts_with(|c: char| c.is_ascii_digit()) {
        return Number::Not;
    }
    if unsigned.bytes().all(|b| b.is_ascii_digit()) {
        return integer(word);
    }
    if is_float(unsigned) { float(word) } else { wrong(word, unsigned) }
}

fn integer(word: &str) -> Number {
    match word.parse() {
        Ok(value) => Number::Int(value),
        Err(_) => Number::Wrong {
            message: format!("{word} does not fit a 64-bit integer"),
            help: Some(format!(
                "integers go from {} to {}; as a float it is written `{word}.0`",
                i64::MIN,
                i64::MAX
            )),
        },
    }
}

fn float(word: &str) -> Number {
    match word.parse::<f64>() {
        Ok(value) if value.is_finite() => Number::Float(value),
        _ => Number::Wrong {
            message: format!("{word} is larger than the largest 64-bit float"),
            help: Some(format!(
                "infinity is written `{}`",
                if word.starts_with('-') { "-inf" } else { "inf" }
            )),
        },
    }
}

/// Digits, then a point with digits, an exponent, or both.
fn is_float(unsigned: &str) -> bool {
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))),
        None => (unsigned, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    digits(whole) && fraction.is_none_or(digits) && exponent.is_none_or(digits)
}

/// The words people bring from other languages get the spelling of this one.
fn wrong(word: &str, unsigned: &str) -> Number {
    let sign = &word[..word.len() - unsigned.len()];
    let candidates = [
        format!("{sign}0{unsigned}"),
        format!("{word}0"),
        word.replace('_', ""),
        word.trim_end_matches(['f', 'F', 'd', 'L']).to_owned(),
    ];
    let based = unsigned
        .strip_prefix("0x")
        .map(|digits| (digits, 16))
        .or_else(|| unsigned.strip_prefix("0b").map(|digits| (digits, 2)))
        .and_then(|(digits, radix)| i64::from_str_radix(digits, radix).ok())
        .map(|value| format!("{sign}{value}"));
    let is_number = |word: &String| {
        let unsigned = word.strip_prefix(['+', '-']).unwrap_or(word);
        is_float(unsigned) && word.parse().is_ok_and(f64::is_finite)
    };
    let spelled = based.or_else(|| candidates.into_iter().find(is_number));
    Number::Wrong {
        message: format!("`{word}` is not a number"),
        help: Some(match spelled {
            Some(spelled) => format!("write `{spelled}`"),
            None => "a name does not begin with a digit".to_owned(),
        }),
    }
}
