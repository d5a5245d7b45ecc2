//! Forced wins inside the search: which nodes are searched for a mate, and what becomes of its proof.
//!
//! Leaves are searched with a small budget, nodes with one that grows with their visits, the root and the
//! position after the move to play with more. Visits decide, not clocks, so the graph is the same on any
//! number of threads. A proof is a state of its node and is not kept; where the root's own proof needs it, it
//! is found again and added to the graph.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::nodes::{create, salt};
use super::proof::continuations;
use super::{Search, solver};
use crate::game::{Game, MoveCode};
use crate::graph::prior::Candidate;
use crate::graph::{Graph, NONE, Node, NodeId, State, edge_flag, node_flag};
use crate::mates::dfpn::Solver;
use crate::mates::proof::Proof;
use crate::mates::{Attack, Question, Verdict};

/// Plies of the longest line that is looked at.
const DEPTH: u16 = 64;
/// The largest budget, and the one with which a proof is found again.
const MOST_POSITIONS: u64 = 1 << 20;
/// The largest budget after the move to play. It is spent after a stop too, so it is some milliseconds.
const MOST_AT_CHOICE: u64 = 4_000;
/// Moves to play that may turn out to lose before the next one is played unchecked.
const MOST_CHOICES: usize = 8;
/// Attempts to complete a proof while memory is reclaimed.
const MOST_COMPLETIONS: usize = 4;
/// The number of searches of a node whose win is disproven.
const DISPROVEN: u8 = u8::MAX;

/// What a search needs to look for mates.
#[derive(Debug, Default)]
pub(super) struct Mates {
    solver: Solver,
    /// Positions that have occurred twice in the game: to return to one is a draw.
    pub repeated: Arc<[u64]>,
    /// Ends a long search for a mate, with the search that it is part of.
    pub stop: Arc<AtomicBool>,
}

/// How the leaves of a search are searched for mates, on any thread.
#[derive(Clone, Debug)]
pub struct LeafMates {
    positions: u64,
    least_value: f64,
    repeated: Arc<[u64]>,
}

impl LeafMates {
    /// The plies of a win of the side to move, if there is one that the budget allows to find. `value` is the
    /// leaf's evaluation.
    pub fn search<G: Game>(&self, game: &G, value: f32, solver: &mut Solver) -> Option<u16> {
        if self.positions == 0 || f64::from(value) < self.least_value {
            return None;
        }
        match search_position(solver, game, &self.repeated, self.positions, &|| false) {
            (Verdict::Win, plies) => Some(plies),
            _ => None,
        }
    }
}

