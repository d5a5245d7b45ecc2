//! Giving memory back: nodes that nothing reaches are freed, and what is left is closed up.
//!
//! Decides nothing: which edges count as reaching is the caller's business. Nothing learned is lost above a freed node, whose edge keeps its numbers.

use super::{CLASSES, Candidate, Edge, GRAIN, Graph, MOST_MOVES, NONE, Node, NodeId, VOID_EDGE, class_of, edge_flag, node_flag};

impl Graph {
    fn unlink_parents(&mut self, id: NodeId) {
        let mut at = self.nodes[id as usize].more_parents;
        while at != NONE {
            let next = self.links[at as usize].next;
            self.links[at as usize].next = self.free_link;
            self.free_link = at;
            self.live_links -= 1;
            at = next;
        }
        let node = &mut self.nodes[id as usize];
        node.parent = NONE;
        node.more_parents = NONE;
    }

    /// Frees a node; the table must be filled anew afterwards.
    fn free(&mut self, id: NodeId) {
        self.drop_candidates(id);
        let (start, opened) = (self.nodes[id as usize].edges, self.nodes[id as usize].opened as usize);
        if opened > 0 {
            self.give_block(start, class_of(opened));
        }
        self.unlink_parents(id);
        let node = &mut self.nodes[id as usize];
        node.opened = 0;
        node.flags = node_flag::FREE;
        node.parent = self.free_node;
        self.free_node = id;
        self.live_nodes -= 1;
    }

    /// Marks what is reachable from the given nodes along edges that `keeps` accepts, frees the rest and closes up the arenas. Edges
    /// into freed nodes keep their numbers and are flagged as lost.
    pub fn sweep(&mut self, roots: &[NodeId], mut keeps: impl FnMut(&Graph, NodeId, u16) -> bool) {
        let mut pending: Vec<NodeId> = Vec::new();
        for &root in roots {
            if !self.nodes[root as usize].has(node_flag::MARKED) {
                self.nodes[root as usize].flags |= node_flag::MARKED;
                pending.push(root);
            }
        }
        while let Some(id) = pending.pop() {
            for slot in 0..self.nodes[id as usize].opened {
                let child = self.edge(id, slot).child;
                if child != NONE && !self.nodes[child as usize].has(node_flag::MARKED) && keeps(self, id, slot) {
                    self.nodes[child as usize].flags |= node_flag::MARKED;
                    pending.push(child);
                }
            }
        }
        for id in 0..self.nodes.len() as u32 {
            let flags = self.nodes[id as usize].flags;
            if flags & (node_flag::MARKED | node_flag::FREE) == node_flag::MARKED {
                for slot in 0..self.nodes[id as usize].opened {
                    let child = self.edge(id, slot).child;
                    if child != NONE && !self.nodes[child as usize].has(node_flag::MARKED) {
                        let edge = self.edge_mut(id, slot);
                        let counted = edge.has(edge_flag::COUNTED);
                        edge.child = NONE;
                        edge.flags = (edge.flags | edge_flag::LOST) & !edge_flag::COUNTED;
                        // A proof that is forgotten must not go on counting as one.
                        self.nodes[id as usize].unknown += u16::from(counted);
                    }
                }
            }
        }
        for id in (0..self.nodes.len() as u32).rev() {
            let flags = self.nodes[id as usize].flags;
            if flags & (node_flag::MARKED | node_flag::FREE) == 0 {
                self.free(id);
            } else if flags & node_flag::FREE == 0 {
                self.unlink_parents(id);
            }
        }
        // Filled anew rather than thinned out: removals would leave the table clogged.
        let uses_table = self.table.len > 0;
        self.table.clear();
        for id in 0..self.nodes.len() as u32 {
            if self.nodes[id as usize].has(node_flag::MARKED) {
                self.nodes[id as usize].flags &= !node_flag::MARKED;
                if uses_table {
                    self.enter(id);
                }
                for slot in 0..self.nodes[id as usize].opened {
                    let child = self.edge(id, slot).child;
                    if child != NONE {
                        self.link(id, slot, child);
                    }
                }
            }
        }
        self.close_up();
    }

    /// Slides the blocks of edges and candidates together, so that all free memory is at the end.
    pub fn close_up(&mut self) {
        // Sorted as (start, node) in one number: a key looked up in the nodes would cost a step through memory per comparison.
        let by_start = |start: u32, id: NodeId| u64::from(start) << 32 | u64::from(id);
        let mut order: Vec<u64> = self
            .ids()
            .map(|id| (id, self.node(id)))
            .filter(|(_, node)| node.opened > 0)
            .map(|(id, node)| by_start(node.edges, id))
            .collect();
        order.sort_unstable();
        let mut end = 0usize;
        for id in order.iter().map(|&entry| entry as u32) {
            let node = &mut self.nodes[id as usize];
            let (start, opened) = (node.edges as usize, node.opened as usize);
            let room = opened.next_power_of_two();
            node.edges = end as u32;
            if start != end {
                for offset in 0..opened {
                    self.edges[end + offset] = self.edges[start + offset].clone();
                }
            }
            end += room;
        }
        self.edges.truncate(end);
        self.edges.resize(end, VOID_EDGE);
        self.free_edges = [NONE; CLASSES];
        order.clear();
        order.extend(
            self.ids().map(|id| (id, self.node(id))).filter(|(_, node)| node.listed > 0).map(|(id, node)| by_start(node.candidates, id)),
        );
        order.sort_unstable();
        let mut end = 0usize;
        for id in order.iter().map(|&entry| entry as u32) {
            let node = &mut self.nodes[id as usize];
            let from = node.candidates as usize + usize::from(node.taken);
            let to = node.candidates as usize + usize::from(node.listed);
            let before = usize::from(node.listed).div_ceil(GRAIN);
            node.listed -= node.taken;
            node.taken = 0;
            node.candidates = end as u32;
            let after = (to - from).div_ceil(GRAIN);
            self.live_candidates -= (before - after) * GRAIN;
            self.candidates.copy_within(from..to, end);
            end += after * GRAIN;
        }
        self.candidates.truncate(end);
        self.free_lists.fill(NONE);
    }

    /// Share of the blocks that is left behind and could be closed up.
    pub fn garbage_share(&self) -> f64 {
        let share = |live: usize, all: usize| if all == 0 { 0.0 } else { 1.0 - live as f64 / all as f64 };
        share(self.live_edge_slots, self.edges.len()).max(share(self.live_candidates, self.candidates.len()))
    }

    /// Gives back what the blocks of edges, candidates and links do not need at the moment, so that others may grow.
    pub fn trim(&mut self) {
        self.edges.shrink_to(self.edges.len() + MOST_MOVES);
        self.candidates.shrink_to(self.candidates.len() + 4 * MOST_MOVES);
    }

    /// Share of the scarcest arena that is free after a sweep, counting what may still be taken from the system.
    pub fn free_share(&self) -> f64 {
        let spare = self.memory.saturating_sub(self.reserved_bytes());
        let share = |used: usize, capacity: usize, size: usize| {
            let total = capacity + spare / size;
            if total == 0 { 1.0 } else { 1.0 - used as f64 / total as f64 }
        };
        share(self.live_nodes, self.nodes.capacity(), size_of::<Node>())
            .min(share(self.edges.len(), self.edges.capacity(), size_of::<Edge>()))
            .min(share(self.candidates.len(), self.candidates.capacity(), size_of::<Candidate>()))
    }
}
