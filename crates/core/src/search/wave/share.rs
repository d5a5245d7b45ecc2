//! A descent on several threads: the graph is lent out for reading, and comes back.
//!
//! Twigs are cut into chunks by their place in the list. A thread takes the next chunk that nobody has, and
//! puts what it found in the chunk's place.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::descend::{Descent, Hands, Part, Twigs};
use super::{Stem, View, lock};
use crate::evaluators::Evaluator;
use crate::game::Game;
use crate::graph::{Graph, NodeId};
use crate::oracle::Oracle;
use crate::search::path::Start;
use crate::search::policies::Policies;
use crate::search::root_moves::RootMoves;
use crate::search::select::Puct;
use crate::settings::Settings;

/// Visits of a chunk, at least.
const CHUNK: u32 = 4;

/// Work that any number of threads may do together.
pub trait Work: Send + Sync {
    /// Number of parts, which are done one by one: no more threads can help.
    fn parts(&self) -> usize;

    /// Does what is left of it; returns when there is nothing to begin any more.
    fn work(&self);
}

/// Threads that a search may ask for help.
pub trait Crew {
    /// Number of threads, the caller's included.
    fn threads(&self) -> usize;

    /// Whether others would come to help with so many visits. The graph does not depend on it.
    fn is_free(&self, visits: u32) -> bool;

    /// Works together; returns when nothing is left to begin. Others let go of the work soon.
    fn work(&mut self, work: Arc<dyn Work>);

    /// Does something else while others have not let go; false where there is nothing.
    fn pass_time(&mut self) -> bool;
}

/// Nobody but the caller.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alone;

impl Crew for Alone {
    fn threads(&self) -> usize {
        1
    }

    fn is_free(&self, _visits: u32) -> bool {
        false
    }

    fn work(&mut self, work: Arc<dyn Work>) {
        work.work();
    }

    fn pass_time(&mut self) -> bool {
        false
    }
}

/// Everything that a wave reads, lent to the threads.
pub(in crate::search) struct Lent<G: Game> {
    pub graph: Graph,
    pub root: NodeId,
    pub root_moves: RootMoves,
    pub settings: Settings,
    pub puct: Arc<Puct>,
    pub start: Arc<Start<G>>,
    pub evaluator: Option<Arc<dyn Evaluator<G>>>,
    pub oracle: Option<Arc<dyn Oracle<G>>>,
    pub policies: Policies,
}

/// The twigs of a wave, and what the threads found in them.
pub(in crate::search) struct Shared<G: Game> {
    pub lent: Lent<G>,
    pub trunk: Vec<Stem>,
    pub twigs: Twigs,
    pub hands: Mutex<Vec<Hands<G>>>,
    /// Where each chunk of twigs ends.
    chunks: Vec<usize>,
    next: AtomicUsize,
    parts: Vec<Mutex<Option<Part<G>>>>,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl<G: Game> Shared<G> {
    pub fn new(lent: Lent<G>, trunk: Vec<Stem>, twigs: Twigs, hands: Vec<Hands<G>>) -> Shared<G> {
        let mut chunks = Vec::new();
        let mut visits = 0;
        for twig in 0..twigs.len() {
            visits += twigs.visits(twig);
            if visits >= CHUNK || twig + 1 == twigs.len() {
                chunks.push(twig + 1);
                visits = 0;
            }
        }
        let parts = chunks.iter().map(|_| Mutex::new(None)).collect();
        Shared {
            lent,
            trunk,
            twigs,
            hands: Mutex::new(hands),
            chunks,
            next: AtomicUsize::new(0),
            parts,
            panic: Mutex::new(None),
        }
    }

    /// The parts in their order. Panics as a thread did.
    pub fn take_parts(&mut self) -> Vec<Part<G>> {
        if let Some(payload) = lock(&self.panic).take() {
            resume_unwind(payload);
        }
        self.parts.iter().map(|part| lock(part).take().unwrap_or_default()).collect()
    }

    fn follow(&self, chunk: usize, hands: &mut Hands<G>) -> Part<G> {
        let lent = &self.lent;
        let view = View {
            graph: &lent.graph,
            root: lent.root,
            root_moves: &lent.root_moves,
            settings: &lent.settings,
            puct: &lent.puct,
            start: &lent.start,
            evaluator: lent.evaluator.as_deref(),
            oracle: lent.oracle.as_deref(),
            policies: &lent.policies,
        };
        let part = Part::default();
        let mut descent =
            Descent { view: &view, trunk: &self.trunk, hands, part, twigs: None, is_missing: false };
        let begin = chunk.checked_sub(1).map_or(0, |before| self.chunks[before]);
        for twig in begin..self.chunks[chunk] {
            descent.follow_twig(&self.twigs, twig);
        }
        descent.part
    }
}

impl<G: Game> Work for Shared<G> {
    fn parts(&self) -> usize {
        self.chunks.len()
    }

    fn work(&self) {
        let mut hands = None;
        loop {
            let chunk = self.next.fetch_add(1, Ordering::Relaxed);
            if chunk >= self.chunks.len() {
                break;
            }
            let hands = hands.get_or_insert_with(|| {
                let mut hands = lock(&self.hands).pop().unwrap_or_default();
                hands.begin(&self.lent.start);
                hands
            });
            // What a panic leaves behind is not used again.
            match catch_unwind(AssertUnwindSafe(|| self.follow(chunk, hands))) {
                Ok(part) => *lock(&self.parts[chunk]) = Some(part),
                Err(payload) => *lock(&self.panic) = Some(payload),
            }
        }
        lock(&self.hands).extend(hands);
    }
}
