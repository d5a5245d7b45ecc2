//! A position solved with all that is known: wins by checks first, then wins by any move, with budgets that
//! grow.
//!
//! Where a game is won by check only, most forced wins consist of checks, and these are found a hundred times
//! sooner. Both kinds of search go on in turn, so that a quiet win is found too.

use super::dfpn::Solver;
use super::proof::Proof;
use super::{Attack, Question, Verdict};
use crate::game::Game;

/// Positions of the first round; each round has twice as many.
const FIRST_ROUND: u64 = 2_048;
/// Plies of the longest line in the first round; each round adds as many, up to the depth of the question.
const FIRST_DEPTH: u16 = 16;

struct Stage {
    attack: Attack,
    solver: Solver,
    verdict: Verdict,
}

/// A search for a win of one player, round by round. The attack of its questions is bounded: with
/// [`Attack::Checks`] other moves are never tried.
pub struct Solving {
    stages: Vec<Stage>,
    round: u64,
    depth: u16,
}

impl Solving {
    /// A search that has not begun, with tables of so many bytes in all.
    pub fn new<G: Game>(question: &Question<'_, G>, memory: usize) -> Solving {
        let attacks: &[Attack] = match question.attack {
            Attack::All if question.game.is_won_by_check_only() => &[Attack::Checks, Attack::All],
            Attack::All => &[Attack::All],
            Attack::Checks => &[Attack::Checks],
        };
        let stage = |&attack| Stage {
            attack,
            solver: Solver::with_memory(memory / attacks.len()),
            verdict: Verdict::Open,
        };
        Solving { stages: attacks.iter().map(stage).collect(), round: FIRST_ROUND, depth: FIRST_DEPTH }
    }

    /// How often the moves of a position were listed.
    pub fn positions(&self) -> u64 {
        self.stages.iter().map(|stage| stage.solver.positions()).sum()
    }

    /// What is known: `NoWin` is said of all moves that the question allows. A win is only what a round has
    /// returned the proof of.
    pub fn verdict(&self) -> Verdict {
        match self.stages.last() {
            Some(stage) if stage.verdict == Verdict::NoWin => Verdict::NoWin,
            _ => Verdict::Open,
        }
    }

    /// Whether there is nothing left to search for.
    pub fn is_over(&self) -> bool {
        self.stages.iter().all(|stage| stage.verdict != Verdict::Open)
    }

    /// The next round, with at most `budget` positions. Returns the proof of a win.
    pub fn go_on<G: Game>(&mut self, question: &Question<'_, G>, budget: u64) -> Option<Proof> {
        let end = self.positions().saturating_add(budget);
        let (round, depth) = (self.round, self.depth.min(question.depth));
        self.round *= 2;
        self.depth = depth.saturating_add(FIRST_DEPTH);
        for index in 0..self.stages.len() {
            let left = end.saturating_sub(self.positions());
            let stage = &mut self.stages[index];
            if stage.verdict != Verdict::Open || left == 0 {
                continue;
            }
            let asked = Question { attack: stage.attack, depth, ..*question };
            stage.verdict = stage.solver.search(&asked, round.min(left)).0;
            if stage.verdict == Verdict::Win {
                // Where it cannot be written down, or does not hold in this game, nothing is claimed.
                let proof = Proof::read(&mut stage.solver, &asked, round.max(left));
                if proof.is_some() {
                    return proof;
                }
            }
        }
        None
    }
}

/// Searches for a win with at most `budget` positions and `memory` bytes, until it is found, there is none,
/// or the question is cancelled.
pub fn solve<G: Game>(question: &Question<'_, G>, budget: u64, memory: usize) -> (Solving, Option<Proof>) {
    let mut solving = Solving::new(question, memory);
    loop {
        let left = budget.saturating_sub(solving.positions());
        if left == 0 || solving.is_over() || (question.cancel)() {
            return (solving, None);
        }
        if let Some(proof) = solving.go_on(question, left) {
            return (solving, Some(proof));
        }
    }
}
