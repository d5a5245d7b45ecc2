//! Collection of a mini-batch: simulations run until enough leaves wait for evaluation.
//!
//! Simulations that need no evaluation are backed up at once. Collisions are marked until the end of the
//! collection, so that the next trajectories go elsewhere, and undone then.

use std::sync::atomic::{AtomicBool, Ordering};

use super::backup::{Step, mark};
use super::batch::Batch;
use super::explore::{self, Exploration};
use super::proof::ProofCheck;
use super::simulate::End;
use super::wave::{Alone, Crew, Stem};
use super::{Budget, Search};
use crate::game::{Game, MoveCode};
use crate::graph::node_flag;
use crate::settings::Settings;

/// Trajectories that may be in flight at once: marks are 16 bits wide, and a trajectory marks an edge once.
const MOST_IN_FLIGHT: u64 = u16::MAX as u64;

/// What a collection has met so far.
#[derive(Default)]
struct Course {
    collisions: u64,
    stops: u64,
    terminals: u64,
    /// Trajectories that were given back, and are marked.
    collided: Vec<Vec<Step>>,
}

/// Whether the leaves that are missing in a batch are worth a wave, or more than a quarter of it.
fn lacks(missing: usize, size: usize, least: usize) -> bool {
    missing >= least || 4 * missing > size
}

impl<G: Game> Search<G> {
    /// Evaluations to a mini-batch and mini-batches in flight, as the visits of the root allow.
    fn width(&self) -> (usize, usize) {
        let Settings { batch_size, batches_in_flight, width_visits, width_linear, .. } = self.settings;
        let most = batch_size * batches_in_flight;
        let visits = u64::from(self.graph.node(self.root).visits);
        let width = visits.checked_div(width_visits).map_or(most, |share| {
            let grown = if width_linear == 0 || share <= width_linear {
                share
            } else {
                (visits * width_linear / width_visits).isqrt()
            };
            most.min(1 + grown)
        });
        let batches = batches_in_flight.min(width);
        ((width / batches) as usize, batches as usize)
    }

    /// Collects a mini-batch: runs simulations until enough leaves wait or one of the caps is met. Every
    /// simulation that needs no evaluation is backed up at once. The leaves must come back through
    /// [`Search::apply`] or [`Search::abandon`], in order.
    pub fn collect(&mut self, budget: &Budget, stop: &AtomicBool) -> Batch<G> {
        self.collect_with(&mut Alone, budget, stop)
    }

    /// The same with the help of other threads; what is collected does not depend on them.
    pub fn collect_with(&mut self, crew: &mut dyn Crew, budget: &Budget, stop: &AtomicBool) -> Batch<G> {
        let begun = self.begin_phase();
        let mut batch = Batch { pending: Vec::new(), waves: Vec::new(), evaluations: 0, most_in_flight: 1 };
        self.batch_keys.clear();
        if !self.tidy(stop) || !self.overcome_doubt() {
            return batch;
        }
        let (size, most_in_flight) = self.width();
        batch.most_in_flight = most_in_flight;
        self.prepare_root(stop);
        self.plan_root(budget);
        self.search_root_for_mate();
        let mut course = Course::default();
        let least = self.settings.wave_least as usize;
        while batch.evaluations < size
            && (batch.waves.is_empty() || lacks(size - batch.evaluations, size, least))
            && course.collisions < self.settings.batch_collisions
            && course.stops < self.settings.batch_stops
            && course.terminals < self.settings.batch_terminals
            && self.flying + course.collisions < MOST_IN_FLIGHT
            && !self.graph.is_spent()
            && self.within(budget)
            && !self.proven().0.is_exact()
            && !stop.load(Ordering::Relaxed)
        {
            self.starved = !self.make_room(stop);
            if self.starved {
                break;
            }
            let most = MOST_IN_FLIGHT - self.flying - course.collisions;
            let visits = self.wave_visits(most.min((size - batch.evaluations) as u64), budget);
            let mut goes_on = if visits > 0 {
                self.collect_wave(visits, &mut batch, &mut course, crew, stop)
            } else {
                self.collect_one(None, &mut batch, &mut course)
            };
            let missing = self.missing.len();
            if missing > 0 && (visits > 0 || !goes_on || batch.evaluations + missing >= size) {
                goes_on = self.resume(&mut batch, &mut course);
            }
            // A call of the rules for the last leaves of a batch would cost as much as one for many.
            let is_full = self.position().is_fetched() && visits > 0 && 2 * batch.evaluations >= size;
            if !goes_on || is_full {
                break;
            }
        }
        if !stop.load(Ordering::Relaxed) && !self.proven().0.is_exact() {
            self.resume(&mut batch, &mut course);
        }
        self.drop_missing();
        for steps in course.collided {
            mark(&mut self.graph, &steps, false);
            self.spare_steps.push(steps);
        }
        for wave in &batch.waves {
            wave.unmark(&mut self.graph, Stem::collided);
        }
        self.complete_proof();
        self.end_phase(begun, |phases| &mut phases.collect);
        batch
    }

