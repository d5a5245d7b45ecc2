//! A search that stands for itself: a position goes in, all that was found about it comes out.
//!
//! Every one starts from an empty graph and the seed of the settings, so that it finds what a search by a new
//! engine finds, whatever was searched before it or beside it.

use std::time::Duration;

use super::any::{AnySession, with_session};
use super::drive::{Finish, Limits};
use super::errors::SessionError;
use crate::report::{Meters, Report};
use crate::settings::Settings;

/// A position to be searched.
#[derive(Clone, Debug)]
pub struct Job {
    /// Its place among all.
    pub number: u64,
    /// The position where the game began (FEN); `None` for the start of the game.
    pub fen: Option<String>,
    /// The moves since.
    pub moves: Vec<String>,
}

/// How every position is searched.
#[derive(Clone, Debug)]
pub struct Order {
    /// What ends a search.
    pub limits: Limits,
    /// The root's moves to choose among; none means all.
    pub root_moves: Vec<String>,
    /// Principal variations of a report.
    pub lines: usize,
}

/// What a search found.
#[derive(Clone, Debug)]
pub struct Found {
    /// The position (FEN).
    pub fen: String,
    /// Who moves there: 0 for the first player.
    pub player: u8,
    /// The result, always with a move.
    pub report: Report,
    /// Why the search ended.
    pub finish: Finish,
    /// How long it took.
    pub elapsed: Duration,
    /// Win, draw and loss as the network of the core sees the position.
    pub raw: Option<[f32; 3]>,
}

/// The number of a job, and what came of it.
pub type Outcome = (u64, Result<Found, SessionError>);

/// A session like another one, for searches that run beside others: one thread each.
pub fn open_beside_others(pattern: &AnySession) -> Result<AnySession, SessionError> {
    let settings = with_session!(pattern, session => Settings { threads: 1, ..session.settings().clone() });
    pattern.sibling(settings)
}

/// What a session found whose search has ended.
pub fn conclude(any: &AnySession, lines: usize, finish: Finish, elapsed: Duration) -> Found {
    let meters =
        if matches!(finish, Finish::Stopped | Finish::Time) { Meters::Sample } else { Meters::Whole };
    report_on(any, lines, meters, finish, elapsed)
}

/// What a session has found so far, with a move in any case.
pub fn report_on(any: &AnySession, lines: usize, meters: Meters, finish: Finish, elapsed: Duration) -> Found {
    with_session!(any, session => {
        let mut report = session.report(lines, meters);
        if report.best_move.is_none() {
            report.best_move = session.legal_moves().into_iter().next();
        }
        let (fen, player, raw) = (session.fen(), session.player(), session.raw_chances());
        Found { fen, player, report, finish, elapsed, raw }
    })
}
