//! New positions: the child of an edge that has none, found in the graph or made ready to be added.

use super::descend::{Descent, Group};
use super::{Attached, StemId};
use crate::evaluators::Leaf;
use crate::game::{Game, MoveCode};
use crate::graph::prior::{Candidate, rank};
use crate::graph::{NONE, NodeId};
use crate::search::nodes::{NewNode, salt};
use crate::search::tablebases;

/// The child of an edge without one: what it is, its position, and whether the move resets the clock.
pub(super) struct Found<G> {
    pub child: Attached,
    pub leaf: Box<Leaf<G>>,
    pub zeroing: bool,
}

impl<G: Game> Descent<'_, G> {
    /// Writes the moves from the root to the child of a stem to `line`.
    fn trace(&mut self, stem: StemId) {
        self.hands.line.clear();
        let mut at = stem;
        while at != NONE {
            let (mv, above) = (self.stem(at).mv, self.stem(at).above);
            self.hands.line.push(mv);
            at = above;
        }
        self.hands.line.reverse();
    }

    /// The position at the end of a group's path, where positions are stored. What is missing is asked for.
    #[cold]
    fn recall(&mut self, above: StemId) -> Option<G> {
        let root = self.view.start.root();
        let mut missing = Vec::new();
        let mut at = above;
        let mut game = loop {
            if at == NONE {
                break root.clone();
            }
            let stem = self.stem(at);
            if let Some(game) = root.recall(stem.key, root.ply() + u32::from(stem.level)) {
                break game;
            }
            missing.push(stem.mv);
            at = stem.above;
        };
        missing.into_iter().rev().all(|mv| game.try_play(mv)).then_some(game)
    }

    /// A leaf record with the position after a move at the end of a group's path; without a move, at its end.
    /// `None` where a position is missing, which is asked for.
    pub(super) fn leaf_at(&mut self, above: StemId, mv: Option<MoveCode>) -> Option<(Box<Leaf<G>>, bool)> {
        let recalled;
        let here = if self.view.start.root().is_fetched() {
            recalled = self.recall(above);
            if recalled.is_none() {
                self.is_missing = true;
            }
            recalled.as_ref()?
        } else {
            self.trace(above);
            self.hands.replay.position(self.view.start.root(), &self.hands.line)
        };
        let zeroing = mv.is_some_and(|mv| here.is_zeroing(mv));
        let mut leaf = match self.hands.spares.pop() {
            Some(mut leaf) => {
                leaf.game.clone_from(here);
                leaf
            }
            None => {
                Box::new(Leaf { game: here.clone(), moves: Vec::new(), line: Vec::new(), repetitions: 0 })
            }
        };
        if let Some(mv) = mv
            && !leaf.game.try_play(mv)
        {
            self.hands.spares.push(leaf);
            self.is_missing = true;
            return None;
        }
        Some((leaf, zeroing))
    }

    /// Finds the position after a move, in the graph or as a new node.
    pub(super) fn find(&mut self, above: StemId, mv: MoveCode) -> Option<Found<G>> {
        let (mut leaf, zeroing) = self.leaf_at(above, Some(mv))?;
        let settings = self.view.settings;
        let (key, salt) = (leaf.game.key(), salt(&leaf.game, settings.merge));
        let known = if settings.backup.merges() { self.view.graph.find(key, salt) } else { None };
        let child = match known {
            Some(child) => Attached::Known(child),
            None => {
                let Leaf { game, moves, .. } = &mut *leaf;
                game.legal_moves(moves);
                let ending = game.ending(moves);
                let legal = if ending.is_some() { 0 } else { moves.len() };
                let state = self
                    .view
                    .oracle
                    .filter(|_| ending.is_none())
                    .and_then(|oracle| tablebases::state_of(oracle, game, settings));
                Attached::New(NewNode { key, salt, player: game.player(), legal, ending, state })
            }
        };
        Some(Found { child, leaf, zeroing })
    }

    /// Adds what an evaluator outside the core needs: the moves that led to a leaf below `group`, and how
    /// often it occurred.
    pub(super) fn complete_leaf(&mut self, leaf: &mut Leaf<G>, group: &Group, mv: MoveCode) {
        if self.view.evaluator.is_some() {
            return;
        }
        self.trace(group.above);
        let start = self.view.start;
        leaf.line.clear();
        leaf.line.extend_from_slice(&self.hands.line);
        leaf.line.push(mv);
        let key = leaf.game.key();
        let mut repetitions = start.count_before(key) + u32::from(start.key() == key);
        let mut at = group.above;
        while at != NONE {
            repetitions += u32::from(self.stem(at).key == key);
            at = self.stem(at).above;
        }
        leaf.repetitions = repetitions.min(2);
    }

    /// The unopened candidates of a node, the best of them if there are more than `most`.
    pub(super) fn list_rest(&mut self, id: NodeId, above: StemId, most: usize) -> Vec<Candidate> {
        let Some(evaluator) = self.view.evaluator else { return Vec::new() };
        let Some((mut leaf, _)) = self.leaf_at(above, None) else { return Vec::new() };
        let Leaf { game, moves, .. } = &mut *leaf;
        game.legal_moves(moves);
        let hands = &mut *self.hands;
        evaluator.logits(&leaf, &mut hands.logits);
        let temperature = self.view.settings.node_temperature;
        let mut list = Vec::new();
        rank(&leaf.moves, &hands.logits, temperature, most, &mut list, &mut hands.weights);
        let opened = self.view.graph.edges(id);
        list.retain(|candidate| opened.iter().all(|edge| edge.mv != candidate.mv()));
        hands.spares.push(leaf);
        list
    }
}
