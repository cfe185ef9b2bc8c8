//! Maps and reductions.
//!
//! A map is one loop over its elements. A reduction takes its rows one at a time, by an invocation or by a
//! workgroup, in phases: what the first folds need, the folds, what the next need, …, then the stores.

mod fold;
mod map;
mod rows;
mod vectorize;

use self::rows::Rows;
use super::code::Dispatched;
use super::header::Pack;
use super::lanes;
use super::split_bindings::Part;
use sx_artifact::code::wgpu::When;
use sx_artifact::kernel::Loop;

/// Invocations that share a row on a GPU.
const SHARED: u32 = 256;

/// The dispatch of a part that is a loop.
pub(super) fn code(part: &Part, l: &Loop, when: When) -> Result<Dispatched, String> {
    if l.along.is_empty() {
        return match lanes::split(l) {
            Some(split) => map::fours(part, &split, when),
            None => map::plain(part, l, when),
        };
    }
    let length: u64 = l.along.iter().product();
    let shared = when == When::Gpu && length >= 32;
    let workgroup = match when {
        When::Gpu if shared => {
            SHARED.min(part.limits.invocations).min(length.next_power_of_two() as u32).max(32)
        }
        When::Gpu => 64,
        _ if length >= 64 => 8,
        _ => 64,
    };
    match lanes::split(l).filter(|_| !shared) {
        Some(split) => Rows::new(part, &split, workgroup, shared, true)?.code(),
        None => Rows::new(part, l, workgroup, shared, false)?.code(),
    }
}

/// How many elements an invocation takes at a time so that it writes whole words.
fn gathered(packs: &[Pack]) -> u32 {
    packs.iter().map(|pack| if let Pack::Gathered(n) = pack { *n } else { 1 }).max().unwrap_or(1)
}
