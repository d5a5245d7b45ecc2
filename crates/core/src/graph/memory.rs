//! Memory of the graph: what is taken, what is in use, and growth below the cap.
//!
//! Growth happens before a simulation, never during one, so that nothing in it can fail.

use super::node::{Edge, NONE, Node};
use super::prior::Candidate;
use super::{GRAIN, Graph, Link, MOST_MOVES};

/// Makes room for `need` more items while at most `spare` more bytes are taken and there are at most `most`
/// items.
fn make_room<T>(items: &mut Vec<T>, need: usize, spare: usize, most: usize) -> bool {
    let free = items.capacity() - items.len();
    if free >= need {
        return true;
    }
    let missing = need - free;
    let affordable = (spare / size_of::<T>()).min(most.saturating_sub(items.capacity()));
    if missing > affordable {
        return false;
    }
    // Never much of what is left: the other arenas must find room too.
    let wanted = missing.max(256).max((items.capacity() / 2).min(affordable / 8)).min(affordable);
    items.reserve_exact(free + wanted);
    true
}

impl Graph {
    /// Changes the cap; it holds from the next growth on.
    pub fn set_memory(&mut self, memory: usize) {
        self.memory = memory;
    }

    /// The cap in bytes.
    pub fn memory(&self) -> usize {
        self.memory
    }

    /// Most candidates that there may be.
    pub(super) fn most_candidates(&self) -> usize {
        self.most_items.saturating_mul(GRAIN)
    }

    /// Lowers the number of items that an arena may have.
    #[cfg(test)]
    pub(crate) fn set_most_items(&mut self, most: usize) {
        self.most_items = most;
    }

    /// Bytes taken from the system: the cap bounds this number.
    pub fn reserved_bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>()
            + self.edges.capacity() * size_of::<Edge>()
            + self.candidates.capacity() * size_of::<Candidate>()
            + self.links.capacity() * size_of::<Link>()
            + self.reserved_for_numbers()
            + self.table.bytes
    }

    /// Bytes in use by nodes, edges (blocks with their slack), candidates, links and the table.
    pub fn used_bytes(&self) -> usize {
        self.live_nodes * self.node_bytes()
            + self.live_edge_slots * size_of::<Edge>()
            + self.live_candidates * size_of::<Candidate>()
            + self.live_links * size_of::<Link>()
            + self.table.bytes
    }

    /// Makes sure that one simulation and `leaves` evaluations of `width` candidates each find their memory;
    /// false at the cap, and where an index of 32 bits would not reach.
    pub fn ensure_room(&mut self, leaves: usize, width: usize, uses_table: bool) -> bool {
        let candidates = leaves * width + MOST_MOVES;
        let fits = (self.free_node != NONE || self.nodes.len() < self.nodes.capacity())
            && self.edges.capacity() - self.edges.len() >= MOST_MOVES
            && self.candidates.capacity() - self.candidates.len() >= candidates
            && (self.free_link != NONE || self.links.len() < self.links.capacity())
            && (!uses_table || self.table.full.is_none());
        fits || self.grow(candidates, uses_table)
    }

    /// Bytes kept free for the table to double and the links to grow by half.
    pub(super) fn growth_allowance(&self) -> usize {
        self.table.bytes + self.links.capacity() * size_of::<Link>() / 2 + self.memory / 64
    }

    fn grow(&mut self, candidates: usize, uses_table: bool) -> bool {
        // What nodes and edges may take leaves enough for the table and the links to grow with them.
        let spare =
            |graph: &Graph| graph.memory.saturating_sub(graph.reserved_bytes() + graph.growth_allowance());
        if self.free_node == NONE {
            let room = spare(self) / self.node_bytes() * size_of::<Node>();
            if !make_room(&mut self.nodes, 1, room, self.most_items) {
                return false;
            }
            self.reserve_numbers();
        }
        let room = spare(self);
        if !make_room(&mut self.edges, MOST_MOVES, room, self.most_items) {
            return false;
        }
        let room = spare(self);
        let most = self.most_candidates();
        if !make_room(&mut self.candidates, candidates, room, most) {
            return false;
        }
        let spare = |graph: &Graph| graph.memory.saturating_sub(graph.reserved_bytes());
        if self.free_link == NONE {
            let room = spare(self);
            if !make_room(&mut self.links, 1, room, self.most_items) {
                return false;
            }
        }
        let room = spare(self);
        if uses_table && !self.table.make_room(room, &self.nodes) {
            return false;
        }
        true
    }
}
