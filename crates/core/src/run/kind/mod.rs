//! What a session asks of a game besides its rules: where it begins, how positions and moves are read, what
//! evaluates them, which planes it has.
//!
//! A kind is one type of position: `chess` for boards of chess, `grid` for the games on a grid. A game gets a
//! whole session by implementing this trait.

mod chess;
mod grid;

use std::sync::Arc;

pub use chess::Which as ChessVariant;

use super::errors::SessionError;
use crate::evaluators::{Evaluator, Leaf};
use crate::game::{Game, MoveCode, Trail};
use crate::games::chess::Tablebases;
use crate::network::Network;
use crate::oracle::Oracle;
use crate::settings::Settings;

/// A kind of game that a session plays.
pub trait Kind: Game {
    /// Which of the games of this kind: a variant, or a game with its size.
    type Which: Clone + Send + Sync;
    /// A layout of planes.
    type Planes: Copy + Send + Sync;

    /// The name of the game in every interface.
    fn name(which: &Self::Which) -> &str;

    /// Whether castling is written as the king takes the rook.
    fn is_chess960(_which: &Self::Which) -> bool {
        false
    }

    /// The same game for another search, which runs beside.
    fn apart(which: &Self::Which) -> Self::Which {
        which.clone()
    }

    /// The first position.
    fn start(which: &Self::Which) -> Result<Self, SessionError>;

    /// Reads a position.
    fn read(which: &Self::Which, text: &str) -> Result<Self, SessionError>;

    /// Reads a legal move.
    fn parse_move(&self, which: &Self::Which, text: &str) -> Result<MoveCode, SessionError>;

    /// The legal moves, none where the rules ended the game: for counting sequences of moves.
    fn list_moves(&self, moves: &mut Vec<MoveCode>);

    /// The board in lines of text.
    fn picture(&self) -> String;

    /// The built-in evaluator that the settings name.
    fn built_in(settings: &Settings) -> Result<Arc<dyn Evaluator<Self>>, SessionError>;

    /// A network of the core as evaluator.
    fn network(which: &Self::Which, network: &Arc<Network>)
    -> Result<Arc<dyn Evaluator<Self>>, SessionError>;

    /// The tablebases as the search uses them, if they hold tables of the game.
    fn oracle(which: &Self::Which, tables: Arc<Tablebases>) -> Option<Arc<dyn Oracle<Self>>>;

    /// The layout of planes of that name; the usual one without a name.
    fn planes(which: &Self::Which, name: Option<&str>) -> Result<Self::Planes, SessionError>;

    /// Planes, rows and columns of a layout.
    fn shape(&self, planes: Self::Planes) -> [usize; 3];

    /// Whether a layout shows positions of the past.
    fn uses_past(_planes: Self::Planes) -> bool {
        false
    }

    /// Writes the planes of a layout: see [`Game::fill_planes`].
    fn fill(&self, planes: Self::Planes, trail: &Trail<'_, Self>, out: &mut [f32]);

    /// Writes the planes of all leaves of a batch, each in its part of `out`, where the game can do that at
    /// once. Returns whether it did; if not, leaves are filled one by one.
    fn fill_all(_leaves: &[&Leaf<Self>], _planes: Self::Planes, _out: &mut [f32]) -> bool {
        false
    }

    /// Size of the policy that goes with a layout.
    fn policy_size_of(&self, _planes: Self::Planes) -> usize {
        self.policy_size()
    }

    /// Index of a legal move in that policy.
    fn policy_index_of(&self, _planes: Self::Planes, mv: MoveCode) -> usize {
        self.policy_index(mv)
    }
}

/// Number of sequences of `depth` moves.
pub fn perft<G: Kind>(game: &G, depth: u32) -> u64 {
    count(game, depth, 0, &mut Vec::new())
}

/// The same for each move, which counts as the first of the sequence.
pub fn divide<G: Kind>(game: &G, depth: u32) -> Vec<(MoveCode, u64)> {
    let mut list = Vec::new();
    game.list_moves(&mut list);
    list.into_iter()
        .map(|mv| {
            let mut after = game.clone();
            after.play(mv);
            (mv, perft(&after, depth.saturating_sub(1)))
        })
        .collect()
}

/// Counts with one list of moves per level, made when the level is first reached. The last ply is counted by
/// the number of moves, without playing them.
fn count<G: Kind>(game: &G, depth: u32, level: usize, lists: &mut Vec<Vec<MoveCode>>) -> u64 {
    if depth == 0 {
        return 1;
    }
    if lists.len() == level {
        lists.push(Vec::new());
    }
    let mut list = std::mem::take(&mut lists[level]);
    game.list_moves(&mut list);
    let sum = if depth == 1 {
        list.len() as u64
    } else {
        list.iter()
            .map(|mv| {
                let mut after = game.clone();
                after.play(*mv);
                count(&after, depth - 1, level + 1, lists)
            })
            .sum()
    };
    lists[level] = list;
    sum
}
