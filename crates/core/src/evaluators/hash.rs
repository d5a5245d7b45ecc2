//! The evaluator of random but reproducible opinions: everything is drawn from the position's fingerprint,
//! in chess a hash of its canonical text.
//!
//! It exercises a search as no sensible evaluator does, and can be made as slow as a network.

use std::hint;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::evaluator::{Evaluator, Leaf};
use crate::game::Game;
use crate::random::{GOLDEN, mix};

/// Values and logits from a hash of the position.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hash {
    /// What an evaluation costs at least, in microseconds of busy waiting.
    pub cost_us: u32,
}

impl<G: Game> Evaluator<G> for Hash {
    fn evaluate(&self, leaf: &Leaf<G>, logits: &mut Vec<f32>, cancel: &AtomicBool) -> f32 {
        let entry = (self.cost_us > 0).then(Instant::now);
        let hash = leaf.game.fingerprint();
        logits.clear();
        logits.extend(leaf.moves.iter().map(|code| {
            let salt = (u64::from(code.0) + 1).wrapping_mul(GOLDEN);
            (mix(hash ^ salt) >> 40) as f32 / 4_194_304.0 - 2.0
        }));
        if let Some(entry) = entry {
            let cost = Duration::from_micros(self.cost_us.into());
            while entry.elapsed() < cost && !cancel.load(Ordering::Relaxed) {
                hint::spin_loop();
            }
        }
        (mix(hash) >> 40) as f32 / 8_388_608.0 - 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::chess::{ChessBoard, Variant};

    fn leaf() -> Leaf<ChessBoard> {
        let game = ChessBoard::start(Variant::Chess).unwrap();
        let mut moves = Vec::new();
        game.legal_moves(&mut moves);
        Leaf { game, moves, line: Vec::new(), repetitions: 0 }
    }

    /// Numbers computed by an independent program from the text of section 10.
    #[test]
    fn numbers_of_the_first_position() {
        let leaf = leaf();
        let mut text = String::new();
        leaf.game.canonical_text(&mut text);
        assert_eq!(text, "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -");
        let mut logits = Vec::new();
        let value = Hash::default().evaluate(&leaf, &mut logits, &AtomicBool::new(false));
        assert_eq!(logits.len(), 20);
        assert_eq!(leaf.moves[0].0, 1025);
        assert_eq!((value, logits[0], logits[19]), EXPECTED);
    }

    const EXPECTED: (f32, f32, f32) = (-0.754_351_26, 1.218_799_6, -0.393_178_7);

    #[test]
    fn cost_is_spent_unless_cancelled() {
        let slow = Hash { cost_us: 20_000 };
        let (leaf, mut logits) = (leaf(), Vec::new());
        let start = Instant::now();
        slow.evaluate(&leaf, &mut logits, &AtomicBool::new(false));
        assert!(start.elapsed() >= Duration::from_millis(20));
        let start = Instant::now();
        let hours = Hash { cost_us: u32::MAX };
        hours.evaluate(&leaf, &mut logits, &AtomicBool::new(true));
        assert!(start.elapsed() < Duration::from_secs(10));
    }
}
