//! Giving memory back: nodes that are not kept are freed, and what is left is closed up.
//!
//! The caller decides which nodes are kept. Nothing learned is lost above a freed
//! node, whose edge keeps its numbers. The work goes in slices and may be interrupted between any two of
//! them. It continues where it was left, before anything else changes the graph; what can be reached
//! from the root may be read at any time.

use super::blocks::room_for;
use super::marks::{Cancelled, Marks, SLICE};
use super::{Graph, NONE, NodeId, edge_flag, node_flag};

/// What a sweep is about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Mark what the root reaches.
    Mark,
    /// Take the edges of kept nodes from those that are freed, and the links back to freed parents.
    Cut,
    /// Free the nodes that are not kept.
    Free,
    /// Take them out of the table.
    Table,
    /// Where the table holds one node per key of many: others take the place of the freed.
    Enter,
    /// Close up the arenas.
    Close,
}

/// A sweep that is not finished.
#[derive(Debug)]
pub(super) struct Sweep {
    stage: Stage,
    marks: Marks,
    /// Nodes whose edges [`Stage::Mark`] has not visited yet.
    pending: Vec<NodeId>,
    /// How far the stage has come.
    next: usize,
    /// The root has moved on meanwhile: what it does not reach is freed afterwards.
    then: Option<NodeId>,
}

impl Graph {
    fn give_link(&mut self, at: u32) {
        self.links[at as usize].next = self.free_link;
        self.free_link = at;
        self.live_links -= 1;
    }

    /// From now on only what a node reaches is kept. The rest is freed by [`Graph::go_on`]; until then
    /// nothing else may change the graph.
    pub fn keep_below(&mut self, root: NodeId) {
        if let Some(sweep) = self.sweep.as_mut().filter(|sweep| sweep.stage != Stage::Mark) {
            sweep.then = Some(root);
            return;
        }
        let mut marks = Marks::for_graph(self);
        marks.add(root);
        self.sweep = Some(Sweep { stage: Stage::Mark, marks, pending: vec![root], next: 0, then: None });
    }

    /// The same for a set of nodes; every one of them but the root and what is in flight must be reached by
    /// an edge of another.
    pub fn keep(&mut self, marks: Marks) {
        debug_assert!(self.sweep.is_none());
        self.sweep = Some(Sweep { stage: Stage::Cut, marks, pending: Vec::new(), next: 0, then: None });
    }

    /// Whether nothing waits to be freed.
    pub fn is_swept(&self) -> bool {
        self.sweep.is_none()
    }

    /// Whether a node is not about to be freed, as far as that is known.
    pub fn is_kept(&self, id: NodeId) -> bool {
        self.sweep.as_ref().is_none_or(|sweep| sweep.stage == Stage::Mark || sweep.marks.has(id))
    }

    /// Frees what is not kept and closes up the arenas. Edges into freed nodes keep their numbers and are
    /// flagged as lost. Returns whether it came to an end.
    pub fn go_on(&mut self, cancelled: Cancelled) -> bool {
        while let Some(mut sweep) = self.sweep.take() {
            if !self.work_on(&mut sweep, cancelled) {
                self.sweep = Some(sweep);
                return false;
            }
            if let Some(root) = sweep.then {
                self.keep_below(root);
            }
        }
        true
    }

    fn work_on(&mut self, sweep: &mut Sweep, cancelled: Cancelled) -> bool {
        loop {
            let is_done = match sweep.stage {
                Stage::Mark => self.mark(sweep, cancelled),
                Stage::Cut => self.cut_others(sweep, cancelled),
                Stage::Free => self.free_others(sweep, cancelled),
                Stage::Table => self.table.tidy(&mut sweep.next, &self.nodes, cancelled),
                Stage::Enter => self.enter_others(sweep, cancelled),
                Stage::Close => {
                    // Blocks that are not closed up now are used again, or closed up when memory is short.
                    self.close_up(cancelled);
                    return true;
                }
            };
            if !is_done {
                return false;
            }
            sweep.next = 0;
            sweep.stage = match sweep.stage {
                Stage::Mark => Stage::Cut,
                Stage::Cut => Stage::Free,
                Stage::Free if self.table.is_empty() => Stage::Close,
                Stage::Free => Stage::Table,
                Stage::Table => Stage::Enter,
                Stage::Enter | Stage::Close => Stage::Close,
            };
        }
    }

