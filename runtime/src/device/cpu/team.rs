//! The threads that share a launch: the one that calls, and workers of rayon's pool.
//!
//! A launch of a small kernel takes some ten microseconds, as long as it takes to wake a thread. So a worker that has
//! come stays for a moment after its last task and looks for the next; and the caller takes tasks itself instead of
//! waiting, which also leaves as many busy threads as there are cores.
//!
//! One word of state orders everything: a count of jobs, whether the latest is open, and how many workers are inside of
//! it. A worker enters a job only by a compare-and-swap that sees it open; the caller closes it and waits until nobody
//! is inside, so no worker touches a job that is over.

use super::cores;
use std::any::Any;
use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

/// How long a worker looks for the next job before it goes.
const PATIENCE: Duration = Duration::from_micros(200);
/// Looks between two looks at the clock.
const LOOKS: u32 = 64;

/// Workers inside of the job, in the low half of the state.
const INSIDE: u64 = (1 << 31) - 1;
const OPEN: u64 = 1 << 31;
/// The count of jobs starts here.
const JOB: u64 = 1 << 32;
/// The caller is gone.
const OVER: u64 = u64::MAX;

/// Threads that work for one caller at a time.
pub(super) struct Team {
    threads: usize,
    /// What it has in common with its workers; nothing where there are none.
    shared: Option<Arc<Shared>>,
}

struct Shared {
    state: AtomicU64,
    /// The next task of the job to be taken.
    next: AtomicU64,
    job: UnsafeCell<Job>,
    /// Workers that have been asked for and have not gone again.
    workers: AtomicUsize,
    /// What a worker panicked with.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

// SAFETY: the job is written while it is closed and nobody is inside, and read by those inside only.
unsafe impl Sync for Shared {}

/// What is to be done: a task for each number below `tasks`.
#[derive(Clone, Copy)]
struct Job {
    run: unsafe fn(*const (), u64),
    context: *const (),
    tasks: u64,
    /// The core of the caller.
    core: Option<usize>,
}

// SAFETY: the context is a `Sync` closure.
unsafe impl Send for Job {}

impl Team {
    /// As many threads as rayon's pool has.
    pub(super) fn new() -> Team {
        Team::of(rayon::current_num_threads())
    }

    /// The calling thread alone.
    pub(super) fn alone() -> Team {
        Team { threads: 1, shared: None }
    }

    pub(super) fn of(threads: usize) -> Team {
        let nothing = Job { run: |_, _| (), context: std::ptr::null(), tasks: 0, core: None };
        let shared = Shared {
            state: AtomicU64::new(0),
            next: AtomicU64::new(0),
            job: UnsafeCell::new(nothing),
            workers: AtomicUsize::new(0),
            panic: Mutex::new(None),
        };
        Team { threads, shared: Some(Arc::new(shared)) }
    }

    /// How many threads there are, the caller's included.
    pub(super) fn threads(&self) -> usize {
        self.threads
    }

    /// Runs a task for each number below `tasks`, in no order.
    pub(super) fn each<F: Fn(u64) + Sync>(&mut self, tasks: u64, task: F) {
        let (Some(shared), 2.., 2..) = (&self.shared, self.threads, tasks) else {
            return (0..tasks).for_each(task);
        };
        /// SAFETY: `context` is an `F`.
        unsafe fn run<F: Fn(u64)>(context: *const (), at: u64) {
            // SAFETY: by the contract.
            unsafe { (*context.cast::<F>())(at) }
        }
        let job = Job { run: run::<F>, context: (&raw const task).cast(), tasks, core: cores::current() };
        shared.open(job);
        shared.gather((self.threads as u64 - 1).min(tasks - 1) as usize);
        // Closes the job also where a task panics: it borrows from this frame.
        let closing = Closing(shared);
        // SAFETY: the closure lives until the job is closed.
        unsafe { shared.take(job) };
        drop(closing);
        let panic = shared.panic.lock().unwrap_or_else(|e| e.into_inner()).take();
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
    }

    /// What `task` makes of each number below `tasks`, in their order.
    pub(super) fn map<R: Send + Sync>(&mut self, tasks: u64, task: impl Fn(u64) -> R + Sync) -> Vec<R> {
        let results: Vec<OnceLock<R>> = (0..tasks).map(|_| OnceLock::new()).collect();
        self.each(tasks, |at| {
            // A number is taken once, so no result is there yet.
            let _ = results[at as usize].set(task(at));
        });
        results.into_iter().filter_map(OnceLock::into_inner).collect()
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        if let Some(shared) = &self.shared {
            shared.state.store(OVER, Ordering::Release);
        }
    }
}

/// Closes the job when it goes.
struct Closing<'a>(&'a Shared);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.state.fetch_and(!OPEN, Ordering::SeqCst);
        let mut looks = 0u32;
        while self.0.state.load(Ordering::Acquire) & INSIDE != 0 {
            looks += 1;
            // A worker may have lost its core in the middle of a task.
            if looks.is_multiple_of(LOOKS * 16) { std::thread::yield_now() } else { std::hint::spin_loop() }
        }
    }
}

