//! How large tensors are held and copied.
//!
//! In large pages: streaming over small ones costs a walk of the page table every few kilobytes, and twice as much on a
//! virtual machine. And by small steps: the system's copy of a large block is one instruction of the processor, which
//! on some (AMD's third generation of Zen) runs at a fifth of its speed where the two addresses differ in their offset
//! within a cache line, as those of a vector and a mapped page do.

/// Smaller allocations than this, in bytes, are left as they are.
const LARGE: usize = 4 << 20;
/// The size of a large page.
#[cfg(target_os = "linux")]
const PAGE: usize = 2 << 20;

/// Bytes that are copied at once: fewer than the system takes for a large block.
pub const STEP: usize = 2 << 10;

/// Copies as many bytes as both have.
///
/// # Panics
///
/// Where they have not the same number.
pub fn copy(to: &mut [u8], from: &[u8]) {
    assert_eq!(to.len(), from.len(), "as many bytes on both sides");
    for (to, from) in to.chunks_mut(STEP).zip(from.chunks(STEP)) {
        to.copy_from_slice(from);
    }
}

/// Asks the system for large pages under `elements`, which nobody has touched yet. Only speed depends on the answer.
#[allow(unsafe_code, reason = "advice about memory is a system call on a pointer")]
pub fn prefer_large<T>(elements: &mut [T]) {
    if size_of_val(elements) < LARGE {
        return;
    }
    #[cfg(target_os = "linux")]
    {
        let bytes = elements.as_mut_ptr_range();
        let (start, end) = (bytes.start as usize, bytes.end as usize);
        let (first, last) = (start.next_multiple_of(PAGE), end / PAGE * PAGE);
        if first < last {
            let at = bytes.start.cast::<u8>().wrapping_add(first - start);
            // SAFETY: whole pages of memory that is borrowed mutably; this advice changes no byte of it.
            let _ = unsafe { libc::madvise(at.cast(), last - first, libc::MADV_HUGEPAGE) };
        }
    }
}
