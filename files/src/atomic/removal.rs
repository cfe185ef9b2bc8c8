//! Removes temporary files when a signal stops the process.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once};

/// The temporary files there are.
static FILES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Stands for a temporary file that a signal removes, for as long as this lives.
pub(super) struct Removal(PathBuf);

impl Removal {
    /// From now on a signal that stops the process removes the file first.
    pub(super) fn of(path: &Path) -> Removal {
        static WATCH: Once = Once::new();
        WATCH.call_once(watch);
        // The process may change its folder.
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        files().push(path.clone());
        Removal(path)
    }
}

impl Drop for Removal {
    fn drop(&mut self) {
        let mut files = files();
        if let Some(at) = files.iter().position(|path| *path == self.0) {
            files.swap_remove(at);
        }
    }
}

fn files() -> std::sync::MutexGuard<'static, Vec<PathBuf>> {
    FILES.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Starts a thread that waits for signals, removes the files, and then does what the system would have done. Where
/// there is no such thread signals have their usual effect, and the files stay.
fn watch() {
    let (ready, watching) = std::sync::mpsc::sync_channel(1);
    let waiting = move || {
        let Ok(mut signals) = Signals::new([SIGHUP, SIGINT, SIGTERM]) else { return };
        // Whoever waits for this is there until it comes.
        let _ = ready.send(());
        for signal in signals.forever() {
            for path in files().drain(..) {
                // Nobody is left to be told of a file that cannot be removed.
                let _ = std::fs::remove_file(path);
            }
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    };
    if std::thread::Builder::new().name("sx-signals".to_owned()).spawn(waiting).is_ok() {
        // An error says that the thread has ended.
        let _ = watching.recv();
    }
}
