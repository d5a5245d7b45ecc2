//! The search graph: flat arenas of nodes, edges and candidates, the table of keys, back-links to parents,
//! and the memory they take.
//!
//! ```text
//!   Node (64 bytes) ── edges ──► block of Edge (32 bytes each): opened moves, in order of opening
//!        │     ▲                   └─ child: the node it leads to (several edges may lead to one node)
//!        │     └── parents: the first inline, the others as a chain of Link
//!        └── candidates ──► block of Candidate (4 bytes each): moves not opened yet, best prior first
//! ```
//! Ids are indices; freed slots are used again. The graph knows no search: it stores, links, frees and counts
//! bytes.

pub mod prior;
mod node;
mod numbers;
mod table;
mod blocks;
mod memory;
pub mod recency;
mod marks;
mod compact;
mod sweep;

use blocks::put;
pub use marks::{Cancelled, Marks, RANKS};
pub use node::{Edge, NONE, Node, NodeId, State, edge_flag, node_flag};
pub use numbers::ProofNumbers;
use prior::Candidate;
use recency::Clock;
use sweep::Sweep;
use table::{Table, hash_of, table_hash};

#[derive(Clone, Copy, Debug)]
struct Link {
    parent: NodeId,
    next: u32,
}

/// Largest number of legal moves a node may have.
pub const MOST_MOVES: usize = 1024;
const CLASSES: usize = 22;
/// Blocks of candidates are multiples of this many.
const GRAIN: usize = 4;
/// Most items of an arena that a 32-bit index can name, [`NONE`] not among them; blocks of candidates count
/// as one item per [`GRAIN`].
const MOST_ITEMS: usize = (u32::MAX - 4096) as usize;
/// Visits of a node after which no simulation may start. What is in flight then (fewer than 2^16
/// trajectories) still fits into 32 bits.
pub const MOST_VISITS: u32 = u32::MAX - (1 << 18);
const LIST_CLASSES: usize = MOST_MOVES / GRAIN + 1;

/// The arenas, the table and the budget in bytes.
#[derive(Debug)]
pub struct Graph {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    candidates: Vec<Candidate>,
    links: Vec<Link>,
    /// By node, where they are kept.
    numbers: Option<Vec<ProofNumbers>>,
    table: Table,
    free_node: u32,
    free_link: u32,
    free_edges: [u32; CLASSES],
    free_lists: Vec<u32>,
    live_nodes: usize,
    live_edge_slots: usize,
    live_links: usize,
    live_candidates: usize,
    memory: usize,
    /// Nodes that wait to be freed.
    sweep: Option<Sweep>,
    clock: Clock,
    /// What a draw is worth to each player.
    draws: [f64; 2],
    /// Some node has [`MOST_VISITS`].
    spent: bool,
    /// [`MOST_ITEMS`]; tests lower it.
    most_items: usize,
}

impl Graph {
    /// An empty graph that may take `memory` bytes.
    pub fn new(memory: usize) -> Graph {
        Graph {
            table: Table::default(),
            free_lists: vec![NONE; LIST_CLASSES],
            memory,
            ..Graph::placeholder()
        }
    }

    /// Stands in the place of a graph that is lent out. Takes no memory, and cannot be used.
    pub(crate) fn placeholder() -> Graph {
        Graph {
            nodes: Vec::new(),
            edges: Vec::new(),
            candidates: Vec::new(),
            links: Vec::new(),
            numbers: None,
            table: Table::placeholder(),
            free_node: NONE,
            free_link: NONE,
            free_edges: [NONE; CLASSES],
            free_lists: Vec::new(),
            live_nodes: 0,
            live_edge_slots: 0,
            live_links: 0,
            live_candidates: 0,
            memory: 0,
            sweep: None,
            clock: Clock::default(),
            draws: [0.0; 2],
            spent: false,
            most_items: MOST_ITEMS,
        }
    }

    /// What a draw is worth to each player: with contempt it is not the same.
    pub fn draws(&self) -> [f64; 2] {
        self.draws
    }

