//! Results of a mini-batch: leaves are expanded and their values backed up, in the order of collection.
//!
//! A batch that is abandoned leaves no trace. Buffers are kept for the next batches.

use super::Search;
use super::backup::{Arrival, back_up, mark};
use super::batch::{Batch, Evaluated, Pending, Ranking, Way};
use super::wave::{Settled, Settlement, Stem, Wave};
use crate::evaluators::Leaf;
use crate::game::{Game, MoveCode};
use crate::graph::prior::{Candidate, HEAD};
use crate::graph::{MOST_MOVES, NodeId, node_flag};
use crate::settings::Selection;

impl<G: Game> Search<G> {
    /// Takes the results of a batch, one for each pending leaf with a position, in order; expands and backs
    /// up.
    pub fn apply(&mut self, batch: Batch<G>, results: &mut Vec<Evaluated>) {
        debug_assert_eq!(results.len(), batch.evaluations);
        self.counters.batches += 1;
        self.counters.evaluations += batch.evaluations as u64;
        self.flying_evaluations -= batch.evaluations as u64;
        let mut evaluation = 0;
        let mut result_of = Vec::with_capacity(batch.pending.len());
        let mut settlement = std::mem::take(&mut self.settlement);
        settlement.begin(true);
        let mut under_way = None;
        for pending in batch.pending {
            let index = match pending.shares {
                Some(source) => {
                    self.counters.shared += 1;
                    result_of[source]
                }
                None => {
                    evaluation += 1;
                    evaluation - 1
                }
            };
            result_of.push(index);
            // The leaves of a wave are backed up together, when all of them are evaluated.
            let wave = if let Way::Stem { wave, .. } = pending.way { Some(wave) } else { None };
            if wave != under_way {
                self.settle(&mut settlement, under_way, &batch.waves);
                under_way = wave;
            }
            self.land(&pending);
            let value = self.take_evaluation(pending.node, &results[index]);
            match &pending.way {
                Way::Steps(steps) => {
                    let corrections = back_up(
                        &mut self.graph,
                        steps,
                        Arrival::Value(value),
                        pending.exploration,
                        &self.settings,
                    );
                    if self.settings.uses_ucd() {
                        self.below.forget(&self.graph, steps, &self.settings);
                    }
                    self.count(pending.depth, corrections, pending.exploration);
                }
                &Way::Stem { wave, stem } => {
                    let stems = &batch.waves[wave as usize].stems;
                    settlement.add(stems, stem, 1, Settled::Value(value));
                    self.count(pending.depth, 0, false);
                }
            }
            self.recycle(pending);
        }
        self.settle(&mut settlement, under_way, &batch.waves);
        self.settlement = settlement;
        self.recycle_waves(batch.waves);
        self.spare_evaluated.append(results);
        self.complete_proof();
    }

    /// Backs up the leaves of a wave.
    fn settle(&mut self, settlement: &mut Settlement, wave: Option<u32>, waves: &[Wave]) {
        let Some(wave) = wave else { return };
        let stems = &waves[wave as usize].stems;
        self.counters.corrections += settlement.back_up(&mut self.graph, stems, &self.settings);
        settlement.begin(true);
    }

    /// A node takes its evaluation; returns its value.
    fn take_evaluation(&mut self, id: NodeId, result: &Evaluated) -> f64 {
        let lists_later = self.lists_later();
        if !lists_later {
            self.list_unopened(id, &result.candidates);
        } else {
            // A proof may have listed moves without priors.
            self.graph.list_candidates(id, &[]);
            if !result.candidates.is_empty() {
                self.policies.put(self.graph.node(id).key, &result.candidates);
            }
        }
        let node = self.graph.node_mut(id);
        // A won leaf has the value of its win.
        node.raw = if result.mate.is_some() { 1.0 } else { result.value };
        node.value = f64::from(node.raw);
        node.visits = 1;
        node.flags |= node_flag::EVALUATED;
        let value = node.value;
        if id == self.root && lists_later {
            // Reports show all moves of the root.
            let game = self.path.root().clone();
            self.list_rest_of(
                id,
                Box::new(Leaf { game, moves: Vec::new(), line: Vec::new(), repetitions: 0 }),
            );
        }
        if let Some(plies) = result.mate {
            self.prove_win(id, plies);
        }
        value
    }

    /// Lists the candidates of a new evaluation. Moves that a proof has opened are edges already.
    fn list_unopened(&mut self, id: NodeId, candidates: &[Candidate]) {
        if self.graph.node(id).opened == 0 {
            return self.graph.list_candidates(id, candidates);
        }
        let opened: Vec<MoveCode> = self.graph.edges(id).iter().map(|edge| edge.mv).collect();
        let mut rest = candidates.to_vec();
        rest.retain(|candidate| !opened.contains(&candidate.mv()));
        self.graph.list_candidates(id, &rest);
    }

    /// Takes back the marks of a batch in flight, as if it had never been collected.
    pub fn abandon(&mut self, batch: Batch<G>) {
        self.flying_evaluations -= batch.evaluations as u64;
        for wave in &batch.waves {
            wave.unmark(&mut self.graph, Stem::flying);
        }
        for pending in batch.pending {
            self.land(&pending);
            self.recycle(pending);
        }
        self.recycle_waves(batch.waves);
    }

    pub(super) fn recycle_waves(&mut self, waves: Vec<Wave>) {
        for mut wave in waves {
            wave.stems.clear();
            self.spare_waves.push(wave);
        }
    }

    fn land(&mut self, pending: &Pending<G>) {
        if let Way::Steps(steps) = &pending.way {
            mark(&mut self.graph, steps, false);
        }
        let node = self.graph.node_mut(pending.node);
        node.flags &= !node_flag::WAITING;
        self.promised -= usize::from(node.legal);
        self.flying -= 1;
    }

    fn recycle(&mut self, pending: Pending<G>) {
        if let Way::Steps(steps) = pending.way {
            self.spare_steps.push(steps);
        }
        self.spare_leaves.extend(pending.leaf);
    }

    /// Buffers for `count` results, reused from earlier batches.
    pub fn result_buffers(&mut self, count: usize) -> Vec<Evaluated> {
        (0..count).map(|_| self.spare_evaluated.pop().unwrap_or_default()).collect()
    }

    /// Whether leaves get their lists of candidates at their second visit.
    fn lists_later(&self) -> bool {
        self.settings.selection != Selection::Improved
            && self.evaluator.as_ref().is_some_and(|evaluator| evaluator.lists_later())
    }

    /// Forgets the lists that other threads have made ahead: settings may have changed.
    pub fn forget_policies(&mut self) {
        self.policies.begin(self.settings.memory as usize);
    }

    /// How evaluators in the core turn logits into candidates.
    pub fn ranking(&self) -> Ranking {
        Ranking {
            temperature: self.settings.node_temperature,
            // The improved policy looks at all moves of a node.
            head: if self.settings.selection == Selection::Improved { MOST_MOVES } else { HEAD },
            draws: self.graph.draws(),
            mates: self.leaf_mates(),
        }
    }
}
