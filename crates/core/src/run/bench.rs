//! Measurements that need to reach inside: the rules and the evaluator alone on a search's trajectories, and
//! the loop of an outside evaluator that costs nothing.
//!
//! Returns times and counts; ratios are computed by the caller.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::drive::{Limits, run};
use super::errors::SessionError;
use super::external::External;
use super::kind::Kind;
use super::pool::Pool;
use crate::evaluators::Leaf;
use crate::game::{Game, MoveCode};
use crate::search::wave::Alone;
use crate::search::{Budget, Evaluated, EvaluationScratch, Phases, Search};

/// What one benchmark run measured.
#[derive(Clone, Copy, Debug, Default)]
pub struct SearchTimes {
    /// Time of the search.
    pub search: Duration,
    /// Time of the rules alone on the same trajectories: play the moves, key, legal moves at the end.
    pub rules: Duration,
    /// Time of the evaluator alone on the same leaves, with softmax and sorting.
    pub evaluator: Duration,
    /// Simulations.
    pub simulations: u64,
    /// Evaluations.
    pub evaluations: u64,
    /// Edges walked.
    pub edges: u64,
}

fn simulations_only(simulations: u64) -> Limits {
    Limits { budget: Budget { simulations: Some(simulations), evaluations: None }, ..Limits::default() }
}

/// Runs `simulations` from the present position on a new graph, then replays its trajectories with rules
/// alone, and its leaves with the evaluator alone.
pub fn measure<G: Game>(search: &mut Search<G>, pool: &mut Pool<G>, simulations: u64) -> SearchTimes {
    let stop = Arc::new(AtomicBool::new(false));
    // Once to record the trajectories, which also warms memory and caches up; then once more for the clock.
    let mut record = Vec::new();
    let mut time = Duration::ZERO;
    for recording in [true, false] {
        search.start_over();
        search.reset_counters();
        search.recorder = recording.then(Vec::new);
        let begun = Instant::now();
        run(search, pool, simulations_only(simulations), &stop, &mut |_| {});
        time = begun.elapsed();
        if let Some(recorded) = search.recorder.take() {
            record = recorded;
        }
    }
    let counters = *search.counters();
    let (rules, evaluator) = replay(search, &record);
    SearchTimes {
        search: time,
        rules,
        evaluator,
        simulations: counters.simulations,
        evaluations: counters.evaluations,
        edges: counters.depth_sum,
    }
}

/// Runs `evaluations` from the present position on a new graph; the time, and that of each phase.
pub fn measure_phases<G: Game>(
    search: &mut Search<G>,
    pool: &mut Pool<G>,
    evaluations: u64,
) -> (Duration, Phases) {
    search.start_over();
    search.reset_counters();
    search.phases = Some(Phases::default());
    let budget = Budget { simulations: None, evaluations: Some(evaluations) };
    let begun = Instant::now();
    let stop = Arc::new(AtomicBool::new(false));
    run(search, pool, Limits { budget, ..Limits::default() }, &stop, &mut |_| {});
    (begun.elapsed(), search.phases.take().unwrap_or_default())
}

/// Runs the loop of an outside evaluator with planes filled for every leaf, but values and logits zero.
/// Returns time and simulations.
pub fn measure_planes<G: Kind>(
    search: &mut Search<G>,
    layout: G::Planes,
    simulations: u64,
) -> Result<(Duration, u64), SessionError> {
    let stop = AtomicBool::new(false);
    let begun = Instant::now();
    let board = search.position();
    let (size, width) = (board.shape(layout).iter().product::<usize>(), board.policy_size_of(layout));
    let batch = search.settings().batch_size as usize;
    // One array for each batch in flight: the planes of a batch must last until it has been evaluated.
    let mut arrays = vec![vec![0.0f32; batch * size]; search.settings().batches_in_flight as usize];
    let (values, logits) = (vec![0.0f32; batch], vec![0.0f32; batch * width]);
    let mut external = External::new(simulations_only(simulations));
    let mut sizes = VecDeque::new();
    while external.finish(search, &stop).is_none() {
        let collected = external.collect(search, &mut Alone, &stop, Some((&mut arrays[0], layout)))?;
        if collected.size > 0 {
            sizes.push_back(collected.size);
            arrays.rotate_left(1);
        }
        if collected.must_apply
            && let Some(size) = sizes.pop_front()
        {
            external.apply(search, &values[..size], &logits[..size * width])?;
        }
    }
    while let Some(size) = sizes.pop_front() {
        external.apply(search, &values[..size], &logits[..size * width])?;
    }
    Ok((begun.elapsed(), search.counters().simulations))
}

/// The trajectories of a record: each a number of moves, then the moves.
fn trajectories(record: &[MoveCode]) -> impl Iterator<Item = &[MoveCode]> {
    let mut rest = record;
    std::iter::from_fn(move || {
        let (length, after) = rest.split_first()?;
        let (moves, others) = after.split_at(usize::from(length.0));
        rest = others;
        Some(moves)
    })
}

/// Plays recorded trajectories with rules alone; then evaluates where they ended.
fn replay<G: Game>(search: &Search<G>, record: &[MoveCode]) -> (Duration, Duration) {
    let root = search.position();
    let mut moves = Vec::new();
    let mut checksum = 0u64;
    let begun = Instant::now();
    for trajectory in trajectories(record) {
        let mut game = root.clone();
        trajectory.iter().for_each(|&mv| game.play(mv));
        game.legal_moves(&mut moves);
        checksum = checksum.wrapping_add(game.key()).wrapping_add(moves.len() as u64);
    }
    let rules = begun.elapsed();
    std::hint::black_box(checksum);
    let Some(evaluator) = search.evaluator.clone() else { return (rules, Duration::ZERO) };
    let ranking = search.ranking();
    let (mut scratch, mut result) = (EvaluationScratch::default(), Evaluated::default());
    let never = AtomicBool::new(false);
    let (mut spent, mut sampled) = (Duration::ZERO, 0u64);
    let mut leaf = Leaf { game: root.clone(), moves: Vec::new(), line: Vec::new(), repetitions: 0 };
    // One in eight is enough for a mean, and keeps the clock's own cost out of the sum.
    for trajectory in trajectories(record).step_by(8) {
        leaf.game = root.clone();
        trajectory.iter().for_each(|&mv| leaf.game.play(mv));
        leaf.game.legal_moves(&mut leaf.moves);
        if leaf.game.ending(&leaf.moves).is_none() {
            let begun = Instant::now();
            ranking.evaluate(&*evaluator, &leaf, true, &mut scratch, &mut result, &never);
            spent += begun.elapsed();
            sampled += 1;
        }
    }
    let share = search.counters().evaluations as f64 / sampled.max(1) as f64;
    (rules, spent.mul_f64(share))
}
