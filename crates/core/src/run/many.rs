//! Many searches at once with an evaluator of the core: threads that take jobs in order, each with one search
//! at a time.
//!
//! Outcomes come in any order. A stop ends the searches under way without an outcome, and no other begins.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::any::{AnySession, with_session};
use super::drive::Finish;
use super::errors::SessionError;
use super::job::{Found, Job, Order, Outcome, conclude, open_beside_others};
use super::session::panic_message;

/// How late a search may notice a stop, or its time, while it evaluates.
const SLICE: Duration = Duration::from_millis(5);

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    closed: bool,
}

/// The search of one thread.
struct Seat {
    /// Ends the search.
    stop: Arc<AtomicBool>,
    deadline: Mutex<Option<Instant>>,
}

struct Shared {
    queue: Mutex<Queue>,
    wake: Condvar,
    pattern: AnySession,
    order: Order,
    stop: Arc<AtomicBool>,
    seats: Vec<Seat>,
}

/// The threads.
pub struct Many {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    outcomes: Receiver<Outcome>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    /// The next job; `None` when there will be no more.
    fn take(&self) -> Option<Job> {
        let mut queue = lock(&self.queue);
        loop {
            if queue.closed || self.stop.load(Ordering::Relaxed) {
                return None;
            }
            if let Some(job) = queue.jobs.pop_front() {
                return Some(job);
            }
            queue = self.wake.wait_timeout(queue, SLICE).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Searches the position of a job; `None` after a stop.
    fn search(&self, seat: &Seat, any: &mut AnySession, job: &Job) -> Result<Option<Found>, SessionError> {
        with_session!(&mut *any, session => session.start_at(job.fen.as_deref(), &job.moves))?;
        let Order { limits, root_moves, lines } = &self.order;
        let begun = Instant::now();
        seat.stop.store(self.stop.load(Ordering::Relaxed), Ordering::Relaxed);
        *lock(&seat.deadline) = limits.time.and_then(|time| begun.checked_add(time));
        let run = with_session!(&mut *any, session => session.run(*limits, root_moves, &seat.stop, None));
        *lock(&seat.deadline) = None;
        let finish = match run? {
            Finish::Stopped if self.stop.load(Ordering::Relaxed) => return Ok(None),
            Finish::Stopped => Finish::Time,
            finish => finish,
        };
        Ok(Some(conclude(any, *lines, finish, begun.elapsed())))
    }

    fn work(&self, seat: &Seat, outcomes: &Sender<Outcome>) {
        let mut session = None;
        while let Some(job) = self.take() {
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                let any = match &mut session {
                    Some(any) => any,
                    none => none.insert(open_beside_others(&self.pattern)?),
                };
                self.search(seat, any, &job)
            }));
            let found = outcome.unwrap_or_else(|payload| {
                session = None; // nothing that a panic may have left half done is used again
                Err(SessionError::Fault(panic_message(&*payload)))
            });
            let Some(outcome) = found.transpose() else { return };
            if outcomes.send((job.number, outcome)).is_err() {
                return;
            }
        }
    }

    /// Stops searches at their deadlines, and all of them when they are to end.
    fn keep_time(&self) {
        loop {
            std::thread::sleep(SLICE);
            let ends = self.stop.load(Ordering::Relaxed);
            for seat in &self.seats {
                if ends || lock(&seat.deadline).is_some_and(|deadline| Instant::now() >= deadline) {
                    seat.stop.store(true, Ordering::Relaxed);
                }
            }
            if lock(&self.queue).closed {
                return;
            }
        }
    }
}

impl Many {
    /// Threads for searches like those of `pattern`. `stop` ends them all.
    pub fn new(
        pattern: &AnySession,
        order: Order,
        threads: usize,
        stop: &Arc<AtomicBool>,
    ) -> Result<Many, SessionError> {
        // Without a time limit nothing but the stop ends a search from outside.
        let own_flag = || if order.limits.time.is_some() { Arc::default() } else { Arc::clone(stop) };
        let seats = (0..threads).map(|_| Seat { stop: own_flag(), deadline: Mutex::default() }).collect();
        let shared = Arc::new(Shared {
            queue: Mutex::default(),
            wake: Condvar::new(),
            pattern: open_beside_others(pattern)?,
            order,
            stop: Arc::clone(stop),
            seats,
        });
        let (sender, outcomes) = channel();
        let mut handles: Vec<_> = (0..threads)
            .map(|number| {
                let (shared, sender) = (Arc::clone(&shared), sender.clone());
                std::thread::spawn(move || shared.work(&shared.seats[number], &sender))
            })
            .collect();
        if shared.order.limits.time.is_some() {
            let shared = Arc::clone(&shared);
            handles.push(std::thread::spawn(move || shared.keep_time()));
        }
        Ok(Many { shared, threads: handles, outcomes })
    }

    /// Gives out a job.
    pub fn add(&self, job: Job) {
        lock(&self.shared.queue).jobs.push_back(job);
        self.shared.wake.notify_one();
    }

    /// The outcomes that have come; waits so long for the first one.
    pub fn outcomes(&self, wait: Duration) -> Vec<Outcome> {
        match self.outcomes.recv_timeout(wait) {
            Ok(first) => std::iter::once(first).chain(self.outcomes.try_iter()).collect(),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Vec::new(),
        }
    }
}

impl Drop for Many {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        for seat in &self.shared.seats {
            seat.stop.store(true, Ordering::Relaxed);
        }
        lock(&self.shared.queue).closed = true;
        self.shared.wake.notify_all();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
