//! The proof of the root made whole: what a search for a mate has proven is found again and added to the
//! graph.
//!
//! A win by such a search is a state of its node, and its proof is forgotten. Where the root's own proof
//! needs it, its positions become nodes without visits, so that the proof can be replayed and shown.

use std::collections::HashSet;
use std::sync::atomic::AtomicBool;

use super::mates::{MOST_POSITIONS, Mates, ask};
use super::nodes::{create, salt};
use super::proof::continuations;
use super::{Search, solver};
use crate::evaluators::Leaf;
use crate::game::{Game, MoveCode};
use crate::graph::prior::Candidate;
use crate::graph::{Graph, NONE, NodeId, State, edge_flag, node_flag};
use crate::mates::Verdict;
use crate::mates::proof::Proof;

/// Attempts to complete a proof while memory is reclaimed.
const MOST_COMPLETIONS: usize = 4;

impl<G: Game> Search<G> {
    /// Adds to the graph what the proof of the root still lacks: the proofs of the searches for mates, found
    /// again.
    pub fn complete_proof(&mut self) {
        if self.improved.is_some() || !matches!(self.proven().0, State::Win | State::Loss) {
            return;
        }
        // A reclaim may free nodes under way; then the walk starts anew. A proof that memory cannot hold, or
        // that takes too long after the end of the search, is given up.
        for _ in 0..MOST_COMPLETIONS {
            if self.complete_below_root() != Completion::Reclaimed {
                break;
            }
        }
    }

    fn complete_below_root(&mut self) -> Completion {
        let mut seen = HashSet::new();
        let mut waiting: Vec<(NodeId, Vec<MoveCode>)> = Vec::new();
        if self.root_moves.is_all() {
            waiting.push((self.root, Vec::new()));
        } else {
            for slot in self.root_moves.slots(&self.graph, self.root) {
                let edge = self.graph.edge(self.root, slot);
                if edge.child != NONE {
                    waiting.push((edge.child, vec![edge.mv]));
                }
            }
        }
        while let Some((id, moves)) = waiting.pop() {
            if !matches!(self.graph.node(id).state, State::Win | State::Loss) || !seen.insert(id) {
                continue;
            }
            if self.graph.node(id).has(node_flag::MATE) && continuations(&self.graph, id).is_none() {
                let reclaims = self.counters.reclaims;
                let is_added = self.add_proof(id, &moves);
                if self.counters.reclaims > reclaims {
                    return Completion::Reclaimed;
                }
                if self.mates.halt.is_overdue() {
                    return Completion::Ended;
                }
                if !is_added || continuations(&self.graph, id).is_none() {
                    self.forget_mate(id);
                }
            }
            let Some(mut slots) = continuations(&self.graph, id) else { return Completion::Ended };
            if self.graph.node(id).state == State::Win {
                slots.truncate(1);
            }
            for slot in slots {
                let edge = self.graph.edge(id, slot);
                let mut further = moves.clone();
                further.push(edge.mv);
                waiting.push((edge.child, further));
            }
        }
        Completion::Ended
    }

