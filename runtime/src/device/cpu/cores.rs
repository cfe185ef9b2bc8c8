//! Which core a thread is on.

/// The core that this thread is on, where the system says so.
pub(super) fn current() -> Option<usize> {
    #[cfg(target_os = "linux")]
    // SAFETY: it takes nothing and gives a number, below 0 where it fails.
    return usize::try_from(unsafe { libc::sched_getcpu() }).ok();
    #[cfg(not(target_os = "linux"))]
    return None;
}

/// Moves this thread to another core than `core` if it is there and may be elsewhere.
///
/// A thread that is woken may be put on the core of the one that woke it although others are idle, and a busy pair stays
/// together for milliseconds, until the system next balances its load: longer than most launches take.
pub(super) fn leave(core: Option<usize>) {
    if core.is_none() || core != current() {
        return;
    }
    #[cfg(target_os = "linux")]
    if let (Some(core), Some(allowed)) = (core, allowed()) {
        let mut others = allowed;
        if core < libc::CPU_SETSIZE as usize {
            // SAFETY: the number is one of the set's.
            unsafe { libc::CPU_CLR(core, &mut others) };
        }
        // SAFETY: it only counts.
        let some = unsafe { libc::CPU_COUNT(&others) } > 0;
        // Where it is not allowed elsewhere, or not to move, it stays.
        if some && allow(&others) {
            allow(&allowed);
        }
    }
}

/// The cores that this thread may be on.
#[cfg(target_os = "linux")]
fn allowed() -> Option<libc::cpu_set_t> {
    // SAFETY: a set of bits, of which none is a valid one.
    let mut cores: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the set has the size that is given; 0 is this thread.
    let asked = unsafe { libc::sched_getaffinity(0, size_of_val(&cores), &mut cores) };
    (asked == 0).then_some(cores)
}

/// Has this thread be on one of `cores`, or says that it may not.
#[cfg(target_os = "linux")]
fn allow(cores: &libc::cpu_set_t) -> bool {
    // SAFETY: the set has the size that is given; 0 is this thread.
    unsafe { libc::sched_setaffinity(0, size_of_val(cores), cores) == 0 }
}
