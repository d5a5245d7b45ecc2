//! The evaluator of random playouts: the mean result of games of random moves.
//!
//! Chance is drawn from the position alone, so that an evaluation does not depend on threads or order.

use std::sync::atomic::{AtomicBool, Ordering};

use super::evaluator::{Evaluator, Leaf};
use crate::game::Game;
use crate::random::{Random, mix};

/// The mean of some playouts, and logits 0, for any game.
#[derive(Clone, Copy, Debug)]
pub struct Rollout {
    /// Playouts of an evaluation.
    pub playouts: u64,
    /// The seed of the search.
    pub seed: u64,
}

impl<G: Game> Evaluator<G> for Rollout {
    fn evaluate(&self, leaf: &Leaf<G>, logits: &mut Vec<f32>, cancel: &AtomicBool) -> f32 {
        logits.clear();
        logits.resize(leaf.moves.len(), 0.0);
        let mut random = Random::new(mix(self.seed) ^ leaf.game.fingerprint());
        let mut moves = Vec::with_capacity(leaf.moves.len());
        let mut sum = 0.0;
        for _ in 0..self.playouts {
            if cancel.load(Ordering::Relaxed) {
                break;
            }
            sum += leaf.game.playout(&mut random, &mut moves);
        }
        (sum / self.playouts as f64) as f32
    }

    fn evaluate_together(&self, leaves: &[&Leaf<G>], cancel: &AtomicBool) -> Option<Vec<f32>> {
        if !leaves.first()?.game.is_fetched() {
            return None;
        }
        let games: Vec<&G> = leaves.iter().map(|leaf| &leaf.game).collect();
        let stop = || cancel.load(Ordering::Relaxed);
        // Where the rules fail the search is being stopped.
        G::playouts(&games, self.playouts, self.seed, &stop).or_else(|| Some(vec![0.0; leaves.len()]))
    }

    fn lists_later(&self) -> bool {
        true
    }

    fn logits(&self, leaf: &Leaf<G>, logits: &mut Vec<f32>) {
        logits.clear();
        logits.resize(leaf.moves.len(), 0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::chess::{ChessBoard, Variant};
    use crate::games::grid::{GridGame, catalogue::Named};

    fn value<G: Game>(game: G, playouts: u64, seed: u64) -> f32 {
        let mut moves = Vec::new();
        game.legal_moves(&mut moves);
        let leaf = Leaf { game, moves, line: Vec::new(), repetitions: 0 };
        let (mut logits, never) = (Vec::new(), AtomicBool::new(false));
        let value = Rollout { playouts, seed }.evaluate(&leaf, &mut logits, &never);
        assert_eq!(logits, vec![0.0; leaf.moves.len()]);
        value
    }

    fn start(name: &str, moves: &str) -> GridGame {
        let mut game = Named::parse(name).unwrap().start();
        for text in moves.split_whitespace() {
            game.play(game.parse_move(text, "").unwrap());
        }
        game
    }

    #[test]
    fn who_is_ahead_wins_more_playouts() {
        assert!(value(start("connect-four", "4 1 4 1 4"), 400, 0) < -0.3, "three in the middle column");
        assert!(value(start("tic-tac-toe", "b2 a2"), 400, 0) > 0.3);
        assert!(value(start("hex:size=5", "c3"), 400, 0) < -0.05);
        let rooks = "7k/8/8/8/8/8/RRRRRRR1/K7 w - - 0 1";
        let far_ahead = ChessBoard::from_fen(Variant::Chess, rooks, false).unwrap();
        assert!(value(far_ahead, 100, 0) > 0.0);
    }

    #[test]
    fn chance_depends_on_position_and_seed_alone() {
        let game = || start("go:size=5,komi=0", "c3");
        assert_eq!(value(game(), 7, 1), value(game(), 7, 1));
        let of_seeds: Vec<f32> = (0..20).map(|seed| value(game(), 7, seed)).collect();
        assert!(of_seeds.iter().any(|one| *one != of_seeds[0]));
    }
}
