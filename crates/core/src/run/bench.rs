//! Measurements that need to reach inside: the rules-only replay of a search's trajectories, and the Rust
//! loop made to fill planes.
//!
//! Prints nothing and judges nothing: times and counts go out, ratios are made by who asked.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use crate::game::{Game, MoveCode};
use crate::games::chess::Rules;
use crate::games::chess::planes::Version;
use crate::run::drive::{Finish, Limits, run};
use crate::run::session::{Bench, BoardSession, Measured, Session, SessionError};
use crate::search::Search;

impl<P: Rules> Bench for BoardSession<P> {
    fn measure(&mut self, simulations: u64) -> Result<Measured, SessionError> {
        let stop = Arc::new(AtomicBool::new(false));
        let mut limits = Limits::default();
        limits.budget.simulations = Some(simulations);
        // Once to write the trajectories down, which also warms memory and caches up; then once more for the
        // clock.
        let mut record = Vec::new();
        let mut search = Duration::ZERO;
        for recording in [true, false] {
            Session::forget(self);
            self.ready(&[])?;
            self.search.recorder = recording.then(Vec::new);
            let Some(pool) = self.pool.as_mut() else {
                return Err(SessionError::State("the session has no threads"));
            };
            let begun = Instant::now();
            run(&mut self.search, pool, limits, &stop, &mut |_| {});
            search = begun.elapsed();
            if let Some(recorded) = self.search.recorder.take() {
                record = recorded;
            }
        }
        let counters = *self.search.counters();
        let (rules, evaluator) = replay(&self.search, &record);
        Ok(Measured {
            search,
            rules,
            evaluator,
            simulations: counters.simulations,
            evaluations: counters.evaluations,
            edges: counters.depth_sum,
        })
    }

    fn measure_planes(&mut self, simulations: u64) -> Result<(Duration, u64), SessionError> {
        Session::forget(self);
        self.ready(&[])?;
        let mut limits = Limits::default();
        limits.budget.simulations = Some(simulations);
        let stop = AtomicBool::new(false);
        let begun = Instant::now();
        let (planes, width) = Session::shape(self, Version::Three);
        let batch = self.search.settings().batch_size as usize;
        // One array for each batch in flight: the planes of a batch must last until it has been evaluated.
        let mut arrays =
            vec![vec![0.0f32; batch * planes * 64]; self.search.settings().batches_in_flight as usize];
        let (values, logits) = (vec![0.0f32; batch], vec![0.0f32; batch * width]);
        Session::begin(self, limits, &[])?;
        let mut sizes = std::collections::VecDeque::new();
        let finish = loop {
            if let Some(finish) = Session::finish(self, &stop) {
                break finish;
            }
            let collected = Session::collect(self, &stop, Some((&mut arrays[0], Version::Three)))?;
            if collected.size > 0 {
                sizes.push_back(collected.size);
                arrays.rotate_left(1);
            }
            if collected.must_apply
                && let Some(size) = sizes.pop_front()
            {
                Session::apply(self, &values[..size], &logits[..size * width])?;
            }
        };
        debug_assert_ne!(finish, Finish::Time);
        while let Some(size) = sizes.pop_front() {
            Session::apply(self, &values[..size], &logits[..size * width])?;
        }
        Ok((begun.elapsed(), self.search.counters().simulations))
    }
}

/// Plays recorded trajectories (each a number of moves, then the moves) with rules alone; then evaluates
/// where they ended.
fn replay<G: Game>(search: &Search<G>, record: &[MoveCode]) -> (Duration, Duration) {
    let root = search.position();
    let mut moves = Vec::new();
    let mut checksum = 0u64;
    let begun = Instant::now();
    let mut at = 0;
    while at < record.len() {
        let length = record[at].0 as usize;
        let mut game = root.clone();
        for &mv in &record[at + 1..at + 1 + length] {
            game.play(mv);
        }
        game.legal_moves(&mut moves);
        checksum = checksum.wrapping_add(game.key()).wrapping_add(moves.len() as u64);
        at += 1 + length;
    }
    let rules = begun.elapsed();
    std::hint::black_box(checksum);
    let Some(evaluator) = search.evaluator.clone() else { return (rules, Duration::ZERO) };
    let ranking = search.ranking();
    let mut scratch = crate::search::Scratch::default();
    let mut result = crate::search::Evaluated::default();
    let never = AtomicBool::new(false);
    let mut spent = Duration::ZERO;
    let mut leaf =
        crate::evaluators::Leaf { game: root.clone(), moves: Vec::new(), recent: Vec::new(), repetitions: 0 };
    let mut at = 0;
    let mut number = 0u64;
    let mut sampled = 0u64;
    while at < record.len() {
        let length = record[at].0 as usize;
        // One in eight is enough for a mean, and keeps the clock's own cost out of the sum.
        if number.is_multiple_of(8) {
            leaf.game = root.clone();
            for &mv in &record[at + 1..at + 1 + length] {
                leaf.game.play(mv);
            }
            leaf.game.legal_moves(&mut leaf.moves);
            if leaf.game.ending(&leaf.moves).is_none() {
                let begun = Instant::now();
                ranking.evaluate(&*evaluator, &leaf, &mut scratch, &mut result, &never);
                spent += begun.elapsed();
                sampled += 1;
            }
        }
        number += 1;
        at += 1 + length;
    }
    let evaluations = search.counters().evaluations;
    let evaluator =
        if sampled == 0 { Duration::ZERO } else { spent.mul_f64(evaluations as f64 / sampled as f64) };
    (rules, evaluator)
}
