//! The exact solver, Algorithm 3 (Exact-win-MCTS 2.0) with its tablebase states, over a graph: every parent
//! learns of a proof. Two older rules send proofs up the trajectory alone.
//!
//! Changes states, END_IN_PLY, unknown counts and the flags of edges; visits, values and priors stay as they
//! are. Proofs here are facts of positions: draws that depend on the path never enter them.

use super::path::Step;
use crate::graph::{Graph, NONE, NodeId, State, edge_flag, node_flag};
use crate::settings::SolverRule;

/// Marks a node as finished by the rules, `end_in_ply` 0.
pub fn finish(graph: &mut Graph, id: NodeId, state: State) {
    let node = graph.node_mut(id);
    node.state = state;
    node.end_in_ply = 0;
    node.unknown = 0;
}

/// Updates a node after the child of one of its edges was solved or changed, and propagates the result to
/// all parents. `work` is scratch. Returns the number of nodes that became
/// solved.
pub fn inform(graph: &mut Graph, id: NodeId, work: &mut Vec<NodeId>) -> usize {
    let mut solved = 0;
    work.clear();
    work.push(id);
    while let Some(id) = work.pop() {
        let before = (graph.node(id).state, graph.node(id).end_in_ply);
        count_children(graph, id);
        let after = judge(graph, id, SolverRule::ExactWin2);
        if after == before {
            continue;
        }
        let node = graph.node_mut(id);
        (node.state, node.end_in_ply) = after;
        solved += usize::from(!before.0.is_solved());
        let from = work.len();
        work.extend(graph.parents(id));
        work[from..].sort_unstable();
        // A parent that reaches the node by several edges is updated once.
        let mut write = from;
        for read in from..work.len() {
            if read == from || work[read] != work[write - 1] {
                work[write] = work[read];
                write += 1;
            }
        }
        work.truncate(write);
    }
    solved
}

/// Updates the nodes of a trajectory that ended at a proven node, from the last to the first, until one stays
/// as it is: Exact-win-MCTS and MCTS-Solver. Returns the number of nodes that became solved.
pub fn inform_trajectory(graph: &mut Graph, steps: &[Step], rule: SolverRule) -> usize {
    let mut solved = 0;
    for &Step { node: id, .. } in steps.iter().rev() {
        let before = (graph.node(id).state, graph.node(id).end_in_ply);
        count_children(graph, id);
        let after = judge(graph, id, rule);
        if after == before {
            break;
        }
        let node = graph.node_mut(id);
        (node.state, node.end_in_ply) = after;
        solved += usize::from(!before.0.is_solved());
    }
    solved
}

/// Counts each newly solved child once, and flags the edges that lead to a loss.
fn count_children(graph: &mut Graph, id: NodeId) {
    let mut counted = 0;
    for slot in 0..graph.node(id).opened {
        let edge = graph.edge(id, slot);
        if edge.child == NONE {
            continue;
        }
        let seen = seen_from(graph, id, edge.child);
        if seen == State::Unknown {
            continue;
        }
        let edge = graph.edge_mut(id, slot);
        if edge.flags & edge_flag::COUNTED == 0 {
            edge.flags |= edge_flag::COUNTED;
            counted += 1;
        }
        if matches!(seen, State::Loss | State::TbLoss) {
            edge.flags |= edge_flag::PRUNED;
        }
    }
    graph.node_mut(id).unknown -= counted;
}

/// The child's state as the player to move at the parent sees it.
pub fn seen_from(graph: &Graph, parent: NodeId, child: NodeId) -> State {
    let state = graph.node(child).state;
    if graph.sign(parent, child) < 0.0 { state.reversed() } else { state }
}

