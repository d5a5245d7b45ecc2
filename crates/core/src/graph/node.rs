//! Nodes and edges as they lie in the arenas, and the states that are proven about nodes.
//!
//! Sizes are fixed (64 and 32 bytes), because memory is counted in them. Values belong to the side to move at
//! their node.

use super::prior::from_half;
use crate::game::MoveCode;

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
    /// Proven by a search for mates: its proof need not be in the graph.
    pub const MATE: u16 = 1024;
}

/// Bits of [`Edge::flags`].
pub mod edge_flag {
    /// The child is won for the opponent: skipped by selection and move choice.
    pub const PRUNED: u16 = 1;
    /// The child's proof has been counted in the node's unknown children.
    pub const COUNTED: u16 = 2;
    /// The move resets the clock.
    pub const ZEROING: u16 = 4;
    /// The child was freed for memory: the edge has more visits than a new child.
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
    /// Start of the block of candidates, in units of [`GRAIN`](super::GRAIN).
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
    /// END_IN_PLY: length of the proof that was found.
    pub end_in_ply: u16,
    /// Trajectories in flight through the edges of this node.
    pub in_flight: u16,
    /// Flags of [`node_flag`].
    pub flags: u16,
    /// The period in which a trajectory last went through here, see [`recency`](super::recency).
    pub seen: u16,
    /// What is proven.
    pub state: State,
    /// How often a mate has been searched for here, by the visits; see `search/mates.rs`.
    pub mate_searches: u8,
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

/// An opened move. The order of the fields is that of memory: a scan over edges loads some of them together.
#[derive(Clone, Debug)]
#[repr(C, align(32))]
pub struct Edge {
    /// Q: mean value for the side to move at its node.
    pub q: f64,
    /// The node it leads to, or [`NONE`] after that was freed for memory.
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

/// An edge that leads nowhere.
pub(super) const VOID_EDGE: Edge = Edge {
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
