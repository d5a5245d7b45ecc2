//! Solving the position of a session: a forced win or loss of the side to move, its proof, and the shortest
//! line.
//!
//! It uses the rules and the game's history alone; the graph, the evaluator and the settings are not touched.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Session;
use crate::game::{Ending, Game, MoveCode, Reasoned};
use crate::mates::certificate::{self, Claim};
use crate::mates::proof::Proof;
use crate::mates::solve::Solving;
use crate::mates::{Attack, Question, Verdict};
use crate::run::errors::SessionError;
use crate::run::kind::Kind;
use crate::search::mate;
use crate::search::path::Path;
use crate::search::root_moves::RootMoves;

/// Plies of the longest line.
const MOST_DEPTH: u16 = 256;
/// The most bytes of the tables.
const MOST_MEMORY: usize = 256 << 20;

/// The bytes that a position may take where a game reasons in its own way.
const BYTES_OF_REASONING: usize = 256;

/// How a position is to be solved.
#[derive(Clone, Debug)]
pub struct SolveLimits {
    /// Positions in all.
    pub positions: u64,
    /// Whether a win of the side to move is looked for.
    pub wins: bool,
    /// Whether a loss of the side to move is looked for.
    pub losses: bool,
    /// Whether the attacker gives check with every move.
    pub checks_only: bool,
    /// Whether the shortest line is looked for.
    pub shortest: bool,
}

/// What was found out about a position.
#[derive(Clone, Debug, Default)]
pub struct SolveReport {
    /// `win` or `loss` for the side to move; absent while nothing is proven.
    pub result: Option<&'static str>,
    /// Length of the line in plies; absent where it ends before the game does, because the rest is certain.
    pub plies: Option<u32>,
    /// The winner's moves against the longest defence.
    pub line: Vec<String>,
    /// Whether no shorter win exists.
    pub is_shortest: bool,
    /// Positions of the proof.
    pub proof_positions: usize,
    /// How often the moves of a position were listed.
    pub positions: u64,
    /// Whether the side to move has no forced win, by any of the moves that were allowed.
    pub no_win: bool,
    /// The proof as text.
    pub certificate: Option<String>,
}

