//! Mini-batches: leaves that wait for their evaluation, and the results that come back.
//!
//! A leaf keeps the trajectory that led to it, so that its value can be backed up later. [`Ranking`] turns
//! the logits of an evaluator of the core into a result, on any thread.

use std::sync::atomic::{AtomicBool, Ordering};

use super::backup::Step;
use super::mates::LeafMates;
use super::wave::Wave;
use crate::evaluators::{Evaluator, Leaf};
use crate::game::Game;
use crate::graph::prior::{Candidate, RankScratch, most_listed, rank};
use crate::graph::{MOST_MOVES, NodeId};
use crate::mates::dfpn::Solver;

/// The way to a leaf.
#[derive(Debug)]
pub(super) enum Way {
    /// A trajectory of its own.
    Steps(Vec<Step>),
    /// A stem of a wave of its batch.
    Stem {
        /// The wave.
        wave: u32,
        /// The stem.
        stem: u32,
    },
}

/// A leaf that waits, with the trajectory that led there.
#[derive(Debug)]
pub struct Pending<G> {
    pub(super) node: NodeId,
    pub(super) way: Way,
    pub(super) exploration: bool,
    pub(super) depth: usize,
    /// Index of the leaf in the same batch whose evaluation this one shares.
    pub(super) shares: Option<usize>,
    /// The position to evaluate; a sharing leaf has none.
    pub leaf: Option<Box<Leaf<G>>>,
}

impl<G> Pending<G> {
    /// Whether this leaf takes the evaluation of another in its batch.
    pub const fn is_sharing(&self) -> bool {
        self.shares.is_some()
    }
}

/// A mini-batch of leaves.
#[derive(Debug)]
pub struct Batch<G> {
    /// Leaves in order of collection; those with a `leaf` need an evaluation.
    pub pending: Vec<Pending<G>>,
    /// The waves of leaves that came in one.
    pub(super) waves: Vec<Wave>,
    /// Number of evaluations needed.
    pub evaluations: usize,
    /// Batches that may be in flight, this one included.
    pub most_in_flight: usize,
}

/// The result for one leaf.
#[derive(Clone, Debug, Default)]
pub struct Evaluated {
    /// Value for the side to move.
    pub value: f32,
    /// Candidates, best first; all, or the best of them, or none where they are listed later.
    pub candidates: Vec<Candidate>,
    /// Plies of a win that the search for mates found.
    pub mate: Option<u16>,
}

/// What a thread keeps between evaluations to spare allocations.
#[derive(Debug, Default)]
pub struct EvaluationScratch {
    logits: Vec<f32>,
    weights: RankScratch,
    /// For the mates of leaves.
    pub solver: Solver,
}

/// What a thread needs to evaluate a leaf into a result.
#[derive(Clone, Debug)]
pub struct Ranking {
    pub(super) temperature: f64,
    pub(super) head: usize,
    pub(super) draws: [f64; 2],
    /// How leaves are searched for mates.
    pub mates: LeafMates,
}

impl Ranking {
    /// Evaluates one leaf. A list of candidates that is needed at the second visit only is made if it is
    /// wanted ahead.
    pub fn evaluate<G: Game>(
        &self,
        evaluator: &dyn Evaluator<G>,
        leaf: &Leaf<G>,
        ahead: bool,
        scratch: &mut EvaluationScratch,
        result: &mut Evaluated,
        cancel: &AtomicBool,
    ) {
        let draw = self.draws[usize::from(leaf.game.player())] as f32;
        let EvaluationScratch { logits, .. } = scratch;
        let is_listed = !self.lists_later(evaluator) || (ahead && evaluator.lists_ahead());
        result.value = if !is_listed {
            evaluator.value(leaf, draw, logits, cancel)
        } else if draw == 0.0 {
            evaluator.evaluate(leaf, logits, cancel)
        } else {
            evaluator.evaluate_draws(leaf, draw, logits, cancel)
        };
        if !cancel.load(Ordering::Relaxed) {
            self.complete(leaf, is_listed, scratch, result);
        }
    }

    /// Takes the value of a leaf that was evaluated together with others.
    pub fn take<G: Game>(
        &self,
        evaluator: &dyn Evaluator<G>,
        leaf: &Leaf<G>,
        value: f32,
        scratch: &mut EvaluationScratch,
        result: &mut Evaluated,
    ) {
        result.value = value;
        let is_listed = !self.lists_later(evaluator);
        if is_listed {
            evaluator.logits(leaf, &mut scratch.logits);
        }
        self.complete(leaf, is_listed, scratch, result);
    }

    /// Whether a leaf gets its list at its second visit, because most are never visited again.
    fn lists_later<G: Game>(&self, evaluator: &dyn Evaluator<G>) -> bool {
        self.head < MOST_MOVES && evaluator.lists_later()
    }

    fn complete<G: Game>(
        &self,
        leaf: &Leaf<G>,
        is_listed: bool,
        scratch: &mut EvaluationScratch,
        result: &mut Evaluated,
    ) {
        let EvaluationScratch { logits, weights, solver } = scratch;
        result.candidates.clear();
        if is_listed {
            let limit = most_listed(leaf.moves.len(), self.head);
            rank(&leaf.moves, logits, self.temperature, limit, &mut result.candidates, weights);
        }
        result.mate = self.mates.search(&leaf.game, result.value, solver);
    }
}
