//! Threads that help a search: with the evaluation of batches in flight, and with its own work.
//!
//! The search asks for help only when the leaves in flight will not last until it is done alone. Then its own
//! work comes first, because it waits for that.
//!
//! No more threads are awake than there are cores; the others sleep until they are needed. A thread that
//! finds nothing to do looks for a moment longer, because a search has work for it every few microseconds,
//! and then sleeps.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use crate::evaluators::Evaluator;
use crate::game::Game;
use crate::run::flight::{Flight, Task, lock};
use crate::search::wave::{Crew, Work};
use crate::search::{EvaluationScratch, Ranking};

/// How often a thread looks for work before it sleeps, and a search for results before it lets others run.
const SPINS: u32 = 4000;

/// A wave is shared when it has more than this many visits per leaf that nobody has taken, and helper. So
/// many visits take as long as two evaluations: the threads have to meet for it.
const VISITS_PER_LEAF: usize = 6;

/// Leaves of a batch for which a sleeping thread is called; fewer are evaluated by who is awake.
const LEAST_CALLED: usize = 3;

/// What is to be done. Only the search's own thread adds to it.
struct Agenda<G> {
    /// The search's own work.
    help: Option<Arc<dyn Work>>,
    /// Batches with leaves that nobody has taken, the oldest first.
    flights: VecDeque<Arc<Flight<G>>>,
    asleep: usize,
    /// Sleeping threads that were called, and have not come yet.
    called: usize,
}

struct Shared<G> {
    agenda: Mutex<Agenda<G>>,
    wake: Condvar,
    /// Entries of the agenda.
    entries: AtomicUsize,
    needs_help: AtomicBool,
    quit: AtomicBool,
    /// Workers that may be awake.
    most_awake: usize,
    spins: u32,
}

/// The threads. With none, the caller evaluates when it waits for the result.
pub struct Pool<G: Game> {
    shared: Arc<Shared<G>>,
    workers: Vec<JoinHandle<()>>,
    scratch: EvaluationScratch,
}

/// What a thread does next.
enum Job<G> {
    Evaluate(Arc<Flight<G>>),
    Help(Arc<dyn Work>),
}

impl<G: Game> Shared<G> {
    fn take(&self) -> Option<Job<G>> {
        if self.entries.load(Ordering::Acquire) == 0 {
            return None;
        }
        let mut agenda = lock(&self.agenda);
        if let Some(work) = &agenda.help {
            return Some(Job::Help(Arc::clone(work)));
        }
        while agenda.flights.front().is_some_and(|flight| flight.untaken() == 0) {
            agenda.flights.pop_front();
        }
        self.count(&agenda);
        agenda.flights.front().map(|flight| Job::Evaluate(Arc::clone(flight)))
    }

    fn count(&self, agenda: &Agenda<G>) {
        let entries = agenda.flights.len() + usize::from(agenda.help.is_some());
        self.entries.store(entries, Ordering::Release);
        self.needs_help.store(agenda.help.is_some(), Ordering::Release);
    }

    /// The life of a thread.
    fn work(&self) {
        let mut scratch = EvaluationScratch::default();
        self.sleep(lock(&self.agenda));
        let mut spins = 0;
        while !self.quit.load(Ordering::Relaxed) {
            match self.take() {
                Some(Job::Help(work)) => {
                    work.work();
                    self.withdraw(&work);
                    spins = 0;
                }
                Some(Job::Evaluate(flight)) => {
                    while flight.evaluate_next(true, &mut scratch) && !self.needs_help.load(Ordering::Relaxed)
                    {
                    }
                    spins = 0;
                }
                None if spins < self.spins => {
                    spins += 1;
                    std::hint::spin_loop();
                }
                None => {
                    let mut agenda = lock(&self.agenda);
                    if agenda.help.is_none() && agenda.flights.is_empty() {
                        agenda.asleep += 1;
                        self.sleep(agenda);
                    }
                    spins = 0;
                }
            }
        }
    }

    /// Sleeps until this or another sleeping thread is called; it is counted as asleep already.
    fn sleep(&self, mut agenda: MutexGuard<'_, Agenda<G>>) {
        while agenda.called == 0 && !self.quit.load(Ordering::Relaxed) {
            agenda = self.wake.wait(agenda).unwrap_or_else(PoisonError::into_inner);
        }
        agenda.called = agenda.called.saturating_sub(1);
        agenda.asleep -= 1;
    }

    /// Takes work from the agenda of which nothing is left to begin.
    fn withdraw(&self, work: &Arc<dyn Work>) {
        let mut agenda = lock(&self.agenda);
        if agenda.help.as_ref().is_some_and(|known| Arc::ptr_eq(known, work)) {
            agenda.help = None;
            self.count(&agenda);
        }
    }

    /// Changes the agenda, and calls sleeping threads until `wanted` are awake.
    fn change(&self, workers: usize, wanted: usize, change: impl FnOnce(&mut Agenda<G>)) {
        let mut agenda = lock(&self.agenda);
        change(&mut agenda);
        self.count(&agenda);
        let awake = workers - agenda.asleep + agenda.called;
        let calls = wanted.min(self.most_awake).saturating_sub(awake);
        agenda.called += calls;
        drop(agenda);
        for _ in 0..calls {
            self.wake.notify_one();
        }
    }
}

