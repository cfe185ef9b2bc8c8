//! How much memory this machine has.

/// Bytes of this machine's memory, where the system tells.
pub fn total() -> Option<u64> {
    of("MemTotal:")
}

/// Bytes that could be used now without moving others out of memory, where the system tells.
pub fn available() -> Option<u64> {
    of("MemAvailable:")
}

fn of(what: &str) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(what))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1 << 10)
}