/// Asks a question about the side to move. What the table holds is forgotten.
fn ask<G: Game, T>(
    solver: &mut Solver,
    game: &G,
    repeated: &[u64],
    cancel: &dyn Fn() -> bool,
    answer: impl FnOnce(&mut Solver, &Question<'_, G>) -> T,
) -> T {
    let attack = if game.is_won_by_check_only() { Attack::Checks } else { Attack::All };
    let before = |key| if repeated.binary_search(&key).is_ok() { 2 } else { 0 };
    solver.clear();
    let question = Question { game, attacker: game.player(), attack, depth: DEPTH, before: &before, cancel };
    answer(solver, &question)
}

/// Searches for a win of the side to move. A win that the move count might spoil is left open.
fn search_position<G: Game>(
    solver: &mut Solver,
    game: &G,
    repeated: &[u64],
    budget: u64,
    cancel: &dyn Fn() -> bool,
) -> (Verdict, u16) {
    let (verdict, plies) =
        ask(solver, game, repeated, cancel, |solver, question| solver.search(question, budget));
    let is_late = game.clock_limit().is_some_and(|limit| game.clock() + u32::from(plies) >= limit);
    if verdict == Verdict::Win && is_late { (Verdict::Open, 0) } else { (verdict, plies) }
}

/// Searches that a node of so many visits has had, if none was left out.
fn searches_due(visits: u32, start: u64) -> u8 {
    u64::from(visits)
        .checked_div(start)
        .and_then(u64::checked_ilog2)
        .map_or(0, |doublings| doublings as u8 + 1)
}

/// Positions for the search of a node: more with its visits, and where the side to move stands well.
fn growing_budget(growth: f64, node: &Node) -> u64 {
    let score = (1.0 + node.value) * 0.5;
    (growth * f64::from(node.visits) * (score * score)) as u64
}

impl<G: Game> Search<G> {
    /// Whether proofs are used at all: not after the game's history has broken two of the root.
    fn takes_proofs(&self) -> bool {
        self.settings.solver && self.doubts < 2
    }

    /// The flag that ends the searches for mates of the next search.
    pub fn watch_stop(&mut self, stop: &Arc<AtomicBool>) {
        self.mates.stop = Arc::clone(stop);
    }

    /// How leaves are searched.
    pub(super) fn leaf_mates(&self) -> LeafMates {
        LeafMates {
            positions: if self.takes_proofs() { self.settings.mate_leaf } else { 0 },
            least_value: self.settings.mate_leaf_value,
            repeated: Arc::clone(&self.mates.repeated),
        }
    }

    /// Whether an evaluated node has the visits for its next search.
    #[inline]
    pub(super) fn is_due_for_mate(&self, id: NodeId) -> bool {
        let node = self.graph.node(id);
        self.settings.mate_growth > 0.0
            && u64::from(node.visits) >= self.settings.mate_start
            && self.is_due(id)
    }

    fn is_due(&self, id: NodeId) -> bool {
        let node = self.graph.node(id);
        node.state == State::Unknown
            && searches_due(node.visits, self.settings.mate_start) > node.mate_searches
            && self.takes_proofs()
    }

    /// Searches the node at the path's end. Returns whether it is won now.
    #[cold]
    pub(super) fn search_node_for_mate(&mut self, id: NodeId) -> bool {
        let budget = growing_budget(self.settings.mate_growth, self.graph.node(id));
        self.search_for_mate_unless_stopped(id, budget.min(MOST_POSITIONS))
    }

    /// Searches the root, if it has the visits for it.
    pub(super) fn search_root_for_mate(&mut self) {
        let root = self.graph.node(self.root);
        if self.settings.mate_root > 0.0
            && root.has(node_flag::EVALUATED)
            && self.root_moves.is_all()
            && self.is_due(self.root)
        {
            let budget = self.settings.mate_root * f64::from(root.visits);
            self.path.restart();
            self.search_for_mate_unless_stopped(self.root, (budget as u64).min(MOST_POSITIONS));
        }
    }

    /// Looks for an answer that wins against the move that would be played. Where there is one, the move is
    /// proven to lose, and the next one is looked at.
    pub fn check_choice(&mut self) {
        let budget = self.settings.mate_root * f64::from(self.graph.node(self.root).visits);
        let budget = (budget as u64).min(MOST_AT_CHOICE);
        if budget == 0 || !self.takes_proofs() || self.known_root.is_some() {
            return;
        }
        for _ in 0..MOST_CHOICES {
            if self.proven().0.is_exact() || !self.choice_loses(budget) {
                break;
            }
        }
        self.complete_proof();
    }

    /// Searches the position after the move to play. Returns whether the opponent wins there.
    fn choice_loses(&mut self, budget: u64) -> bool {
        let Some(slot) = self.choice() else { return false };
        let edge = self.graph.edge(self.root, slot).clone();
        if edge.child == NONE {
            return false;
        }
        let child = self.graph.node(edge.child);
        let is_open = child.has(node_flag::EVALUATED)
            && child.state == State::Unknown
            && child.mate_searches != DISPROVEN
            && self.mates.repeated.binary_search(&child.key).is_err();
        if !is_open {
            return false;
        }
        self.path.restart();
        self.path.follow(edge.mv, edge.has(edge_flag::ZEROING));
        let loses = self.search_for_mate(edge.child, budget, &|| false);
        self.path.restart();
        loses
    }

    /// The same, until the search is stopped.
    fn search_for_mate_unless_stopped(&mut self, id: NodeId, budget: u64) -> bool {
        let stop = Arc::clone(&self.mates.stop);
        self.search_for_mate(id, budget, &|| stop.load(Ordering::Relaxed))
    }

    /// Searches the node at the path's end, and notifies its parents of a win. A search that was cancelled
    /// leaves no trace: it is due again.
    fn search_for_mate(&mut self, id: NodeId, budget: u64, cancel: &dyn Fn() -> bool) -> bool {
        let game = self.path.position();
        let (verdict, plies) =
            search_position(&mut self.mates.solver, game, &self.mates.repeated, budget, cancel);
        if verdict == Verdict::Open && cancel() {
            return false;
        }
        let due = searches_due(self.graph.node(id).visits, self.settings.mate_start);
        let node = self.graph.node_mut(id);
        node.mate_searches = if verdict == Verdict::NoWin { DISPROVEN } else { due };
        if verdict == Verdict::Win {
            self.prove_win(id, plies);
        }
        verdict == Verdict::Win
    }

    /// Marks a node as won by a proof that is not in the graph, and notifies its parents.
    pub(super) fn prove_win(&mut self, id: NodeId, plies: u16) {
        let node = self.graph.node_mut(id);
        let is_news = !node.state.is_solved();
        node.state = State::Win;
        node.end_in_ply = plies;
        node.flags |= node_flag::MATE;
        self.counters.mates += 1;
        self.counters.solved_nodes += u64::from(is_news);
        let mut parents: Vec<NodeId> = self.graph.parents(id).collect();
        parents.sort_unstable();
        parents.dedup();
        for parent in parents {
            self.counters.solved_nodes += solver::inform(&mut self.graph, parent, &mut self.work) as u64;
        }
    }

    /// Adds to the graph what the proof of the root still lacks: the proofs of the searches for mates, found
    /// again.
    pub fn complete_proof(&mut self) {
        if self.improved.is_some() || !matches!(self.proven().0, State::Win | State::Loss) {
            return;
        }
        // A reclaim may free nodes under way; then the walk starts anew. A proof that memory cannot hold is
        // given up.
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
                if !is_added {
                    return Completion::Ended;
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
        // Not cancelled by a stop: without the proof the move that wins would not be played.
        let never = || false;
        let proof = ask(&mut self.mates.solver, &game, &self.mates.repeated, &never, |solver, question| {
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
                list_all(&mut self.graph, id, &game, &mut self.moves);
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
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Completion {
    /// As far as it could be.
    Ended,
    /// Nodes were freed on the way.
    Reclaimed,
}

/// Lists every legal move of a node that is not open; those without a prior get the prior 0.
fn list_all<G: Game>(graph: &mut Graph, id: NodeId, game: &G, moves: &mut Vec<MoveCode>) {
    if graph.node(id).is_listed_whole() {
        return;
    }
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

#[cfg(test)]
mod tests {
    use super::searches_due;

    #[test]
    fn searches_are_due_when_visits_have_doubled() {
        let due: Vec<u8> = [0, 31, 32, 63, 64, 127, 128].map(|visits| searches_due(visits, 32)).to_vec();
        assert_eq!(due, [0, 0, 1, 1, 2, 2, 3]);
    }
}
