//! When a search on the way has something to tell: every so often, and as soon as it would choose another
//! move.
//!
//! Decides when, and makes the report; who hears of it, and how, is the caller's business.

use std::time::{Duration, Instant};

use crate::game::{Game, MoveCode};
use crate::report::{Meters, Report};
use crate::search::Search;

/// Shortest time between two looks at the move that would be chosen.
const LEAST: Duration = Duration::from_millis(2);

/// What was told last, and when.
pub struct News<'a> {
    interval: Duration,
    lines: usize,
    looked: Instant,
    told: Instant,
    best: Option<MoveCode>,
    tell: &'a mut dyn FnMut(Report) -> bool,
}

impl<'a> News<'a> {
    /// Nothing is told yet. `tell` says whether the report was taken; one that was not is made again later.
    pub fn new(interval: Duration, lines: usize, tell: &'a mut dyn FnMut(Report) -> bool) -> News<'a> {
        let now = Instant::now();
        News { interval, lines, looked: now, told: now, best: None, tell }
    }

    /// Tells how things stand if it is time to, or if the move has changed since anybody heard of it.
    pub fn look<G: Game>(&mut self, search: &Search<G>) {
        let now = Instant::now();
        if now - self.looked < LEAST.min(self.interval) {
            return;
        }
        self.looked = now;
        let best = search.best_code();
        if (best.is_some() && best != self.best) || now - self.told >= self.interval {
            self.tell(search);
        }
    }

    /// Tells how things stand; whether the report was taken.
    pub fn tell<G: Game>(&mut self, search: &Search<G>) -> bool {
        let report = search.report(self.lines, Meters::Off);
        let taken = (self.tell)(report);
        if taken {
            self.told = Instant::now();
            self.best = search.best_code();
        }
        taken
    }

    /// Tells how things stand as soon as somebody can take it, unless `cancelled` says that nobody wants it
    /// any more.
    pub fn insist<G: Game>(&mut self, search: &Search<G>, cancelled: &dyn Fn() -> bool) {
        while !self.tell(search) && !cancelled() {
            std::thread::sleep(LEAST);
        }
    }
}
