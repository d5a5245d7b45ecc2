//! Arenas closed up after nodes were freed, and trimmed to what is in use.
//!
//! Blocks move towards the front, region by region, in the order in which they lie. The work may be
//! interrupted between two slices.

use super::blocks::room_for;
use super::marks::SLICE;
use super::node::VOID_EDGE;
use super::{CLASSES, Cancelled, Candidate, Edge, GRAIN, Graph, MOST_MOVES, NONE, Node, node_flag};

/// Parts of an arena that are sorted one by one.
const REGIONS: usize = 512;

impl Graph {
    /// The nodes that have a block of some kind, as (start, node) in one number, in the order of their
    /// blocks.
    fn in_order(
        &self,
        arena: usize,
        start_of: impl Fn(&Node) -> Option<u32>,
        cancelled: Cancelled,
    ) -> Option<Vec<u64>> {
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

    /// Slides the blocks of edges and candidates together, so that all free memory is at the end. Returns
    /// whether it came to an end: else the free blocks are left behind until the next time.
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
            let room = room_for(opened);
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
        let Some(order) = self.in_order(self.candidates.len() / GRAIN, start_of, cancelled) else {
            return false;
        };
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

    /// Gives back what edges or candidates have too much of, so that the other may grow: what is free is
    /// theirs in proportion to what they use.
    pub fn trim(&mut self) {
        let (edges, candidates) =
            (self.edges.len() * size_of::<Edge>(), self.candidates.len() * size_of::<Candidate>());
        let taken =
            self.edges.capacity() * size_of::<Edge>() + self.candidates.capacity() * size_of::<Candidate>();
        let others = self.reserved_bytes() - taken + self.growth_allowance();
        let free = self.memory.saturating_sub(others + edges + candidates) as f64;
        let share = |bytes: usize| (free * bytes as f64 / (edges + candidates).max(1) as f64) as usize;
        self.edges.shrink_to(self.edges.len() + MOST_MOVES + share(edges) / size_of::<Edge>());
        self.candidates
            .shrink_to(self.candidates.len() + 4 * MOST_MOVES + share(candidates) / size_of::<Candidate>());
    }

    /// Share of the scarcest arena that is free after a sweep, counting what may still be taken from the
    /// system.
    pub fn free_share(&self) -> f64 {
        let spare = self.memory.saturating_sub(self.reserved_bytes());
        let share = |used: usize, capacity: usize, size: usize, most: usize| {
            let total = (capacity + spare / size).min(most);
            if total == 0 { 1.0 } else { 1.0 - used as f64 / total as f64 }
        };
        share(self.live_nodes, self.nodes.capacity(), self.node_bytes(), self.most_items)
            .min(share(self.edges.len(), self.edges.capacity(), size_of::<Edge>(), self.most_items))
            .min(share(
                self.candidates.len(),
                self.candidates.capacity(),
                size_of::<Candidate>(),
                self.most_candidates(),
            ))
    }
}
