//! The search graph: flat arenas of nodes, edges and candidates, the table of keys, back-links to parents,
//! and the memory they take.
//!
//! ```text
//!   Node (64 bytes) ── edges ──► block of Edge (32 bytes each): opened moves, in order of opening
//!        │     ▲                   └─ child: the node it leads to (several edges may lead to one node)
//!        │     └── parents: the first inline, the others as a chain of Link
//!        └── candidates ──► block of Candidate (4 bytes each): moves not opened yet, best prior first
//! ```
//! Ids are indices; freed slots are used again. This file knows no search: it stores, links, frees and counts
//! bytes.

pub mod prior;
pub mod recency;
mod sweep;
mod table;

use recency::Clock;
use sweep::Sweep;
pub use sweep::{Cancelled, Marks, RANKS};
use table::{Table, hash_of, table_hash};

use crate::game::MoveCode;
use prior::{Candidate, from_half};

/// Index of a node in its graph.
pub type NodeId = u32;

/// No node, no block.
pub const NONE: u32 = u32::MAX;

/// What is proven about a node, for the side to move there. `Tb` states rest on a tablebase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum State {
    /// Nothing is proven.
    #[default]
    Unknown,
    /// The side to move wins.
    Win,
    /// Neither side can win.
    Draw,
    /// The side to move loses.
    Loss,
    /// Win by force into a tablebase win.
    TbWin,
    /// Draw by force into the tablebase.
    TbDraw,
    /// Loss by force into the tablebase.
    TbLoss,
}

impl State {
    /// All states, by their number.
    pub const ALL: [State; 7] =
        [State::Unknown, State::Win, State::Draw, State::Loss, State::TbWin, State::TbDraw, State::TbLoss];

    /// Proven by play to the end, without a tablebase.
    pub const fn is_exact(self) -> bool {
        matches!(self, State::Win | State::Draw | State::Loss)
    }

    /// Anything but unknown.
    pub const fn is_solved(self) -> bool {
        !matches!(self, State::Unknown)
    }

    /// The exact value, for the side to move, a draw being worth 0; `None` unless proven by play.
    pub const fn value(self) -> Option<f64> {
        match self {
            State::Win => Some(1.0),
            State::Draw => Some(0.0),
            State::Loss => Some(-1.0),
            _ => None,
        }
    }

    /// The same fact seen by the other player.
    pub const fn reversed(self) -> State {
        match self {
            State::Win => State::Loss,
            State::Loss => State::Win,
            State::TbWin => State::TbLoss,
            State::TbLoss => State::TbWin,
            same => same,
        }
    }

    /// The word for it in every interface.
    pub const fn as_str(self) -> &'static str {
        match self {
            State::Unknown => "unknown",
            State::Win => "win",
            State::Draw => "draw",
            State::Loss => "loss",
            State::TbWin => "tb-win",
            State::TbDraw => "tb-draw",
            State::TbLoss => "tb-loss",
        }
    }
}

/// Bits of [`Node::flags`].
pub mod node_flag {
    /// Has a value; its edges or candidates are known.
    pub const EVALUATED: u16 = 1;
    /// A leaf of a batch in flight.
    pub const WAITING: u16 = 2;
    /// The game is over here.
    pub const TERMINAL: u16 = 4;
    /// Has, or has had, more than one parent edge.
    pub const TRANSPOSITION: u16 = 8;
    /// The second player moves here.
    pub const PLAYER: u16 = 16;
    /// Dirichlet noise is in the priors.
    pub const NOISED: u16 = 32;
    /// No unopened check is left.
    pub const NO_CHECKS: u16 = 64;
    /// No unopened capture is left.
    pub const NO_CAPTURES: u16 = 128;
    /// No unopened threat is left.
    pub const NO_THREATS: u16 = 256;
    /// The slot is free.
    pub const FREE: u16 = 512;
}

