//! Blocks of edges and candidates, and the links to parents: taken, grown and given back.
//!
//! A block of edges holds up to eight as they are, then 12, 16, 24, 32 and so on; a block of candidates a
//! multiple of four. Free blocks of one size form a chain through their first item.

use super::node::{Edge, NONE, NodeId, VOID_EDGE, node_flag};
use super::prior::Candidate;
use super::{GRAIN, Graph, Link};

/// Edges up to which blocks have any size.
const EXACT: usize = 8;

/// The room of the block for `count` edges, at least one.
pub(super) fn room_for(count: usize) -> usize {
    if count <= EXACT {
        return count;
    }
    let power = count.next_power_of_two();
    if count <= power / 4 * 3 { power / 4 * 3 } else { power }
}

/// The class of the blocks with so much room.
pub(super) fn class_of(room: usize) -> usize {
    if room <= EXACT {
        return room - 1;
    }
    // Two for each doubling.
    let doublings = (room.ilog2() - EXACT.ilog2()) as usize;
    EXACT - 1 + 2 * doublings + usize::from(!room.is_power_of_two())
}

/// Puts an item into the first free slot, or at the end; returns its index. `next` reads the chain of free
/// slots.
pub(super) fn put<T>(items: &mut Vec<T>, free: &mut u32, next: impl Fn(&T) -> u32, item: T) -> u32 {
    if *free == NONE {
        items.push(item);
        return items.len() as u32 - 1;
    }
    let at = *free;
    *free = next(&items[at as usize]);
    items[at as usize] = item;
    at
}

impl Graph {
    /// Replaces the list of unopened candidates of a node.
    pub fn list_candidates(&mut self, id: NodeId, list: &[Candidate]) {
        self.drop_candidates(id);
        if list.is_empty() {
            return;
        }
        let class = list.len().div_ceil(GRAIN);
        self.live_candidates += class * GRAIN;
        let free = self.free_lists[class];
        let start = if free == NONE {
            let start = self.candidates.len();
            self.candidates.resize(start + class * GRAIN, Candidate::default());
            start
        } else {
            let start = free as usize * GRAIN;
            self.free_lists[class] = self.candidates[start].bits();
            start
        };
        self.candidates[start..start + list.len()].copy_from_slice(list);
        let node = &mut self.nodes[id as usize];
        node.candidates = (start / GRAIN) as u32;
        node.taken = 0;
        node.listed = list.len() as u16;
    }

    pub(super) fn drop_candidates(&mut self, id: NodeId) {
        let node = &mut self.nodes[id as usize];
        if node.listed > 0 {
            let class = usize::from(node.listed).div_ceil(GRAIN);
            self.live_candidates -= class * GRAIN;
            self.candidates[node.candidates as usize * GRAIN] = Candidate::from_bits(self.free_lists[class]);
            self.free_lists[class] = node.candidates;
        }
        node.listed = 0;
        node.taken = 0;
        node.candidates = NONE;
    }

    /// Opens the candidate at `index` of [`Graph::candidates`]; returns its slot among the edges. It has no
    /// child yet.
    pub fn open(&mut self, id: NodeId, index: usize) -> u16 {
        let list = self.candidates_mut(id);
        let candidate = list[index];
        list.copy_within(0..index, 1);
        list[0] = candidate;
        let node = &mut self.nodes[id as usize];
        node.taken += 1;
        if node.taken == node.listed {
            self.drop_candidates(id);
        }
        self.push_edge(id, Edge { half: candidate.half(), mv: candidate.mv(), ..VOID_EDGE })
    }

    /// Appends an edge to a node; returns its slot.
    pub fn push_edge(&mut self, id: NodeId, edge: Edge) -> u16 {
        let (start, opened) = {
            let node = &self.nodes[id as usize];
            (node.edges, node.opened as usize)
        };
        let start = if opened == 0 {
            self.take_block(1)
        } else if opened == room_for(opened) {
            let block = self.take_block(room_for(opened + 1));
            for offset in 0..opened as u32 {
                let moved = self.edges[(start + offset) as usize].clone();
                self.edges[(block + offset) as usize] = moved;
            }
            self.give_block(start, opened);
            block
        } else {
            start
        };
        self.edges[start as usize + opened] = edge;
        let node = &mut self.nodes[id as usize];
        node.edges = start;
        node.opened += 1;
        opened as u16
    }

    fn take_block(&mut self, room: usize) -> u32 {
        self.live_edge_slots += room;
        let class = class_of(room);
        let free = self.free_edges[class];
        if free != NONE {
            self.free_edges[class] = self.edges[free as usize].child;
            return free;
        }
        let start = self.edges.len();
        self.edges.resize(start + room, VOID_EDGE);
        start as u32
    }

    pub(super) fn give_block(&mut self, start: u32, room: usize) {
        self.live_edge_slots -= room;
        let class = class_of(room);
        self.edges[start as usize].child = self.free_edges[class];
        self.free_edges[class] = start;
    }

    /// Links an edge to its child and the child back to its parent; returns whether the child had a parent
    /// before.
    pub fn link(&mut self, parent: NodeId, slot: u16, child: NodeId) -> bool {
        self.edge_mut(parent, slot).child = child;
        let node = &mut self.nodes[child as usize];
        if node.parent == NONE {
            node.parent = parent;
            return false;
        }
        node.flags |= node_flag::TRANSPOSITION;
        let link = Link { parent, next: node.more_parents };
        let at = put(&mut self.links, &mut self.free_link, |link| link.next, link);
        self.live_links += 1;
        self.nodes[child as usize].more_parents = at;
        true
    }

    /// The parents of a node, one entry per parent edge.
    pub fn parents(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let node = &self.nodes[id as usize];
        let first = (node.parent != NONE).then_some(node.parent);
        let mut at = node.more_parents;
        first.into_iter().chain(std::iter::from_fn(move || {
            (at != NONE).then(|| {
                let link = self.links[at as usize];
                at = link.next;
                link.parent
            })
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{CLASSES, MOST_MOVES};
    use super::*;

    #[test]
    fn every_block_has_a_class_of_its_own() {
        let mut rooms: Vec<usize> = (1..=MOST_MOVES).map(room_for).collect();
        assert!(rooms.iter().enumerate().all(|(index, &room)| room > index && room <= (index + 1) * 3 / 2));
        rooms.dedup();
        assert_eq!(rooms[..12], [1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32]);
        let classes: std::collections::HashSet<usize> = rooms.iter().map(|&room| class_of(room)).collect();
        assert_eq!((classes.len(), classes.iter().max()), (rooms.len(), Some(&(CLASSES - 1))));
    }
}