    /// Changes what a draw is worth. Values in the graph stay as they are: it should be empty.
    pub fn set_draws(&mut self, draws: [f64; 2]) {
        self.draws = draws;
    }

    /// What a draw is worth to the side to move at a node.
    #[inline(always)]
    pub fn draw_value(&self, id: NodeId) -> f64 {
        self.draws[usize::from(self.nodes[id as usize].player())]
    }

    /// The exact value of a node for its side to move; `None` unless proven by play, or the score of a game
    /// that is over.
    #[inline(always)]
    pub fn exact_value(&self, id: NodeId) -> Option<f64> {
        let node = &self.nodes[id as usize];
        match node.state {
            State::Draw => Some(self.draw_value(id)),
            State::Unknown if node.has(node_flag::TERMINAL) => Some(node.value),
            state => state.value(),
        }
    }

    /// The exact value of a node where there is one, else its mean value.
    #[inline(always)]
    pub fn best_value(&self, id: NodeId) -> f64 {
        self.exact_value(id).unwrap_or(self.nodes[id as usize].value)
    }

    /// Whether some node has as many visits as may be counted: then no simulation may start.
    #[inline(always)]
    pub fn is_spent(&self) -> bool {
        self.spent
    }

    /// Takes note of the visits of a node that was changed.
    #[inline(always)]
    pub fn note_visits(&mut self, visits: u32) {
        self.spent |= visits >= MOST_VISITS;
    }

    /// Looks at all nodes again, after some were freed.
    pub fn recount_visits(&mut self) {
        self.spent = self.spent && self.ids().any(|id| self.node(id).visits >= MOST_VISITS);
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.live_nodes
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.live_nodes == 0
    }

    /// One past the largest node id in use.
    pub fn id_bound(&self) -> u32 {
        self.nodes.len() as u32
    }

