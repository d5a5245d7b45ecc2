//! When the searches for mates inside a search have to end: at its stop flag or its deadline.
//!
//! They run between two looks of the loop at its limits, and may be long.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// How long the work goes on that a search does after its end: the check of the move to play, and the proof
/// of the root.
const GRACE: Duration = Duration::from_millis(5);

/// The end of a search, as its parts see it.
#[derive(Clone, Debug, Default)]
pub(super) struct Halt {
    stop: Arc<AtomicBool>,
    deadline: Option<Instant>,
    /// When the end was seen first.
    since: Arc<OnceLock<Instant>>,
}

impl Halt {
    pub fn new(stop: &Arc<AtomicBool>, deadline: Option<Instant>) -> Halt {
        Halt { stop: Arc::clone(stop), deadline, since: Arc::default() }
    }

    /// Whether the search has to end.
    pub fn is_due(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Whether it had to end some milliseconds ago: then the work after its end is given up too.
    pub fn is_overdue(&self) -> bool {
        self.is_due() && self.since.get_or_init(Instant::now).elapsed() >= GRACE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_and_a_deadline_are_seen_and_the_end_comes_a_little_later() {
        let stop = Arc::new(AtomicBool::new(false));
        let halt = Halt::new(&stop, None);
        assert!(!halt.is_due() && !halt.is_overdue());
        stop.store(true, Ordering::Relaxed);
        assert!(halt.is_due() && !halt.is_overdue());
        std::thread::sleep(GRACE);
        assert!(halt.is_overdue());
        let past = Halt::new(&Arc::default(), Instant::now().checked_sub(GRACE));
        assert!(past.is_due());
        let future = Halt::new(&Arc::default(), Instant::now().checked_add(Duration::from_secs(60)));
        assert!(!future.is_due() && !future.is_overdue());
    }
}