/// Algorithm 3: what the children prove about the node, and in how many plies.
///
/// Differs from the paper: there each rule stands alone, so that a node could be marked twice; here the first
/// that holds decides.
fn judge(graph: &Graph, id: NodeId, rule: SolverRule) -> (State, u16) {
    let node = graph.node(id);
    let unchanged = (node.state, node.end_in_ply);
    if node.has(node_flag::TERMINAL) {
        return unchanged;
    }
    let (mut shortest_win, mut shortest_draw, mut longest_loss) = (None::<u16>, None::<u16>, None::<u16>);
    let (mut tb_win, mut tb_draw, mut tb_loss) = (false, false, false);
    for edge in graph.edges(id) {
        if edge.child == NONE {
            continue;
        }
        let plies = graph.node(edge.child).end_in_ply.saturating_add(1);
        match seen_from(graph, id, edge.child) {
            State::Unknown => {}
            State::Win => shortest_win = Some(shortest_win.map_or(plies, |known| known.min(plies))),
            State::Draw => shortest_draw = Some(shortest_draw.map_or(plies, |known| known.min(plies))),
            State::Loss => longest_loss = Some(longest_loss.map_or(plies, |known| known.max(plies))),
            State::TbWin => tb_win = true,
            State::TbDraw => tb_draw = true,
            State::TbLoss => tb_loss = true,
        }
    }
    // A mate that a search of its own has found is no longer for a longer one among the children.
    let is_mate = node.state == State::Win && node.has(node_flag::MATE);
    let proven = if let Some(plies) = shortest_win {
        (State::Win, if is_mate { plies.min(node.end_in_ply) } else { plies })
    } else if tb_win {
        (State::TbWin, 0)
    } else if node.unknown > 0 || (rule == SolverRule::MctsSolver && shortest_draw.is_some()) {
        // MCTS-Solver proves no draws.
        return unchanged;
    } else if tb_draw || (tb_loss && shortest_draw.is_some()) {
        (State::TbDraw, 0)
    } else if tb_loss {
        (State::TbLoss, 0)
    } else if let Some(plies) = shortest_draw {
        (State::Draw, plies)
    } else if let Some(plies) = longest_loss {
        (State::Loss, plies)
    } else {
        return unchanged;
    };
    // An exact state is final, a tablebase state yields to an exact one only: children given up for memory
    // must not take proofs away.
    let (from, to) = (unchanged.0, proven.0);
    if from.is_solved() && from != to && (from.is_exact() || !to.is_exact()) { unchanged } else { proven }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::MoveCode;
    use crate::graph::prior::Candidate;

    /// A node of player 0 with one child of player 1 per given state (and proof length).
    fn family(children: &[(State, u16)]) -> (Graph, NodeId, Vec<NodeId>) {
        let mut graph = Graph::new(1 << 20);
        assert!(graph.ensure_room(4, 64, false));
        let id = graph.add_node(0, 0, 0, children.len());
        let list: Vec<Candidate> =
            (0..children.len()).map(|code| Candidate::new(100, MoveCode(code as u16))).collect();
        graph.list_candidates(id, &list);
        let mut ids = Vec::new();
        for (i, &(state, plies)) in children.iter().enumerate() {
            assert!(graph.ensure_room(4, 64, false));
            let child = graph.add_node(i as u64 + 1, 0, 1, 0);
            graph.node_mut(child).state = state;
            graph.node_mut(child).end_in_ply = plies;
            let slot = graph.open(id, 0);
            graph.link(id, slot, child);
            ids.push(child);
        }
        (graph, id, ids)
    }

    fn judged(children: &[(State, u16)]) -> (State, u16) {
        let (mut graph, id, _) = family(children);
        inform(&mut graph, id, &mut Vec::new());
        (graph.node(id).state, graph.node(id).end_in_ply)
    }

    #[test]
    fn rules_of_algorithm_3() {
        use State::*;
        assert_eq!(judged(&[(Unknown, 0), (Loss, 4), (Loss, 2)]), (Win, 3));
        assert_eq!(judged(&[(Win, 5), (Win, 1)]), (Loss, 6));
        assert_eq!(judged(&[(Win, 5), (Unknown, 0)]), (Unknown, 0));
        assert_eq!(judged(&[(Win, 5), (Draw, 2), (Draw, 8)]), (Draw, 3));
        assert_eq!(judged(&[(Draw, 2), (Unknown, 0)]), (Unknown, 0));
        assert_eq!(judged(&[(TbLoss, 0), (Unknown, 0)]), (TbWin, 0));
        assert_eq!(judged(&[(TbLoss, 0), (Loss, 0)]), (Win, 1));
        assert_eq!(judged(&[(TbWin, 0), (Win, 3)]), (TbLoss, 0));
        assert_eq!(judged(&[(TbWin, 0), (Draw, 3)]), (TbDraw, 0));
        assert_eq!(judged(&[(TbDraw, 0), (Win, 3)]), (TbDraw, 0));
    }

    #[test]
    fn older_rules_send_proofs_up_the_trajectory_alone() {
        for (rule, expected) in
            [(SolverRule::ExactWin, State::Draw), (SolverRule::MctsSolver, State::Unknown)]
        {
            let (mut graph, id, _) = family(&[(State::Win, 3), (State::Draw, 1)]);
            assert_eq!(
                inform_trajectory(&mut graph, &[Step { node: id, slot: 0 }], rule),
                usize::from(expected == State::Draw)
            );
            assert_eq!(graph.node(id).state, expected);
            assert!(graph.edge(id, 0).has(edge_flag::PRUNED) && !graph.edge(id, 1).has(edge_flag::PRUNED));
        }
        // Two parents of a lost node: the one that is not on the trajectory does not learn of it.
        let (mut graph, first, children) = family(&[(State::Loss, 0)]);
        let second = graph.add_node(50, 0, 0, 1);
        graph.list_candidates(second, &[Candidate::new(100, MoveCode(0))]);
        let slot = graph.open(second, 0);
        graph.link(second, slot, children[0]);
        inform_trajectory(&mut graph, &[Step { node: first, slot: 0 }], SolverRule::MctsSolver);
        assert_eq!((graph.node(first).state, graph.node(second).state), (State::Win, State::Unknown));
    }

    #[test]
    fn a_proof_reaches_every_parent_and_each_edge_counts_once() {
        let (mut graph, first, children) = family(&[(State::Unknown, 0)]);
        let second = graph.add_node(50, 0, 0, 1);
        graph.list_candidates(second, &[Candidate::new(100, MoveCode(0))]);
        let slot = graph.open(second, 0);
        graph.link(second, slot, children[0]);
        let grandparent = graph.add_node(51, 0, 1, 2);
        graph.list_candidates(
            grandparent,
            &[Candidate::new(100, MoveCode(0)), Candidate::new(99, MoveCode(1))],
        );
        for child in [first, second] {
            let slot = graph.open(grandparent, 0);
            graph.link(grandparent, slot, child);
        }
        finish(&mut graph, children[0], State::Loss);
        assert_eq!(inform(&mut graph, first, &mut Vec::new()), 1);
        let mut work = Vec::new();
        let parents: Vec<NodeId> = graph.parents(children[0]).collect();
        for parent in parents {
            inform(&mut graph, parent, &mut work);
        }
        assert_eq!(graph.node(second).state, State::Win);
        assert_eq!((graph.node(grandparent).state, graph.node(grandparent).end_in_ply), (State::Loss, 2));
        assert_eq!(graph.node(grandparent).unknown, 0);
        assert!(graph.edges(grandparent).iter().all(|edge| edge.has(edge_flag::PRUNED | edge_flag::COUNTED)));
    }

    #[test]
    fn a_shorter_proof_travels_on_and_a_tablebase_win_is_upgraded() {
        let (mut graph, id, children) = family(&[(State::Loss, 6), (State::Unknown, 0)]);
        inform(&mut graph, id, &mut Vec::new());
        assert_eq!(graph.node(id).end_in_ply, 7);
        graph.node_mut(children[1]).state = State::Loss;
        graph.node_mut(children[1]).end_in_ply = 2;
        inform(&mut graph, id, &mut Vec::new());
        assert_eq!(graph.node(id).end_in_ply, 3);
        // A mate found elsewhere is not replaced by a longer one.
        graph.node_mut(id).flags |= node_flag::MATE;
        graph.node_mut(id).end_in_ply = 1;
        inform(&mut graph, id, &mut Vec::new());
        assert_eq!(graph.node(id).end_in_ply, 1);
        let (mut graph, id, children) = family(&[(State::TbLoss, 0)]);
        inform(&mut graph, id, &mut Vec::new());
        assert_eq!(graph.node(id).state, State::TbWin);
        graph.node_mut(children[0]).state = State::Loss;
        inform(&mut graph, id, &mut Vec::new());
        assert_eq!((graph.node(id).state, graph.node(id).end_in_ply), (State::Win, 1));
        assert!(!graph.node(id).has(node_flag::TERMINAL));
    }
}
