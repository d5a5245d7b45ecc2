//! Tablebases in the search: the state of a new node, and the root's moves ranked.
//!
//! Inside the search a node is probed once, when it is created with clock 0. At the root clock and history
//! count, and the distance to the next zeroing move keeps the win moving.

use crate::game::{Ending, Game, MoveCode};
use crate::graph::{Graph, NodeId, State};
use crate::oracle::{Known, Oracle};
use crate::search::path::Path;
use crate::search::root_moves::RootMoves;
use crate::settings::Settings;

/// The state that tables give a new node: only with clock 0 is their result a fact of the game.
pub fn state_of<G: Game>(oracle: &dyn Oracle<G>, game: &G, settings: &Settings) -> Option<State> {
    if game.clock() != 0 || !oracle.covers(game, settings.tablebase_men) {
        return None;
    }
    oracle.result(game).map(|known| state(known, settings.tablebase_fifty))
}

/// A result as the state of a node, with or without the rule of the move count.
const fn state(known: Known, counts_moves: bool) -> State {
    match known {
        Known::Win => State::TbWin,
        Known::Loss => State::TbLoss,
        Known::CursedWin if !counts_moves => State::TbWin,
        Known::BlessedLoss if !counts_moves => State::TbLoss,
        _ => State::TbDraw,
    }
}

/// The root by the tables: the verdict and the moves that keep it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownRoot {
    /// The verdict; `None` where rounding leaves open whether the win comes before the move count runs out.
    pub state: Option<State>,
    moves: Vec<MoveCode>,
}

/// What a move leads to, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Loss,
    PerhapsLoss,
    Draw,
    PerhapsWin,
    Win,
}

impl KnownRoot {
    /// Ranks the moves at the root of a path. `None` unless the tables know every one of them.
    pub fn rank<G: Game>(oracle: &dyn Oracle<G>, path: &Path<G>, settings: &Settings) -> Option<KnownRoot> {
        let game = path.root();
        if !oracle.covers(game, settings.tablebase_men) {
            return None;
        }
        let mut codes = Vec::new();
        game.legal_moves(&mut codes);
        if game.ending(&codes).is_some() {
            return None;
        }
        let judge = Judge { oracle, path, counts_moves: settings.tablebase_fifty };
        let judged: Option<Vec<(MoveCode, Outcome, i32)>> = codes
            .into_iter()
            .map(|mv| judge.judge(mv).map(|(outcome, plies)| (mv, outcome, plies)))
            .collect();
        let judged = judged?;
        let best = judged.iter().map(|&(_, outcome, _)| outcome).max()?;
        let lengths = judged.iter().filter(|&&(_, outcome, _)| outcome == best).map(|&(.., plies)| plies);
        // The winner makes progress, the loser resists, and of draws all are as good.
        let (length, state) = match best {
            Outcome::Win => (lengths.min(), Some(State::TbWin)),
            Outcome::PerhapsWin => (lengths.min(), None),
            Outcome::Draw => (None, Some(State::TbDraw)),
            Outcome::PerhapsLoss => (lengths.max(), None),
            Outcome::Loss => (lengths.max(), Some(State::TbLoss)),
        };
        let keeps =
            |outcome: Outcome, plies: i32| outcome == best && length.is_none_or(|length| plies == length);
        let moves = judged
            .into_iter()
            .filter(|&(_, outcome, plies)| keeps(outcome, plies))
            .map(|(mv, ..)| mv)
            .collect();
        Some(KnownRoot { state, moves })
    }

    /// Whether a move keeps the result and makes progress.
    pub fn keeps(&self, mv: MoveCode) -> bool {
        self.moves.binary_search(&mv).is_ok()
    }

    /// The moves that do, ascending.
    pub fn moves(&self) -> &[MoveCode] {
        &self.moves
    }

    /// The slots of opened edges whose moves do.
    pub fn slots(&self, graph: &Graph, id: NodeId, root_moves: &RootMoves) -> Vec<u16> {
        let is_kept = |&slot: &u16| self.keeps(graph.edge(id, slot).mv);
        root_moves.slots(graph, id).filter(is_kept).collect()
    }
}

struct Judge<'a, G: Game> {
    oracle: &'a dyn Oracle<G>,
    path: &'a Path<G>,
    counts_moves: bool,
}

impl<G: Game> Judge<'_, G> {
    /// What a move of the root leads to, and in how many plies the count of moves starts anew.
    fn judge(&self, mv: MoveCode) -> Option<(Outcome, i32)> {
        let root = self.path.root();
        let mut after = root.clone();
        after.play(mv);
        let mut replies = Vec::new();
        after.legal_moves(&mut replies);
        if let Some(ending) = after.ending(&replies) {
            return Some(match ending {
                Ending::Loss => (Outcome::Win, 0),
                Ending::Draw | Ending::Score(_) => (Outcome::Draw, 0),
                Ending::Win => (Outcome::Loss, 0),
            });
        }
        if root.is_zeroing(mv) {
            let outcome = match state(self.oracle.result(&after)?, self.counts_moves) {
                State::TbWin => Outcome::Loss,
                State::TbLoss => Outcome::Win,
                _ => Outcome::Draw,
            };
            return Some((outcome, 1));
        }
        let distance = self.oracle.distance(&after)?;
        let plies = distance.plies.abs() + 1;
        let outcome = match distance.plies.signum() {
            0 => Outcome::Draw,
            _ if self.is_repeated(&after) => Outcome::Draw,
            sign => self.within_count(plies, distance.is_rounded, sign < 0),
        };
        if outcome >= Outcome::PerhapsWin
            && replies.iter().any(|&reply| self.is_repeated_after(&after, reply))
        {
            return Some((Outcome::Draw, plies));
        }
        Some((outcome, plies))
    }

    /// Whether a decision in `plies` comes before the count of moves makes a draw.
    fn within_count(&self, plies: i32, is_rounded: bool, wins: bool) -> Outcome {
        let (sure, perhaps) =
            if wins { (Outcome::Win, Outcome::PerhapsWin) } else { (Outcome::Loss, Outcome::PerhapsLoss) };
        let root = self.path.root();
        let Some(limit) = root.clock_limit().filter(|_| self.counts_moves) else { return sure };
        let left = i64::from(limit) - i64::from(root.clock()) - i64::from(plies);
        match left {
            i64::MIN..0 => Outcome::Draw,
            // Tables are never rounded where a whole phase takes exactly as long as the rule allows.
            0 if is_rounded && root.clock() > 0 => perhaps,
            _ => sure,
        }
    }

    /// Whether the position would occur for the third time.
    fn is_repeated(&self, game: &G) -> bool {
        self.path.count_before(game.key()) >= 2
    }

    fn is_repeated_after(&self, game: &G, reply: MoveCode) -> bool {
        let mut next = game.clone();
        next.play(reply);
        self.is_repeated(&next)
    }
}
