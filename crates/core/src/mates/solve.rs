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

/// Plies of the longest line at first, and how many each further step adds. Quiet wins are mostly short, and
/// long lines only distract from them.
const fn depth_step(attack: Attack) -> u16 {
    match attack {
        Attack::Checks => 16,
        Attack::All => 4,
    }
}

struct Stage {
    attack: Attack,
    solver: Solver,
    verdict: Verdict,
    depth: u16,
}

/// A search for a win of one player, round by round. The attack of its questions is bounded: with
/// [`Attack::Checks`] other moves are never tried.
pub struct Solving {
    stages: Vec<Stage>,
    round: u64,
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
            depth: depth_step(attack).min(question.depth),
        };
        Solving { stages: attacks.iter().map(stage).collect(), round: FIRST_ROUND }
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
        let round = self.round;
        self.round *= 2;
        for index in 0..self.stages.len() {
            let left = end.saturating_sub(self.positions());
            let stage = &mut self.stages[index];
            let proof = stage.search(question, round.min(left), left);
            if proof.is_some() {
                return proof;
            }
        }
        None
    }
}

impl Stage {
    /// Searches with so many positions; lines get longer when all shorter ones are seen, and with every
    /// round.
    fn search<G: Game>(&mut self, question: &Question<'_, G>, budget: u64, spare: u64) -> Option<Proof> {
        let end = self.solver.positions().saturating_add(budget);
        while self.verdict == Verdict::Open && self.solver.positions() < end {
            let asked = Question { attack: self.attack, depth: self.depth, ..*question };
            self.verdict = self.solver.search(&asked, end - self.solver.positions()).0;
            if self.verdict == Verdict::Win {
                let proof = Proof::read(&mut self.solver, &asked, budget.max(spare));
                if proof.is_some() {
                    return proof;
                }
                // It cannot be written down, or does not hold in this game: nothing is claimed.
            } else if self.solver.is_exhausted() && self.depth == question.depth {
                // All lines of the question are seen.
                self.verdict = Verdict::NoWin;
            }
            if (question.cancel)() {
                break;
            }
            self.depth = self.depth.saturating_add(depth_step(self.attack)).min(question.depth);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::chess::{ChessBoard, CrazyhouseBoard, Variant};

    fn solved<G: Game>(game: &G, attacker: u8, repeated: u64, budget: u64) -> (Verdict, Option<Proof>, u64) {
        let before = |key| if key == repeated { 2 } else { 0 };
        let question =
            Question { game, attacker, attack: Attack::All, depth: 64, before: &before, cancel: &|| false };
        let (solving, proof) = solve(&question, budget, 1 << 24);
        (solving.verdict(), proof, solving.positions())
    }

    fn chess(fen: &str) -> ChessBoard {
        ChessBoard::from_fen(Variant::Chess, fen, false).unwrap()
    }

    #[test]
    fn wins_by_checks_and_quiet_wins_are_proven() {
        // A quiet move is the only mate in two.
        let board = chess("8/k7/3K1p2/3N4/6Q1/8/8/8 w - - 0 90");
        let (_, proof, positions) = solved(&board, 0, 0, 1_000_000);
        let proof = proof.unwrap();
        assert!(proof.plies() >= 3 && usize::from(proof.plies()) == proof.line().len());
        let again = solved(&board, 0, 0, 1_000_000);
        assert_eq!((Some(proof), positions), (again.1, again.2), "the same every time");
        let fen = "r4rk1/pppb1ppp/8/8/8/8/PPP2PPP/R3R1K1[QNqn] w - - 0 20";
        let board = CrazyhouseBoard::from_fen(Variant::Crazyhouse, fen, false).unwrap();
        let (verdict, proof, _) = solved(&board, 1, 0, 20_000);
        assert!(proof.is_none() && verdict != Verdict::Win, "black is not to move and has no forced win");
    }

    #[test]
    fn a_perpetual_check_is_no_win_and_a_bare_king_never_wins() {
        let board = chess("6k1/5p2/6pQ/8/8/8/5PPP/1q4K1 w - - 0 1");
        assert!(solved(&board, 0, 0, 50_000).1.is_none());
        let board = chess("7k/8/8/8/8/8/8/K6R b - - 0 1");
        assert!(solved(&board, 1, 0, 50_000).1.is_none());
    }

    #[test]
    fn a_win_over_a_position_that_was_there_twice_is_none() {
        let board = chess("8/k7/3K1p2/3N4/6Q1/8/8/8 w - - 0 90");
        let first = solved(&board, 0, 0, 100_000).1.unwrap();
        let mut after = board.clone();
        after.play(first.line()[0]);
        let second = solved(&board, 0, after.key(), 100_000).1;
        assert!(second.is_none_or(|proof| proof.line()[0] != first.line()[0]));
    }

    #[test]
    fn the_move_count_ends_a_win() {
        for (clock, wins) in [(95, true), (98, false)] {
            let board = chess(&format!("8/k7/3K4/3N4/6Q1/8/8/8 w - - {clock} 90"));
            assert_eq!(solved(&board, 0, 0, 300_000).1.is_some(), wins, "clock {clock}");
        }
    }
}
