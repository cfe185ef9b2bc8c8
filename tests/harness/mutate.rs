//! JSON changed at random, as an attacker would change a program or its metadata.

use crate::random::Random;
use serde_json::Value as Json;

/// Changes one number or list of a document that has some.
pub fn change(json: &mut Json, random: &mut Random) {
    let mut at = random.below(count(json));
    change_at(json, &mut at, random);
}

/// How many numbers and lists there are.
fn count(json: &Json) -> usize {
    match json {
        Json::Array(items) => 1 + items.iter().map(count).sum::<usize>(),
        Json::Object(fields) => fields.values().map(count).sum(),
        Json::Number(_) => 1,
        _ => 0,
    }
}

/// Changes the number or list at a position.
fn change_at(json: &mut Json, at: &mut usize, random: &mut Random) {
    match json {
        Json::Object(fields) => fields.values_mut().for_each(|field| change_at(field, at, random)),
        Json::Array(items) => {
            if take(at) && !items.is_empty() {
                let (a, b) = (random.below(items.len()), random.below(items.len()));
                match random.below(4) {
                    0 => drop(items.remove(a)),
                    1 => items.insert(a, items[b].clone()),
                    2 => items[a] = items[b].clone(),
                    _ => items.swap(a, b),
                }
                return;
            }
            items.iter_mut().for_each(|item| change_at(item, at, random));
        }
        Json::Number(number) if take(at) => {
            let old = number.as_i64().unwrap_or(0);
            let near =
                [0, 1, 2, 3, 4, 8, -1, old.wrapping_add(1), old.wrapping_sub(1), old.wrapping_mul(2), -old];
            let far = [i64::MAX, i64::MIN, i64::from(i32::MAX), i64::from(u32::MAX), 1 << 40];
            let pick = if random.below(8) == 0 { random.one_of(&far) } else { random.one_of(&near) };
            *json = Json::from(*pick);
        }
        _ => {}
    }
}

/// Counts down to a position; true where it is reached.
fn take(at: &mut usize) -> bool {
    let here = *at == 0;
    *at = at.wrapping_sub(1);
    here
}
