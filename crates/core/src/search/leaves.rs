//! Leaves: a node without evaluation joins the batch, or takes the evaluation of an equal one.
//!
//! Nodes of evaluators in the core keep the best candidates only; the rest of a list is derived again here.

use std::sync::atomic::AtomicBool;

use super::Search;
use super::backup::{Arrival, mark};
use super::batch::{Batch, Pending};
use super::simulate::End;
use crate::evaluators::Leaf;
use crate::game::{Game, MoveCode};
use crate::graph::prior::{Candidate, rank};
use crate::graph::{NodeId, node_flag};
use crate::random::mix;
use crate::settings::Backup;

impl<G: Game> Search<G> {
    /// The trajectory ends at a node without evaluation: it joins the batch, or takes the evaluation of an
    /// equal one.
    pub(super) fn await_evaluation(
        &mut self,
        id: NodeId,
        fresh: bool,
        exploration: bool,
        batch: &mut Batch<G>,
    ) -> End {
        let mut shares = None;
        if !self.settings.backup.merges() {
            if self.settings.backup == Backup::TreeCache && self.copy_evaluation(id) {
                self.counters.shared += 1;
                self.counters.stops += 1;
                let value = self.graph.node(id).value;
                self.finish(Arrival::Value(value), exploration);
                return End::Stop;
            }
            shares = self.equal_leaf(id, batch);
        }
        let leaf = if shares.is_some() {
            None
        } else {
            let mut leaf = self.spare_leaf();
            if fresh {
                std::mem::swap(&mut leaf.moves, &mut self.moves);
            } else {
                leaf.game.legal_moves(&mut leaf.moves);
            }
            if self.evaluator.is_none() {
                self.path.recent(&mut leaf.recent);
                leaf.repetitions = self.path.repetitions();
            }
            batch.evaluations += 1;
            self.flying_evaluations += 1;
            Some(leaf)
        };
        self.promised += usize::from(self.graph.node(id).legal);
        self.flying += 1;
        mark(&mut self.graph, &self.steps, true);
        self.graph.node_mut(id).flags |= node_flag::WAITING;
        let mut steps = self.spare_steps.pop().unwrap_or_default();
        steps.clone_from(&self.steps);
        let shared = shares.is_some();
        batch.pending.push(Pending { node: id, steps, exploration, depth: self.path.depth(), shares, leaf });
        if shared { End::Stop } else { End::Leaf }
    }

    /// An earlier leaf of the batch with the same merge key.
    fn equal_leaf(&mut self, id: NodeId, batch: &Batch<G>) -> Option<usize> {
        let graph = &self.graph;
        let key_of = |id: NodeId| (graph.node(id).key, graph.node(id).salt);
        let hash_of = |id: NodeId| {
            let (key, salt) = key_of(id);
            mix(key ^ u64::from(salt))
        };
        let found = self
            .batch_keys
            .find(hash_of(id), |&index| key_of(batch.pending[index as usize].node) == key_of(id));
        if let Some(&index) = found {
            return Some(index as usize);
        }
        let index = batch.pending.len() as u32;
        self.batch_keys.insert_unique(hash_of(id), index, |&other| {
            if other == index { hash_of(id) } else { hash_of(batch.pending[other as usize].node) }
        });
        None
    }

    /// Mode `tree+cache`: takes value and policy of an evaluated node with the same merge key.
    fn copy_evaluation(&mut self, id: NodeId) -> bool {
        let node = self.graph.node(id);
        let Some(source) = self.graph.find(node.key, node.salt) else { return false };
        if source == id || !self.graph.node(source).has(node_flag::EVALUATED) {
            return false;
        }
        self.ranked.clear();
        self.ranked.extend(self.graph.edges(source).iter().map(|edge| Candidate::new(edge.half, edge.mv)));
        self.ranked.extend_from_slice(self.graph.candidates(source));
        self.ranked.sort_unstable_by(|a, b| b.cmp(a));
        let raw = self.graph.node(source).raw;
        self.graph.list_candidates(id, &self.ranked);
        let node = self.graph.node_mut(id);
        node.raw = raw;
        node.value = f64::from(raw);
        node.visits = 1;
        node.flags |= node_flag::EVALUATED;
        true
    }

    /// Derives the whole list of unopened candidates of a node again; the path must end there.
    pub(super) fn list_rest(&mut self, id: NodeId) {
        let leaf = self.spare_leaf();
        self.list_rest_of(id, leaf);
    }

    /// The same for a node whose position is given.
    pub(super) fn list_rest_of(&mut self, id: NodeId, mut leaf: Box<Leaf<G>>) {
        let Some(evaluator) = self.evaluator.clone() else { return };
        self.counters.relistings += 1;
        leaf.game.legal_moves(&mut leaf.moves);
        let never = AtomicBool::new(false);
        evaluator.evaluate(&leaf, &mut self.logits, &never);
        rank(
            &leaf.moves,
            &self.logits,
            self.settings.node_temperature,
            usize::MAX,
            &mut self.ranked,
            &mut self.weights,
        );
        let opened: Vec<MoveCode> = self.graph.edges(id).iter().map(|edge| edge.mv).collect();
        self.ranked.retain(|candidate| !opened.contains(&candidate.mv()));
        self.graph.list_candidates(id, &self.ranked);
        self.spare_leaves.push(leaf);
    }

    /// A leaf record with the position of the path's end.
    fn spare_leaf(&mut self) -> Box<Leaf<G>> {
        let game = self.path.position();
        match self.spare_leaves.pop() {
            Some(mut leaf) => {
                leaf.game.clone_from(game);
                leaf
            }
            None => {
                Box::new(Leaf { game: game.clone(), moves: Vec::new(), recent: Vec::new(), repetitions: 0 })
            }
        }
    }
}
