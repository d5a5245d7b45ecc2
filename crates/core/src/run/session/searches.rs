//! The searches of a session: with the Rust loop, with an outside evaluator, and for measurements.
//!
//! A panic of an evaluator ends the search with an error, and the session continues with a new graph.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::Session;
use crate::report::progress::Progress;
use crate::run::bench::{self, SearchTimes};
use crate::run::drive::{Finish, Limits, LoopState, has_mate, run};
use crate::run::errors::SessionError;
use crate::run::external::{Collected, External, LeafText};
use crate::run::kind::Kind;
use crate::run::pool::Pool;
use crate::search::proof::ProofCheck;
use crate::search::root_moves::RootMoves;
use crate::search::wave::Alone;
use crate::search::{Phases, Search};

const NO_THREADS: SessionError = SessionError::State("the session has no threads");

/// The message of a panic.
pub(crate) fn panic_message(payload: &(dyn Any + Send)) -> String {
    let message = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    message.unwrap_or("no message").to_owned()
}

impl<G: Kind> Session<G> {
    /// Prepares a new search on some of the root's moves, or on all if none are given.
    fn prepare(&mut self, root_moves: &[String]) -> Result<(), SessionError> {
        if self.external.in_flight() > 0 {
            return Err(SessionError::State("batches of an earlier search are still in flight"));
        }
        if self.search.is_over() {
            return Err(SessionError::Over(self.fen()));
        }
        let moves = root_moves
            .iter()
            .map(|text| self.search.position().parse_move(&self.which, text))
            .collect::<Result<_, _>>()?;
        self.search.set_root_moves(RootMoves::new(moves));
        if !self.search.is_on_side() {
            self.search.start_over();
        }
        self.search.complete_proof();
        // A proof from an earlier search may rest on a position that has been repeated since: then the graph
        // is of no use here.
        if self.search.proof_check() == Some(ProofCheck::Fails) && !self.search.is_ending() {
            self.search.doubt();
        }
        self.search.reset_counters();
        let threads = self.search.settings().threads as usize;
        // Outside evaluators have threads of their own.
        if self.search.evaluator.is_some() && self.pool.as_ref().is_none_or(|pool| pool.threads() != threads)
        {
            self.pool = Some(Pool::new(threads));
        }
        Ok(())
    }

    /// Takes a new search and new threads in place of those that a panic left in an unknown state.
    pub fn renew(&mut self) {
        let old = &self.search;
        let mut search =
            Search::new(old.settings.clone(), old.evaluator.clone(), old.origin.clone(), &old.played);
        search.set_oracle(self.oracle());
        self.search = search;
        self.pool = None;
        self.external = External::new(Limits::default());
    }

    /// Searches for a shorter proof of a solved root where the settings or the limits want it. Reports the
    /// proof in hand first, and what was found afterwards.
    fn improve(
        &mut self,
        limits: &Limits,
        begun: Instant,
        stop: &AtomicBool,
        progress: Option<&mut Progress<'_>>,
    ) {
        let misses_mate = limits.mate.is_some_and(|moves| !has_mate(&self.search, moves));
        if !self.search.settings().improve && !misses_mate {
            return;
        }
        let cancelled =
            || stop.load(Ordering::Relaxed) || limits.time.is_some_and(|time| begun.elapsed() >= time);
        let Some(progress) = progress else { return self.search.improve(&cancelled) };
        progress.deliver(&self.search, &cancelled);
        let before = self.search.verdict();
        self.search.improve(&cancelled);
        if self.search.verdict() != before {
            progress.deliver(&self.search, &cancelled);
        }
    }