    /// How many visits may go down as a wave now; none where they go one after another.
    fn wave_visits(&self, most: u64, budget: &Budget) -> u32 {
        let least = self.settings.wave_least;
        if least == 0 || !self.settings.allows_waves() || !self.is_root_evaluated() {
            return 0;
        }
        let mut visits = most;
        if let Some(limit) = budget.simulations {
            visits = visits.min(limit - (self.counters.simulations + self.flying));
        }
        if let Some(limit) = budget.evaluations {
            visits = visits.min(limit - (self.counters.evaluations + self.flying_evaluations));
        }
        if visits < least { 0 } else { visits as u32 }
    }

    /// One simulation; returns whether others may follow.
    fn collect_one(&mut self, kind: Option<Exploration>, batch: &mut Batch<G>, course: &mut Course) -> bool {
        let end = match kind {
            Some(kind) => match self.explore(kind, batch) {
                Some(end) => end,
                None => return false,
            },
            None => self.simulate(batch),
        };
        self.note_end(&end, course)
    }

    /// Takes note of the end of the trajectory under way; returns whether others may follow.
    fn note_end(&mut self, end: &End, course: &mut Course) -> bool {
        if let Some(record) = &mut self.recorder
            && !matches!(end, End::Collision | End::Stuck | End::Missing)
        {
            record.push(MoveCode(self.path.depth() as u16));
            record.extend_from_slice(self.path.moves());
        }
        match *end {
            End::Leaf | End::Missing => {}
            End::Collision => {
                self.counters.collisions += 1;
                course.collisions += 1;
                mark(&mut self.graph, &self.steps, true);
                let mut steps = self.spare_steps.pop().unwrap_or_default();
                steps.clone_from(&self.steps);
                course.collided.push(steps);
            }
            End::Stop => course.stops += 1,
            End::Terminal => course.terminals += 1,
            End::Stuck => return false,
        }
        true
    }

    /// The trajectories that miss a position go on, once it is there. Returns whether others may follow.
    fn resume(&mut self, batch: &mut Batch<G>, course: &mut Course) -> bool {
        if self.missing.len() == 0 {
            return true;
        }
        self.fetch_missing();
        let mut goes_on = false;
        while let Some(end) = self.resume_next(batch) {
            goes_on |= self.note_end(&end, course);
        }
        goes_on
    }

    /// A wave: first the explorations among its visits, one after another, then the others together.
    fn collect_wave(
        &mut self,
        visits: u32,
        batch: &mut Batch<G>,
        course: &mut Course,
        crew: &mut dyn Crew,
        stop: &AtomicBool,
    ) -> bool {
        let mut together = visits;
        for _ in 0..visits {
            if let Some(kind) = explore::draw_kind(&self.settings, &mut self.random)
                && self.make_room(stop)
                && !self.proven().0.is_exact()
                && self.collect_one(Some(kind), batch, course)
            {
                together -= 1;
            }
        }
        if self.proven().0.is_exact() || together == 0 {
            return true;
        }
        let tally = self.run_wave(together, batch, crew);
        course.collisions += tally.collisions;
        course.stops += tally.stops;
        course.terminals += tally.terminals;
        tally.visits + tally.collisions > 0
    }

    /// A proof of the root that the game's history breaks is none in this game, nor are the values right that
    /// rest on it: the graph starts anew, once nothing is in flight, and meets what has been repeated as a
    /// draw. Should that break too, the position is searched without proofs. Returns whether the search can
    /// go on at once.
    fn overcome_doubt(&mut self) -> bool {
        if self.proof_check() != Some(ProofCheck::Fails) {
            return true;
        }
        if self.flying > 0 {
            return false;
        }
        self.doubt();
        true
    }

    /// Starts a new graph, because the proof of the root does not stand.
    pub fn doubt(&mut self) {
        let doubts = self.doubts + 1;
        self.start_over();
        self.doubts = doubts;
    }

    /// Noise and a whole list of candidates for an evaluated root.
    fn prepare_root(&mut self, stop: &AtomicBool) {
        let node = self.graph.node(self.root);
        if !node.has(node_flag::EVALUATED) || node.has(node_flag::TERMINAL) {
            return;
        }
        if !node.is_listed_whole() && self.make_room(stop) {
            self.path.restart();
            self.list_rest(self.root);
        }
        explore::add_noise(&mut self.graph, self.root, &self.settings, &mut self.random);
    }
}
