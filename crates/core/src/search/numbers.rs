//! Proof numbers: how far a node is from a proven win of either side, as far as the graph knows, and what
//! that adds to the scores of moves.
//!
//! Follows the children of one node. A trajectory that is backed up sets them anew on its way; `select`
//! reads them.

use crate::game::MoveCode;
use crate::graph::{Edge, Graph, NONE, NodeId, ProofNumbers, edge_flag};

/// The numbers of an edge for the side to move at its node. A child that was given up for memory counts as
/// not open.
fn of_edge(graph: &Graph, id: NodeId, edge: &Edge) -> ProofNumbers {
    if edge.child == NONE {
        return of_unopened(graph, id);
    }
    let numbers = graph.numbers(edge.child);
    if graph.sign(id, edge.child) < 0.0 { numbers.reversed() } else { numbers }
}

/// The same for a move that is not open: it is taken to leave as many answers as the node has moves.
fn of_unopened(graph: &Graph, id: NodeId) -> ProofNumbers {
    ProofNumbers { win: graph.node(id).legal, loss: 1 }
}

/// Sets the numbers of a node by its edges: one of them has to win, or all have to lose. Paths that meet
/// again would be counted twice in a sum, so the hardest move counts in full and every other one as 1.
pub fn refresh(graph: &mut Graph, id: NodeId) {
    const INFINITE: u16 = ProofNumbers::INFINITE;
    let node = graph.node(id);
    let mut unrefuted = node.legal - node.opened;
    let (mut win, mut hardest) = (INFINITE, 0);
    if unrefuted > 0 {
        ProofNumbers { win, loss: hardest } = of_unopened(graph, id);
    }
    for edge in graph.edges(id) {
        let numbers = of_edge(graph, id, edge);
        win = win.min(numbers.win);
        hardest = hardest.max(numbers.loss);
        unrefuted += u16::from(numbers.loss > 0);
    }
    let loss = match (hardest, unrefuted) {
        (INFINITE, _) => INFINITE,
        (_, 0) => 0,
        _ => hardest.saturating_add(unrefuted - 1).min(INFINITE - 1),
    };
    graph.put_numbers(id, ProofNumbers { win, loss });
}

/// What the numbers add to the scores of a node's moves: the weight for the move that is nearest to a proven
/// win, half of it for one that is twice as far, nothing where no win is possible.
pub struct ProofTerms {
    weight: f64,
    /// 1 + the least number.
    least: f64,
}

impl ProofTerms {
    /// The terms at a node, over those of its moves that may be chosen.
    pub fn new(graph: &Graph, id: NodeId, weight: f64, is_allowed: impl Fn(MoveCode) -> bool) -> ProofTerms {
        let is_unopened = graph.candidates(id).iter().any(|candidate| is_allowed(candidate.mv()));
        ProofTerms::among(graph, id, weight, is_allowed, is_unopened)
    }

    /// The same where it is known whether one of them is not open.
    pub fn among(
        graph: &Graph,
        id: NodeId,
        weight: f64,
        is_allowed: impl Fn(MoveCode) -> bool,
        has_unopened: bool,
    ) -> ProofTerms {
        let mut least = ProofNumbers::INFINITE;
        if weight > 0.0 {
            for edge in graph.edges(id) {
                if !edge.has(edge_flag::PRUNED) && is_allowed(edge.mv) {
                    least = least.min(of_edge(graph, id, edge).win);
                }
            }
            if has_unopened {
                least = least.min(of_unopened(graph, id).win);
            }
        }
        ProofTerms { weight, least: 1.0 + f64::from(least) }
    }

    /// The term of an open move.
    pub fn of_edge(&self, graph: &Graph, id: NodeId, edge: &Edge) -> f64 {
        if self.weight > 0.0 { self.of(of_edge(graph, id, edge).win) } else { 0.0 }
    }

    /// The term of a move that is not open.
    pub fn of_unopened(&self, graph: &Graph, id: NodeId) -> f64 {
        if self.weight > 0.0 { self.of(of_unopened(graph, id).win) } else { 0.0 }
    }

