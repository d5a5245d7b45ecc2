//! The loop of an evaluator outside the core: batches are collected for the caller, who evaluates them and
//! returns the results.
//!
//! Any number of batches may be in flight; results come back in the order of collection. The rules of the
//! loop are those of `drive`, so the graph is the same.

use std::collections::VecDeque;
use std::sync::atomic::AtomicBool;

use super::drive::{Finish, Limits, LoopState};
use super::errors::SessionError;
use super::kind::Kind;
use crate::game::MoveCode;
use crate::graph::prior::{RankScratch, rank};
use crate::mates::dfpn::Solver;
use crate::search::trail::TrailBuffers;
use crate::search::wave::Crew;
use crate::search::{Batch, Evaluated, Search};

/// What a collection for an outside evaluator left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collected {
    /// Leaves to evaluate.
    pub size: usize,
    /// Whether the oldest batch in flight must be applied before the next collection.
    pub must_apply: bool,
}

/// A leaf as text: the position (FEN), and the legal moves (UCI) with their policy indices.
pub type LeafText = (String, Vec<(String, usize)>);

/// Batches in flight, the oldest first, and the state of the loop.
pub struct External<G: Kind> {
    queue: VecDeque<Batch<G>>,
    state: LoopState,
    /// The layout of the planes, where leaves are written as planes.
    layout: Option<G::Planes>,
    buffers: TrailBuffers<G>,
}

impl<G: Kind> External<G> {
    /// A loop that starts now.
    pub fn new(limits: Limits) -> External<G> {
        External {
            queue: VecDeque::new(),
            state: LoopState::new(limits),
            layout: None,
            buffers: TrailBuffers::default(),
        }
    }

    /// Limits and clock of the loop.
    pub fn state(&self) -> &LoopState {
        &self.state
    }

    /// Why the search should end now, if it should.
    pub fn finish(&self, search: &Search<G>, stop: &AtomicBool) -> Option<Finish> {
        self.state.finish(search, stop)
    }

    /// Collects the next batch, and writes its planes into `planes` where given (as many leaves as fit in it
    /// at most: batch size).
    pub fn collect(
        &mut self,
        search: &mut Search<G>,
        crew: &mut dyn Crew,
        stop: &AtomicBool,
        planes: Option<(&mut [f32], G::Planes)>,
    ) -> Result<Collected, SessionError> {
        let budget = self.state.limits().budget;
        let batch = search.collect_with(crew, &budget, stop);
        let size = batch.evaluations;
        self.layout = planes.as_ref().map(|(_, layout)| *layout);
        if let Some((planes, layout)) = planes {
            let stride: usize = search.position().shape(layout).iter().product();
            if planes.len() < size * stride {
                search.abandon(batch);
                return Err(SessionError::State("the array for planes is too small for a batch"));
            }
            let leaves: Vec<_> = batch.pending.iter().filter_map(|pending| pending.leaf.as_deref()).collect();
            let planes = &mut planes[..size * stride];
            if !G::fill_all(&leaves, layout, planes) {
                let start = search.path.start();
                for (leaf, out) in leaves.into_iter().zip(planes.chunks_exact_mut(stride)) {
                    let trail = self.buffers.trail(start, &leaf.line, leaf.repetitions, G::uses_past(layout));
                    leaf.game.fill(layout, &trail, out);
                }
            }
        }
        let (empty, most) = (batch.pending.is_empty(), batch.most_in_flight);
        if !empty {
            self.queue.push_back(batch);
        }
        Ok(Collected { size, must_apply: self.state.collected(empty, self.queue.len(), most) })
    }

    /// The positions (FEN) of the newest batch, and for each the legal moves (UCI) with their policy indices.
    pub fn newest_leaves(&self) -> Vec<LeafText> {
        let Some(batch) = self.queue.back() else { return Vec::new() };
        let leaves = batch.pending.iter().filter_map(|pending| pending.leaf.as_ref());
        leaves
            .map(|leaf| {
                let moves = leaf
                    .moves
                    .iter()
                    .map(|&mv| (leaf.game.move_text(mv), self.policy_index(&leaf.game, mv)))
                    .collect();
                (leaf.game.text(), moves)
            })
            .collect()
    }

    /// Applies results to the oldest batch in flight: one value per leaf, and `policy_size` logits per leaf.
    pub fn apply(
        &mut self,
        search: &mut Search<G>,
        values: &[f32],
        logits: &[f32],
    ) -> Result<(), SessionError> {
        let mut results = self.read_results(search, values, logits)?;
        if let Some(batch) = self.queue.pop_front() {
            search.apply(batch, &mut results);
        }
        Ok(())
    }

    fn read_results(
        &self,
        search: &mut Search<G>,
        values: &[f32],
        logits: &[f32],
    ) -> Result<Vec<Evaluated>, SessionError> {
        let refuse = |text: String| Err(SessionError::Evaluation(text));
        let width = self.policy_size(search.position());
        let Some(batch) = self.queue.front() else {
            return Err(SessionError::State("no batch is in flight"));
        };
        let size = batch.evaluations;
        if values.len() != size || logits.len() != size * width {
            return refuse(format!(
                "the evaluator returned {} values and {} logits for a batch of {size} positions, \
                 which needs {size} and {size} x {width}",
                values.len(),
                logits.len()
            ));
        }
        let temperature = search.settings().node_temperature;
        let mut results = search.result_buffers(size);
        let leaves = batch.pending.iter().filter_map(|pending| pending.leaf.as_ref());
        let (mut gathered, mut weights) = (Vec::new(), RankScratch::default());
        let (mates, mut solver) = (search.ranking().mates, Solver::default());
        for (i, (leaf, result)) in leaves.zip(&mut results).enumerate() {
            let value = values[i];
            if !value.is_finite() || value.abs() > 1.001 {
                return refuse(format!(
                    "the evaluator returned the value {value} for position {i} of a batch, \
                     which is not in [-1, 1]"
                ));
            }
            let row = &logits[i * width..(i + 1) * width];
            gathered.clear();
            gathered.extend(leaf.moves.iter().map(|&mv| row[self.policy_index(&leaf.game, mv)]));
            let largest = gathered.iter().fold(f32::NEG_INFINITY, |a, &b| a.max(b));
            if gathered.iter().any(|logit| logit.is_nan()) || !largest.is_finite() {
                return refuse(format!(
                    "the evaluator returned a logit that is not a number for position {i} of a batch"
                ));
            }
            result.value = value.clamp(-1.0, 1.0);
            rank(&leaf.moves, &gathered, temperature, usize::MAX, &mut result.candidates, &mut weights);
            result.mate = mates.search(&leaf.game, result.value, &mut solver);
        }
        Ok(results)
    }

    fn policy_size(&self, game: &G) -> usize {
        self.layout.map_or_else(|| game.policy_size(), |layout| game.policy_size_of(layout))
    }

    fn policy_index(&self, game: &G, mv: MoveCode) -> usize {
        self.layout.map_or_else(|| game.policy_index(mv), |layout| game.policy_index_of(layout, mv))
    }

    /// Takes back the marks of all batches in flight.
    pub fn abandon(&mut self, search: &mut Search<G>) {
        while let Some(batch) = self.queue.pop_front() {
            search.abandon(batch);
        }
    }

    /// Number of batches in flight.
    pub fn in_flight(&self) -> usize {
        self.queue.len()
    }
}
