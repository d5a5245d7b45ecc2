//! The memory cap: how a search makes room for the next simulation, and what it gives up first.
//!
//! Called before a simulation, never during one: trajectories in flight and their leaves are always kept.

use std::sync::atomic::{AtomicBool, Ordering};

use super::Search;
use crate::game::Game;
use crate::graph::{Cancelled, Graph, MOST_MOVES, NONE, NodeId, State, node_flag};
use crate::solver;

/// Nodes looked at between two looks at the stop flag.
const SLICE: u32 = 4096;

impl<G: Game> Search<G> {
    /// Makes sure that the next simulation finds its memory; gives up what matters least at the cap. A stop ends that early, without room.
    pub(super) fn make_room(&mut self, stop: &AtomicBool) -> bool {
        let uses_table = self.uses_table();
        let promised = self.promised + 2 * MOST_MOVES;
        self.graph.ensure_room(1, promised, uses_table) || (self.reclaim(stop) && self.graph.ensure_room(1, promised, uses_table))
    }

    /// Frees what is unreachable, then the least visited nodes; the edges above keep their numbers.
    #[cold]
    fn reclaim(&mut self, stop: &AtomicBool) -> bool {
        if self.root == NONE {
            return false;
        }
        let cancelled = || stop.load(Ordering::Relaxed);
        let (uses_table, promised) = (self.uses_table(), self.promised + 2 * MOST_MOVES);
        // Blocks that were left behind are closed up first: nothing is lost by that.
        if self.graph.garbage_share() > 0.25 {
            if !self.graph.close_up(&cancelled) {
                return false;
            }
            self.graph.trim();
            if self.graph.free_share() >= 0.25 && self.graph.ensure_room(1, promised, uses_table) {
                return true;
            }
        }
        let Some((roots, mut least)) = self.survey(&cancelled) else { return false };
        self.counters.reclaims += 1;
        let most = self.graph.node(self.root).visits;
        loop {
            let forgets_proofs = least > most / 4;
            let keeps = |graph: &Graph, id: NodeId, slot: u16| {
                let child = graph.edge(id, slot).child;
                let node = graph.node(child);
                // What rests on tablebases can be looked up again; a proof would have to be searched for.
                if node.state.is_exact() {
                    return !forgets_proofs && is_part_of_proof(graph, id, child);
                }
                node.visits > least
            };
            if !self.graph.sweep(&roots, keeps, &cancelled) {
                return false;
            }
            self.graph.trim();
            let fits = self.graph.free_share() >= 0.35 && self.graph.ensure_room(1, promised, uses_table);
            if fits || least >= most {
                return self.graph.free_share() > 0.0;
            }
            least = least.saturating_mul(4);
        }
    }

    /// The nodes that must stay: the root and what is in flight. And the number of visits up to which nodes hold more than half of all edges and of
    /// all nodes: giving them up makes room in one sweep.
    fn survey(&self, cancelled: Cancelled) -> Option<(Vec<NodeId>, u32)> {
        const BOUND: usize = 1 << 16;
        let mut roots = vec![self.root];
        let mut held = vec![(0usize, 0usize); BOUND];
        let (mut nodes, mut edges) = (0, 0);
        for id in self.graph.ids() {
            if id % SLICE == 0 && cancelled() {
                return None;
            }
            let node = self.graph.node(id);
            if node.in_flight > 0 || node.has(node_flag::WAITING) {
                roots.push(id);
            }
            let slots = usize::from(node.opened);
            let entry = &mut held[(node.visits as usize).min(BOUND - 1)];
            *entry = (entry.0 + 1, entry.1 + slots);
            (nodes, edges) = (nodes + 1, edges + slots);
        }
        let (mut some_nodes, mut some_edges) = (0, 0);
        for (visits, (more_nodes, more_edges)) in held.into_iter().enumerate() {
            (some_nodes, some_edges) = (some_nodes + more_nodes, some_edges + more_edges);
            if 2 * some_nodes > nodes && 2 * some_edges > edges {
                return Some((roots, visits.max(1) as u32));
            }
        }
        Some((roots, BOUND as u32))
    }
}

/// A proof needs all children of a lost or drawn node, but only the shortest answer of a won one.
fn is_part_of_proof(graph: &Graph, id: NodeId, child: NodeId) -> bool {
    let node = graph.node(id);
    node.state != State::Win
        || (solver::seen_from(graph, id, child) == State::Win && graph.node(child).end_in_ply.saturating_add(1) == node.end_in_ply)
}
