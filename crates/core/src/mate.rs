//! The shortest win, by exhaustive search with the rules alone: turns the length of a proof in hand into the true distance.
//!
//! Depth-bounded and-or search, one depth after the other, so that what it finds is the shortest. It shares nothing with the graph but the rules,
//! and judges the real history: a position that has occurred twice in the game, or the spent move count, is no win.

use std::collections::HashMap;

use crate::game::{Constraint, Ending, Game, MoveCode};
use crate::path::Path;

/// A win of proven shortest length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortest {
    /// Plies to the end of the game.
    pub plies: u32,
    /// Best play from the root: the shortest win against the longest defence.
    pub line: Vec<MoveCode>,
}

/// Looks for the shortest win of the side to move in at most `most` plies; `None` when there is none. Fails with `Err` when cancelled.
pub fn shortest_win<G: Game>(game: &G, path: &Path<G>, most: u32, cancel: &dyn Fn() -> bool) -> Result<Option<Shortest>, Cancelled> {
    let mut hunt = Hunt { path, cancel, known: HashMap::new(), steps: 0 };
    for plies in (1..=most).step_by(2) {
        if hunt.attack(game, plies)? {
            let line = hunt.line(game, plies)?;
            return Ok(Some(Shortest { plies, line }));
        }
    }
    Ok(None)
}

/// The true distance of a lost position whose every move loses: the longest of the shortest wins that follow, and that line.
pub fn longest_defence<G: Game>(game: &G, path: &Path<G>, most: u32, cancel: &dyn Fn() -> bool) -> Result<Option<Shortest>, Cancelled> {
    let mut moves = Vec::new();
    game.legal_moves(&mut moves);
    let mut longest: Option<Shortest> = None;
    for &mv in &moves {
        let mut next = game.clone();
        next.play(mv);
        let Some(win) = shortest_win(&next, path, most.saturating_sub(1), cancel)? else { return Ok(None) };
        if longest.as_ref().is_none_or(|known| win.plies + 1 > known.plies) {
            longest = Some(Shortest { plies: win.plies + 1, line: std::iter::once(mv).chain(win.line).collect() });
        }
    }
    Ok(longest)
}

/// The hunt was cut short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancelled;

struct Hunt<'a, G> {
    path: &'a Path<G>,
    cancel: &'a dyn Fn() -> bool,
    known: HashMap<(u64, u32), bool>,
    steps: u64,
}

impl<G: Game> Hunt<'_, G> {
    fn is_draw_by_history(&self, game: &G) -> bool {
        self.path.count_before(game.key()) >= 2 || game.clock_limit().is_some_and(|limit| game.clock() >= limit)
    }

    fn tick(&mut self) -> Result<(), Cancelled> {
        self.steps += 1;
        if self.steps & 0xFF == 0 && (self.cancel)() { Err(Cancelled) } else { Ok(()) }
    }

    /// Whether the side to move wins within `plies` (odd).
    fn attack(&mut self, game: &G, plies: u32) -> Result<bool, Cancelled> {
        Ok(self.winning_move(game, plies)?.is_some())
    }

    fn winning_move(&mut self, game: &G, plies: u32) -> Result<Option<MoveCode>, Cancelled> {
        self.tick()?;
        let mut moves = Vec::new();
        game.legal_moves(&mut moves);
        if game.ending(&moves).is_some() {
            return Ok(None);
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
    fn is_lost(&mut self, game: &G, plies: u32) -> Result<bool, Cancelled> {
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
            None if plies == 0 || self.is_draw_by_history(game) => false,
            None => {
                moves.sort_by_cached_key(|mv| !game.satisfies(Constraint::Captures, *mv));
                let mut all = true;
                for mv in moves {
                    let mut next = game.clone();
                    next.play(mv);
                    if self.is_draw_by_history(&next) || !self.attack(&next, plies - 1)? {
                        all = false;
                        break;
                    }
                }
                all
            }
        };
        // The clock and the history are the same for equal positions at equal depth below the root, up to transposed zeroing moves far from the limit.
        if game.clock_limit().is_none_or(|limit| game.clock() + plies < limit) {
            self.known.insert(memory, lost);
        }
        Ok(lost)
    }

    /// The line of a win in `plies`, the defender choosing what lasts longest.
    fn line(&mut self, game: &G, plies: u32) -> Result<Vec<MoveCode>, Cancelled> {
        let mut line = Vec::new();
        let mut game = game.clone();
        let mut left = plies;
        while let Some(mv) = self.winning_move(&game, left)? {
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
        }
        Ok(line)
    }
}
