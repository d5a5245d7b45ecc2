//! What a search found: the root's moves, principal variations, verdict, statistics, and the graph itself for
//! export.
//!
//! Reads the search, changes nothing. Texts and points of view beyond the side to move belong to the callers.

mod moves;
mod lines;
mod statistics;
mod export;
pub mod progress;

pub use export::{EdgeExport, NodeExport, Part};
pub use lines::Line;
pub use moves::MoveReport;
pub use statistics::{Meters, Statistics};

use crate::game::Game;
use crate::search::{Search, Solved};

/// The whole result.
#[derive(Clone, Debug)]
pub struct Report {
    /// The move to play; `None` before anything is known.
    pub best_move: Option<String>,
    /// Value of the root for the side to move.
    pub value: f64,
    /// The root's moves: by visits, then Q, then prior.
    pub moves: Vec<MoveReport>,
    /// Principal variations, the best first.
    pub lines: Vec<Line>,
    /// The verdict, if there is one.
    pub solved: Option<Solved>,
    /// Numbers.
    pub statistics: Statistics,
}

impl<G: Game> Search<G> {
    /// The result so far with up to `lines` principal variations.
    pub fn report(&self, lines: usize, meters: Meters) -> Report {
        let best = self.best_code();
        let rows = self.root_table(best);
        let solved = self.verdict();
        Report {
            best_move: best.map(|mv| self.position().move_text(mv)),
            // A proof that the game's history breaks is no verdict: then the value is the mean.
            value: solved.and_then(|verdict| self.worth(verdict.state)).unwrap_or_else(|| self.mean()),
            lines: self.principal_variations(&rows, best, solved, lines),
            moves: rows.into_iter().map(|(.., report)| report).collect(),
            solved,
            statistics: self.statistics(meters),
        }
    }
}
