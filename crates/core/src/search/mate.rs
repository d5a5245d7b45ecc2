//! The shortest win, by exhaustive search with the rules alone: turns the length of a proof into the
//! true distance.
//!
//! Depth-bounded and-or search, one depth after the other, so that what it finds is the shortest. It shares
//! nothing with the graph but the rules, and uses the real history: a position that has occurred twice in
//! the game, or the spent move count, is no win.

use std::collections::HashMap;

use crate::game::{Constraint, Ending, Game, MoveCode};
use crate::search::path::Path;
use crate::search::root_moves::RootMoves;

/// Positions between two questions whether the search is cancelled.
pub const CANCEL_PERIOD: u64 = 16;
/// Positions remembered at a time: some tens of megabytes at most.
const MOST_KNOWN: usize = 1 << 19;

/// A win of proven shortest length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortest {
    /// Plies to the end of the game.
    pub plies: u32,
    /// Best play from the root: the shortest win against the longest defence.
    pub line: Vec<MoveCode>,
    /// For a loss: the same after each of the other moves.
    pub others: Vec<Shortest>,
}

/// Looks for the shortest win of the side to move in at most `most` plies that begins with one of
/// `root_moves`;
/// `None` when there is none. Fails with `Err` when cancelled.
pub fn shortest_win<G: Game>(
    game: &G,
    path: &Path<G>,
    most: u32,
    root_moves: &RootMoves,
    cancel: &dyn Fn() -> bool,
) -> Result<Option<Shortest>, Interrupted> {
    let mut hunt = Hunt { path, cancel, known: HashMap::new(), steps: 0 };
    for plies in (1..=most).step_by(2) {
        if let Some(first) = hunt.winning_move(game, plies, root_moves)? {
            let line = hunt.line(game, first, plies)?;
            return Ok(Some(Shortest { plies, line, others: Vec::new() }));
        }
    }
    Ok(None)
}

/// The true distance of a lost root all of whose `root_moves` lose: the longest of the shortest wins that
/// follow, and that line.
pub fn longest_defence<G: Game>(
    path: &Path<G>,
    most: u32,
    root_moves: &RootMoves,
    cancel: &dyn Fn() -> bool,
) -> Result<Option<Shortest>, Interrupted> {
    let game = path.root();
    let mut moves = Vec::new();
    game.legal_moves(&mut moves);
    moves.retain(|&mv| root_moves.contains(mv));
    let mut defences: Vec<Shortest> = Vec::new();
    for mv in moves {
        let mut next = game.clone();
        next.play(mv);
        if is_draw_by_history(&next, path) {
            return Ok(None);
        }
        let mut replies = Vec::new();
        next.legal_moves(&mut replies);
        let line = match next.ending(&replies) {
            // Where a variant lets a move lose at once, there is no win to search for.
            Some(Ending::Win) => Vec::new(),
            _ => match shortest_win(&next, path, most.saturating_sub(1), &RootMoves::default(), cancel)? {
                Some(win) => win.line,
                None => return Ok(None),
            },
        };
        let plies = line.len() as u32 + 1;
        defences.push(Shortest {
            plies,
            line: std::iter::once(mv).chain(line).collect(),
            others: Vec::new(),
        });
    }
    // The first of the longest.
    let Some(best) = (0..defences.len()).rev().max_by_key(|&index| defences[index].plies) else {
        return Ok(None);
    };
    let longest = defences.remove(best);
    Ok(Some(Shortest { others: defences, ..longest }))
}

/// The search for a mate was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

fn is_draw_by_history<G: Game>(game: &G, path: &Path<G>) -> bool {
    path.count_before(game.key()) >= 2 || game.clock_limit().is_some_and(|limit| game.clock() >= limit)
}

struct Hunt<'a, G> {
    path: &'a Path<G>,
    cancel: &'a dyn Fn() -> bool,
    known: HashMap<(u64, u32), bool>,
    steps: u64,
}

