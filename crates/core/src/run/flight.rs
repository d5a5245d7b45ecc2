//! A batch under way: its leaves in chunks, which threads take one after another and evaluate in place.
//!
//! Results do not depend on the threads. A flight owns what it needs, so an abandoned one never blocks the
//! next. A panic of an evaluator, in any thread, becomes a panic of the search that waits for the batch:
//! it does not depend on the number of threads.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::evaluators::{Evaluator, Leaf};
use crate::game::Game;
use crate::search::{Evaluated, EvaluationScratch, Ranking};

/// Most leaves of a chunk: who takes one is not free for other work before its end.
const LARGEST_CHUNK: usize = 4;
/// Chunks for each thread, at least, where there are leaves enough.
const CHUNKS_PER_THREAD: usize = 4;

/// A leaf on its way through a thread.
pub struct Task<G> {
    /// The position.
    pub leaf: Box<Leaf<G>>,
    /// Room for the result.
    pub result: Evaluated,
}

/// A batch under way.
pub struct Flight<G> {
    /// Who takes a chunk has it to itself.
    chunks: Vec<Mutex<Vec<Task<G>>>>,
    next: AtomicUsize,
    missing: AtomicUsize,
    evaluator: Arc<dyn Evaluator<G>>,
    ranking: Ranking,
    cancel: Arc<AtomicBool>,
    /// What an evaluator panicked with.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl<G: Game> Flight<G> {
    /// The leaves of a batch, cut for so many threads.
    pub fn new(
        tasks: Vec<Task<G>>,
        threads: usize,
        evaluator: &Arc<dyn Evaluator<G>>,
        ranking: Ranking,
        cancel: &Arc<AtomicBool>,
    ) -> Flight<G> {
        let missing = tasks.len();
        let size = (missing / (threads * CHUNKS_PER_THREAD)).clamp(1, LARGEST_CHUNK);
        let mut chunks = Vec::with_capacity(missing.div_ceil(size));
        let mut rest = tasks.into_iter().peekable();
        while rest.peek().is_some() {
            chunks.push(Mutex::new(rest.by_ref().take(size).collect()));
        }
        Flight {
            chunks,
            next: AtomicUsize::new(0),
            missing: AtomicUsize::new(missing),
            evaluator: Arc::clone(evaluator),
            ranking,
            cancel: Arc::clone(cancel),
            panic: Mutex::new(None),
        }
    }

    /// Whether every chunk is taken.
    pub fn is_taken(&self) -> bool {
        self.next.load(Ordering::Relaxed) >= self.chunks.len()
    }

    /// Whether every leaf has its result, or never will.
    pub fn has_landed(&self) -> bool {
        self.missing.load(Ordering::Acquire) == 0
    }

    /// Whether the search was stopped.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// Evaluates the next chunk; false when there is none.
    pub fn evaluate_chunk(&self, scratch: &mut EvaluationScratch) -> bool {
        let Some(chunk) = self.chunks.get(self.next.fetch_add(1, Ordering::Relaxed)) else { return false };
        let mut tasks = lock(chunk);
        // The scratch holds nothing between two evaluations, and the tasks of a flight that failed are never
        // read.
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            for task in tasks.iter_mut() {
                if self.is_cancelled() {
                    break;
                }
                self.ranking.evaluate(&*self.evaluator, &task.leaf, scratch, &mut task.result, &self.cancel);
            }
        }));
        if let Err(payload) = outcome {
            *lock(&self.panic) = Some(payload);
        }
        let count = tasks.len();
        drop(tasks);
        self.missing.fetch_sub(count, Ordering::Release);
        true
    }

    /// Whether an evaluator has panicked.
    pub fn has_failed(&self) -> bool {
        lock(&self.panic).is_some()
    }

    /// The tasks of a flight that has landed, in their order. Panics as the evaluator did.
    pub fn take_tasks(&self) -> Vec<Task<G>> {
        let panic = lock(&self.panic).take();
        if let Some(payload) = panic {
            resume_unwind(payload);
        }
        self.chunks.iter().flat_map(|chunk| std::mem::take(&mut *lock(chunk))).collect()
    }
}

/// Locks what no panic can leave half done.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
