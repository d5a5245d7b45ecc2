//! Giving memory back: nodes that nothing reaches are freed, and what is left is closed up.
//!
//! Decides nothing: which edges count as reaching is the caller's business. Nothing learned is lost above a freed node, whose edge keeps its numbers.
//! The work may be broken off at any time: every step leaves a whole graph behind.

use super::{CLASSES, Candidate, Edge, GRAIN, Graph, MOST_MOVES, NONE, Node, NodeId, VOID_EDGE, class_of, edge_flag, node_flag};

/// Nodes looked at between two questions whether to go on.
const SLICE: usize = 2048;
/// Parts of an arena that are sorted one by one.
const REGIONS: usize = 512;

/// Asked now and then: whether the work should end early. Then the graph is whole, and what is left undone waits for the next time.
pub type Cancelled<'a> = &'a dyn Fn() -> bool;

/// A set of nodes.
struct Marks(Vec<u64>);

impl Marks {
    fn has(&self, id: NodeId) -> bool {
        self.0[id as usize / 64] >> (id % 64) & 1 != 0
    }

    /// Adds a node; whether it was new.
    fn add(&mut self, id: NodeId) -> bool {
        let (word, bit) = (&mut self.0[id as usize / 64], 1 << (id % 64));
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }
}

impl Graph {
    fn give_link(&mut self, at: u32) {
        self.links[at as usize].next = self.free_link;
        self.free_link = at;
        self.live_links -= 1;
    }

    /// Takes one back-link from a node to a parent away.
    fn unlink(&mut self, id: NodeId, parent: NodeId) {
        let node = &mut self.nodes[id as usize];
        let mut at = node.more_parents;
        if node.parent == parent {
            node.parent = NONE;
            if at != NONE {
                node.parent = self.links[at as usize].parent;
                node.more_parents = self.links[at as usize].next;
                self.give_link(at);
            }
            return;
        }
        let mut before = NONE;
        while at != NONE {
            let link = self.links[at as usize];
            if link.parent == parent {
                if before == NONE {
                    self.nodes[id as usize].more_parents = link.next;
                } else {
                    self.links[before as usize].next = link.next;
                }
                self.give_link(at);
                return;
            }
            (before, at) = (at, link.next);
        }
    }

    /// Flags the edges into a node as lost: they keep their numbers.
    fn lose(&mut self, id: NodeId, parent: NodeId) {
        let mut forgotten = 0;
        for edge in self.edges_mut(parent) {
            if edge.child == id {
                // A proof that is forgotten must not go on counting as one.
                forgotten += u16::from(edge.has(edge_flag::COUNTED));
                edge.child = NONE;
                edge.flags = (edge.flags | edge_flag::LOST) & !edge_flag::COUNTED;
            }
        }
        self.nodes[parent as usize].unknown += forgotten;
    }

    /// Frees a node: its parents, its children and the table forget it.
    fn free(&mut self, id: NodeId) {
        while self.nodes[id as usize].parent != NONE {
            let parent = self.nodes[id as usize].parent;
            self.lose(id, parent);
            self.unlink(id, parent);
        }
        for slot in 0..self.nodes[id as usize].opened {
            let child = self.edge(id, slot).child;
            if child != NONE {
                self.unlink(child, id);
            }
        }
        self.table.remove(id, &self.nodes);
        self.drop_candidates(id);
        let (start, opened) = (self.nodes[id as usize].edges, self.nodes[id as usize].opened as usize);
        if opened > 0 {
            self.give_block(start, class_of(opened));
        }
        let node = &mut self.nodes[id as usize];
        node.opened = 0;
        node.flags = node_flag::FREE;
        node.parent = self.free_node;
        self.free_node = id;
        self.live_nodes -= 1;
    }

    /// Marks what is reachable from the given nodes along edges that `keeps` accepts, frees the rest and closes up the arenas. Edges
    /// into freed nodes keep their numbers and are flagged as lost. Whether it came to an end.
    pub fn sweep(&mut self, roots: &[NodeId], keeps: impl FnMut(&Graph, NodeId, u16) -> bool, cancelled: Cancelled) -> bool {
        let Some(marks) = self.mark(roots, keeps, cancelled) else { return false };
        self.free_others(&marks, cancelled) && self.tidy_table(cancelled) && self.close_up(cancelled)
    }

    fn mark(&self, roots: &[NodeId], mut keeps: impl FnMut(&Graph, NodeId, u16) -> bool, cancelled: Cancelled) -> Option<Marks> {
        let mut marks = Marks(vec![0; self.nodes.len().div_ceil(64)]);
        let mut pending: Vec<NodeId> = roots.iter().copied().filter(|&root| marks.add(root)).collect();
        let mut count = 0;
        while let Some(id) = pending.pop() {
            count += 1;
            if count % SLICE == 0 && cancelled() {
                return None;
            }
            for (slot, edge) in self.edges(id).iter().enumerate() {
                if edge.child != NONE && !marks.has(edge.child) && keeps(self, id, slot as u16) {
                    marks.add(edge.child);
                    pending.push(edge.child);
                }
            }
        }
        Some(marks)
    }

