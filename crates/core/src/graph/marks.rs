//! Sets of nodes, and the best set that fits into a number of bytes.
//!
//! The caller ranks nodes by the edges that lead to them. Every node of a set but the first ones is reached
//! by an edge of another.

use super::blocks::room_for;
use super::{Candidate, Edge, GRAIN, Graph, NONE, NodeId};

/// Nodes visited between two checks for cancellation.
pub(super) const SLICE: usize = 2048;

/// Polled periodically; returns true to interrupt. Unfinished work resumes at the next call.
pub type Cancelled<'a> = &'a dyn Fn() -> bool;

/// Number of ranks of [`Graph::best`].
pub const RANKS: usize = 10_496;

/// A set of nodes.
#[derive(Debug, Default)]
pub struct Marks(Vec<u64>);

impl Marks {
    pub(super) fn for_graph(graph: &Graph) -> Marks {
        Marks(vec![0; graph.nodes.len().div_ceil(64)])
    }

    /// Whether a node is in the set.
    pub fn has(&self, id: NodeId) -> bool {
        self.0[id as usize / 64] >> (id % 64) & 1 != 0
    }

    /// Adds a node. Returns whether it was new.
    pub(super) fn add(&mut self, id: NodeId) -> bool {
        let (word, bit) = (&mut self.0[id as usize / 64], 1 << (id % 64));
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }
}

impl Graph {
    /// Bytes that a node takes when the arenas are closed up: itself, its edges with their slack, its
    /// candidates.
    pub fn bytes_of(&self, id: NodeId) -> usize {
        let node = &self.nodes[id as usize];
        let edges = if node.opened == 0 { 0 } else { room_for(node.opened.into()) };
        self.node_bytes()
            + edges * size_of::<Edge>()
            + node.remaining().div_ceil(GRAIN) * GRAIN * size_of::<Candidate>()
    }

    /// The best nodes that fit into a number of bytes. The `pinned` ones are always among them. The
    /// rank of another node is the maximum over its parents of `rank` (of the rank of the parent, the parent
    /// and the slot of the edge), at most the rank of that parent; so every node has a parent among the best.
    /// Nodes of rank 0 are taken last. Of equals, the order of edges decides. `None` when cancelled.
    pub fn best(
        &self,
        pinned: &[NodeId],
        bytes: usize,
        rank: impl Fn(&Graph, usize, NodeId, u16) -> usize,
        cancelled: Cancelled,
    ) -> Option<Marks> {
        let (mut chosen, mut queued) = (Marks::for_graph(self), Marks::for_graph(self));
        // The nodes that are known to be within reach, by rank.
        let mut shelves: Vec<Vec<NodeId>> = vec![Vec::new(); RANKS];
        shelves[RANKS - 1].extend(pinned.iter().rev().filter(|&&id| queued.add(id)));
        let mut left = bytes;
        let mut count = 0;
        for top in (0..RANKS).rev() {
            while let Some(id) = shelves[top].pop() {
                count += 1;
                if count % SLICE == 0 && cancelled() {
                    return None;
                }
                if chosen.has(id) {
                    continue;
                }
                let needed = self.bytes_of(id);
                if top < RANKS - 1 && needed > left {
                    return Some(chosen);
                }
                left = left.saturating_sub(needed);
                chosen.add(id);
                for (slot, edge) in self.edges(id).iter().enumerate().rev() {
                    if edge.child == NONE || queued.has(edge.child) {
                        continue;
                    }
                    let found = rank(self, top, id, slot as u16).min(top);
                    // What is on the last shelf may still be found on another way.
                    if found > 0 {
                        queued.add(edge.child);
                    }
                    shelves[found].push(edge.child);
                }
            }
        }
        Some(chosen)
    }
}
