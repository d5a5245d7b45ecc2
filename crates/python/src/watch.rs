//! Long work of the core in a worker thread, while the calling thread serves Python: signals, progress,
//! deadline.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use pyo3::prelude::*;

use crate::errors;

/// How long a signal may wait for the interpreter.
const SLICE: Duration = Duration::from_millis(5);

enum Message<T, R> {
    Report(R),
    Done(T),
}

/// What came of the work, and whether it was the deadline that stopped it.
pub struct Watched<T> {
    /// What the work returned; `None` when it panicked.
    pub outcome: Option<T>,
    /// The stop flag was set because the time was up.
    pub timed_out: bool,
    /// The exception of a signal handler or the callback.
    pub raised: PyResult<()>,
}

/// Runs `work` without the interpreter lock. Sets `stop` at the deadline, when a signal handler raises and
/// when `callback` does; returns when the work has ended.
pub fn watch<T: Send, R: Send>(
    py: Python<'_>,
    stop: &AtomicBool,
    deadline: Option<Instant>,
    callback: &(dyn Fn(Python<'_>, R) -> PyResult<()> + Sync),
    work: impl FnOnce(&mut dyn FnMut(R) -> bool) -> T + Send,
) -> Watched<T> {
    py.detach(|| {
        let (sender, receiver) = sync_channel(1);
        std::thread::scope(|scope| {
            let worker = scope.spawn(move || {
                // The work never waits: where the channel is full, the report is not accepted.
                let reports: &SyncSender<Message<T, R>> = &sender;
                let result = work(&mut |report| reports.try_send(Message::Report(report)).is_ok());
                drop(sender.send(Message::Done(result)));
            });
            let mut watched = Watched { outcome: None, timed_out: false, raised: Ok(()) };
            let mut deadline = deadline;
            loop {
                let wait =
                    deadline.map_or(SLICE, |end| SLICE.min(end.saturating_duration_since(Instant::now())));
                let message = receiver.recv_timeout(wait);
                if deadline.is_some_and(|end| Instant::now() >= end) {
                    deadline = None;
                    watched.timed_out = !stop.swap(true, Ordering::Relaxed);
                }
                let raised = match message {
                    Ok(Message::Done(result)) => {
                        watched.outcome = Some(result);
                        break;
                    }
                    Ok(Message::Report(report)) if watched.raised.is_ok() => {
                        Python::attach(|py| callback(py, report))
                    }
                    Ok(Message::Report(_)) => Ok(()),
                    Err(RecvTimeoutError::Timeout) => Python::attach(|py| py.check_signals()),
                    Err(RecvTimeoutError::Disconnected) => break,
                };
                if raised.is_err() {
                    stop.store(true, Ordering::Relaxed);
                    if watched.raised.is_ok() {
                        watched.raised = raised;
                    }
                }
            }
            if worker.join().is_err() {
                watched.outcome = None;
            }
            watched
        })
    })
}

impl<T> Watched<T> {
    /// The outcome, or what was raised; a panic calls `repair`.
    pub fn settle(self, repair: impl FnOnce()) -> PyResult<(T, bool)> {
        let Some(outcome) = self.outcome else {
            repair();
            return Err(errors::internal("it panicked"));
        };
        self.raised?;
        Ok((outcome, self.timed_out))
    }
}