impl<G: Kind> Session<G> {
    /// Looks for a forced win or loss of the side to move.
    pub fn solve(&self, limits: &SolveLimits, stop: &AtomicBool) -> Result<SolveReport, SessionError> {
        if self.search.is_over() {
            return Err(SessionError::Over(self.fen()));
        }
        let path = &self.search.path;
        let (game, key) = (path.root(), path.root().key());
        let before = |other| path.count_before(other) + u32::from(other == key);
        let cancel = || stop.load(Ordering::Relaxed);
        let most = limits.positions.min((self.solving_memory() / BYTES_OF_REASONING) as u64);
        if let Some(reasoned) = game.reason(most, &cancel) {
            return Ok(report_of(game, &reasoned, limits));
        }
        let attack = if limits.checks_only { Attack::Checks } else { Attack::All };
        let question = |attacker| Question {
            game,
            attacker,
            attack,
            depth: MOST_DEPTH,
            before: &before,
            cancel: &cancel,
        };
        let sides: Vec<(&'static str, Question<'_, G>)> =
            [(limits.wins, "win", game.player()), (limits.losses, "loss", 1 - game.player())]
                .into_iter()
                .filter(|side| side.0)
                .map(|(_, result, attacker)| (result, question(attacker)))
                .collect();
        let memory = self.solving_memory();
        let mut solvings: Vec<Solving> =
            sides.iter().map(|(_, question)| Solving::new(question, memory / sides.len())).collect();
        let mut found: Option<(&'static str, Proof)> = None;
        let spent = |solvings: &[Solving]| solvings.iter().map(Solving::positions).sum::<u64>();
        while found.is_none()
            && !cancel()
            && spent(&solvings) < limits.positions
            && solvings.iter().any(|solving| !solving.is_over())
        {
            for (index, (result, question)) in sides.iter().enumerate() {
                let left = limits.positions.saturating_sub(spent(&solvings));
                if let Some(proof) = solvings[index].go_on(question, left) {
                    found = Some((result, proof));
                    break;
                }
            }
        }
        let mut report = SolveReport { positions: spent(&solvings), ..SolveReport::default() };
        let knows_no_win =
            |(side, solving): (&(&str, _), &Solving)| side.0 == "win" && solving.verdict() == Verdict::NoWin;
        report.no_win = found.is_none() && sides.iter().zip(&solvings).any(knows_no_win);
        if let Some((result, proof)) = found {
            let (origin, moves) = self.game();
            let claim = Claim {
                variant: self.name().to_owned(),
                chess960: self.is_chess960(),
                fen: origin,
                moves,
                result,
            };
            report.certificate = Some(certificate::write(&claim, &proof, game));
            report.result = Some(result);
            report.proof_positions = proof.nodes.len();
            let left = limits.positions.saturating_sub(report.positions);
            self.write_line(&mut report, &proof, if limits.shortest { left } else { 0 }, &cancel);
        }
        Ok(report)
    }

    /// The bytes of the tables: what the graph leaves of the memory cap, but at least a quarter of the cap.
    fn solving_memory(&self) -> usize {
        let graph = self.search.graph();
        let free = graph.memory().saturating_sub(graph.reserved_bytes());
        free.max(graph.memory() / 4).min(MOST_MEMORY)
    }

    /// The line of the proof, or the shortest one if that is found with `budget` positions before the search
    /// is cancelled.
    fn write_line(&self, report: &mut SolveReport, proof: &Proof, budget: u64, cancel: &dyn Fn() -> bool) {
        let path = &self.search.path;
        let mut line = proof.line();
        report.is_shortest = line.len() == 1;
        if budget > 0 && !report.is_shortest {
            let positions = Cell::new(0);
            let is_spent = || {
                positions.set(positions.get() + mate::CANCEL_PERIOD);
                positions.get() >= budget || cancel()
            };
            let shortest = shorten(path, report.result == Some("win"), line.len() as u32, &is_spent);
            report.positions += positions.get().min(budget);
            report.is_shortest = shortest.is_some();
            line = shortest.unwrap_or(line);
        }
        let mut game = path.root().clone();
        for mv in &line {
            report.line.push(game.move_text(*mv));
            game.play(*mv);
        }
        let mut moves = Vec::new();
        game.legal_moves(&mut moves);
        let is_whole = game.ending(&moves).is_some();
        report.is_shortest &= is_whole;
        report.plies = is_whole.then_some(line.len() as u32);
    }
}

/// The report of a result that the game found in its own way.
fn report_of<G: Game>(game: &G, reasoned: &Reasoned, limits: &SolveLimits) -> SolveReport {
    let mut report = SolveReport { positions: reasoned.positions, ..SolveReport::default() };
    report.result = match reasoned.ending {
        Some(Ending::Win) if limits.wins => Some("win"),
        Some(Ending::Loss) if limits.losses => Some("loss"),
        _ => None,
    };
    report.no_win = report.result.is_none() && reasoned.ending.is_some_and(|ending| ending != Ending::Win);
    if report.result.is_some() {
        report.proof_positions = reasoned.positions as usize;
        let mut game = game.clone();
        for &mv in &reasoned.line {
            report.line.push(game.move_text(mv));
            game.play(mv);
        }
    }
    report
}

fn shorten<G: Game>(
    path: &Path<G>,
    is_win: bool,
    most: u32,
    cancel: &dyn Fn() -> bool,
) -> Option<Vec<MoveCode>> {
    let all = RootMoves::default();
    let found = if is_win {
        mate::shortest_win(path.root(), path, most, &all, cancel)
    } else {
        mate::longest_defence(path, most, &all, cancel)
    };
    found.ok().flatten().map(|shortest| shortest.line)
}