/// Bits of [`Edge::flags`].
pub mod edge_flag {
    /// The child is won for the opponent: skipped by selection and move choice.
    pub const PRUNED: u16 = 1;
    /// The child's proof has been counted in the node's unknown children.
    pub const COUNTED: u16 = 2;
    /// The move resets the clock.
    pub const ZEROING: u16 = 4;
    /// The child was given up for memory: the edge knows more than a new child does.
    pub const LOST: u16 = 8;
}

/// A position met by the search.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct Node {
    /// Key of the position.
    pub key: u64,
    /// V: mean value for the side to move.
    pub value: f64,
    /// Ply or clock that makes the merge key, together with `key`.
    pub salt: u32,
    /// N: visits, the evaluation included.
    pub visits: u32,
    /// U: the evaluator's value.
    pub raw: f32,
    /// Start of the block of opened edges.
    pub edges: u32,
    /// Start of the block of candidates, in units of [`GRAIN`].
    pub candidates: u32,
    /// First parent.
    pub parent: NodeId,
    /// Chain of further parents.
    pub more_parents: u32,
    /// Number of legal moves.
    pub legal: u16,
    /// Number of opened edges.
    pub opened: u16,
    /// Candidates already taken from the front of the block.
    pub taken: u16,
    /// Candidates in the block.
    pub listed: u16,
    /// Legal moves whose child is not solved.
    pub unknown: u16,
    /// END_IN_PLY: length of the proof in hand.
    pub end_in_ply: u16,
    /// Trajectories in flight through the edges of this node.
    pub in_flight: u16,
    /// Flags of [`node_flag`].
    pub flags: u16,
    /// The period in which a trajectory last went through here, see [`recency`].
    pub seen: u16,
    /// What is proven.
    pub state: State,
}

impl Node {
    /// Whether all of the flags are set.
    #[inline(always)]
    pub const fn has(&self, flags: u16) -> bool {
        self.flags & flags == flags
    }

    /// The player to move.
    pub const fn player(&self) -> u8 {
        (self.flags & node_flag::PLAYER != 0) as u8
    }

    /// Candidates that are listed and not opened.
    pub const fn remaining(&self) -> usize {
        (self.listed - self.taken) as usize
    }

    /// Whether every legal move is an opened edge.
    pub const fn fully_opened(&self) -> bool {
        self.opened == self.legal
    }

    /// Whether every unopened legal move is in the list of candidates.
    pub const fn is_listed_whole(&self) -> bool {
        self.opened as usize + self.remaining() == self.legal as usize
    }
}

/// An opened move.
#[derive(Clone, Debug)]
#[repr(align(32))]
pub struct Edge {
    /// Q: mean value for the side to move at its node.
    pub q: f64,
    /// The node it leads to, or [`NONE`] after that was given up for memory.
    pub child: NodeId,
    /// N: visits.
    pub visits: u32,
    /// Visits that ended here as a draw of the path.
    pub draws: u32,
    /// Visits by explorations that branched here.
    pub explored: u32,
    /// P as the bits of a half.
    pub half: u16,
    /// The move.
    pub mv: MoveCode,
    /// Trajectories in flight.
    pub in_flight: u16,
    /// Flags of [`edge_flag`].
    pub flags: u16,
}

impl Edge {
    /// P: the prior.
    #[inline(always)]
    pub fn prior(&self) -> f64 {
        from_half(self.half)
    }

    /// Whether all of the flags are set.
    #[inline(always)]
    pub const fn has(&self, flags: u16) -> bool {
        self.flags & flags == flags
    }
}

const VOID_EDGE: Edge = Edge {
    q: 0.0,
    child: NONE,
    visits: 0,
    draws: 0,
    explored: 0,
    half: 0,
    mv: MoveCode(0),
    in_flight: 0,
    flags: 0,
};

#[derive(Clone, Copy, Debug)]
struct Link {
    parent: NodeId,
    next: u32,
}

/// Largest number of legal moves a node may have.
pub const MOST_MOVES: usize = 1024;
const CLASSES: usize = 11;
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

