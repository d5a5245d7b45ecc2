//! Leaves: a node without evaluation joins the batch, or takes the evaluation of an equal one.
//!
//! Nodes of evaluators in the core keep the best candidates only; the rest of a list is derived again here.

use super::Search;
use super::backup::{Arrival, mark};
use super::batch::{Batch, Pending, Way};
use super::simulate::End;
use crate::evaluators::Leaf;
use crate::game::{Game, MoveCode};
use crate::graph::prior::{Candidate, HEAD, most_listed, rank};
use crate::graph::{NodeId, node_flag};
use crate::random::mix;
use crate::settings::Backup;

/// How a leaf of a wave joined its batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joined {
    /// It waits for its evaluation.
    Leaf,
    /// It waits for that of an equal leaf.
    Shared,
    /// It has taken that of an equal node, and does not wait.
    Copied,
}

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
        if self.copies_evaluation(id) {
            let value = self.graph.node(id).value;
            self.finish(Arrival::Value(value), exploration);
            return End::Stop;
        }
        let shares = self.equal_leaf(id, batch);
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
                leaf.line.clear();
                leaf.line.extend_from_slice(self.path.moves());
                leaf.repetitions = self.path.repetitions();
            }
            Some(leaf)
        };
        mark(&mut self.graph, &self.steps, true);
        let mut steps = self.spare_steps.pop().unwrap_or_default();
        steps.clone_from(&self.steps);
        let (way, depth) = (Way::Steps(steps), self.path.depth());
        let is_shared = shares.is_some();
        self.push_leaf(Pending { node: id, way, exploration, depth, shares, leaf }, batch);
        if is_shared { End::Stop } else { End::Leaf }
    }

    /// A leaf of a wave joins the batch, or takes the evaluation of an equal one.
    pub(super) fn take_leaf(
        &mut self,
        id: NodeId,
        leaf: Box<Leaf<G>>,
        way: Way,
        depth: usize,
        batch: &mut Batch<G>,
    ) -> Joined {
        if self.copies_evaluation(id) {
            self.spare_leaves.push(leaf);
            return Joined::Copied;
        }
        let shares = self.equal_leaf(id, batch);
        let joined = if shares.is_some() { Joined::Shared } else { Joined::Leaf };
        let leaf = if shares.is_some() {
            self.spare_leaves.push(leaf);
            None
        } else {
            Some(leaf)
        };
        self.push_leaf(Pending { node: id, way, exploration: false, depth, shares, leaf }, batch);
        joined
    }

    fn push_leaf(&mut self, pending: Pending<G>, batch: &mut Batch<G>) {
        if pending.leaf.is_some() {
            batch.evaluations += 1;
            self.flying_evaluations += 1;
        }
        let node = self.graph.node_mut(pending.node);
        node.flags |= node_flag::WAITING;
        self.promised += usize::from(node.legal);
        self.flying += 1;
        batch.pending.push(pending);
    }

    /// Whether the node takes the evaluation of an evaluated one with the same merge key, at once.
    fn copies_evaluation(&mut self, id: NodeId) -> bool {
        let copies = self.settings.backup == Backup::TreeCache && self.copy_evaluation(id);
        self.counters.shared += u64::from(copies);
        self.counters.stops += u64::from(copies);
        copies
    }

    /// An earlier leaf of the batch with the same merge key.
    fn equal_leaf(&mut self, id: NodeId, batch: &Batch<G>) -> Option<usize> {
        if self.settings.backup.merges() {
            return None;
        }
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

    /// Derives more candidates of a node where none is left: the best of them if it has had no list yet,
    /// else all. The path must end there.
    pub(super) fn list_more(&mut self, id: NodeId) {
        let node = self.graph.node(id);
        if node.opened > 0 {
            return self.list_rest(id);
        }
        match self.policies.get(node.key) {
            Some(list) => self.graph.list_candidates(id, list),
            None => {
                let most = most_listed(usize::from(node.legal), HEAD);
                let leaf = self.spare_leaf();
                self.list_at_most(id, leaf, most);
            }
        }
    }

    /// The whole list for a node whose position is given.
    pub(super) fn list_rest_of(&mut self, id: NodeId, leaf: Box<Leaf<G>>) {
        self.list_at_most(id, leaf, usize::MAX);
    }

    fn list_at_most(&mut self, id: NodeId, mut leaf: Box<Leaf<G>>, most: usize) {
        let Some(evaluator) = self.evaluator.clone() else { return };
        self.counters.relistings += u64::from(self.graph.node(id).opened > 0);
        leaf.game.legal_moves(&mut leaf.moves);
        evaluator.logits(&leaf, &mut self.logits);
        rank(
            &leaf.moves,
            &self.logits,
            self.settings.node_temperature,
            most,
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
                Box::new(Leaf { game: game.clone(), moves: Vec::new(), line: Vec::new(), repetitions: 0 })
            }
        }
    }
}