    /// Searches a won node again, and adds its proof to the graph. Returns whether that was possible.
    fn add_proof(&mut self, id: NodeId, moves: &[MoveCode]) -> bool {
        let mut game = self.path.root().clone();
        moves.iter().for_each(|&mv| game.play(mv));
        let Mates { solver, repeated, halt } = &mut self.mates;
        let proof = ask(solver, &game, repeated, &|| halt.is_overdue(), |solver, question| {
            (solver.search(question, MOST_POSITIONS).0 == Verdict::Win)
                .then(|| Proof::read(solver, question, MOST_POSITIONS))
                .flatten()
        });
        let Some(proof) = proof else { return false };
        let reclaims = self.counters.reclaims;
        let never = AtomicBool::new(false);
        // A move that is open keeps its child, so a position of the proof may have several nodes; each of
        // them needs the proof.
        let mut ids = vec![NONE; proof.nodes.len()];
        ids[0] = id;
        let mut seen = HashSet::from([id]);
        let mut added: Vec<(u16, NodeId)> = Vec::new();
        let mut waiting = vec![(0usize, id, game)];
        while let Some((index, id, game)) = waiting.pop() {
            let node = &proof.nodes[index];
            added.push((node.plies, id));
            if !node.moves.is_empty() {
                if !self.make_room(&never) || self.counters.reclaims > reclaims {
                    return false;
                }
                self.list_all(id, &game);
            }
            for &(mv, next) in &node.moves {
                if !self.make_room(&never) || self.counters.reclaims > reclaims {
                    return false;
                }
                let mut after = game.clone();
                after.play(mv);
                let next = next as usize;
                let child = self.add_proof_edge(id, &game, mv, &after, ids[next]);
                if ids[next] == NONE {
                    ids[next] = child;
                }
                if seen.insert(child) {
                    waiting.push((next, child, after));
                }
            }
        }
        added.sort_by_key(|&(plies, _)| plies);
        for (_, id) in added {
            solver::inform(&mut self.graph, id, &mut self.work);
        }
        true
    }

    /// Opens a move of a proof if it is not open, and links it to the node of the position after it.
    fn add_proof_edge(&mut self, id: NodeId, game: &G, mv: MoveCode, after: &G, known: NodeId) -> NodeId {
        let open = self.graph.edges(id).iter().position(|edge| edge.mv == mv);
        let slot = match open {
            Some(slot) => slot as u16,
            None => {
                let listed = self.graph.candidates(id).iter().position(|candidate| candidate.mv() == mv);
                self.graph.open(id, listed.expect("every legal move is listed"))
            }
        };
        if game.is_zeroing(mv) {
            self.graph.edge_mut(id, slot).flags |= edge_flag::ZEROING;
        }
        let child = self.graph.edge(id, slot).child;
        if child != NONE {
            return child;
        }
        let (key, salt) = (after.key(), salt(after, self.settings.merge));
        let found = if self.settings.backup.merges() { self.graph.find(key, salt) } else { None };
        let child = if known != NONE {
            known
        } else {
            found
                .unwrap_or_else(|| create(&mut self.graph, &mut self.moves, &self.settings, after, key, salt))
        };
        self.graph.link(id, slot, child);
        child
    }

    /// Lists every legal move of a node that is not open.
    fn list_all(&mut self, id: NodeId, game: &G) {
        let node = self.graph.node(id);
        if node.is_listed_whole() {
            return;
        }
        if node.has(node_flag::EVALUATED) && self.evaluator.is_some() {
            let leaf = Leaf { game: game.clone(), moves: Vec::new(), line: Vec::new(), repetitions: 0 };
            self.list_rest_of(id, Box::new(leaf));
        } else {
            list_without_priors(&mut self.graph, id, game, &mut self.moves);
        }
    }

    /// A win whose proof cannot be found again is what the children prove, if they prove one.
    fn forget_mate(&mut self, id: NodeId) {
        self.graph.node_mut(id).flags &= !node_flag::MATE;
        if continuations(&self.graph, id).is_some() {
            solver::inform(&mut self.graph, id, &mut self.work);
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Completion {
    /// As far as it could be.
    Ended,
    /// Nodes were freed on the way.
    Reclaimed,
}

/// Lists every legal move of a node without an evaluation that is not open, with the prior 0.
fn list_without_priors<G: Game>(graph: &mut Graph, id: NodeId, game: &G, moves: &mut Vec<MoveCode>) {
    game.legal_moves(moves);
    let mut list = graph.candidates(id).to_vec();
    let known: HashSet<MoveCode> = graph
        .edges(id)
        .iter()
        .map(|edge| edge.mv)
        .chain(list.iter().map(|candidate| candidate.mv()))
        .collect();
    list.extend(moves.iter().filter(|mv| !known.contains(mv)).map(|&mv| Candidate::new(0, mv)));
    graph.list_candidates(id, &list);
}