impl<G: Game> Pool<G> {
    /// A pool that makes `threads` threads in all, the caller's included.
    pub fn new(threads: usize) -> Pool<G> {
        let workers = threads.saturating_sub(1);
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let agenda = Agenda { help: None, flights: VecDeque::new(), asleep: workers, called: 0 };
        let shared = Arc::new(Shared {
            agenda: Mutex::new(agenda),
            wake: Condvar::new(),
            entries: AtomicUsize::new(0),
            needs_help: AtomicBool::new(false),
            quit: AtomicBool::new(false),
            most_awake: workers.min(cores.saturating_sub(1).max(1)),
            spins: if cores > 1 { SPINS } else { 0 },
        });
        let workers = (0..workers)
            .map(|_| {
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || shared.work())
            })
            .collect();
        Pool { shared, workers, scratch: EvaluationScratch::default() }
    }

    /// Number of threads, the caller's included.
    pub fn threads(&self) -> usize {
        self.workers.len() + 1
    }

    /// Sends the leaves of a batch off to be evaluated.
    pub fn launch(
        &mut self,
        tasks: impl Iterator<Item = Task<G>>,
        evaluator: &Arc<dyn Evaluator<G>>,
        ranking: Ranking,
        cancel: &Arc<AtomicBool>,
    ) -> Arc<Flight<G>> {
        let flight = Arc::new(Flight::new(tasks, evaluator, ranking, cancel));
        let wanted = if flight.leaves() < LEAST_CALLED { 0 } else { flight.leaves() };
        let entry = Arc::clone(&flight);
        self.shared.change(self.workers.len(), wanted, |agenda| agenda.flights.push_back(entry));
        flight
    }

    /// Waits for a batch, helping; its tasks in their order, or `None` when the search was cancelled. Panics
    /// as the evaluator did.
    pub fn land(&mut self, flight: &Flight<G>) -> Option<Vec<Task<G>>> {
        let mut spins = 0u32;
        while !flight.has_landed() {
            if flight.is_cancelled() {
                return None;
            }
            // Who finds all leaves taken must not write where the others count.
            let is_done = flight.untaken() > 0 && flight.evaluate_next(false, &mut self.scratch);
            if is_done || self.evaluate_another() {
                spins = 0;
            } else if spins < self.shared.spins {
                spins += 1;
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
        if flight.has_failed() {
            self.clear();
        }
        let tasks = flight.take_tasks();
        (!flight.is_cancelled()).then_some(tasks)
    }

    /// Evaluates a leaf of whatever batch has one.
    fn evaluate_another(&mut self) -> bool {
        match self.shared.take() {
            Some(Job::Evaluate(flight)) => flight.evaluate_next(false, &mut self.scratch),
            _ => false,
        }
    }

    /// Removes all batches from the agenda.
    pub fn clear(&mut self) {
        self.shared.change(self.workers.len(), 0, |agenda| agenda.flights.clear());
    }
}

impl<G: Game> Crew for Pool<G> {
    fn threads(&self) -> usize {
        Pool::threads(self)
    }

    fn is_free(&self, visits: u32) -> bool {
        let helpers = self.workers.len().min(self.shared.most_awake);
        let leaves: usize = lock(&self.shared.agenda).flights.iter().map(|flight| flight.untaken()).sum();
        VISITS_PER_LEAF * leaves < helpers * visits as usize
    }

    fn work(&mut self, work: Arc<dyn Work>) {
        let entry = Arc::clone(&work);
        self.shared
            .change(self.workers.len(), work.parts().saturating_sub(1), |agenda| agenda.help = Some(entry));
        work.work();
        // Who has not begun need not come any more; who has is waited for by the owner of the work.
        self.shared.withdraw(&work);
    }

    fn pass_time(&mut self) -> bool {
        self.evaluate_another()
    }
}

impl<G: Game> Drop for Pool<G> {
    fn drop(&mut self) {
        self.shared.quit.store(true, Ordering::Relaxed);
        {
            let _agenda = lock(&self.shared.agenda);
            self.shared.wake.notify_all();
        }
        for worker in self.workers.drain(..) {
            let _ = worker.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::thread::ThreadId;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::games::grid::TicTacToe;

    /// Parts that take a millisecond each; takes note of who did them.
    #[derive(Default)]
    struct Slow {
        begun: AtomicUsize,
        hands: Mutex<HashSet<ThreadId>>,
    }

    impl Work for Slow {
        fn parts(&self) -> usize {
            60
        }

        fn work(&self) {
            while self.begun.fetch_add(1, Ordering::Relaxed) < self.parts() {
                lock(&self.hands).insert(std::thread::current().id());
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }

    #[test]
    fn threads_beyond_the_cores_stay_asleep_and_idle_ones_fall_asleep() {
        let mut pool = Pool::<TicTacToe>::new(40);
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let work = Arc::new(Slow::default());
        pool.work(Arc::clone(&work) as Arc<dyn Work>);
        assert!(lock(&work.hands).len() <= cores.max(2));
        let begun = Instant::now();
        while lock(&pool.shared.agenda).asleep < pool.workers.len() {
            assert!(begun.elapsed() < Duration::from_secs(60), "a thread without work does not sleep");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
