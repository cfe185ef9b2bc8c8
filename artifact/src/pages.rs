//! Large pages for large tensors: streaming over small ones costs a walk of the page table every few kilobytes, and
//! twice as much on a virtual machine.

/// Smaller allocations than this, in bytes, are left as they are.
const LARGE: usize = 4 << 20;
/// The size of a large page.
#[cfg(target_os = "linux")]
const PAGE: usize = 2 << 20;

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
            let _ =
                unsafe { rustix::mm::madvise(at.cast(), last - first, rustix::mm::Advice::LinuxHugepage) };
        }
    }
}
