//! Errors of games written in Python: kept until the call of the core has come back, while the search is
//! stopped.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use pyo3::PyErr;

/// The errors of a game since they were last asked for.
pub struct Faults {
    first: Mutex<Option<PyErr>>,
    count: AtomicU64,
    stop: Arc<AtomicBool>,
}

impl Faults {
    /// None yet. An error sets the flag.
    pub fn new(stop: &Arc<AtomicBool>) -> Faults {
        Faults { first: Mutex::new(None), count: AtomicU64::new(0), stop: Arc::clone(stop) }
    }

    /// The first error since the last call of this, if there was one.
    pub fn take(&self) -> Option<PyErr> {
        self.first.lock().ok()?.take()
    }

    /// Takes note of an error.
    pub fn fail(&self, error: PyErr) {
        self.stop.store(true, Ordering::Relaxed);
        self.count.fetch_add(1, Ordering::Relaxed);
        if let Ok(mut first) = self.first.lock() {
            first.get_or_insert(error);
        }
    }

    /// How many there were in all.
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }
}