    fn mark(&self, sweep: &mut Sweep, cancelled: Cancelled) -> bool {
        while let Some(id) = sweep.pending.pop() {
            for edge in self.edges(id) {
                if edge.child != NONE && sweep.marks.add(edge.child) {
                    sweep.pending.push(edge.child);
                }
            }
            sweep.next += 1;
            if sweep.next.is_multiple_of(SLICE) && cancelled() {
                return false;
            }
        }
        true
    }

    fn cut_others(&mut self, sweep: &mut Sweep, cancelled: Cancelled) -> bool {
        while sweep.next < self.nodes.len() {
            let id = sweep.next as NodeId;
            if sweep.marks.has(id) {
                self.cut(id, &sweep.marks);
            }
            sweep.next += 1;
            if sweep.next.is_multiple_of(SLICE) && cancelled() {
                return false;
            }
        }
        true
    }

    /// A kept node forgets its children and parents that are not.
    fn cut(&mut self, id: NodeId, marks: &Marks) {
        let mut forgotten = 0;
        for edge in self.edges_mut(id) {
            if edge.child != NONE && !marks.has(edge.child) {
                // A proof that is forgotten must not count as one any more, nor keep the move from being
                // tried again.
                forgotten += u16::from(edge.has(edge_flag::COUNTED));
                edge.child = NONE;
                edge.flags = (edge.flags | edge_flag::LOST) & !(edge_flag::COUNTED | edge_flag::PRUNED);
            }
        }
        let node = &mut self.nodes[id as usize];
        node.unknown += forgotten;
        let (mut first, mut chain) = (node.parent, node.more_parents);
        let (mut before, mut at) = (NONE, chain);
        while at != NONE {
            let link = self.links[at as usize];
            if marks.has(link.parent) {
                before = at;
            } else {
                if before == NONE {
                    chain = link.next;
                } else {
                    self.links[before as usize].next = link.next;
                }
                self.give_link(at);
            }
            at = link.next;
        }
        if first != NONE && !marks.has(first) {
            first = NONE;
            if chain != NONE {
                let link = self.links[chain as usize];
                self.give_link(chain);
                (first, chain) = (link.parent, link.next);
            }
        }
        let node = &mut self.nodes[id as usize];
        (node.parent, node.more_parents) = (first, chain);
    }

    /// Descending, so that the lowest slots are used again first.
    fn free_others(&mut self, sweep: &mut Sweep, cancelled: Cancelled) -> bool {
        while sweep.next < self.nodes.len() {
            let id = (self.nodes.len() - 1 - sweep.next) as NodeId;
            if !sweep.marks.has(id) && !self.nodes[id as usize].has(node_flag::FREE) {
                self.free(id);
            }
            sweep.next += 1;
            if sweep.next.is_multiple_of(SLICE) && cancelled() {
                return false;
            }
        }
        true
    }

    /// Frees a node that no kept node leads to. It is still in the table.
    fn free(&mut self, id: NodeId) {
        let mut at = self.nodes[id as usize].more_parents;
        while at != NONE {
            let next = self.links[at as usize].next;
            self.give_link(at);
            at = next;
        }
        self.drop_candidates(id);
        let (start, opened) = (self.nodes[id as usize].edges, self.nodes[id as usize].opened as usize);
        if opened > 0 {
            self.give_block(start, room_for(opened));
        }
        let node = &mut self.nodes[id as usize];
        node.opened = 0;
        node.flags = node_flag::FREE;
        node.parent = self.free_node;
        node.more_parents = NONE;
        self.free_node = id;
        self.live_nodes -= 1;
    }

