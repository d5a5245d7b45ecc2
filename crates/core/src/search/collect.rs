//! Collection of a mini-batch: simulations run until enough leaves wait for evaluation.
//!
//! Simulations that need no evaluation are backed up at once. Collisions are marked until the end of the
//! collection, so that the next trajectories go elsewhere, and undone then.

use std::sync::atomic::{AtomicBool, Ordering};

use super::backup::{Step, mark};
use super::batch::Batch;
use super::proof::ProofCheck;
use super::simulate::End;
use super::{Budget, Search, explore};
use crate::game::{Game, MoveCode};
use crate::graph::node_flag;
use crate::settings::Settings;

/// Trajectories that may be in flight at once: marks are 16 bits wide, and a trajectory marks an edge once.
const MOST_IN_FLIGHT: u64 = u16::MAX as u64;

impl<G: Game> Search<G> {
    /// Evaluations to a mini-batch and mini-batches in flight, as the visits of the root allow.
    fn width(&self) -> (usize, usize) {
        let Settings { batch_size, batches_in_flight, width_visits, .. } = self.settings;
        let most = batch_size * batches_in_flight;
        let visits = u64::from(self.graph.node(self.root).visits);
        let width = visits.checked_div(width_visits).map_or(most, |share| most.min(1 + share));
        let batches = batches_in_flight.min(width);
        ((width / batches) as usize, batches as usize)
    }

    /// Collects a mini-batch: runs simulations until enough leaves wait or one of the caps is met. Every
    /// simulation that needs no evaluation is backed up at once. The leaves must come back through
    /// [`Search::apply`] or [`Search::abandon`], in order.
    pub fn collect(&mut self, budget: &Budget, stop: &AtomicBool) -> Batch<G> {
        let mut batch = Batch { pending: Vec::new(), evaluations: 0, most_in_flight: 1 };
        let mut collided: Vec<Vec<Step>> = Vec::new();
        let (mut stopped, mut terminals) = (0, 0);
        self.batch_keys.clear();
        if !self.tidy(stop) || !self.overcome_doubt() {
            return batch;
        }
        let (size, most_in_flight) = self.width();
        batch.most_in_flight = most_in_flight;
        self.prepare_root(stop);
        self.search_root_for_mate();
        while batch.evaluations < size
            && collided.len() < self.settings.batch_collisions as usize
            && stopped < self.settings.batch_stops
            && terminals < self.settings.batch_terminals
            && self.flying + (collided.len() as u64) < MOST_IN_FLIGHT
            && !self.graph.is_spent()
            && self.within(budget)
            && !self.proven().0.is_exact()
            && !stop.load(Ordering::Relaxed)
        {
            self.starved = !self.make_room(stop);
            if self.starved {
                break;
            }
            let end = self.simulate(&mut batch);
            if let Some(record) = &mut self.recorder
                && !matches!(end, End::Collision | End::Stuck)
            {
                record.push(MoveCode(self.path.depth() as u16));
                record.extend_from_slice(self.path.moves());
            }
            match end {
                End::Leaf => {}
                End::Collision => {
                    self.counters.collisions += 1;
                    mark(&mut self.graph, &self.steps, true);
                    let mut steps = self.spare_steps.pop().unwrap_or_default();
                    steps.clone_from(&self.steps);
                    collided.push(steps);
                }
                End::Stop => stopped += 1,
                End::Terminal => terminals += 1,
                End::Stuck => break,
            }
        }
        for steps in collided {
            mark(&mut self.graph, &steps, false);
            self.spare_steps.push(steps);
        }
        self.complete_proof();
        batch
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