    /// Ids of all nodes, ascending.
    pub fn ids(&self) -> impl Iterator<Item = NodeId> + '_ {
        (0..self.nodes.len() as u32).filter(|&id| !self.nodes[id as usize].has(node_flag::FREE))
    }

    /// A node.
    #[inline(always)]
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id as usize]
    }

    /// A node, to change.
    #[inline(always)]
    pub fn node_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id as usize]
    }

    /// The opened edges of a node, in order of opening.
    #[inline(always)]
    pub fn edges(&self, id: NodeId) -> &[Edge] {
        let node = &self.nodes[id as usize];
        let start = node.edges as usize;
        if node.opened == 0 { &[] } else { &self.edges[start..start + node.opened as usize] }
    }

    /// The opened edges of a node, to change.
    pub fn edges_mut(&mut self, id: NodeId) -> &mut [Edge] {
        let node = &self.nodes[id as usize];
        let start = node.edges as usize;
        if node.opened == 0 { &mut [] } else { &mut self.edges[start..start + node.opened as usize] }
    }

    /// One opened edge.
    #[inline(always)]
    pub fn edge(&self, id: NodeId, slot: u16) -> &Edge {
        &self.edges[self.nodes[id as usize].edges as usize + slot as usize]
    }

    /// One opened edge, to change.
    #[inline(always)]
    pub fn edge_mut(&mut self, id: NodeId, slot: u16) -> &mut Edge {
        let start = self.nodes[id as usize].edges as usize;
        &mut self.edges[start + slot as usize]
    }

    /// The listed candidates of a node that are not opened, best first.
    #[inline(always)]
    pub fn candidates(&self, id: NodeId) -> &[Candidate] {
        let node = &self.nodes[id as usize];
        if node.listed == node.taken {
            return &[];
        }
        let start = node.candidates as usize * GRAIN;
        &self.candidates[start + node.taken as usize..start + node.listed as usize]
    }

    /// The listed candidates, to change (they must stay sorted).
    pub fn candidates_mut(&mut self, id: NodeId) -> &mut [Candidate] {
        let node = &self.nodes[id as usize];
        if node.listed == node.taken {
            return &mut [];
        }
        let start = node.candidates as usize * GRAIN;
        &mut self.candidates[start + node.taken as usize..start + node.listed as usize]
    }

    /// The sign between a node and one of its children: +1 when the same player moves at both.
    #[inline(always)]
    pub fn sign(&self, parent: NodeId, child: NodeId) -> f64 {
        let differ =
            (self.nodes[parent as usize].flags ^ self.nodes[child as usize].flags) & node_flag::PLAYER != 0;
        if differ { -1.0 } else { 1.0 }
    }

    /// Eq. (7): T, the value of the child in the frame of its parent.
    #[inline(always)]
    pub fn target(&self, parent: NodeId, child: NodeId) -> f64 {
        self.sign(parent, child) * self.best_value(child)
    }

    /// The node with this merge key.
    pub fn find(&self, key: u64, salt: u32) -> Option<NodeId> {
        debug_assert!(self.is_swept());
        self.table.find(table_hash(key, salt), |&id| {
            let node = &self.nodes[id as usize];
            node.key == key && node.salt == salt
        })
    }

    /// Adds a node without parents. Room must have been ensured.
    pub fn add_node(&mut self, key: u64, salt: u32, player: u8, legal: usize) -> NodeId {
        let node = Node {
            key,
            value: 0.0,
            salt,
            visits: 0,
            raw: 0.0,
            edges: NONE,
            candidates: NONE,
            parent: NONE,
            more_parents: NONE,
            legal: legal as u16,
            opened: 0,
            taken: 0,
            listed: 0,
            unknown: legal as u16,
            end_in_ply: 0,
            in_flight: 0,
            flags: if player == 0 { 0 } else { node_flag::PLAYER },
            seen: self.clock.now(),
            state: State::Unknown,
            mate_searches: 0,
        };
        debug_assert!(self.is_swept());
        self.live_nodes += 1;
        let id = put(&mut self.nodes, &mut self.free_node, |node| node.parent, node);
        self.put_numbers(id, ProofNumbers::of_new(legal as u16));
        id
    }

    /// Enters a node in the table of keys, unless its key is there.
    pub fn enter(&mut self, id: NodeId) {
        let (key, salt) = (self.nodes[id as usize].key, self.nodes[id as usize].salt);
        if self.find(key, salt).is_none() {
            self.enter_new(id);
        }
    }

    /// Enters a node whose key is not in the table.
    pub fn enter_new(&mut self, id: NodeId) {
        self.table.insert(hash_of(&self.nodes, id), id, &self.nodes);
    }

    /// Frees everything. The arenas are kept for the next graph, unless the cap has shrunk below them.
    pub fn clear(&mut self) {
        if self.reserved_bytes() > self.memory {
            let numbers = self.numbers.is_some().then(Vec::new);
            *self =
                Graph { draws: self.draws, most_items: self.most_items, numbers, ..Graph::new(self.memory) };
            return;
        }
        self.sweep = None;
        self.nodes.clear();
        self.edges.clear();
        self.candidates.clear();
        self.links.clear();
        self.numbers.iter_mut().for_each(Vec::clear);
        self.table.clear();
        (self.free_node, self.free_link, self.free_edges) = (NONE, NONE, [NONE; CLASSES]);
        self.free_lists.fill(NONE);
        self.spent = false;
        (self.live_nodes, self.live_edge_slots, self.live_links, self.live_candidates) = (0, 0, 0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::MoveCode;

    #[test]
    fn sizes_are_what_the_budget_says() {
        assert_eq!(size_of::<Node>(), 64);
        assert_eq!(size_of::<Edge>(), 32);
        assert_eq!(size_of::<Candidate>(), 4);
    }

    fn small() -> Graph {
        let mut graph = Graph::new(1 << 20);
        assert!(graph.ensure_room(16, 64, true));
        graph
    }

    fn node_with(graph: &mut Graph, key: u64, moves: u16) -> NodeId {
        let id = graph.add_node(key, 0, 0, moves as usize);
        let list: Vec<Candidate> =
            (0..moves).map(|code| Candidate::new(0x3000 - code, MoveCode(code))).collect();
        graph.list_candidates(id, &list);
        graph.enter(id);
        id
    }

    #[test]
    fn opening_keeps_the_order_of_the_rest() {
        let mut graph = small();
        let id = node_with(&mut graph, 1, 6);
        assert_eq!(graph.open(id, 3), 0);
        assert_eq!(graph.open(id, 0), 1);
        let opened: Vec<u16> = graph.edges(id).iter().map(|edge| edge.mv.0).collect();
        let rest: Vec<u16> = graph.candidates(id).iter().map(|candidate| candidate.mv().0).collect();
        assert_eq!((opened, rest), (vec![3, 0], vec![1, 2, 4, 5]));
        for _ in 0..4 {
            graph.open(id, 0);
        }
        assert!(graph.node(id).fully_opened() && graph.candidates(id).is_empty());
    }

    #[test]
    fn sweep_frees_exactly_what_is_unreachable_and_keeps_the_numbers() {
        let mut graph = small();
        let ids: Vec<NodeId> = (0..6).map(|key| node_with(&mut graph, key, 5)).collect();
        for (parent, child) in [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (2, 5)] {
            let slot = graph.open(ids[parent], 0);
            graph.edge_mut(ids[parent], slot).visits = 7;
            graph.link(ids[parent], slot, ids[child]);
        }
        assert!(graph.node(ids[3]).has(node_flag::TRANSPOSITION));
        assert_eq!(graph.parents(ids[3]).count(), 2);
        graph.keep_below(ids[1]);
        assert!(!graph.is_swept() && graph.go_on(&|| false) && graph.is_swept());
        assert_eq!(graph.ids().collect::<Vec<_>>(), vec![ids[1], ids[3], ids[4]]);
        assert_eq!(graph.len(), 3);
        assert!(graph.find(0, 0).is_none() && graph.find(3, 0) == Some(ids[3]));
        assert_eq!(graph.parents(ids[3]).collect::<Vec<_>>(), vec![ids[1]]);
        assert!(graph.node(ids[3]).has(node_flag::TRANSPOSITION), "the status is sticky");
        assert_eq!(graph.edges(ids[1])[0].visits, 7);
        assert_eq!(graph.candidates(ids[1]).len(), 4);
        let again = node_with(&mut graph, 9, 5);
        assert!(again < 6, "freed slots are used again");
    }

    #[test]
    fn no_arena_grows_beyond_what_an_index_can_name() {
        for moves in [1, 8, 40] {
            let mut graph = Graph::new(1 << 30);
            graph.set_most_items(5000);
            let mut key = 0;
            while graph.ensure_room(1, 64, true) {
                key += 1;
                let id = node_with(&mut graph, key, moves);
                (0..moves.min(4)).for_each(|_| assert!(graph.open(id, 0) < 4));
            }
            assert!(key > 100, "{key}");
            assert!(
                graph.nodes.capacity() <= 5000
                    && graph.edges.capacity() <= 5000
                    && graph.candidates.capacity() <= 5000 * GRAIN
            );
            assert!(graph.free_share() < 0.4, "it counts as full: {}", graph.free_share());
        }
        let items = (MOST_ITEMS as u64, MOST_ITEMS as u64 * GRAIN as u64);
        assert!(items.0 < u64::from(NONE) && items.1 / (GRAIN as u64) < u64::from(NONE));
        assert!(MOST_VISITS.checked_add(2 * u32::from(u16::MAX)).is_some());
    }

    #[test]
    fn the_cap_bounds_what_is_reserved() {
        let mut graph = Graph::new(1 << 18);
        let mut key = 0;
        while graph.ensure_room(16, 16, true) {
            key += 1;
            let id = node_with(&mut graph, key, 8);
            graph.open(id, 0);
            assert!(graph.reserved_bytes() <= 1 << 18);
        }
        assert!(key > 500, "{key}");
    }
}
