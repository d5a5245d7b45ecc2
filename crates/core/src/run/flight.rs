//! A batch under way: its leaves, which threads take one after another and evaluate in place.
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

/// A leaf on its way through a thread.
pub struct Task<G> {
    /// The position.
    pub leaf: Box<Leaf<G>>,
    /// Room for the result.
    pub result: Evaluated,
}

/// The place of a task. Neighbours are in other threads' hands, so each has cache lines of its own.
#[repr(align(64))]
struct Place<G>(Mutex<Option<Task<G>>>);

/// A batch under way.
pub struct Flight<G> {
    /// Who takes a task has it to itself.
    places: Vec<Place<G>>,
    next: AtomicUsize,
    missing: AtomicUsize,
    evaluator: Arc<dyn Evaluator<G>>,
    ranking: Ranking,
    cancel: Arc<AtomicBool>,
    /// What an evaluator panicked with.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl<G: Game> Flight<G> {
    /// The leaves of a batch.
    pub fn new(
        tasks: impl Iterator<Item = Task<G>>,
        evaluator: &Arc<dyn Evaluator<G>>,
        ranking: Ranking,
        cancel: &Arc<AtomicBool>,
    ) -> Flight<G> {
        let places: Vec<Place<G>> = tasks.map(|task| Place(Mutex::new(Some(task)))).collect();
        Flight {
            next: AtomicUsize::new(0),
            missing: AtomicUsize::new(places.len()),
            places,
            evaluator: Arc::clone(evaluator),
            ranking,
            cancel: Arc::clone(cancel),
            panic: Mutex::new(None),
        }
    }

    /// Number of leaves.
    pub fn leaves(&self) -> usize {
        self.places.len()
    }

    /// Leaves that nobody has taken.
    pub fn untaken(&self) -> usize {
        self.places.len().saturating_sub(self.next.load(Ordering::Relaxed))
    }

    /// Whether every leaf has its result, or never will.
    pub fn has_landed(&self) -> bool {
        self.missing.load(Ordering::Acquire) == 0
    }

    /// Whether the search was stopped.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// Evaluates the next leaf, if wanted with a list of candidates that is needed later; false when there is
    /// no leaf.
    pub fn evaluate_next(&self, ahead: bool, scratch: &mut EvaluationScratch) -> bool {
        let Some(place) = self.places.get(self.next.fetch_add(1, Ordering::Relaxed)) else { return false };
        let mut task = lock(&place.0);
        if let Some(Task { leaf, result }) = &mut *task
            && !self.is_cancelled()
        {
            // The scratch holds nothing between two evaluations, and the tasks of a flight that failed are
            // never read.
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                self.ranking.evaluate(&*self.evaluator, leaf, ahead, scratch, result, &self.cancel);
            }));
            if let Err(payload) = outcome {
                *lock(&self.panic) = Some(payload);
            }
        }
        drop(task);
        self.missing.fetch_sub(1, Ordering::Release);
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
        self.places.iter().filter_map(|place| lock(&place.0).take()).collect()
    }
}

/// Locks what no panic can leave half done.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
