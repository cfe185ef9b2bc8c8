//! The name that was probably meant.

/// Longer names are not compared: it takes the square of their length.
const LONGEST: usize = 200;

/// The candidate closest to `name`, if one is close enough to be a slip: a third of its letters changed,
/// added, lost or swapped, at most. Of two equally close ones, the first. A name without letters is no slip, and
/// neither does a slip lead to one.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = name.chars().count();
    let has_letters = |name: &str| name.contains(char::is_alphanumeric);
    if length > LONGEST || !has_letters(name) {
        return None;
    }
    let allowed = length / 3;
    candidates
        .into_iter()
        .filter(|candidate| *candidate != name && has_letters(candidate))
        .filter(|candidate| candidate.chars().count().abs_diff(length) <= allowed)
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Names in backticks, the first few of them: `` `a`, `b` and 3 more``.
pub fn some_of<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    const SHOWN: usize = 5;
    let more = match names.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let shown: Vec<String> = names.take(SHOWN).map(|name| format!("`{name}`")).collect();
    shown.join(", ") + &more
}

/// The candidate that is `name` in another scope, `encoder.w` for `w` or the other way round, or else the nearest.
pub fn nearest_key<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str> + Clone) -> Option<&'a str> {
    let ends = |long: &str, short: &str| long.strip_suffix(short).is_some_and(|scope| scope.ends_with('.'));
    let mut scoped = candidates.clone().into_iter().filter(|key| ends(key, name) || ends(name, key));
    scoped.next().or_else(|| nearest(name, candidates))
}

/// How many letters differ; case, and `_` for `-`, count for nothing.
fn distance(a: &str, b: &str) -> usize {
    let plain = |text: &str| text.to_lowercase().replace('_', "-");
    strsim::damerau_levenshtein(&plain(a), &plain(b))
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn slips_are_found_and_other_words_are_not() {
        let names = ["*", "-", "=", "matmul", "softmax", "log-softmax", "sum", "max", "exp"];
        let long = "y".repeat(100_000);
        let cases: [(&str, Option<&str>); 13] = [
            ("matmull", Some("matmul")),
            ("mamtul", Some("matmul")),
            ("log_softmax", Some("log-softmax")),
            ("Softmax", Some("softmax")),
            ("sun", Some("sum")),
            ("mux", Some("max")),
            ("convolve", None),
            ("x", None),
            ("==", None),
            ("**", None),
            ("->", None),
            ("mx", None),
            (&long, None),
        ];
        for (name, expected) in cases {
            assert_eq!(nearest(name, names), expected, "{name}");
        }
    }
}
