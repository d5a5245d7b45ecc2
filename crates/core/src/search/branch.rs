//! The start of an exploration: the walk to its branch node, and the edge that it opens there.
//!
//! Chance and constraints are in `explore`; here they meet the graph and the path.

use super::Search;
use super::explore::{self, Exploration};
use super::select::Choice;
use crate::game::{Game, MoveCode};
use crate::graph::{Edge, NONE, NodeId, edge_flag, node_flag};

impl<G: Game> Search<G> {
    /// The branch node of an exploration: down the most visited moves, to a drawn depth or the last node from
    /// where it continues.
    pub(super) fn walk_to_branch(&mut self) -> NodeId {
        let depth = explore::draw_depth(&mut self.random);
        let mut node = self.root;
        for _ in 0..depth {
            let is_allowed = |edge: &Edge| node != self.root || self.root_moves.contains(edge.mv);
            let Some(slot) = explore::most_visited(self.graph.edges(node), is_allowed) else { break };
            let edge = self.graph.edge(node, slot);
            if edge.child == NONE {
                break;
            }
            let child = self.graph.node(edge.child);
            if !child.has(node_flag::EVALUATED) || child.state.is_exact() {
                break;
            }
            let (next, key, clock) = (edge.child, child.key, self.path.clock());
            self.path.follow(edge.mv, edge.has(edge_flag::ZEROING));
            let spent = self.path.is_clock_spent();
            if self.path.arrive(key) || spent {
                self.path.retreat(clock);
                break;
            }
            node = next;
        }
        node
    }

    /// What an exploration opens at its branch node; `None` gives it up.
    pub(super) fn branch(&mut self, id: NodeId, kind: Exploration) -> Option<Choice> {
        if id == self.root && !self.root_moves.is_all() {
            return self.branch_root(kind);
        }
        if let Exploration::Constrained(constraint) = kind {
            let flag = explore::exhausted_flag(constraint);
            if !self.graph.node(id).has(flag) {
                if !self.graph.node(id).is_listed_whole() {
                    self.list_rest(id);
                }
                let game = self.path.position();
                let found = self
                    .graph
                    .candidates(id)
                    .iter()
                    .position(|candidate| game.satisfies(constraint, candidate.mv()));
                if let Some(index) = found {
                    return Some(Choice::Unopened(index));
                }
                self.graph.node_mut(id).flags |= flag;
            }
        }
        if !self.graph.node(id).fully_opened() {
            if self.graph.candidates(id).is_empty() {
                self.list_more(id);
            }
            return Some(Choice::Unopened(0));
        }
        explore::random_unsolved(&self.graph, id, |_| true, &mut self.random).map(Choice::Opened)
    }

    /// The same at the root of a search that is restricted to some of its moves. What it finds exhausted is
    /// so for these only: no flag is set.
    #[cold]
    fn branch_root(&mut self, kind: Exploration) -> Option<Choice> {
        if !self.graph.node(self.root).is_listed_whole() {
            self.list_rest(self.root);
        }
        let game = self.path.position();
        let listed = self.graph.candidates(self.root);
        let find = |fits: &dyn Fn(MoveCode) -> bool| {
            let found = listed
                .iter()
                .position(|candidate| self.root_moves.contains(candidate.mv()) && fits(candidate.mv()));
            found.map(Choice::Unopened)
        };
        let wanted = match kind {
            Exploration::Constrained(constraint) => find(&|mv| game.satisfies(constraint, mv)),
            Exploration::Greedy => None,
        };
        let is_allowed = |edge: &Edge| self.root_moves.contains(edge.mv);
        wanted.or_else(|| find(&|_| true)).or_else(|| {
            explore::random_unsolved(&self.graph, self.root, is_allowed, &mut self.random).map(Choice::Opened)
        })
    }
}
