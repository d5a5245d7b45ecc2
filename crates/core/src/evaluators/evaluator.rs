//! Evaluation inside the core: the trait [`Evaluator`].
//!
//! An evaluator gets the position itself, one leaf at a time; batches are spread over threads by `pool`. It
//! does not depend on the graph, and must be a pure function of the leaf: the same numbers on every call and
//! every thread.

use std::sync::atomic::AtomicBool;

use crate::game::{Game, MoveCode};

/// A position that waits for its evaluation.
#[derive(Clone, Debug)]
pub struct Leaf<G> {
    /// The position.
    pub game: G,
    /// Its legal moves, ascending; never empty.
    pub moves: Vec<MoveCode>,
    /// The moves that led to it from the root, for evaluators outside the core.
    pub line: Vec<MoveCode>,
    /// How often the position occurred before on its path, 0 to 2.
    pub repetitions: u32,
}

/// Maps a leaf to a value for the side to move and a logit for each legal move.
pub trait Evaluator<G: Game>: Send + Sync {
    /// Returns the value in [-1, 1]; replaces `logits` by one number per move of `leaf.moves`.
    /// A slow evaluator checks `cancel` regularly and returns early (anything) when it is set.
    fn evaluate(&self, leaf: &Leaf<G>, logits: &mut Vec<f32>, cancel: &AtomicBool) -> f32;

    /// The values of all leaves of a batch, where that is quicker than one after another.
    fn evaluate_together(&self, _leaves: &[&Leaf<G>], _cancel: &AtomicBool) -> Option<Vec<f32>> {
        None
    }

    /// Whether the value alone is quicker than value and logits. Then a leaf gets its list of candidates at
    /// its second visit, which most leaves never have.
    fn lists_later(&self) -> bool {
        false
    }

    /// Whether such a list takes so long that another thread should make it ahead.
    fn lists_ahead(&self) -> bool {
        false
    }

    /// The value alone, where a draw is worth `draw` to the side to move. `logits` may be used as room.
    fn value(&self, leaf: &Leaf<G>, draw: f32, logits: &mut Vec<f32>, cancel: &AtomicBool) -> f32 {
        if draw == 0.0 {
            self.evaluate(leaf, logits, cancel)
        } else {
            self.evaluate_draws(leaf, draw, logits, cancel)
        }
    }

    /// The logits alone.
    fn logits(&self, leaf: &Leaf<G>, logits: &mut Vec<f32>) {
        self.evaluate(leaf, logits, &AtomicBool::new(false));
    }

    /// Value and logits where a draw is worth `draw` to the side to move. Who gives no chance of a draw takes
    /// no notice.
    fn evaluate_draws(&self, leaf: &Leaf<G>, draw: f32, logits: &mut Vec<f32>, cancel: &AtomicBool) -> f32 {
        let _ = draw;
        self.evaluate(leaf, logits, cancel)
    }
}
