//! Threads that evaluate leaves of batches while the search collects the next one.
//!
//! Results do not depend on the threads: a job is a share of one batch, and its results go back to their
//! places. The search's own thread helps while it waits. Jobs own what they need, so an abandoned batch never
//! blocks the next one. A panic of an evaluator, in whichever thread, becomes a panic of the search that
//! waits for the batch: it does not depend on the number of threads.

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use crate::evaluators::{Evaluator, Leaf};
use crate::game::Game;
use crate::search::wave::{Crew, Work};
use crate::search::{Evaluated, EvaluationScratch, Ranking};

/// A leaf on its way through a thread, with its place in the batch.
pub struct Task<G> {
    /// Index of the evaluation within its batch.
    pub place: usize,
    /// The position.
    pub leaf: Box<Leaf<G>>,
    /// Room for the result.
    pub result: Evaluated,
}

/// Leaves to evaluate.
struct Share<G> {
    tasks: Vec<Task<G>>,
    evaluator: Arc<dyn Evaluator<G>>,
    ranking: Ranking,
    flight: Arc<Flight<G>>,
}

enum Job<G> {
    Evaluate(Share<G>),
    /// The search's own work: it waits for that, so it comes before evaluations.
    Help(Arc<dyn Work>),
}

/// A batch under way.
pub struct Flight<G> {
    done: Mutex<Vec<Task<G>>>,
    missing: AtomicUsize,
    cancel: Arc<AtomicBool>,
    /// What an evaluator panicked with.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

struct Shared<G> {
    queue: Mutex<VecDeque<Job<G>>>,
    waiting_jobs: AtomicUsize,
    wake: Condvar,
    quit: AtomicBool,
}

/// The threads. With none, the caller evaluates when it waits for the result.
pub struct Pool<G: Game> {
    shared: Arc<Shared<G>>,
    workers: Vec<JoinHandle<()>>,
    scratch: EvaluationScratch,
}

const SPINS: u32 = 4000;

fn run_job<G: Game>(job: Job<G>, scratch: &mut EvaluationScratch) {
    let Share { mut tasks, evaluator, ranking, flight } = match job {
        Job::Evaluate(share) => share,
        Job::Help(work) => return work.work(),
    };
    // The scratch holds nothing between two evaluations, and the tasks of a flight that failed are never
    // read.
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        for task in &mut tasks {
            if flight.cancel.load(Ordering::Relaxed) {
                break;
            }
            ranking.evaluate(&*evaluator, &task.leaf, scratch, &mut task.result, &flight.cancel);
        }
    }));
    if let Err(payload) = outcome {
        *lock(&flight.panic) = Some(payload);
    }
    let count = tasks.len();
    lock(&flight.done).append(&mut tasks);
    flight.missing.fetch_sub(count, Ordering::Release);
}

impl<G: Game> Shared<G> {
    fn take(&self) -> Option<Job<G>> {
        if self.waiting_jobs.load(Ordering::Acquire) == 0 {
            return None;
        }
        let job = lock(&self.queue).pop_front();
        if job.is_some() {
            self.waiting_jobs.fetch_sub(1, Ordering::AcqRel);
        }
        job
    }

    fn work(&self) {
        let mut scratch = EvaluationScratch::default();
        let mut spins = 0;
        while !self.quit.load(Ordering::Relaxed) {
            if let Some(job) = self.take() {
                run_job(job, &mut scratch);
                spins = 0;
            } else if spins < SPINS {
                spins += 1;
                std::hint::spin_loop();
            } else {
                let queue = lock(&self.queue);
                if queue.is_empty() && !self.quit.load(Ordering::Relaxed) {
                    drop(self.wake.wait(queue).unwrap_or_else(PoisonError::into_inner));
                }
                spins = 0;
            }
        }
    }
}

