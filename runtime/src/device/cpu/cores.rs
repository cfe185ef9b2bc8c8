//! Which core a thread is on.

/// The core that this thread is on, where the system says so.
pub(super) fn current() -> Option<usize> {
    #[cfg(target_os = "linux")]
    return Some(rustix::thread::sched_getcpu());
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
    if let (Some(core), Ok(allowed)) = (core, rustix::thread::sched_getaffinity(None)) {
        let mut others = allowed;
        if core < rustix::thread::CpuSet::MAX_CPU {
            others.unset(core);
        }
        // Where it is not allowed elsewhere, or not to move, it stays.
        if others.count() > 0 && rustix::thread::sched_setaffinity(None, &others).is_ok() {
            let _ = rustix::thread::sched_setaffinity(None, &allowed);
        }
    }
}
