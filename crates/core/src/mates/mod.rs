//! Forced wins found by proof numbers: a search of its own, over the rules alone.
//!
//! Depth-first proof-number search (df-pn) asks whether one player, the attacker, wins by force. It needs no
//! evaluator and no graph, only [`Game`]. Everything it returns as a win is a proof that can be written down
//! move by move; a limit on positions, not time, decides what it finds.

mod table;
pub mod dfpn;
pub mod proof;
pub mod solve;
pub mod certificate;

use crate::game::Game;
use crate::random::mix;

/// Which moves the attacker may play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attack {
    /// Moves that give check.
    Checks,
    /// All legal moves.
    All,
}

/// What a search for a win found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The attacker wins.
    Win,
    /// The attacker cannot force a win with these moves.
    NoWin,
    /// The budget was too small, or the search was cancelled.
    Open,
}

/// What is asked: whether a player wins by force from a position of a game.
pub struct Question<'a, G> {
    /// The position.
    pub game: &'a G,
    /// The player who is to win; it need not be the side to move.
    pub attacker: u8,
    /// The moves of the attacker.
    pub attack: Attack,
    /// The longest line that is looked at, in plies.
    pub depth: u16,
    /// How often a position has occurred in the game, the present one included, by its key. The third
    /// occurrence is a draw.
    pub before: &'a dyn Fn(u64) -> u32,
    /// Ends the search early when it returns true. It is asked every few hundred positions.
    pub cancel: &'a dyn Fn() -> bool,
}

/// Plies before the move-count limit within which the clock is part of the identity of a position.
const CLOCK_HORIZON: u32 = 40;

/// The identity of a position in a table of results.
fn identity<G: Game>(game: &G) -> u64 {
    let clock = game.clock();
    let near = game.clock_limit().is_some_and(|limit| clock + CLOCK_HORIZON >= limit);
    if near { game.key() ^ mix(u64::from(clock) + 1) } else { game.key() }
}
