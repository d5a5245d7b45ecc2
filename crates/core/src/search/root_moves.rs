//! The root's moves that a search may choose, and what these alone prove.
//!
//! A restriction belongs to a search and leaves no trace in the graph: the solver still decides nodes by
//! all of their moves.

use crate::game::MoveCode;
use crate::graph::{Graph, NONE, NodeId, State};
use crate::search::solver::seen_from;

/// The root's moves that a search may choose: all of them, or some.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RootMoves(Vec<MoveCode>);

impl RootMoves {
    /// The given moves; all moves when none are given.
    pub fn new(mut moves: Vec<MoveCode>) -> RootMoves {
        moves.sort_unstable();
        moves.dedup();
        RootMoves(moves)
    }

    /// Whether there is no restriction.
    pub fn is_all(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a move may be chosen.
    pub fn contains(&self, mv: MoveCode) -> bool {
        self.0.is_empty() || self.0.binary_search(&mv).is_ok()
    }

    /// The moves; none where there is no restriction.
    pub fn moves(&self) -> &[MoveCode] {
        &self.0
    }

    /// The slots of a node's edges that may be chosen.
    pub fn slots<'a>(&'a self, graph: &'a Graph, id: NodeId) -> impl DoubleEndedIterator<Item = u16> + 'a {
        let edges = graph.edges(id);
        (0..edges.len() as u16).filter(|&slot| self.contains(edges[slot as usize].mv))
    }

    /// Whether every move that may be chosen is an opened edge.
    pub fn is_fully_opened(&self, graph: &Graph, id: NodeId) -> bool {
        if self.is_all() {
            graph.node(id).fully_opened()
        } else {
            self.slots(graph, id).count() == self.0.len()
        }
    }

    /// What these moves prove about a node by play to the end, and in how many plies: the rules of the
    /// solver, on some of the moves.
    pub fn proven(&self, graph: &Graph, id: NodeId) -> (State, u16) {
        let node = graph.node(id);
        if self.is_all() {
            return (node.state, node.end_in_ply);
        }
        let (mut win, mut draw, mut loss) = (None::<u16>, None::<u16>, None::<u16>);
        let mut exact = 0;
        for slot in self.slots(graph, id) {
            let child = graph.edge(id, slot).child;
            if child == NONE {
                continue;
            }
            let state = seen_from(graph, id, child);
            let plies = graph.node(child).end_in_ply.saturating_add(1);
            exact += usize::from(state.is_exact());
            match state {
                State::Win => win = Some(win.map_or(plies, |known| known.min(plies))),
                State::Draw => draw = Some(draw.map_or(plies, |known| known.min(plies))),
                State::Loss => loss = Some(loss.map_or(plies, |known| known.max(plies))),
                _ => {}
            }
        }
        let rest = || {
            if exact < self.0.len() {
                None
            } else {
                draw.map(|plies| (State::Draw, plies)).or(loss.map(|plies| (State::Loss, plies)))
            }
        };
        win.map(|plies| (State::Win, plies)).or_else(rest).unwrap_or((State::Unknown, 0))
    }
}