    /// Runs the Rust loop on some of the root's moves, or on all if none are given. `progress` gets
    /// reports meanwhile.
    pub fn run(
        &mut self,
        limits: Limits,
        root_moves: &[String],
        stop: &Arc<AtomicBool>,
        mut progress: Option<Progress<'_>>,
    ) -> Result<Finish, SessionError> {
        self.search.watch_end(stop, LoopState::new(limits).deadline());
        self.prepare(root_moves)?;
        if self.search.evaluator.is_none() {
            return Err(SessionError::State("this session takes its evaluations from outside"));
        }
        let begun = Instant::now();
        // Nothing that a panic may have left half done is used again.
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let pool = self.pool.as_mut().ok_or(NO_THREADS)?;
            let finish = run(&mut self.search, pool, limits, stop, &mut |search| {
                if let Some(progress) = &mut progress {
                    progress.update(search);
                }
            });
            if finish == Finish::Solved {
                self.improve(&limits, begun, stop, progress.as_mut());
            }
            Ok(finish)
        }));
        outcome.unwrap_or_else(|payload| {
            self.renew();
            Err(SessionError::Fault(panic_message(&*payload)))
        })
    }

    /// Starts a search with an outside evaluator, on some of the root's moves, or on all if none are given.
    pub fn begin(
        &mut self,
        limits: Limits,
        root_moves: &[String],
        stop: &Arc<AtomicBool>,
    ) -> Result<(), SessionError> {
        self.external = External::new(limits);
        self.search.watch_end(stop, self.external.state().deadline());
        self.prepare(root_moves)?;
        Ok(())
    }

    /// Why the search should end now, if it should.
    pub fn finish(&self, stop: &AtomicBool) -> Option<Finish> {
        self.external.finish(&self.search, stop)
    }

    /// Collects the next batch, and writes its planes into `planes` where given (as many leaves as fit in it
    /// at most: batch size).
    pub fn collect(
        &mut self,
        stop: &AtomicBool,
        planes: Option<(&mut [f32], G::Planes)>,
    ) -> Result<Collected, SessionError> {
        match &mut self.pool {
            Some(pool) => self.external.collect(&mut self.search, pool, stop, planes),
            None => self.external.collect(&mut self.search, &mut Alone, stop, planes),
        }
    }

    /// The positions (text) of the newest batch, and for each the legal moves (text) with their policy
    /// indices.
    pub fn newest_leaves(&self) -> Vec<LeafText> {
        self.external.newest_leaves()
    }

    /// Applies results to the oldest batch in flight: one value per leaf, and `policy_size` logits per leaf.
    pub fn apply(&mut self, values: &[f32], logits: &[f32]) -> Result<(), SessionError> {
        self.external.apply(&mut self.search, values, logits)
    }

    /// Takes back the marks of all batches in flight.
    pub fn abandon(&mut self) {
        self.external.abandon(&mut self.search);
    }

    /// Ends a search with an outside evaluator, however it ended: looks for a mate after the move to play.
    pub fn check_choice(&mut self) {
        self.search.check_choice();
    }

    /// Ends a solved search with an outside evaluator: searches for a shorter proof if the settings or limits
    /// want it.
    pub fn conclude(&mut self, stop: &AtomicBool) {
        let (limits, begun) = (*self.external.state().limits(), self.external.state().begun());
        self.improve(&limits, begun, stop, None);
    }

    /// For benchmarks: times of a search, and of the rules and the evaluator alone on its trajectories.
    pub fn measure(&mut self, simulations: u64) -> Result<SearchTimes, SessionError> {
        self.forget();
        self.prepare(&[])?;
        let pool = self.pool.as_mut().ok_or(NO_THREADS)?;
        Ok(bench::measure(&mut self.search, pool, simulations))
    }

    /// For benchmarks: time and simulations of the loop of an outside evaluator that costs nothing.
    pub fn measure_planes(&mut self, simulations: u64) -> Result<(Duration, u64), SessionError> {
        self.forget();
        self.prepare(&[])?;
        let layout = G::planes(&self.which, None)?;
        bench::measure_planes(&mut self.search, layout, simulations)
    }

    /// For benchmarks: the time of a search on a new graph, and of each of its phases.
    pub fn measure_phases(&mut self, evaluations: u64) -> Result<(Duration, Phases), SessionError> {
        self.forget();
        self.prepare(&[])?;
        let pool = self.pool.as_mut().ok_or(NO_THREADS)?;
        Ok(bench::measure_phases(&mut self.search, pool, evaluations))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluators::{Evaluator, Leaf};
    use crate::game::Game;
    use crate::games::chess::{ChessBoard, Variant};
    use crate::report::Meters;
    use crate::run::kind::ChessVariant;
    use crate::run::session::Source;
    use crate::settings::Settings;

    /// Judges as another one does; while the flag is set it panics over positions below the second ply.
    struct Fragile(Arc<AtomicBool>, Arc<dyn Evaluator<ChessBoard>>);

    impl Evaluator<ChessBoard> for Fragile {
        fn evaluate(&self, leaf: &Leaf<ChessBoard>, logits: &mut Vec<f32>, cancel: &AtomicBool) -> f32 {
            assert!(
                !self.0.load(Ordering::Relaxed) || leaf.game.ply() < 3,
                "ply {} is too deep",
                leaf.game.ply()
            );
            self.1.evaluate(leaf, logits, cancel)
        }
    }

    #[test]
    fn a_panic_of_the_evaluator_ends_the_search_with_a_sentence_on_any_number_of_threads() {
        for threads in [1, 2, 4] {
            let settings = Settings { threads, width_visits: 0, ..Settings::default() };
            let which = ChessVariant { variant: Variant::Chess, chess960: false };
            let mut session = Session::<ChessBoard>::new(which, settings, Source::BuiltIn).unwrap();
            let is_fragile = Arc::new(AtomicBool::new(true));
            let inner = session.search.evaluator.clone().unwrap();
            session.search.evaluator = Some(Arc::new(Fragile(Arc::clone(&is_fragile), inner)));
            session.play("e2e4").unwrap();
            let mut limits = Limits::default();
            limits.budget.simulations = Some(2000);
            let stop = Arc::new(AtomicBool::new(false));
            for _ in 0..3 {
                let error = session.run(limits, &[], &stop, None).unwrap_err().to_string();
                assert!(error.contains("is too deep") && error.ends_with(')'), "{error}");
            }
            is_fragile.store(false, Ordering::Relaxed);
            assert_eq!(session.run(limits, &[], &stop, None).unwrap(), Finish::Budget);
            let (origin, moves) = session.game();
            assert!(origin.starts_with("rnbqkbnr/pppppppp") && moves == ["e2e4"]);
            assert_eq!(
                (session.in_flight_marks(), session.report(1, Meters::Off).statistics.counters.simulations),
                (0, 2000)
            );
        }
    }
}