    /// Descending, so that children mostly go before their parents, and the lowest slots are used again first.
    fn free_others(&mut self, marks: &Marks, cancelled: Cancelled) -> bool {
        for id in (0..self.nodes.len() as u32).rev() {
            if (id as usize).is_multiple_of(SLICE) && cancelled() {
                return false;
            }
            if !marks.has(id) && !self.nodes[id as usize].has(node_flag::FREE) {
                self.free(id);
            }
        }
        true
    }

    /// Removals clog the table: its shards are filled anew one by one. Where it holds one node per key of many, others take the place of the freed.
    fn tidy_table(&mut self, cancelled: Cancelled) -> bool {
        if self.table.len == 0 {
            return true;
        }
        if !self.table.tidy(&self.nodes, cancelled) {
            return false;
        }
        for id in 0..self.nodes.len() as u32 {
            if self.table.len == self.live_nodes {
                break;
            }
            if (id as usize).is_multiple_of(SLICE) && cancelled() {
                return false;
            }
            if !self.nodes[id as usize].has(node_flag::FREE) {
                self.enter(id);
            }
        }
        true
    }

    /// The nodes that have a block of some kind, as (start, node) in one number, in the order of their blocks.
    fn in_order(&self, arena: usize, start_of: impl Fn(&Node) -> Option<u32>, cancelled: Cancelled) -> Option<Vec<u64>> {
        let region_of = |start: u32| start as usize * REGIONS / arena.max(1);
        let blocks = |id: usize| {
            let node = &self.nodes[id];
            if node.has(node_flag::FREE) { None } else { start_of(node) }
        };
        let mut ends = [0usize; REGIONS];
        for id in 0..self.nodes.len() {
            if id % SLICE == 0 && cancelled() {
                return None;
            }
            if let Some(start) = blocks(id) {
                ends[region_of(start)] += 1;
            }
        }
        let mut sum = 0;
        for end in &mut ends {
            sum += *end;
            *end = sum - *end;
        }
        let mut order = vec![0u64; sum];
        for id in 0..self.nodes.len() {
            if id % SLICE == 0 && cancelled() {
                return None;
            }
            if let Some(start) = blocks(id) {
                let end = &mut ends[region_of(start)];
                order[*end] = u64::from(start) << 32 | id as u64;
                *end += 1;
            }
        }
        let mut from = 0;
        for end in ends {
            order[from..end].sort_unstable();
            from = end;
            if cancelled() {
                return None;
            }
        }
        Some(order)
    }

    /// Slides the blocks of edges and candidates together, so that all free memory is at the end. Whether it came to an end: else the free blocks
    /// are left behind until the next time.
    pub fn close_up(&mut self, cancelled: Cancelled) -> bool {
        self.close_up_edges(cancelled) && self.close_up_candidates(cancelled)
    }

