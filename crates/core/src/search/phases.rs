//! Where the time of a search goes, for benchmarks. Nothing is decided by it.

use std::time::{Duration, Instant};

use super::Search;
use crate::game::Game;

/// Time of the search's own thread, by what it did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Phases {
    /// Collections, all that follows up to `commit` included.
    pub collect: Duration,
    /// Waves on their way down to the feet of their twigs.
    pub trunk: Duration,
    /// Twigs, which all threads share.
    pub twigs: Duration,
    /// What waves found, put into the graph; with the backup of what needs no evaluation.
    pub commit: Duration,
    /// Evaluations, which all threads share, or waiting for them.
    pub evaluate: Duration,
    /// Results put into the graph and backed up.
    pub apply: Duration,
}

impl<G: Game> Search<G> {
    /// Starts a measurement, if phases are measured.
    pub(crate) fn begin_phase(&self) -> Option<Instant> {
        self.phases.is_some().then(Instant::now)
    }

    /// Ends it.
    pub(crate) fn end_phase(&mut self, begun: Option<Instant>, phase: fn(&mut Phases) -> &mut Duration) {
        if let (Some(begun), Some(phases)) = (begun, &mut self.phases) {
            *phase(phases) += begun.elapsed();
        }
    }
}