fn class_of(count: usize) -> usize {
    count.next_power_of_two().trailing_zeros() as usize
}

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
    /// An empty graph that may take `memory` bytes.
    pub fn new(memory: usize) -> Graph {
        Graph {
            nodes: Vec::new(),
            edges: Vec::new(),
            candidates: Vec::new(),
            links: Vec::new(),
            table: Table::default(),
            free_node: NONE,
            free_link: NONE,
            free_edges: [NONE; CLASSES],
            free_lists: vec![NONE; LIST_CLASSES],
            live_nodes: 0,
            live_edge_slots: 0,
            live_links: 0,
            live_candidates: 0,
            memory,
            sweep: None,
            clock: Clock::default(),
            draws: [0.0; 2],
            spent: false,
            most_items: MOST_ITEMS,
        }
    }

    /// Changes the cap; it holds from the next growth on.
    pub fn set_memory(&mut self, memory: usize) {
        self.memory = memory;
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

    /// The exact value of a node for its side to move; `None` unless proven by play.
    #[inline(always)]
    pub fn exact_value(&self, id: NodeId) -> Option<f64> {
        let state = self.nodes[id as usize].state;
        if state == State::Draw { Some(self.draw_value(id)) } else { state.value() }
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

    /// Most candidates that there may be.
    fn most_candidates(&self) -> usize {
        self.most_items.saturating_mul(GRAIN)
    }

    /// Lowers the number of items that an arena may have.
    #[cfg(test)]
    pub(crate) fn set_most_items(&mut self, most: usize) {
        self.most_items = most;
    }

    /// The cap in bytes.
    pub fn memory(&self) -> usize {
        self.memory
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

    /// Bytes taken from the system: the cap bounds this number.
    pub fn reserved_bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>()
            + self.edges.capacity() * size_of::<Edge>()
            + self.candidates.capacity() * size_of::<Candidate>()
            + self.links.capacity() * size_of::<Link>()
            + self.table.bytes
    }

    /// Bytes in use by nodes, edges (blocks with their slack), candidates, links and the table.
    pub fn used_bytes(&self) -> usize {
        self.live_nodes * size_of::<Node>()
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
    fn growth_allowance(&self) -> usize {
        self.table.bytes + self.links.capacity() * size_of::<Link>() / 2 + self.memory / 64
    }

    fn grow(&mut self, candidates: usize, uses_table: bool) -> bool {
        // What nodes and edges may take leaves enough for the table and the links to grow with them.
        let spare =
            |graph: &Graph| graph.memory.saturating_sub(graph.reserved_bytes() + graph.growth_allowance());
        if self.free_node == NONE {
            let room = spare(self);
            if !make_room(&mut self.nodes, 1, room, self.most_items) {
                return false;
            }
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

    /// T: the value of the child in the frame of its parent, Eq. (7).
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
        };
        debug_assert!(self.is_swept());
        self.live_nodes += 1;
        if self.free_node != NONE {
            let id = self.free_node;
            self.free_node = self.nodes[id as usize].parent;
            self.nodes[id as usize] = node;
            id
        } else {
            self.nodes.push(node);
            self.nodes.len() as u32 - 1
        }
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

    fn drop_candidates(&mut self, id: NodeId) {
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

    fn take_block(&mut self, class: usize) -> u32 {
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

    fn give_block(&mut self, start: u32, class: usize) {
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
        let at = if self.free_link != NONE {
            let at = self.free_link;
            self.free_link = self.links[at as usize].next;
            self.links[at as usize] = link;
            at
        } else {
            self.links.push(link);
            self.links.len() as u32 - 1
        };
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

    /// Frees everything. The arenas are kept for the next graph, unless the cap has shrunk below them.
    pub fn clear(&mut self) {
        if self.reserved_bytes() > self.memory {
            *self = Graph { draws: self.draws, most_items: self.most_items, ..Graph::new(self.memory) };
            return;
        }
        self.sweep = None;
        self.nodes.clear();
        self.edges.clear();
        self.candidates.clear();
        self.links.clear();
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