impl Shared {
    /// Offers a job; the one before is closed.
    fn open(&self, job: Job) {
        // SAFETY: no job is open and nobody is inside.
        unsafe { *self.job.get() = job };
        self.next.store(0, Ordering::Relaxed);
        let jobs = self.state.load(Ordering::Relaxed) / JOB + 1;
        // One that runs into `OVER` starts again, after some 2^32 launches.
        self.state.store((jobs % (JOB - 1) * JOB) | OPEN, Ordering::SeqCst);
    }

    /// Asks for workers until there are so many.
    fn gather(self: &Arc<Shared>, wanted: usize) {
        while self.workers.load(Ordering::Relaxed) < wanted {
            self.workers.fetch_add(1, Ordering::Relaxed);
            let shared = self.clone();
            rayon::spawn(move || shared.work());
        }
    }

    /// Takes tasks until there are none.
    ///
    /// SAFETY: the job is open, or its caller waits for this thread.
    unsafe fn take(&self, job: Job) {
        loop {
            let at = self.next.fetch_add(1, Ordering::Relaxed);
            if at >= job.tasks {
                return;
            }
            // SAFETY: by the contract; a number is taken once.
            unsafe { (job.run)(job.context, at) };
        }
    }

    /// A worker's time here.
    fn work(&self) {
        let (mut done, mut since, mut looks) = (0, Instant::now(), 0u32);
        loop {
            let state = self.state.load(Ordering::Acquire);
            if state == OVER {
                break;
            }
            if state & OPEN != 0 && state / JOB != done {
                let entered =
                    self.state.compare_exchange(state, state + 1, Ordering::SeqCst, Ordering::Relaxed);
                if entered.is_ok() {
                    done = state / JOB;
                    self.help();
                    since = Instant::now();
                }
                continue;
            }
            looks = looks.wrapping_add(1);
            if looks.is_multiple_of(LOOKS) && since.elapsed() > PATIENCE {
                break;
            }
            std::hint::spin_loop();
        }
        self.workers.fetch_sub(1, Ordering::Relaxed);
    }

    /// Works on the job entered, and leaves it.
    fn help(&self) {
        // SAFETY: the caller waits until this thread has left.
        let job = unsafe { *self.job.get() };
        cores::leave(job.core);
        // SAFETY: as above.
        let worked = catch_unwind(AssertUnwindSafe(|| unsafe { self.take(job) }));
        if let Err(panic) = worked {
            *self.panic.lock().unwrap_or_else(|e| e.into_inner()) = Some(panic);
        }
        self.state.fetch_sub(1, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    #[test]
    fn every_task_runs_once() {
        let mut team = Team::of(3);
        for tasks in (0..200).chain([10_000]) {
            let runs: Vec<AtomicU32> = (0..tasks).map(|_| AtomicU32::new(0)).collect();
            team.each(tasks, |at| {
                runs[at as usize].fetch_add(1, Ordering::Relaxed);
            });
            assert!(runs.iter().all(|runs| runs.load(Ordering::Relaxed) == 1), "{tasks} tasks");
        }
    }

    #[test]
    fn teams_of_several_callers_do_not_wait_for_one_another() {
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let mut team = Team::of(4);
                    for round in 0..500u64 {
                        let sum = AtomicU64::new(0);
                        team.each(round, |at| {
                            sum.fetch_add(at, Ordering::Relaxed);
                        });
                        assert_eq!(sum.into_inner(), round * round.saturating_sub(1) / 2);
                    }
                });
            }
        });
    }

    #[test]
    fn a_panic_reaches_the_caller_and_the_team_goes_on() {
        let mut team = Team::of(2);
        for wrong in 0..20 {
            let caught = catch_unwind(AssertUnwindSafe(|| team.each(20, |at| assert_ne!(at, wrong))));
            assert!(caught.is_err());
        }
        let count = AtomicU64::new(0);
        team.each(20, |_| {
            count.fetch_add(1, Ordering::Relaxed);
        });
        assert_eq!(count.into_inner(), 20);
    }
}
