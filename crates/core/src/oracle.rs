//! Tablebases as the search uses them: the trait [`Oracle`] and the results it returns.
//!
//! An oracle looks up positions; it does not depend on the graph or on the game's history.

use crate::game::Game;

/// The result of a position with clock 0, for the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Known {
    /// Lost.
    Loss,
    /// Lost, but saved by the move count.
    BlessedLoss,
    /// Drawn.
    Draw,
    /// Won, but for the move count.
    CursedWin,
    /// Won.
    Win,
}

impl Known {
    /// The number that probing code uses, from -2 to 2.
    pub const fn number(self) -> i32 {
        self as i32 - 2
    }
}

/// Plies to the next zeroing move or the end when both sides play for it: above 0 for a win of the side to
/// move, below for a loss, 0 for a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Distance {
    /// The number in the table; beyond 100 where the move count spoils the win.
    pub plies: i32,
    /// Whether it may be one ply more.
    pub is_rounded: bool,
}

/// Tables that know the results of positions.
pub trait Oracle<G: Game>: Send + Sync {
    /// Whether the tables may know the position: it has at most `most_men` men, and no side may castle.
    fn covers(&self, game: &G, most_men: u64) -> bool;

    /// The result of the position as if its clock were 0; `None` when it is not in the tables.
    fn result(&self, game: &G) -> Option<Known>;

    /// The distance to the next zeroing move; `None` when it is not in the tables.
    fn distance(&self, game: &G) -> Option<Distance>;
}
