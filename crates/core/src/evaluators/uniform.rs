//! The uniform evaluator: value 0, all moves alike.
//!
//! A search with it is guided by the rules alone, which tests of the search need.

use std::sync::atomic::AtomicBool;

use super::evaluator::{Evaluator, Leaf};
use crate::game::Game;

/// Value 0 and logits 0, for any game.
#[derive(Clone, Copy, Debug, Default)]
pub struct Uniform;

impl<G: Game> Evaluator<G> for Uniform {
    fn evaluate(&self, leaf: &Leaf<G>, logits: &mut Vec<f32>, _cancel: &AtomicBool) -> f32 {
        logits.clear();
        logits.resize(leaf.moves.len(), 0.0);
        0.0
    }

    fn lists_later(&self) -> bool {
        true
    }
}
