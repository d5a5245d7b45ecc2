//! Games whose rules live outside the core: a position is an object behind a trait.
//!
//! A move is the place of a move in the object's list of legal moves, so equal positions must list their
//! moves in the same order. An object knows its moves when it is made; [`Object::play`] makes the next.

use std::fmt;
use std::sync::Arc;

use crate::game::{Ending, Game, MoveCode};
use crate::random::Random;

/// The largest number of moves of a position.
pub const MOST_MOVES: usize = 1024;

/// A position of a game that is written elsewhere.
pub trait Object: Send + Sync {
    /// Identity of the position.
    fn key(&self) -> u64;
    /// The player to move, 0 or 1.
    fn player(&self) -> u8;
    /// The number of legal moves, at most [`MOST_MOVES`]; 0 where the game is over.
    fn moves(&self) -> usize;
    /// How the game ended here, if it did.
    fn ending(&self) -> Option<Ending>;
    /// The position after one of the moves, which is played at a ply of the game.
    fn play(&self, index: usize, ply: u32) -> Arc<dyn Object>;
    /// The position as people write it.
    fn text(&self) -> String;
    /// The board in lines of text.
    fn picture(&self) -> String;
    /// A move as people write it.
    fn move_text(&self, index: usize) -> String;
    /// Whether a position can occur twice in a game.
    fn can_recur(&self) -> bool;
    /// Whether the two players always move in turn.
    fn takes_turns(&self) -> bool;
}

/// A position of such a game, as the search uses it.
#[derive(Clone)]
pub struct ObjectGame {
    object: Arc<dyn Object>,
    ply: u32,
}

impl fmt::Debug for ObjectGame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ObjectGame").field(&self.object.text()).finish()
    }
}

impl ObjectGame {
    /// The first position of a game.
    pub fn new(object: Arc<dyn Object>) -> ObjectGame {
        ObjectGame { object, ply: 0 }
    }

    /// The board in lines of text.
    pub fn picture(&self) -> String {
        self.object.picture()
    }
}

impl Game for ObjectGame {
    fn key(&self) -> u64 {
        self.object.key()
    }

    fn player(&self) -> u8 {
        self.object.player()
    }

    fn ply(&self) -> u32 {
        self.ply
    }

    fn legal_moves(&self, moves: &mut Vec<MoveCode>) {
        moves.clear();
        moves.extend((0..self.object.moves() as u16).map(MoveCode));
    }

    fn ending(&self, _moves: &[MoveCode]) -> Option<Ending> {
        self.object.ending()
    }

    fn play(&mut self, mv: MoveCode) {
        self.object = self.object.play(mv.0.into(), self.ply);
        self.ply += 1;
    }

    fn text(&self) -> String {
        self.object.text()
    }

    fn move_text(&self, mv: MoveCode) -> String {
        self.object.move_text(mv.0.into())
    }

    fn can_recur(&self) -> bool {
        self.object.can_recur()
    }

    /// A game that does not end is at fault, which the object finds out.
    fn playout(&self, random: &mut Random, moves: &mut Vec<MoveCode>) -> f64 {
        let mut game = self.clone();
        loop {
            game.legal_moves(moves);
            if let Some(ending) = game.ending(moves) {
                return if game.player() == self.player() { ending.value() } else { -ending.value() };
            }
            game.play(moves[random.index(moves.len())]);
        }
    }

    fn takes_turns(&self) -> bool {
        self.object.takes_turns()
    }

    /// One plane of one number: evaluators of such games take positions.
    fn plane_shape(&self) -> [usize; 3] {
        [1, 1, 1]
    }

    fn policy_size(&self) -> usize {
        MOST_MOVES
    }

    fn fill_planes(&self, _recent: &[MoveCode], _repetitions: u32, planes: &mut [f32]) {
        planes.fill(0.0);
    }

    fn policy_index(&self, mv: MoveCode) -> usize {
        mv.0.into()
    }
}
