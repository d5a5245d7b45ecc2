//! Blocks of edges and candidates, and the links to parents: taken, grown and given back.
//!
//! A block of edges holds a power of two, a block of candidates a multiple of four. Free blocks of one size
//! form a chain through their first item.

use super::node::{Edge, NONE, NodeId, VOID_EDGE, node_flag};
use super::prior::Candidate;
use super::{GRAIN, Graph, Link};

/// The class of a block for `count` edges: the exponent of a power of two.
pub(super) fn class_of(count: usize) -> usize {
    count.next_power_of_two().trailing_zeros() as usize
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
            self.take_block(0)
        } else if opened.is_power_of_two() {
            let block = self.take_block(class_of(opened + 1));
            for offset in 0..opened as u32 {
                let moved = self.edges[(start + offset) as usize].clone();
                self.edges[(block + offset) as usize] = moved;
            }
            self.give_block(start, class_of(opened));
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

    pub(super) fn take_block(&mut self, class: usize) -> u32 {
        self.live_edge_slots += 1 << class;
        let free = self.free_edges[class];
        if free != NONE {
            self.free_edges[class] = self.edges[free as usize].child;
            return free;
        }
        let start = self.edges.len();
        self.edges.resize(start + (1 << class), VOID_EDGE);
        start as u32
    }

    pub(super) fn give_block(&mut self, start: u32, class: usize) {
        self.live_edge_slots -= 1 << class;
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