impl<G: Game> Pool<G> {
    /// A pool that makes `threads` threads in all, the caller's included.
    pub fn new(threads: usize) -> Pool<G> {
        let shared = Arc::new(Shared {
            queue: Mutex::new(VecDeque::new()),
            waiting_jobs: AtomicUsize::new(0),
            wake: Condvar::new(),
            quit: AtomicBool::new(false),
        });
        let workers = (1..threads)
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
        tasks: Vec<Task<G>>,
        evaluator: &Arc<dyn Evaluator<G>>,
        ranking: Ranking,
        cancel: &Arc<AtomicBool>,
    ) -> Arc<Flight<G>> {
        let flight = Arc::new(Flight {
            done: Mutex::new(Vec::with_capacity(tasks.len())),
            missing: AtomicUsize::new(tasks.len()),
            cancel: Arc::clone(cancel),
            panic: Mutex::new(None),
        });
        let share = tasks.len().div_ceil(self.threads() * if self.workers.is_empty() { 1 } else { 3 }).max(1);
        let mut jobs = Vec::new();
        let mut rest = tasks.into_iter().peekable();
        while rest.peek().is_some() {
            jobs.push(Job::Evaluate(Share {
                tasks: rest.by_ref().take(share).collect(),
                evaluator: Arc::clone(evaluator),
                ranking: ranking.clone(),
                flight: Arc::clone(&flight),
            }));
        }
        let mut queue = lock(&self.shared.queue);
        self.shared.waiting_jobs.fetch_add(jobs.len(), Ordering::AcqRel);
        queue.extend(jobs);
        drop(queue);
        if !self.workers.is_empty() {
            self.shared.wake.notify_all();
        }
        flight
    }

    /// Waits for a batch, helping; its tasks in the order of their places, or `None` when the search was
    /// cancelled. Panics as the evaluator did.
    pub fn land(&mut self, flight: &Arc<Flight<G>>) -> Option<Vec<Task<G>>> {
        let mut spins = 0u32;
        while flight.missing.load(Ordering::Acquire) > 0 {
            if flight.cancel.load(Ordering::Relaxed) {
                return None;
            }
            if let Some(job) = self.shared.take() {
                run_job(job, &mut self.scratch);
                spins = 0;
            } else if spins < SPINS {
                spins += 1;
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
        let panic = lock(&flight.panic).take();
        if let Some(payload) = panic {
            self.clear();
            resume_unwind(payload);
        }
        if flight.cancel.load(Ordering::Relaxed) {
            return None;
        }
        let mut tasks = std::mem::take(&mut *lock(&flight.done));
        tasks.sort_unstable_by_key(|task| task.place);
        Some(tasks)
    }

    /// Removes all jobs that no thread has begun.
    pub fn clear(&mut self) {
        let mut queue = lock(&self.shared.queue);
        self.shared.waiting_jobs.fetch_sub(queue.len(), Ordering::AcqRel);
        queue.clear();
    }
}

impl<G: Game> Crew for Pool<G> {
    fn threads(&self) -> usize {
        self.workers.len() + 1
    }

    fn work(&mut self, work: Arc<dyn Work>) {
        let helpers = self.workers.len();
        let mut queue = lock(&self.shared.queue);
        for _ in 0..helpers {
            queue.push_front(Job::Help(Arc::clone(&work)));
        }
        self.shared.waiting_jobs.fetch_add(helpers, Ordering::AcqRel);
        drop(queue);
        self.shared.wake.notify_all();
        work.work();
        // Who has not begun need not come any more; who has is waited for by the owner of the work.
        let mut queue = lock(&self.shared.queue);
        let before = queue.len();
        queue.retain(|job| !matches!(job, Job::Help(_)));
        self.shared.waiting_jobs.fetch_sub(before - queue.len(), Ordering::AcqRel);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<G: Game> Drop for Pool<G> {
    fn drop(&mut self) {
        self.shared.quit.store(true, Ordering::Relaxed);
        {
            let _queue = lock(&self.shared.queue);
            self.shared.wake.notify_all();
        }
        for worker in self.workers.drain(..) {
            let _ = worker.join();
        }
    }
}