impl<G: Game> Hunt<'_, G> {
    fn tick(&mut self) -> Result<(), Interrupted> {
        self.steps += 1;
        if self.steps.is_multiple_of(CANCEL_PERIOD) && (self.cancel)() { Err(Interrupted) } else { Ok(()) }
    }

    /// Whether the side to move wins within `plies` (odd).
    fn attack(&mut self, game: &G, plies: u32) -> Result<bool, Interrupted> {
        Ok(self.winning_move(game, plies, &RootMoves::default())?.is_some())
    }

    fn winning_move(
        &mut self,
        game: &G,
        plies: u32,
        root_moves: &RootMoves,
    ) -> Result<Option<MoveCode>, Interrupted> {
        self.tick()?;
        let mut moves = Vec::new();
        game.legal_moves(&mut moves);
        if game.ending(&moves).is_some() {
            return Ok(None);
        }
        if !root_moves.is_all() {
            moves.retain(|&mv| root_moves.contains(mv));
        }
        let checks = |mv: &MoveCode| game.satisfies(Constraint::Checks, *mv);
        if plies == 1 && game.is_won_by_check_only() {
            moves.retain(checks);
        } else {
            moves.sort_by_cached_key(|mv| !checks(mv));
        }
        for mv in moves {
            let mut next = game.clone();
            next.play(mv);
            if self.is_lost(&next, plies - 1)? {
                return Ok(Some(mv));
            }
        }
        Ok(None)
    }

    /// Whether the side to move loses within `plies` (even), whatever it does.
    fn is_lost(&mut self, game: &G, plies: u32) -> Result<bool, Interrupted> {
        let memory = (game.key(), plies);
        if let Some(&known) = self.known.get(&memory) {
            return Ok(known);
        }
        self.tick()?;
        let mut moves = Vec::new();
        game.legal_moves(&mut moves);
        let lost = match game.ending(&moves) {
            Some(Ending::Loss) => true,
            Some(_) => false,
            None if plies == 0 || is_draw_by_history(game, self.path) => false,
            None => {
                moves.sort_by_cached_key(|mv| !game.satisfies(Constraint::Captures, *mv));
                let mut all = true;
                for mv in moves {
                    let mut next = game.clone();
                    next.play(mv);
                    if is_draw_by_history(&next, self.path) || !self.attack(&next, plies - 1)? {
                        all = false;
                        break;
                    }
                }
                all
            }
        };
        // The clock and the history are the same for equal positions at equal depth below the root, up to
        // transposed zeroing moves far from the limit.
        if game.clock_limit().is_none_or(|limit| game.clock() + plies < limit) {
            if self.known.len() >= MOST_KNOWN {
                self.known.clear();
            }
            self.known.insert(memory, lost);
        }
        Ok(lost)
    }

    /// The line of a win in `plies` that begins with `first`, the defender choosing what lasts longest.
    fn line(&mut self, game: &G, first: MoveCode, plies: u32) -> Result<Vec<MoveCode>, Interrupted> {
        let mut line = Vec::new();
        let mut game = game.clone();
        let mut left = plies;
        let mut next = Some(first);
        while let Some(mv) = next {
            line.push(mv);
            game.play(mv);
            left -= 1;
            let mut moves = Vec::new();
            game.legal_moves(&mut moves);
            if left == 0 || game.ending(&moves).is_some() {
                break;
            }
            let mut longest: Option<(u32, MoveCode)> = None;
            for mv in moves {
                let mut next = game.clone();
                next.play(mv);
                let mut needed = 1;
                while needed < left && !self.attack(&next, needed)? {
                    needed += 2;
                }
                if longest.is_none_or(|(known, _)| needed > known) {
                    longest = Some((needed, mv));
                }
            }
            let Some((needed, mv)) = longest else { break };
            line.push(mv);
            game.play(mv);
            left = needed;
            next = self.winning_move(&game, left, &RootMoves::default())?;
        }
        Ok(line)
    }
}
