//! Dropping without recursion: a program may nest values and scopes as deeply as its steps allow.

use super::value::{Slot, Value};
use std::cell::RefCell;

/// What may own other values.
pub(super) enum Buried {
    /// An element.
    #[allow(dead_code, reason = "it is held to be dropped")]
    Value(Value),
    /// A variable.
    #[allow(dead_code, reason = "it is held to be dropped")]
    Slot(Slot),
}

thread_local! {
    /// What waits to be dropped, while something is being dropped.
    static WAITING: RefCell<Option<Vec<Buried>>> = const { RefCell::new(None) };
}

/// Drops these one after the other. What they own in turn comes here again, and waits.
pub(super) fn bury(parts: impl Iterator<Item = Buried>) {
    let outermost = WAITING.with_borrow_mut(|waiting| {
        let outermost = waiting.is_none();
        waiting.get_or_insert_default().extend(parts);
        outermost
    });
    if !outermost {
        return;
    }
    // Dropping what was popped may bury more, so nothing is borrowed meanwhile.
    while WAITING.with_borrow_mut(|waiting| waiting.as_mut().and_then(Vec::pop)).is_some() {}
    WAITING.with_borrow_mut(|waiting| *waiting = None);
}
