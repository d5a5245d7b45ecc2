//! The Rust loop: collect, evaluate, apply, until a limit, a proof or a stop ends it.
//!
//! The order of collections and applications is fixed by the settings alone, so the graph does not depend on
//! threads or timing. The Python loop keeps the same order with the same verbs.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::game::Game;
use crate::graph::State;
use crate::run::flight::{Flight, Task};
use crate::run::pool::Pool;
use crate::search::proof::ProofCheck;
use crate::search::{Batch, Budget, EvaluationScratch, Search};

/// What ends a search.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// Simulations and evaluations.
    pub budget: Budget,
    /// Time.
    pub time: Option<Duration>,
    /// Ends the search once a mate in this number of moves is proven.
    pub mate: Option<u32>,
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// A limit on simulations or evaluations was met.
    Budget,
    /// The time was up.
    Time,
    /// The stop flag was set.
    Stopped,
    /// The root is solved.
    Solved,
    /// Nothing was left to evaluate.
    Idle,
    /// The memory cap leaves no room for a single further node.
    Memory,
    /// Some node has as many visits as may be counted.
    Visits,
}

impl Finish {
    /// The word for it in every interface.
    pub const fn as_str(self) -> &'static str {
        match self {
            Finish::Budget => "limit",
            Finish::Time => "time",
            Finish::Stopped => "stopped",
            Finish::Solved => "solved",
            Finish::Idle => "idle",
            Finish::Memory => "memory",
            Finish::Visits => "visits",
        }
    }
}

/// The state of a loop, of either kind: limits, clock, and whether to continue.
#[derive(Debug)]
pub struct LoopState {
    limits: Limits,
    begun: Instant,
    idle: u64,
}

impl LoopState {
    /// Starts the clock.
    pub fn new(limits: Limits) -> LoopState {
        LoopState { limits, begun: Instant::now(), idle: 0 }
    }

    /// When it started.
    pub fn begun(&self) -> Instant {
        self.begun
    }

    /// When its time is up.
    pub fn deadline(&self) -> Option<Instant> {
        self.limits.time.and_then(|time| self.begun.checked_add(time))
    }

    /// The limits.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Why the search should end before the next collection, if it should.
    pub fn finish<G: Game>(&self, search: &Search<G>, stop: &AtomicBool) -> Option<Finish> {
        if stop.load(Ordering::Relaxed) {
            return Some(Finish::Stopped);
        }
        // An evaluator of the core takes microseconds for the root: then there is a move to choose by.
        let is_blind = search.evaluator.is_some() && !search.is_root_evaluated();
        if !is_blind && self.limits.time.is_some_and(|time| self.begun.elapsed() >= time) {
            return Some(Finish::Time);
        }
        match search.proof_check() {
            Some(ProofCheck::Holds) => return Some(Finish::Solved),
            // Nothing is left to search, and nothing can be claimed.
            Some(ProofCheck::Unsure) => return Some(Finish::Idle),
            // The next collection starts a new graph.
            Some(ProofCheck::Fails) | None => {}
        }
        if !search.within(&self.limits.budget) {
            Some(Finish::Budget)
        } else if search.graph().is_spent() && search.graph().is_swept() {
            Some(Finish::Visits)
        } else if self.idle >= search.settings().idle_collections {
            Some(if search.is_starved() { Finish::Memory } else { Finish::Idle })
        } else {
            None
        }
    }

    /// Counts a collection. Returns whether the oldest batch in flight must be applied now.
    pub fn collected(&mut self, empty: bool, in_flight: usize, most_in_flight: usize) -> bool {
        if empty && in_flight == 0 {
            self.idle += 1;
        } else {
            self.idle = 0;
        }
        in_flight >= most_in_flight || (empty && in_flight > 0)
    }
}

