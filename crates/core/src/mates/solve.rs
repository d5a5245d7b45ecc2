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

/// What was found out about a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solution {
    /// Whether the attacker wins. `NoWin` is said of all moves, not of checks alone.
    pub verdict: Verdict,
    /// The proof of a win.
    pub proof: Option<Proof>,
    /// Positions that were looked at.
    pub positions: u64,
}

struct Stage {
    attack: Attack,
    solver: Solver,
    verdict: Verdict,
}

/// Searches for a win of `question.attacker` with at most `budget` positions and `memory` bytes. The attack
/// of the question bounds the moves: with [`Attack::Checks`] other moves are never tried.
pub fn solve<G: Game>(question: &Question<'_, G>, budget: u64, memory: usize) -> Solution {
    let attacks: &[Attack] = match question.attack {
        Attack::All if question.game.is_won_by_check_only() => &[Attack::Checks, Attack::All],
        Attack::All => &[Attack::All],
        Attack::Checks => &[Attack::Checks],
    };
    let mut stages: Vec<Stage> = attacks
        .iter()
        .map(|&attack| Stage {
            attack,
            solver: Solver::with_memory(memory / attacks.len()),
            verdict: Verdict::Open,
        })
        .collect();
    let spent = |stages: &[Stage]| stages.iter().map(|stage| stage.solver.positions()).sum::<u64>();
    let (mut round, mut depth) = (FIRST_ROUND, FIRST_DEPTH.min(question.depth));
    loop {
        for index in 0..stages.len() {
            let left = budget.saturating_sub(spent(&stages));
            let stage = &mut stages[index];
            if stage.verdict != Verdict::Open {
                continue;
            }
            let asked = Question { attack: stage.attack, depth, ..*question };
            stage.verdict = stage.solver.search(&asked, round.min(left)).0;
            if stage.verdict != Verdict::Win {
                continue;
            }
            let allowance = budget.saturating_sub(spent(&stages)).max(round);
            let stage = &mut stages[index];
            let proof = Proof::read(&mut stage.solver, &asked, allowance);
            if proof.is_some() {
                return Solution { verdict: Verdict::Win, proof, positions: spent(&stages) };
            }
            // The win does not hold in this game, or it cannot be written down: nothing is claimed.
        }
        let all_known = stages.iter().all(|stage| stage.verdict != Verdict::Open);
        if all_known || spent(&stages) >= budget || (question.cancel)() {
            break;
        }
        round *= 2;
        depth = depth.saturating_add(FIRST_DEPTH).min(question.depth);
    }
    // What holds for all moves holds for checks.
    let verdict = match stages.last() {
        Some(stage) if stage.verdict == Verdict::NoWin => Verdict::NoWin,
        _ => Verdict::Open,
    };
    Solution { verdict, proof: None, positions: spent(&stages) }
}
