//! Memory that kernels work on: aligned buffers, and the arguments of a launch.

use memmap2::MmapMut;
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::cell::RefCell;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// From so many bytes on, memory comes in pages of its own: zero until it is touched, by whichever thread does.
const PAGES: usize = 1 << 20;
/// Where a buffer starts: at a cache line.
const ALIGNED: usize = 64;

/// A zeroed, 64-byte aligned buffer.
#[derive(Default)]
pub(super) struct Buffer {
    memory: Memory,
    bytes: usize,
}

#[derive(Default)]
enum Memory {
    #[default]
    None,
    Heap(NonNull<u8>, Layout),
    Pages(MmapMut),
}

// SAFETY: a buffer owns its memory.
unsafe impl Send for Buffer {}
// SAFETY: as above; shared, it is only asked for its size.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// A buffer of `bytes` bytes, or `None` where there is no memory for it.
    pub(super) fn new(bytes: usize) -> Option<Buffer> {
        let bytes = bytes.max(1);
        if bytes >= PAGES {
            let pages = MmapMut::map_anon(bytes).ok()?;
            // Only speed depends on whether the pages are large.
            #[cfg(target_os = "linux")]
            let _ = pages.advise(memmap2::Advice::HugePage);
            return Some(Buffer { memory: Memory::Pages(pages), bytes });
        }
        let layout = Layout::from_size_align(bytes, ALIGNED).ok()?;
        // SAFETY: the size is not 0.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        Some(Buffer { memory: Memory::Heap(start, layout), bytes })
    }

    /// How many bytes it has.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Grows to at least `bytes` bytes; what it held may be lost. For working memory, without which no kernel can go
    /// on: where there is none the program ends, as it does where a vector cannot grow.
    pub(super) fn reserve(&mut self, bytes: usize) {
        if self.bytes < bytes {
            *self = Buffer::new(bytes).unwrap_or_else(|| {
                handle_alloc_error(Layout::array::<u8>(bytes).unwrap_or(Layout::new::<u8>()))
            });
        }
    }

    /// Where it starts.
    pub(super) fn as_mut_ptr(&mut self) -> *mut u8 {
        match &mut self.memory {
            // No byte is there, but a slice of none may start there.
            Memory::None => std::ptr::without_provenance_mut(ALIGNED),
            Memory::Heap(start, _) => start.as_ptr(),
            Memory::Pages(pages) => pages.as_mut_ptr(),
        }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if let Memory::Heap(start, layout) = self.memory {
            // SAFETY: allocated with this layout.
            unsafe { dealloc(start.as_ptr(), layout) };
        }
    }
}

/// Buffers that threads work on or keep for later, in this process.
#[cfg(test)]
pub(super) static WORKING: std::sync::atomic::AtomicI64 = std::sync::atomic::AtomicI64::new(0);

thread_local! {
    /// Buffers of this thread that nobody uses now. A buffer goes back to the thread that took it, so there are never
    /// more of them than this thread has used at once: what works for another thread takes its own there.
    static SPARE: RefCell<Vec<Buffer>> = const { RefCell::new(Vec::new()) };
}

/// A buffer of the current thread, for as long as this lives; it stays on this thread. What it holds at first is
/// undefined.
pub(super) struct Scratch(Buffer, PhantomData<*mut u8>);

impl Scratch {
    /// A buffer that grows as it is reserved.
    pub(super) fn new() -> Scratch {
        let buffer = SPARE.with_borrow_mut(Vec::pop).unwrap_or_else(|| {
            #[cfg(test)]
            WORKING.fetch_add(1, Ordering::Relaxed);
            Buffer::default()
        });
        Scratch(buffer, PhantomData)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let buffer = std::mem::take(&mut self.0);
        // A thread that ends has no use for it any more.
        let _ = SPARE.try_with(|spare| spare.borrow_mut().push(buffer));
    }
}

impl std::ops::Deref for Scratch {
    type Target = Buffer;
    fn deref(&self) -> &Buffer {
        &self.0
    }
}

impl std::ops::DerefMut for Scratch {
    fn deref_mut(&mut self) -> &mut Buffer {
        &mut self.0
    }
}

/// A buffer bound to an argument of a kernel.
#[derive(Clone, Copy)]
pub(super) struct Arg {
    /// Where it starts. Only written through arguments that are written.
    pub(super) start: *mut u8,
    /// How many elements may be reached.
    pub(super) len: u64,
    /// Added to every position: what a part of a larger whole starts at.
    pub(super) shift: i64,
}

// SAFETY: an argument is read by many threads, or written by many, each its own elements: a validated kernel
// writes each element once and never reads what it writes.
unsafe impl Send for Arg {}
// SAFETY: as above.
unsafe impl Sync for Arg {}

/// An index that was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Trap {
    /// Which trap of the kernel.
    pub(super) trap: u32,
    /// Where: row-major over the coordinates of the body, 0 along those that the index does not follow.
    pub(super) position: u64,
    /// The index.
    pub(super) value: i64,
}

/// What goes wrong in a launch, from any of its threads.
#[derive(Default)]
pub(super) struct Report {
    trap: Mutex<Option<Trap>>,
    outside: AtomicBool,
}

impl Report {
    /// Notes a refused index; the first by position stays, then the first by number.
    pub(super) fn trapped(&self, trap: Trap) {
        let mut first = self.trap.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if first.is_none_or(|first| (trap.position, trap.trap) < (first.position, first.trap)) {
            *first = Some(trap);
        }
    }

    /// Notes an access outside of its buffer, which validation should have refused.
    pub(super) fn outside(&self) {
        self.outside.store(true, Ordering::Relaxed);
    }

    /// The first refused index.
    pub(super) fn first_trap(&self) -> Option<Trap> {
        *self.trap.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Whether an access fell outside of its buffer.
    pub(super) fn is_outside(&self) -> bool {
        self.outside.load(Ordering::Relaxed)
    }
}