    fn close_up_edges(&mut self, cancelled: Cancelled) -> bool {
        let start_of = |node: &Node| (node.opened > 0).then_some(node.edges);
        let Some(order) = self.in_order(self.edges.len(), start_of, cancelled) else { return false };
        self.free_edges = [NONE; CLASSES];
        let mut end = 0usize;
        for (count, id) in order.iter().map(|&entry| entry as u32).enumerate() {
            if count % SLICE == 0 && cancelled() {
                return false;
            }
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
        true
    }

    fn close_up_candidates(&mut self, cancelled: Cancelled) -> bool {
        let start_of = |node: &Node| (node.listed > 0).then_some(node.candidates);
        let Some(order) = self.in_order(self.candidates.len() / GRAIN, start_of, cancelled) else { return false };
        self.free_lists.fill(NONE);
        let mut end = 0usize;
        for (count, id) in order.iter().map(|&entry| entry as u32).enumerate() {
            if count % SLICE == 0 && cancelled() {
                return false;
            }
            let node = &mut self.nodes[id as usize];
            let from = node.candidates as usize * GRAIN + usize::from(node.taken);
            let to = node.candidates as usize * GRAIN + usize::from(node.listed);
            let before = usize::from(node.listed).div_ceil(GRAIN);
            node.listed -= node.taken;
            node.taken = 0;
            node.candidates = (end / GRAIN) as u32;
            let after = (to - from).div_ceil(GRAIN);
            self.live_candidates -= (before - after) * GRAIN;
            self.candidates.copy_within(from..to, end);
            end += after * GRAIN;
        }
        self.candidates.truncate(end);
        true
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
        let share = |used: usize, capacity: usize, size: usize, most: usize| {
            let total = (capacity + spare / size).min(most);
            if total == 0 { 1.0 } else { 1.0 - used as f64 / total as f64 }
        };
        share(self.live_nodes, self.nodes.capacity(), size_of::<Node>(), self.most_items)
            .min(share(self.edges.len(), self.edges.capacity(), size_of::<Edge>(), self.most_items))
            .min(share(self.candidates.len(), self.candidates.capacity(), size_of::<Candidate>(), self.most_candidates()))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::game::MoveCode;
    use crate::random::Random;

    /// A graph of many layers in which each node has some edges into the next layer, some of them into one node.
    fn layered(seed: u64) -> Graph {
        let mut graph = Graph::new(1 << 24);
        let mut random = Random::new(seed);
        let (layers, width) = (12, 700);
        for key in 0..layers * width {
            assert!(graph.ensure_room(1, 64, true));
            let moves = 1 + random.index(9) as u16;
            let id = graph.add_node(key as u64, 0, 0, usize::from(moves));
            let list: Vec<Candidate> = (0..moves).map(|code| Candidate::new(0x3000 - code, MoveCode(code))).collect();
            graph.list_candidates(id, &list);
            graph.enter_new(id);
        }
        for layer in 0..layers - 1 {
            for place in 0..width {
                let id = (layer * width + place) as NodeId;
                for _ in 0..random.index(graph.candidates(id).len() + 1) {
                    assert!(graph.ensure_room(1, 64, true));
                    let slot = graph.open(id, 0);
                    let child = ((layer + 1) * width + random.index(width)) as NodeId;
                    graph.edge_mut(id, slot).visits = 1;
                    graph.link(id, slot, child);
                }
            }
        }
        graph
    }

    /// Every count is right, every link goes both ways, every node is in the table, and no two blocks overlap.
    fn check(graph: &Graph) {
        let (mut links, mut slots, mut candidates) = (0, 0, 0);
        let mut forth = std::collections::HashMap::new();
        let (mut blocks, mut lists) = (Vec::new(), Vec::new());
        for id in graph.ids() {
            let node = graph.node(id);
            assert_eq!(graph.find(node.key, node.salt), Some(id));
            for edge in graph.edges(id).iter().filter(|edge| edge.child != NONE) {
                assert!(!graph.node(edge.child).has(node_flag::FREE));
                *forth.entry((id, edge.child)).or_insert(0) += 1;
            }
            if node.opened > 0 {
                let room = usize::from(node.opened).next_power_of_two();
                slots += room;
                blocks.push((node.edges as usize, node.edges as usize + room));
            }
            if node.listed > 0 {
                let room = usize::from(node.listed).div_ceil(GRAIN) * GRAIN;
                candidates += room;
                lists.push((node.candidates as usize * GRAIN, node.candidates as usize * GRAIN + room));
            }
            assert!(graph.candidates(id).is_sorted_by(|a, b| a >= b));
        }
        let mut back = std::collections::HashMap::new();
        for id in graph.ids() {
            links += graph.parents(id).count().saturating_sub(1);
            for parent in graph.parents(id) {
                *back.entry((parent, id)).or_insert(0) += 1;
            }
        }
        assert_eq!(forth, back);
        assert_eq!(graph.len(), graph.ids().count());
        assert_eq!((graph.live_links, graph.live_edge_slots, graph.live_candidates), (links, slots, candidates));
        for (mut spans, end) in [(blocks, graph.edges.len()), (lists, graph.candidates.len())] {
            spans.push((end, end));
            spans.sort_unstable();
            assert!(spans.windows(2).all(|pair| pair[0].1 <= pair[1].0));
        }
    }

    #[test]
    fn a_sweep_may_be_broken_off_at_any_time_and_taken_up_again() {
        let keeps = |graph: &Graph, id: NodeId, slot: u16| !(graph.edge(id, slot).child + id).is_multiple_of(5);
        let roots: Vec<NodeId> = (0..100).collect();
        let mut whole = layered(1);
        let asked = Cell::new(0);
        let ask = |limit: u32| {
            asked.set(asked.get() + 1);
            asked.get() > limit
        };
        assert!(whole.sweep(&roots, keeps, &|| ask(u32::MAX)));
        check(&whole);
        let (kept, questions) = (whole.ids().collect::<Vec<_>>(), asked.get());
        assert!(kept.len() > 200 && kept.len() < 8000 && questions > 100, "{} {questions}", kept.len());
        for limit in (0..questions).step_by(7) {
            let mut graph = layered(1);
            asked.set(0);
            assert!(!graph.sweep(&roots, keeps, &|| ask(limit)));
            check(&graph);
            assert!(graph.len() >= kept.len());
            // Life goes on in between.
            assert!(graph.ensure_room(1, 64, true));
            let slot = if graph.candidates(0).is_empty() { None } else { Some(graph.open(0, 0)) };
            check(&graph);
            assert!(graph.sweep(&roots, keeps, &|| false));
            check(&graph);
            assert_eq!(graph.ids().collect::<Vec<_>>(), kept);
            assert_eq!(graph.node(0).opened, whole.node(0).opened + u16::from(slot.is_some()));
        }
    }
}