    fn of(&self, number: u16) -> f64 {
        if number == ProofNumbers::INFINITE {
            return 0.0;
        }
        self.weight * (self.least / (1.0 + f64::from(number)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::State;
    use crate::graph::prior::Candidate;

    /// A node of player 0 with so many legal moves, the first of them open, into children of player 1 with
    /// these states and numbers.
    fn family(legal: u16, children: &[(State, (u16, u16))]) -> (Graph, NodeId) {
        let mut graph = Graph::new(1 << 20);
        graph.set_numbers(true);
        assert!(graph.ensure_room(4, 64, false));
        let id = graph.add_node(0, 0, 0, legal.into());
        let list: Vec<Candidate> = (0..legal).map(|code| Candidate::new(100, MoveCode(code))).collect();
        graph.list_candidates(id, &list);
        for (key, &(state, (win, loss))) in (1..).zip(children) {
            assert!(graph.ensure_room(4, 64, false));
            let child = graph.add_node(key, 0, 1, 7);
            graph.node_mut(child).state = state;
            graph.put_numbers(child, ProofNumbers { win, loss });
            let slot = graph.open(id, 0);
            graph.link(id, slot, child);
        }
        (graph, id)
    }

    fn refreshed(legal: u16, children: &[(State, (u16, u16))]) -> (u16, u16) {
        let (mut graph, id) = family(legal, children);
        refresh(&mut graph, id);
        let ProofNumbers { win, loss } = graph.numbers(id);
        (win, loss)
    }

    const INFINITE: u16 = ProofNumbers::INFINITE;
    const OPEN: State = State::Unknown;

    #[test]
    fn a_new_node_needs_one_move_to_win_and_all_to_lose() {
        let (mut graph, id) = family(9, &[]);
        assert_eq!(graph.numbers(id), ProofNumbers { win: 1, loss: 9 });
        let child = graph.add_node(5, 0, 1, 30);
        assert_eq!(graph.numbers(child), ProofNumbers { win: 1, loss: 30 });
        graph.node_mut(child).state = State::TbDraw;
        assert_eq!(graph.numbers(child), ProofNumbers { win: INFINITE, loss: INFINITE });
    }

    #[test]
    fn a_win_takes_the_nearest_move_and_a_loss_the_hardest_and_one_for_each_other() {
        assert_eq!(refreshed(5, &[(OPEN, (3, 4)), (OPEN, (2, 8))]), (4, 3 + 4));
        assert_eq!(refreshed(3, &[(OPEN, (3, 90)), (OPEN, (2, 80))]), (3, 3 + 2));
        assert_eq!(refreshed(2, &[(OPEN, (3, 90)), (OPEN, (2, 80))]), (80, 3 + 1));
    }

    #[test]
    fn results_of_children_count_whatever_their_stored_numbers_are() {
        let won = |state| (state, (1, 1));
        assert_eq!(refreshed(2, &[won(State::Win), (OPEN, (2, 8))]), (8, 2));
        assert_eq!(refreshed(2, &[won(State::Win), won(State::TbWin)]), (INFINITE, 0));
        assert_eq!(refreshed(9, &[won(State::TbLoss)]), (0, INFINITE));
        assert_eq!(refreshed(2, &[won(State::Draw), (OPEN, (2, 8))]), (8, INFINITE));
        assert_eq!(refreshed(1, &[(OPEN, (INFINITE - 1, 5))]), (5, INFINITE - 1));
        assert_eq!(refreshed(2, &[(OPEN, (INFINITE - 1, 5)), (OPEN, (1, 5))]), (5, INFINITE - 1));
    }

    #[test]
    fn a_child_given_up_for_memory_counts_as_not_open() {
        let (mut graph, id) = family(4, &[(OPEN, (30, 1)), (OPEN, (2, 8))]);
        graph.edge_mut(id, 0).child = NONE;
        refresh(&mut graph, id);
        assert_eq!(graph.numbers(id), ProofNumbers { win: 4, loss: 2 + 3 });
    }

    #[test]
    fn the_term_halves_where_the_number_doubles() {
        let (mut graph, id) =
            family(31, &[(OPEN, (1, 7)), (OPEN, (1, 15)), (State::Draw, (1, 1)), (OPEN, (1, 3))]);
        let terms = |graph: &Graph, is_allowed: fn(MoveCode) -> bool| {
            let terms = ProofTerms::new(graph, id, 0.5, is_allowed);
            let of = |slot| terms.of_edge(graph, id, graph.edge(id, slot));
            [of(0), of(1), of(2), of(3), terms.of_unopened(graph, id)]
        };
        assert_eq!(terms(&graph, |_| true), [0.25, 0.125, 0.0, 0.5, 0.0625]);
        assert_eq!(terms(&graph, |mv| mv.0 != 3)[..2], [0.5, 0.25], "a move that may not be played");
        graph.edge_mut(id, 3).flags |= edge_flag::PRUNED;
        assert_eq!(terms(&graph, |_| true)[..2], [0.5, 0.25], "nor one that loses");
        let off = ProofTerms::new(&graph, id, 0.0, |_| true);
        assert_eq!((off.of_edge(&graph, id, graph.edge(id, 0)), off.of_unopened(&graph, id)), (0.0, 0.0));
    }
}
