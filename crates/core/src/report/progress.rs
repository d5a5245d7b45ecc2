//! Progress: reports of a search under way, at an interval, and as soon as it would choose another move.
//!
//! Decides when a report is due and makes it; the callback delivers it.

use std::time::{Duration, Instant};

use super::{Meters, Report};
use crate::game::{Game, MoveCode};
use crate::search::Search;

/// Shortest time between two checks of the move that would be chosen.
const SHORTEST: Duration = Duration::from_millis(2);

/// A callback for reports, and what it got last.
pub struct Progress<'a> {
    interval: Duration,
    lines: usize,
    checked: Instant,
    reported: Instant,
    best: Option<MoveCode>,
    callback: &'a mut dyn FnMut(Report) -> bool,
}

impl<'a> Progress<'a> {
    /// Reports with up to `lines` principal variations, at most `interval` apart. `callback` returns whether
    /// it accepted the report; one that it did not accept is made again later.
    pub fn new(
        interval: Duration,
        lines: usize,
        callback: &'a mut dyn FnMut(Report) -> bool,
    ) -> Progress<'a> {
        let now = Instant::now();
        Progress { interval, lines, checked: now, reported: now, best: None, callback }
    }

    /// Reports if the interval has passed or the move has changed since the last report.
    pub fn update<G: Game>(&mut self, search: &Search<G>) {
        let now = Instant::now();
        if now - self.checked < SHORTEST.min(self.interval) {
            return;
        }
        self.checked = now;
        let best = search.best_code();
        if (best.is_some() && best != self.best) || now - self.reported >= self.interval {
            self.report(search);
        }
    }

    /// Reports now; returns whether the callback accepted it.
    fn report<G: Game>(&mut self, search: &Search<G>) -> bool {
        let is_accepted = (self.callback)(search.report(self.lines, Meters::Off));
        if is_accepted {
            self.reported = Instant::now();
            self.best = search.best_code();
        }
        is_accepted
    }

    /// Reports until the callback accepts, or `cancelled` returns true.
    pub fn deliver<G: Game>(&mut self, search: &Search<G>, cancelled: &dyn Fn() -> bool) {
        while !self.report(search) && !cancelled() {
            std::thread::sleep(SHORTEST);
        }
    }
}