/// Runs a search to its end. `watch` is called after every round.
pub fn run<G: Game>(
    search: &mut Search<G>,
    pool: &mut Pool<G>,
    limits: Limits,
    stop: &Arc<AtomicBool>,
    watch: &mut dyn FnMut(&mut Search<G>),
) -> Finish {
    let evaluator = search.evaluator.clone().expect("the Rust loop runs evaluators of the core");
    let mut state = LoopState::new(limits);
    search.watch_end(stop, state.deadline());
    search.forget_policies();
    let mut queue: Queue<G> = VecDeque::new();
    let mut scratch = EvaluationScratch::default();
    let finish = loop {
        if let Some(finish) = state.finish(search, stop) {
            break finish;
        }
        let mut batch = search.collect_with(pool, &limits.budget, stop);
        let (empty, most) = (batch.pending.is_empty(), batch.most_in_flight);
        if !empty {
            // A leaf that is alone gains nothing from another thread.
            let is_apart = !search.position().is_fetched() && pool.threads() > 1;
            let flight = (is_apart && (batch.evaluations > 1 || most > 1)).then(|| {
                let results = search.result_buffers(batch.evaluations);
                let leaves = batch.pending.iter_mut().filter_map(|pending| pending.leaf.take());
                let tasks = leaves.zip(results).map(|(leaf, result)| Task { leaf, result });
                pool.launch(tasks, &evaluator, search.ranking(), stop)
            });
            queue.push_back((batch, flight));
        }
        if state.collected(empty, queue.len(), most)
            && !apply_oldest(search, pool, &mut queue, &mut scratch, stop)
        {
            break Finish::Stopped;
        }
        watch(search);
    };
    let abandons = matches!(finish, Finish::Stopped | Finish::Time);
    while !queue.is_empty() {
        if (abandons || !apply_oldest(search, pool, &mut queue, &mut scratch, stop))
            && let Some((batch, _)) = queue.pop_front()
        {
            search.abandon(batch);
        }
    }
    pool.clear();
    search.check_choice();
    finish
}

/// Batches under way, the oldest first; with one thread a batch is evaluated when it is applied.
type Queue<G> = VecDeque<(Batch<G>, Option<Arc<Flight<G>>>)>;

/// Applies the oldest batch in flight; false, and it stays where it is, when the search was stopped
/// meanwhile.
fn apply_oldest<G: Game>(
    search: &mut Search<G>,
    pool: &mut Pool<G>,
    queue: &mut Queue<G>,
    scratch: &mut EvaluationScratch,
    stop: &AtomicBool,
) -> bool {
    let begun = search.begin_phase();
    let Some((batch, flight)) = queue.front_mut() else { return true };
    let mut results;
    match flight {
        Some(flight) => {
            let Some(tasks) = pool.land(flight) else { return false };
            results = Vec::with_capacity(tasks.len());
            let mut waiting = batch.pending.iter_mut().filter(|pending| !pending.is_sharing());
            for task in tasks {
                if let Some(pending) = waiting.next() {
                    pending.leaf = Some(task.leaf);
                }
                results.push(task.result);
            }
        }
        None => {
            let Some(evaluator) = search.evaluator.clone() else { return false };
            let ranking = search.ranking();
            results = search.result_buffers(batch.evaluations);
            let leaves = batch.pending.iter().filter_map(|pending| pending.leaf.as_deref());
            let together = if search.position().is_fetched() {
                let leaves: Vec<_> = leaves.clone().collect();
                evaluator.evaluate_together(&leaves, stop)
            } else {
                None
            };
            if together.is_some() && stop.load(Ordering::Relaxed) {
                return false;
            }
            for (index, (leaf, result)) in leaves.zip(&mut results).enumerate() {
                if let Some(values) = &together {
                    ranking.take(&*evaluator, leaf, values[index], scratch, result);
                    continue;
                }
                ranking.evaluate(&*evaluator, leaf, false, scratch, result, stop);
                if stop.load(Ordering::Relaxed) {
                    return false;
                }
            }
        }
    }
    search.end_phase(begun, |phases| &mut phases.evaluate);
    let begun = search.begin_phase();
    if let Some((batch, _)) = queue.pop_front() {
        search.apply(batch, &mut results);
    }
    search.end_phase(begun, |phases| &mut phases.apply);
    true
}

/// Whether the root is proven won within `moves`.
pub fn has_mate<G: Game>(search: &Search<G>, moves: u32) -> bool {
    let (state, plies) = search.proven();
    state == State::Win && !search.is_over() && u32::from(plies) < 2 * moves
}