    fn enter_others(&mut self, sweep: &mut Sweep, cancelled: Cancelled) -> bool {
        while sweep.next < self.nodes.len() && self.table.len < self.live_nodes {
            if !self.nodes[sweep.next].has(node_flag::FREE) {
                self.enter(sweep.next as NodeId);
            }
            sweep.next += 1;
            if sweep.next.is_multiple_of(SLICE) && cancelled() {
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::super::{Candidate, GRAIN};
    use super::*;
    use crate::game::MoveCode;
    use crate::random::Random;

    /// A graph of many layers in which each node has some edges into the next layer, some of them into one
    /// node.
    fn layered(seed: u64) -> Graph {
        let mut graph = Graph::new(1 << 24);
        let mut random = Random::new(seed);
        let (layers, width) = (12, 700);
        for key in 0..layers * width {
            assert!(graph.ensure_room(1, 64, true));
            let moves = 1 + random.index(9) as u16;
            let id = graph.add_node(key as u64, 0, 0, usize::from(moves));
            let list: Vec<Candidate> =
                (0..moves).map(|code| Candidate::new(0x3000 - code, MoveCode(code))).collect();
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

    /// Every count is right, every link goes both ways, every node is in the table, and no two blocks
    /// overlap.
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
                let room = room_for(node.opened.into());
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
        assert_eq!(
            (graph.live_links, graph.live_edge_slots, graph.live_candidates),
            (links, slots, candidates)
        );
        for (mut spans, end) in [(blocks, graph.edges.len()), (lists, graph.candidates.len())] {
            spans.push((end, end));
            spans.sort_unstable();
            assert!(spans.windows(2).all(|pair| pair[0].1 <= pair[1].0));
        }
    }

    /// What can be read from some nodes on: numbers of nodes and edges, in the order of a walk.
    fn read_from(graph: &Graph, root: NodeId) -> Vec<(u64, u16, u32, bool)> {
        let (mut seen, mut pending, mut read) =
            (std::collections::HashSet::from([root]), vec![root], Vec::new());
        while let Some(id) = pending.pop() {
            let node = graph.node(id);
            assert!(!node.has(node_flag::FREE));
            for edge in graph.edges(id) {
                let is_there = edge.child != NONE && graph.is_kept(edge.child);
                read.push((node.key, edge.mv.0, edge.visits, is_there));
                if is_there && seen.insert(edge.child) {
                    pending.push(edge.child);
                }
            }
        }
        read
    }

    /// A node from which much can be reached.
    fn root_of(graph: &Graph) -> NodeId {
        (0..700).max_by_key(|&id| graph.node(id).opened).unwrap()
    }

    /// Returns false `limit` times, then true.
    fn patience(limit: u32) -> impl Fn() -> bool {
        let asked = Cell::new(0);
        move || {
            asked.set(asked.get() + 1);
            asked.get() > limit
        }
    }

    /// Every third child is no better than the last resort, the others are as good as their ids are low.
    fn rank(graph: &Graph, _: usize, id: NodeId, slot: u16) -> usize {
        let child = graph.edge(id, slot).child;
        if child.is_multiple_of(3) { 0 } else { 1 + (9000 - child as usize) / 100 }
    }

    #[test]
    fn a_sweep_may_be_interrupted_at_any_time_and_is_taken_up_again() {
        let begin: [fn(&mut Graph); 2] = [
            |graph| graph.keep_below(root_of(graph)),
            |graph| {
                let pinned: Vec<NodeId> = (0..100).chain([root_of(graph)]).collect();
                let marks = graph.best(&pinned, 300_000, rank, &|| false).unwrap();
                graph.keep(marks);
            },
        ];
        for begin in begin {
            let mut whole = layered(1);
            let root = root_of(&whole);
            begin(&mut whole);
            assert!(whole.go_on(&|| false));
            check(&whole);
            let (kept, content) = (whole.ids().collect::<Vec<_>>(), read_from(&whole, root));
            assert!(kept.len() > 200 && kept.len() < 8000, "{}", kept.len());
            for limit in (0..200).step_by(7) {
                let mut graph = layered(1);
                begin(&mut graph);
                let mut rounds = 0;
                while !graph.go_on(&patience(limit)) {
                    rounds += 1;
                    assert!(rounds < 100, "every round gets further");
                    assert_eq!(graph.node(root).opened, whole.node(root).opened);
                    read_from(&graph, root);
                }
                assert!(limit > 50 || rounds > 0);
                check(&graph);
                assert_eq!(graph.ids().collect::<Vec<_>>(), kept);
                assert_eq!(read_from(&graph, root), content);
            }
        }
    }

    #[test]
    fn a_root_that_moves_on_during_a_sweep_keeps_what_it_reaches() {
        let mut expected = layered(1);
        let root = root_of(&expected);
        let child = expected.edges(root)[0].child;
        expected.keep_below(child);
        assert!(expected.go_on(&|| false));
        for limit in 0..40 {
            let mut graph = layered(1);
            graph.keep_below(root);
            if !graph.go_on(&patience(limit)) {
                assert!(graph.is_kept(child) && !graph.is_swept());
            }
            graph.keep_below(child);
            assert!(graph.go_on(&|| false));
            check(&graph);
            assert_eq!(graph.ids().collect::<Vec<_>>(), expected.ids().collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_best_nodes_fill_the_bytes_and_hang_together() {
        let graph = layered(2);
        let pinned: Vec<NodeId> = (0..40).collect();
        let below = |bytes: usize| {
            let marks = graph.best(&pinned, bytes, rank, &|| false).unwrap();
            graph.ids().filter(|&id| marks.has(id)).collect::<Vec<_>>()
        };
        let taken_by = |chosen: &[NodeId]| chosen.iter().map(|&id| graph.bytes_of(id)).sum::<usize>();
        let everything = taken_by(&below(usize::MAX));
        assert!(everything > 200_000, "{everything}");
        let mut last = Vec::new();
        for bytes in [0, 50_000, 100_000, 150_000, 200_000] {
            let chosen = below(bytes);
            let taken = taken_by(&chosen);
            assert!(taken <= bytes.max(taken_by(&pinned)) && taken + 1024 > bytes, "{taken} of {bytes}");
            assert!(
                last.iter().all(|id| chosen.contains(id)),
                "with more room there is more, and nothing less"
            );
            for &id in chosen.iter().filter(|&&id| id >= 40) {
                assert!(graph.parents(id).any(|parent| chosen.contains(&parent)));
            }
            last = chosen;
        }
    }

    #[test]
    fn a_forgotten_proof_counts_no_more_and_prunes_no_more() {
        let mut graph = layered(3);
        let id = graph.ids().find(|&id| graph.node(id).opened > 2).unwrap();
        let opened = graph.node(id).opened;
        for edge in graph.edges_mut(id) {
            edge.flags |= edge_flag::COUNTED | edge_flag::PRUNED;
        }
        graph.node_mut(id).unknown -= opened;
        let gone = graph.edges(id)[1].child;
        let mut marks = Marks::for_graph(&graph);
        for other in graph.ids().filter(|&other| other != gone) {
            marks.add(other);
        }
        let lost = graph.edges(id).iter().filter(|edge| edge.child == gone).count() as u16;
        graph.keep(marks);
        assert!(graph.go_on(&|| false));
        let node = graph.node(id);
        assert_eq!(node.unknown, node.legal - opened + lost);
        for edge in graph.edges(id) {
            let is_lost = edge.child == NONE;
            assert_eq!(edge.has(edge_flag::LOST), is_lost);
            assert_eq!(edge.has(edge_flag::COUNTED | edge_flag::PRUNED), !is_lost);
            assert_eq!(edge.flags & (edge_flag::COUNTED | edge_flag::PRUNED) == 0, is_lost);
        }
    }
}
